// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, known := map[string]string{"A": "1", "EMPTY": "", "NEST": "$(A)"}[name]
		return value, known
	}
	for text, want := range map[string]string{
		"":                 "",
		"plain":            "plain",
		"$(A)":             "1",
		"x$(A)y$(A)z":      "x1y1z",
		"$(UNKNOWN)":       "$(UNKNOWN)",
		"[$(EMPTY)]":       "[]",
		"$$(A)":            "$(A)",
		"$$$(A)":           "$1",
		"$A":               "$A",
		"cost: 5$":         "cost: 5$",
		"$(A":              "$(A",
		"$(A $(A)":         "$(A $(A)", // up to the first ')': the name "A $(A"
		"$(NEST)":          "$(A)",     // values are not expanded again
		"$":                "$",
		"$$":               "$",
		"a$(UNKNOWN)$(A)b": "a$(UNKNOWN)1b",
	} {
		t.Run(text, func(t *testing.T) { NewWithT(t).Expect(expand(text, lookup)).To(Equal(want)) })
	}
}

func TestExpandLeavesTextWithoutDollarsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "$", "")
		if got := expand(text, func(string) (string, bool) { return "!", true }); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		// Escaped dollars come back as single ones, whatever stands around them.
		if got := expand("$$"+text, func(string) (string, bool) { return "!", true }); got != "$"+text {
			t.Fatalf("%q became %q", "$$"+text, got)
		}
	})
}

func TestRewriteMounts(t *testing.T) {
	ms := containerMounts(&corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{Name: "conf", MountPath: "/etc/app/"},
		{Name: "inner", MountPath: "/etc/app/inner"},
		{Name: "one", MountPath: "/etc/one.yaml", SubPath: "one.yaml"},
	}}, func(name string) string { return "/host/" + name }, mount{hostsPath, "/host/hosts"})
	for text, want := range map[string]string{
		"":                                "",
		"/etc/app":                        "/host/conf",
		"/etc/app/":                       "/host/conf/",
		"/etc/app/x.conf":                 "/host/conf/x.conf",
		"/etc/app/inner":                  "/host/inner",
		"/etc/app/inner/x":                "/host/inner/x",
		"/etc/app/innermost":              "/host/conf/innermost",
		"-Dconf=/etc/app/x -v":            "-Dconf=/host/conf/x -v",
		"cat /etc/app/a /etc/app/b":       "cat /host/conf/a /host/conf/b",
		"file:///etc/app/x":               "file:///host/conf/x",
		"'/etc/app'":                      "'/host/conf'",
		"a:/etc/app:b":                    "a:/host/conf:b",
		"/etc/apps":                       "/etc/apps",
		"/etc/app-old/x":                  "/etc/app-old/x",
		"/etc/app.d/x":                    "/etc/app.d/x",
		"/opt/etc/app/x":                  "/opt/etc/app/x",
		"./etc/app":                       "./etc/app",
		"$HOME/etc/app":                   "$HOME/etc/app",
		"${HOME}/etc/app":                 "${HOME}/etc/app",
		"http://host/etc/app":             "http://host/etc/app",
		"http://host:80/etc/app":          "http://host:80/etc/app",
		"/etc/one.yaml":                   "/host/one/one.yaml",
		"-Djdk.net.hosts.file=/etc/hosts": "-Djdk.net.hosts.file=/host/hosts",
		"/etc/hostsx":                     "/etc/hostsx",
		"/etc/appé":                       "/etc/appé",
	} {
		t.Run(text, func(t *testing.T) { NewWithT(t).Expect(ms.rewrite(text)).To(Equal(want)) })
	}
}

func TestVariablesOfTheAgentAreNotRewritten(t *testing.T) {
	g := NewWithT(t)
	base := map[string]string{"HOME": "/tmp/rig/work", "PATH": "/tmp/tools"}
	env := map[string]string{"HOME": "/tmp/rig/work", "PATH": "/tmp/own", "FILE": "/tmp/x"}
	mounts{{"/tmp", "/volume"}}.rewriteEnv(env, base)
	g.Expect(env).To(Equal(map[string]string{"HOME": "/tmp/rig/work", "PATH": "/volume/own", "FILE": "/volume/x"}))
}

func TestRewriteWithoutMountsChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if got := mounts(nil).rewrite(text); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestRewriteFindsEveryPathBelowAMount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		element := rapid.StringMatching(`[a-z0-9._-]{1,8}`)
		at := "/" + element.Draw(t, "a") + "/" + element.Draw(t, "b")
		ms := mounts{{container: at, host: "/H"}}
		below := "/" + element.Draw(t, "c")
		prefix := rapid.SampledFrom([]string{"", "-x=", "a ", "\"", "p:", ","}).Draw(t, "prefix")
		if got, want := ms.rewrite(prefix+at+below), prefix+filepath.Join("/H", below); got != prefix+"/H"+below {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
