// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// objectsOf returns a source with these ConfigMaps and Secrets of namespace ns.
func objectsOf(t *testing.T, all ...any) objects {
	t.Helper()
	configMaps := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	secrets := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, object := range all {
		var err error
		switch object := object.(type) {
		case *corev1.ConfigMap:
			err = configMaps.Add(object)
		case *corev1.Secret:
			err = secrets.Add(object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return objects{corelisters.NewConfigMapLister(configMaps), corelisters.NewSecretLister(secrets)}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }

func ref(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func testObjects(t *testing.T) objects {
	return objectsOf(t,
		&corev1.ConfigMap{ObjectMeta: meta("cm"), Data: map[string]string{"a": "1", "b": "2"}, BinaryData: map[string][]byte{"bin": {1}}},
		&corev1.Secret{ObjectMeta: meta("secret"), Data: map[string][]byte{"password": []byte("hush")}})
}

func testEnvironmentOf(t *testing.T) environment {
	pod := podOf("Always", "c")
	pod.Labels = map[string]string{"app": "web", "tier": "front"}
	pod.Annotations = map[string]string{"note": `say "hi"`}
	pod.Spec.NodeName, pod.Spec.ServiceAccountName = "node-1", "robot"
	return environment{pod: pod, who: identity{podIP: "127.10.0.7", hostIP: "127.0.0.1"}, objects: testObjects(t),
		base: map[string]string{"PATH": "/bin", "OVER": "base"}}
}

func TestFields(t *testing.T) {
	e := testEnvironmentOf(t)
	for path, want := range map[string]string{
		"metadata.name": "web-0", "metadata.namespace": "ns", "metadata.uid": "uid", "metadata.labels['app']": "web",
		"metadata.labels['none']": "", "metadata.annotations['note']": `say "hi"`, "spec.nodeName": "node-1",
		"spec.serviceAccountName": "robot", "status.podIP": "127.10.0.7", "status.podIPs": "127.10.0.7", "status.hostIP": "127.0.0.1",
		"metadata.labels": "app=\"web\"\ntier=\"front\"", "metadata.annotations": `note="say \"hi\""`,
	} {
		t.Run(path, func(t *testing.T) { NewWithT(t).Expect(e.field(path)).To(Equal(want)) })
	}
	for _, path := range []string{"", "status.phase", "metadata.labels[app]", "spec.labels['app']"} {
		_, err := e.field(path)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("is not supported by the rig")), path)
	}
}

func TestEnvironmentOf(t *testing.T) {
	optional := new(true)
	e := testEnvironmentOf(t)
	for _, tc := range []struct {
		name    string
		c       corev1.Container
		want    map[string]string
		wantErr string
	}{
		{name: "base and host name", want: map[string]string{"PATH": "/bin", "OVER": "base", "HOSTNAME": "web-0"}},
		{name: "own value wins", c: corev1.Container{Env: []corev1.EnvVar{{Name: "OVER", Value: "own"}}}, want: map[string]string{"OVER": "own"}},
		{name: "all of a ConfigMap", c: corev1.Container{EnvFrom: []corev1.EnvFromSource{{Prefix: "P_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("cm")}}}},
			want: map[string]string{"P_a": "1", "P_b": "2"}},
		{name: "all of a Secret", c: corev1.Container{EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref("secret")}}}},
			want: map[string]string{"password": "hush"}},
		{name: "later sources and variables win", c: corev1.Container{
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("cm")}}},
			Env:     []corev1.EnvVar{{Name: "a", Value: "own"}}}, want: map[string]string{"a": "own", "b": "2"}},
		{name: "references to earlier ones", c: corev1.Container{Env: []corev1.EnvVar{{Name: "X", Value: "1"}, {Name: "Y", Value: "$(X)$(Z)"}, {Name: "Z", Value: "3"}}},
			want: map[string]string{"Y": "1$(Z)"}},
		{name: "key of a Secret", c: fromSecret("secret", "password", nil), want: map[string]string{"V": "hush"}},
		{name: "no such Secret", c: fromSecret("none", "password", nil), wantErr: `variable V of container c: reading Secret ns/none: secret "none" not found`},
		{name: "no such key", c: fromSecret("secret", "none", nil), wantErr: `variable V of container c: Secret secret has no key "none"`},
		{name: "optional Secret", c: fromSecret("none", "password", optional), want: map[string]string{"V": "<unset>"}},
		{name: "optional key", c: fromSecret("secret", "none", optional), want: map[string]string{"V": "<unset>"}},
		{name: "no such ConfigMap", c: corev1.Container{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("none")}}}},
			wantErr: `reading ConfigMap ns/none: configmap "none" not found`},
		{name: "optional ConfigMap", c: corev1.Container{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("none"), Optional: optional}}}},
			want: map[string]string{"a": "<unset>"}},
		{name: "resource fields", c: corev1.Container{Name: "c", Env: []corev1.EnvVar{{Name: "V", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}}}},
			wantErr: "variable V of container c: this kind of valueFrom is not supported by the rig"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			env, err := e.of(&tc.c)
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(tc.wantErr))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			for name, want := range tc.want {
				if want == "<unset>" {
					g.Expect(env).NotTo(HaveKey(name))
				} else {
					g.Expect(env).To(HaveKeyWithValue(name, want))
				}
			}
		})
	}
	NewWithT(t).Expect(e.base).To(HaveLen(2), "the base is shared and must stay as it is")
}

func fromSecret(name, key string, optional *bool) corev1.Container {
	return corev1.Container{Name: "c", Env: []corev1.EnvVar{{Name: "V", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref(name), Key: key, Optional: optional}}}}}
}

