// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hostsPath is where the hosts file of a Pod is, as in every container.
const hostsPath = "/etc/hosts"

// mount is a folder or file of the host that a container knows by another path.
type mount struct{ container, host string }

// mounts rewrites paths of a container to paths of the host.
type mounts []mount

// containerMounts returns what the container mounts. Volumes are folders below
// volumeDir with the name of the volume; extra mounts come on top.
func containerMounts(c *corev1.Container, volumeDir func(name string) string, extra ...mount) mounts {
	all := slices.Clone(extra)
	for _, m := range c.VolumeMounts {
		all = append(all, mount{
			container: filepath.Clean(m.MountPath),
			host:      filepath.Join(volumeDir(m.Name), m.SubPath),
		})
	}
	// The longest first: of /a and /a/b the second is meant by /a/b/c.
	slices.SortStableFunc(all, func(a, b mount) int { return cmp.Compare(len(b.container), len(a.container)) })
	return all
}

// rewrite replaces every path in the text that is a mount path or below one.
// A mount path counts only where a path can begin and up to where a name ends:
// /etc/app is rewritten in "-Dconf=/etc/app/x" and "file:///etc/app", not in
// "/opt/etc/app", "http://host/etc/app" or "/etc/apps".
func (ms mounts) rewrite(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		if m, found := ms.at(text, at); found {
			out.WriteString(m.host)
			at += len(m.container)
			continue
		}
		out.WriteByte(text[at])
		at++
	}
	return out.String()
}

func (ms mounts) at(text string, at int) (mount, bool) {
	if text[at] != '/' || (at > 0 && isNameByte(text[at-1])) {
		return mount{}, false
	}
	for _, m := range ms {
		rest, found := strings.CutPrefix(text[at:], m.container)
		if found && (rest == "" || !isNameByte(rest[0])) {
			return m, true
		}
	}
	return mount{}, false
}

func (ms mounts) rewriteAll(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, ms.rewrite(text))
	}
	return out
}

// rewriteEnv rewrites the values of variables but those that the agent gave: their
// paths are of the host already.
func (ms mounts) rewriteEnv(env, base map[string]string) {
	for name, value := range env {
		if given, found := base[name]; !found || given != value {
			env[name] = ms.rewrite(value)
		}
	}
}

// isNameByte tells whether a byte can be part of a file name that somebody
// writes in an argument. Bytes of UTF-8 sequences can.
func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
		b == '.' || b == '-' || b == '_' || b == '~' || b == '}' || b >= 0x80
}
