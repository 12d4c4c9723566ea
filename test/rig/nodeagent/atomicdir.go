// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const dataLink = "..data"

// file is the content of one file of a volume.
type file struct {
	content []byte
	mode    os.FileMode
}

// writeAtomically makes the folder hold exactly the files given, whose names may
// have folders in them. Like the kubelet it writes a new folder and swaps one
// symbolic link, so that a reader sees either all of the old or all of the new
// content:
//
//	dir/conf.yaml -> ..data/conf.yaml
//	dir/..data    -> ..1234
//	dir/..1234/conf.yaml
//
// It does nothing, and returns false, when the content is there already.
func writeAtomically(dir string, files map[string]file) (bool, error) {
	for name := range files {
		if !filepath.IsLocal(name) || strings.HasPrefix(name, "..") {
			return false, fmt.Errorf("%q is not a name of a file in a volume", name)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	current, linkErr := os.Readlink(filepath.Join(dir, dataLink))
	if linkErr == nil {
		if same, err := holds(filepath.Join(dir, current), files); err != nil || same {
			return false, err
		}
	}
	next, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return false, err
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return false, err
	}
	if err := writeFiles(next, files); err != nil {
		return false, errors.Join(err, os.RemoveAll(next))
	}
	if err := replaceLink(filepath.Base(next), filepath.Join(dir, dataLink)); err != nil {
		return false, err
	}
	if err := linkNames(dir, files); err != nil {
		return false, err
	}
	if linkErr == nil {
		return true, os.RemoveAll(filepath.Join(dir, current))
	}
	return true, nil
}

func writeFiles(dir string, files map[string]file) error {
	for name, f := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// holds tells whether the folder holds these files with this content and no others.
func holds(dir string, files map[string]file) (bool, error) {
	left := maps.Clone(files)
	same := true
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, found := left[name]
		delete(left, name)
		same = same && found && bytes.Equal(content, want.content)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return same && len(left) == 0, err
}

// linkNames makes the first element of every file name visible in the folder and
// removes what is no longer there.
func linkNames(dir string, files map[string]file) error {
	wanted := map[string]bool{}
	for name := range files {
		first, _, _ := strings.Cut(name, string(filepath.Separator))
		wanted[first] = true
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if err := replaceLink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "..") && !wanted[entry.Name()] {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func replaceLink(target, link string) error {
	if now, err := os.Readlink(link); err == nil && now == target {
		return nil
	}
	temporary := filepath.Join(filepath.Dir(link), "..link_"+filepath.Base(link))
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, link)
}
