// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func contents(pairs ...string) map[string]file {
	files := map[string]file{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = file{content: []byte(pairs[i+1]), mode: 0o644}
	}
	return files
}

// visible returns what a process sees in a volume, without the hidden folders.
func visible(dir string) (map[string]string, error) {
	seen := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, dataLink)+"/", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, filepath.Join(dir, dataLink)+"/")
		content, err := os.ReadFile(filepath.Join(dir, name)) // by its visible name
		seen[name] = string(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, entry.Name())); err != nil {
			return nil, fmt.Errorf("%s is left over: %w", entry.Name(), err)
		}
	}
	return seen, err
}

func TestWriteAtomically(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "volume")
	for i, step := range []struct {
		files   map[string]file
		changed bool
		want    map[string]string
	}{
		{contents("a", "1", "b", "2"), true, map[string]string{"a": "1", "b": "2"}},
		{contents("a", "1", "b", "2"), false, map[string]string{"a": "1", "b": "2"}},
		{contents("a", "3", "b", "2"), true, map[string]string{"a": "3", "b": "2"}},
		{contents("b", "2"), true, map[string]string{"b": "2"}},
		{contents("b", "2", "sub/deep/c", "4"), true, map[string]string{"b": "2", "sub/deep/c": "4"}},
		{contents("sub/d", "5"), true, map[string]string{"sub/d": "5"}},
		{contents(), true, map[string]string{}},
		{contents(), false, map[string]string{}},
	} {
		changed, err := writeAtomically(dir, step.files)
		g.Expect(err).NotTo(HaveOccurred(), "step %d", i)
		g.Expect(changed).To(Equal(step.changed), "step %d", i)
		g.Expect(visible(dir)).To(Equal(step.want), "step %d", i)
		hidden, err := filepath.Glob(filepath.Join(dir, "..[0-9]*"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(hidden).To(HaveLen(1), "one generation is kept, step %d", i)
	}
}

func TestWriteAtomicallyRefusesNamesThatLeaveTheFolder(t *testing.T) {
	for _, name := range []string{"../x", "..x", "/x", "a/../../x", "..data"} {
		t.Run(name, func(t *testing.T) {
			_, err := writeAtomically(t.TempDir(), contents(name, "1"))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("is not a name of a file in a volume")))
		})
	}
}

func TestWriteAtomicallyEndsWithWhatWasWrittenLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "volume")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		var last map[string]string
		for range rapid.IntRange(1, 4).Draw(t, "writes") {
			last = rapid.MapOf(rapid.StringMatching(`[a-c](/[d-f])?`), rapid.StringN(0, 3, -1)).
				Filter(noFileIsAFolder).Draw(t, "files")
			files := map[string]file{}
			for name, content := range last {
				files[name] = file{content: []byte(content), mode: 0o644}
			}
			if _, err := writeAtomically(dir, files); err != nil {
				t.Fatal(err)
			}
		}
		seen, err := visible(dir)
		if err != nil || fmt.Sprint(seen) != fmt.Sprint(last) {
			t.Fatalf("got %v (%v), want %v", seen, err, last)
		}
	})
}

func noFileIsAFolder(files map[string]string) bool {
	for name := range files {
		if first, _, deep := strings.Cut(name, "/"); deep {
			if _, clash := files[first]; clash {
				return false
			}
		}
	}
	return true
}

func TestAddressesAreUniqueAndGoRound(t *testing.T) {
	g := NewWithT(t)
	pool, err := claimAddresses()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(pool.close()).To(Succeed()) }()
	seen := map[string]bool{}
	var first string
	for i := range podsPerBlock {
		address, err := pool.take()
		g.Expect(err).NotTo(HaveOccurred())
		seen[address] = true
		if i == 0 {
			first = address
			pool.give(address) // free again, yet the next is another
		}
	}
	g.Expect(seen).To(HaveLen(podsPerBlock))
	again, err := pool.take()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(first))
	_, err = pool.take()
	g.Expect(err).To(MatchError(errNoAddress))
	pool.give(first)
	g.Expect(pool.take()).To(Equal(first))
}

func TestTwoAgentsHaveDifferentBlocks(t *testing.T) {
	g := NewWithT(t)
	a, err := claimAddresses()
	g.Expect(err).NotTo(HaveOccurred())
	b, err := claimAddresses()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.block).NotTo(Equal(b.block))
	g.Expect(a.close()).To(Succeed())
	g.Expect(b.close()).To(Succeed())
}

func TestBackoff(t *testing.T) {
	g := NewWithT(t)
	b := backoff{base: 10 * time.Second}
	var waits []time.Duration
	for range 8 {
		waits = append(waits, b.after(time.Second)/time.Second)
	}
	g.Expect(waits).To(Equal([]time.Duration{0, 10, 20, 40, 80, 160, 300, 300}))
	g.Expect(b.after(backoffReset)).To(BeZero())
	g.Expect(b.after(0)).To(Equal(10 * time.Second))
}
