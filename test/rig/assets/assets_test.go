// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package assets

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestDir(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[Program]os.FileMode{Etcd: 0o755, APIServer: 0o755, Kubectl: 0o644} {
		if err := os.WriteFile(filepath.Join(dir, string(name)), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, value string
		programs    []Program
		wantErr     string
	}{
		{"all there", dir, []Program{Etcd, APIServer}, ""},
		{"nothing asked for", dir, nil, ""},
		{"not set", "", []Program{Etcd}, "KUBEBUILDER_ASSETS is not set"},
		{"one missing", dir, []Program{Etcd, ControllerManager}, "looking for kube-controller-manager (hack/control-plane.sh builds it)"},
		{"not executable", dir, []Program{Kubectl}, "is not a program that can be run"},
		{"no such folder", filepath.Join(dir, "none"), []Program{Etcd}, "looking for etcd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv(EnvVar, tc.value)
			got, err := Dir(tc.programs...)
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(dir))
		})
	}
}

func TestDirIsAbsolute(t *testing.T) {
	g := NewWithT(t)
	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile("etcd", nil, 0o755)).To(Succeed())
	t.Setenv(EnvVar, ".")
	got, err := Dir(Etcd)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.IsAbs(got)).To(BeTrue())
}