func TestHostname(t *testing.T) {
	g := NewWithT(t)
	pod := podOf("Always")
	g.Expect(hostname(pod)).To(Equal("web-0"))
	pod.Spec.Hostname = "other"
	g.Expect(hostname(pod)).To(Equal("other"))
	pod.Spec.Hostname, pod.Name = "", strings.Repeat("a", 62)+"-b"
	g.Expect(hostname(pod)).To(Equal(strings.Repeat("a", 62)), "cut to 63 and not ending in a dash")
}

func TestHostsFile(t *testing.T) {
	g := NewWithT(t)
	pod := podOf("Always")
	g.Expect(hostsFile(pod, "127.10.0.7")).To(Equal("127.0.0.1\tlocalhost\n127.10.0.7\tweb-0\n"))
	pod.Spec.Subdomain = "web"
	pod.Spec.HostAliases = []corev1.HostAlias{{IP: "127.0.0.9", Hostnames: []string{"a", "b"}}}
	g.Expect(hostsFile(pod, "127.10.0.7")).To(Equal("127.0.0.1\tlocalhost\n" +
		"127.10.0.7\tweb-0.web.ns.svc.cluster.local\tweb-0\n127.0.0.9\ta\n127.0.0.9\tb\n"))
}

func TestCommandLine(t *testing.T) {
	g := NewWithT(t)
	_, err := commandLine(&corev1.Container{Name: "c", Args: []string{"x"}}, nil)
	g.Expect(err).To(MatchError(ContainSubstring("container c has no command")))
	g.Expect(commandLine(&corev1.Container{Command: []string{"run", "$(A)"}, Args: []string{"$$(A)", "$(B)"}}, map[string]string{"A": "1"})).
		To(Equal([]string{"run", "1", "$(A)", "$(B)"}))
}

// fixedToken stands in for the API server.
type fixedToken struct{ err error }

func (f fixedToken) token(context.Context, *corev1.ServiceAccountTokenProjection) (string, error) {
	return "token", f.err
}

func TestVolumes(t *testing.T) {
	items := []corev1.KeyToPath{{Key: "a", Path: "sub/x", Mode: new(int32(0o600))}}
	optional := new(true)
	for _, tc := range []struct {
		name    string
		source  corev1.VolumeSource
		want    map[string]string
		wantErr string
	}{
		{name: "ConfigMap", source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref("cm")}},
			want: map[string]string{"a": "1", "b": "2", "bin": "\x01"}},
		{name: "items", source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref("cm"), Items: items}},
			want: map[string]string{"sub/x": "1"}},
		{name: "Secret", source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret"}}, want: map[string]string{"password": "hush"}},
		{name: "no such key", source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret", Items: items}}, wantErr: `volume v: there is no key "a"`},
		{name: "optional key", source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret", Items: items, Optional: optional}}, want: map[string]string{}},
		{name: "no such ConfigMap", source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref("none")}},
			wantErr: `volume v: reading ConfigMap ns/none: configmap "none" not found`},
		{name: "optional ConfigMap", source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref("none"), Optional: optional}}, want: map[string]string{}},
		{name: "downward API", source: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "ip", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}}}, want: map[string]string{"ip": "127.10.0.7"}},
		{name: "projected", source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: ref("cm"), Items: items}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: ref("secret")}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "ns", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
		}}}, want: map[string]string{"token": "token", "sub/x": "1", "password": "hush", "ns": "ns"}},
		{name: "unknown kind", source: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}},
			wantErr: "volume v: this kind of volume is not supported by the rig"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			v := volumes{dir: t.TempDir(), env: testEnvironmentOf(t), tokens: fixedToken{}}
			v.env.pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: tc.source}}
			err := v.sync(t.Context())
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(tc.wantErr))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(visible(v.path("v"))).To(Equal(tc.want))
		})
	}
}

func TestOneBadVolumeDoesNotKeepOthersOld(t *testing.T) {
	g := NewWithT(t)
	v := volumes{dir: t.TempDir(), env: testEnvironmentOf(t), tokens: fixedToken{errors.New("no token")}}
	v.env.pod.Spec.Volumes = []corev1.Volume{
		{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}}}}},
		{Name: "cm", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref("cm")}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}},
	}
	g.Expect(v.sync(t.Context())).To(MatchError("volume token: no token"))
	g.Expect(visible(v.path("cm"))).To(HaveKeyWithValue("a", "1"))
	g.Expect(filepath.Join(v.dir, "scratch")).To(BeADirectory())
	g.Expect(v.path("host")).To(Equal("/srv"))
}

func TestFileModes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(fileMode(nil, nil)).To(Equal(os.FileMode(0o644)))
	g.Expect(fileMode(nil, new(int32(0o400)))).To(Equal(os.FileMode(0o400)))
	g.Expect(fileMode(new(int32(0o755)), new(int32(0o400)))).To(Equal(os.FileMode(0o755)))
}

func TestUnsupportedIsSaid(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for want, spec := range map[string]corev1.PodSpec{
		"init container c has a restart policy of its own":   {InitContainers: []corev1.Container{{Name: "c", RestartPolicy: &always}}},
		"container c has a gRPC probe":                       {Containers: []corev1.Container{{Name: "c", LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}}}}}},
		"container c has a postStart hook":                   {Containers: []corev1.Container{{Name: "c", Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}}}}},
		"container c mounts volume v at / or by subPathExpr": {Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/"}}}}},
	} {
		NewWithT(t).Expect(unsupported(&spec)).To(MatchError(want + ": not supported by the rig"))
	}
	NewWithT(t).Expect(unsupported(&corev1.PodSpec{Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/x"}}}}})).To(Succeed())
}
