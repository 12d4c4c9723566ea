// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package nodeagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/lockstep-dev/lockstep/test/rig/assets"
	"github.com/lockstep-dev/lockstep/test/rig/controlplane"
	"github.com/lockstep-dev/lockstep/test/rig/nodeagent"
)

// patience bounds waits for things that normally take a second or two.
const patience = 2 * time.Minute

// rig is a small cluster.
type rig struct {
	cp     *controlplane.ControlPlane
	agent  *nodeagent.Agent
	client kubernetes.Interface
	// web is the program in testdata/web, kubectl the real one.
	web, kubectl string
	dir          string
}

// newRig starts a cluster that ends with the test.
func newRig(t *testing.T) *rig {
	t.Helper()
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	bin, err := assets.Dir(assets.Kubectl)
	g.Expect(err).NotTo(HaveOccurred())
	r := &rig{dir: t.TempDir(), kubectl: filepath.Join(bin, "kubectl")}
	r.web = filepath.Join(r.dir, "web")
	build := exec.CommandContext(ctx, "go", "build", "-o", r.web, "./testdata/web")
	output, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))

	r.cp, err = controlplane.Start(ctx, controlplane.Options{Dir: filepath.Join(r.dir, "cp")})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(r.cp.Stop()).To(Succeed()) })
	r.client = kubernetes.NewForConfigOrDie(r.cp.Config())
	r.agent, err = nodeagent.Start(ctx, r.options(t))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(r.agent.Stop(patience)).To(Succeed()) })
	return r
}

func (r *rig) options(t *testing.T) nodeagent.Options {
	return nodeagent.Options{Config: r.cp.Config(), Dir: filepath.Join(r.dir, "node"),
		RestartBackoff: 100 * time.Millisecond, Log: testr.New(t), Env: []string{"RIG=yes"}}
}

// space is one test's namespace and what it needs there.
type space struct {
	*rig
	*WithT
	ctx  context.Context
	name string
}

func (r *rig) space(t *testing.T) space {
	t.Helper()
	s := space{rig: r, WithT: NewWithT(t), ctx: t.Context()}
	namespace, err := r.client.CoreV1().Namespaces().Create(s.ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	s.name = namespace.Name
	s.Eventually(func() error { // without it no Pod can be made
		_, err := r.client.CoreV1().ServiceAccounts(s.name).Get(s.ctx, "default", metav1.GetOptions{})
		return err
	}, patience).Should(Succeed())
	return s
}

func (s space) makePod(name string, spec corev1.PodSpec) *corev1.Pod {
	pod, err := s.client.CoreV1().Pods(s.name).Create(s.ctx,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	return pod
}

func (s space) pod(name string) *corev1.Pod {
	pod, err := s.client.CoreV1().Pods(s.name).Get(s.ctx, name, metav1.GetOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	return pod
}

// eventually waits until the Pod is as wanted and returns it.
func (s space) eventually(name string, wanted func(g Gomega, pod *corev1.Pod)) *corev1.Pod {
	var pod *corev1.Pod
	s.Eventually(func(g Gomega) {
		var err error
		pod, err = s.client.CoreV1().Pods(s.name).Get(s.ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		wanted(g, pod)
	}, patience).Should(Succeed())
	return pod
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func toBeReady(g Gomega, pod *corev1.Pod) { g.Expect(isReady(pod)).To(BeTrue(), "%+v", pod.Status) }

func toBeIn(phase corev1.PodPhase) func(Gomega, *corev1.Pod) {
	return func(g Gomega, pod *corev1.Pod) { g.Expect(pod.Status.Phase).To(Equal(phase), "%+v", pod.Status) }
}

// log returns the log of one start of a container.
func (s space) log(pod *corev1.Pod, container string, number int) string {
	content, err := os.ReadFile(filepath.Join(s.agent.LogDir(pod), container, fmt.Sprintf("%d.log", number)))
	s.Expect(err).NotTo(HaveOccurred())
	return string(content)
}

// webContainer runs testdata/web with a readiness probe.
func (r *rig) webContainer(args ...string) corev1.Container {
	return corev1.Container{Name: "web", Image: "web:1", Command: []string{r.web}, Args: args,
		Env:   []corev1.EnvVar{{Name: "POD_IP", ValueFrom: field("status.podIP")}},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")}}}}
}

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func sh(name, script string) corev1.Container {
	return corev1.Container{Name: name, Image: "sh", Command: []string{"sh", "-c", script}}
}

// get asks a Pod's web server.
func get(ctx context.Context, pod *corev1.Pod, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+pod.Status.PodIP+":8080"+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

// environ returns the environment of a Pod's web server.
func (s space) environ(pod *corev1.Pod) map[string]string {
	body, err := get(s.ctx, pod, "/env")
	s.Expect(err).NotTo(HaveOccurred())
	var env map[string]string
	s.Expect(json.Unmarshal([]byte(body), &env)).To(Succeed())
	return env
}

// run runs kubectl in the namespace.
func (s space) run(args ...string) (string, error) {
	command := exec.CommandContext(s.ctx, s.kubectl, append([]string{"--kubeconfig", s.cp.Kubeconfig(), "-n", s.name}, args...)...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	return output.String(), err
}

func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
