// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package nodeagent_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func (s space) makeConfigMap(name string, data map[string]string) *corev1.ConfigMap {
	object, err := s.client.CoreV1().ConfigMaps(s.name).Create(s.ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	return object
}

func local(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func testEnvironment(_ *testing.T, s space) {
	s.makeConfigMap("settings", map[string]string{"TOPIC": "orders", "OTHER": "x"})
	_, err := s.client.CoreV1().Secrets(s.name).Create(s.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"},
		StringData: map[string]string{"password": "hush"}}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	c := s.webContainer()
	c.EnvFrom = []corev1.EnvFromSource{{Prefix: "CM_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("settings")}}}
	c.Env = append(c.Env,
		corev1.EnvVar{Name: "NAME", ValueFrom: field("metadata.name")},
		corev1.EnvVar{Name: "UID", ValueFrom: field("metadata.uid")},
		corev1.EnvVar{Name: "LABEL", ValueFrom: field("metadata.labels['tier']")},
		corev1.EnvVar{Name: "NODE", ValueFrom: field("spec.nodeName")},
		corev1.EnvVar{Name: "TOPIC", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: local("settings"), Key: "TOPIC"}}},
		corev1.EnvVar{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: local("login"), Key: "password"}}},
		corev1.EnvVar{Name: "CLIENT", Value: "$(NAME)@$(POD_IP) $$(NAME) $(NOBODY)"})
	pod, err := s.client.CoreV1().Pods(s.name).Create(s.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-x", Labels: map[string]string{"tier": "front"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{c}}}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	pod = s.eventually(pod.Name, toBeReady)
	env := s.environ(pod)
	for name, want := range map[string]string{
		"NAME": "web-x", "UID": string(pod.UID), "LABEL": "front", "NODE": s.agent.NodeName(), "POD_IP": pod.Status.PodIP,
		"CM_TOPIC": "orders", "CM_OTHER": "x", "TOPIC": "orders", "PASSWORD": "hush", "RIG": "yes", "HOSTNAME": "web-x",
		"CLIENT": "web-x@" + pod.Status.PodIP + " $(NAME) $(NOBODY)", "PATH": os.Getenv("PATH"), "KUBERNETES_SERVICE_HOST": "127.0.0.1",
	} {
		s.Expect(env).To(HaveKeyWithValue(name, want))
	}
	s.Expect(env).NotTo(HaveKey("LOCKSTEP_NOT_INHERITED"))
	if os.Geteuid() == 0 {
		s.Expect(env["os.Hostname"]).To(Equal("web-x"))
	}
	s.Expect(pod.Status.PodIP).To(HavePrefix("127.10."))
	s.Expect(pod.Status.Phase).To(Equal(corev1.PodRunning))
}

func testConfigMapVolume(_ *testing.T, s space) {
	settings := s.makeConfigMap("settings", map[string]string{"greeting": "hello", "other": "x"})
	c := s.webContainer("-file=/etc/app/greeting")
	c.VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: "/etc/app"}}
	s.makePod("web", corev1.PodSpec{Containers: []corev1.Container{c},
		Volumes: []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("settings")}}}}})
	pod := s.eventually("web", toBeReady)
	s.Expect(get(s.ctx, pod, "/file")).To(Equal("hello"))

	settings.Data["greeting"] = "good evening"
	_, err := s.client.CoreV1().ConfigMaps(s.name).Update(s.ctx, settings, metav1.UpdateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	s.Eventually(get, patience).WithArguments(s.ctx, pod, "/file").Should(Equal("good evening"))
	s.Expect(s.pod("web").Status.ContainerStatuses[0].RestartCount).To(BeZero())
}

func testWaitsForReferences(_ *testing.T, s space) {
	c := s.webContainer()
	c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("late")}}}
	s.makePod("web", corev1.PodSpec{Containers: []corev1.Container{c}})
	pod := s.eventually("web", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
		g.Expect(pod.Status.ContainerStatuses[0].State.Waiting).To(HaveField("Reason", "CreateContainerConfigError"))
	})
	s.Expect(pod.Status.Phase).To(Equal(corev1.PodPending))
	s.Expect(pod.Status.ContainerStatuses[0].State.Waiting.Message).To(ContainSubstring(`configmap "late" not found`))
	s.makeConfigMap("late", map[string]string{"COLOUR": "green"})
	pod = s.eventually("web", toBeReady)
	s.Expect(s.environ(pod)["COLOUR"]).To(Equal("green"))
}

func testInitContainers(_ *testing.T, s space) {
	share := corev1.VolumeMount{Name: "share", MountPath: "/share"}
	withShare := func(c corev1.Container) corev1.Container {
		c.VolumeMounts = append(c.VolumeMounts, share)
		return c
	}
	s.makePod("sh", corev1.PodSpec{
		InitContainers: []corev1.Container{
			withShare(sh("first", "echo first >>/share/order")),
			// Fails once, and so is started again.
			withShare(sh("second", "echo second >>/share/order; [ $(wc -l </share/order) -gt 2 ]")),
		},
		Containers: []corev1.Container{withShare(sh("main", "echo main >>/share/order; cat /share/order; exec sleep 600"))},
		Volumes:    []corev1.Volume{{Name: "share", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	})
	pod := s.eventually("sh", toBeReady)
	s.Eventually(s.log, patience).WithArguments(pod, "main", 0).Should(Equal("first\nsecond\nsecond\nmain\n"))
	s.Expect(pod.Status.InitContainerStatuses[0].RestartCount).To(BeZero())
	s.Expect(pod.Status.InitContainerStatuses[1].RestartCount).To(Equal(int32(1)))
	s.Expect(pod.Status.InitContainerStatuses[1].Ready).To(BeTrue())
}

func testRestarts(_ *testing.T, s space) {
	s.makePod("sh", corev1.PodSpec{Containers: []corev1.Container{sh("sh", `echo "I give up" >&2; exit 3`)}})
	pod := s.eventually("sh", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
		g.Expect(pod.Status.ContainerStatuses[0].RestartCount).To(BeNumerically(">=", 3))
		g.Expect(pod.Status.ContainerStatuses[0].State.Waiting).To(HaveField("Reason", "CrashLoopBackOff"))
	})
	last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated
	s.Expect(last.ExitCode).To(Equal(int32(3)))
	s.Expect(last.Message).To(Equal("I give up\n"))
	s.Expect(pod.Status.Phase).To(Equal(corev1.PodRunning))
	s.Expect(isReady(pod)).To(BeFalse())
	s.Expect(s.log(pod, "sh", 2)).To(Equal("I give up\n"), "a log for each start")

	missing := sh("missing", "")
	missing.Command = []string{"no-such-program"}
	s.makePod("missing", corev1.PodSpec{Containers: []corev1.Container{missing}})
	s.eventually("missing", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
		last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated
		g.Expect(last).To(And(HaveField("Reason", "StartError"), HaveField("Message", ContainSubstring("no-such-program"))))
	})
}

func testLiveness(_ *testing.T, s space) {
	c := s.webContainer()
	c.LivenessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 2, ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/alive", Port: intstr.FromInt32(8080)}}}
	c.StartupProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 60, ProbeHandler: corev1.ProbeHandler{
		TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}}
	s.makePod("web", corev1.PodSpec{Containers: []corev1.Container{c}})
	pod := s.eventually("web", toBeReady)
	s.Expect(*pod.Status.ContainerStatuses[0].Started).To(BeTrue())
	response, err := http.Post("http://"+pod.Status.PodIP+":8080/sick", "", nil)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(response.Body.Close()).To(Succeed())
	pod = s.eventually("web", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses[0].RestartCount).To(Equal(int32(1)))
		toBeReady(g, pod)
	})
	s.Expect(s.log(pod, "web", 0)).To(HaveSuffix("bye\n"), "it was asked to end")
}

func testPhases(_ *testing.T, s space) {
	s.makePod("good", corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{sh("a", "true"), sh("b", "true")}})
	s.makePod("bad", corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{sh("a", "true"), sh("b", "exit 2")}})
	s.makePod("again", corev1.PodSpec{RestartPolicy: corev1.RestartPolicyOnFailure, Containers: []corev1.Container{sh("a", "[ -f x ] || { touch x; exit 1; }")}})
	s.eventually("good", toBeIn(corev1.PodSucceeded))
	s.eventually("bad", toBeIn(corev1.PodFailed))
	again := s.eventually("again", toBeIn(corev1.PodSucceeded))
	s.Expect(again.Status.ContainerStatuses[0].RestartCount).To(Equal(int32(1)))
	for _, name := range []string{"good", "bad", "again"} { // a Pod that is over can be deleted
		output, err := s.run("delete", "pod", name, "--timeout=1m")
		s.Expect(err).NotTo(HaveOccurred(), output)
	}
}

func testGracefulStop(t *testing.T, s space) {
	c := sh("sh", `trap 'echo asked; sleep 1; echo saved; exit 0' TERM; while :; do sleep 0.1; done`)
	c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo before >/share/hook"}}}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "share", MountPath: "/share"}}
	share := t.TempDir()
	s.makePod("sh", corev1.PodSpec{Containers: []corev1.Container{c}, TerminationGracePeriodSeconds: new(int64(60)),
		Volumes: []corev1.Volume{{Name: "share", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: share}}}}})
	pod := s.eventually("sh", toBeReady)
	seen := s.follow(t)
	output, err := s.run("delete", "pod", "sh")
	s.Expect(err).NotTo(HaveOccurred(), output)
	s.Expect(s.log(pod, "sh", 0)).To(Equal("asked\nsaved\n"))
	s.Expect(os.ReadFile(filepath.Join(share, "hook"))).To(BeEquivalentTo("before\n"))
	events := seen.all()
	last := events[len(events)-1].Object.(*corev1.Pod)
	s.Expect(last.Status.Phase).To(Equal(corev1.PodSucceeded))
	s.Expect(last.Status.ContainerStatuses[0].State.Terminated).To(HaveField("ExitCode", int32(0)))
}

func testKilledAfterGrace(t *testing.T, s space) {
	s.makePod("sh", corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{sh("sh", `trap 'echo no' TERM; while :; do sleep 0.1; done`)}})
	pod := s.eventually("sh", toBeReady)
	seen := s.follow(t)
	output, err := s.run("delete", "pod", "sh", "--timeout=1m")
	s.Expect(err).NotTo(HaveOccurred(), output)
	s.Expect(s.log(pod, "sh", 0)).To(Equal("no\n"))
	events := seen.all()
	last := events[len(events)-1].Object.(*corev1.Pod)
	s.Expect(last.Status.Phase).To(Equal(corev1.PodFailed))
	s.Expect(last.Status.ContainerStatuses[0].State.Terminated).To(HaveField("ExitCode", int32(137)))
}

func testForcedDeletion(_ *testing.T, s space) {
	c := sh("sh", `trap '' TERM; echo $$; while :; do sleep 0.1; done`)
	s.makePod("sh", corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(600)), Containers: []corev1.Container{c}})
	old := s.eventually("sh", toBeReady)
	var pid string
	s.Eventually(func() string { pid = strings.TrimSpace(s.log(old, "sh", 0)); return pid }, patience).ShouldNot(BeEmpty())
	// Deleted gracefully, which would take ten minutes, and then by force.
	output, err := s.run("delete", "pod", "sh", "--wait=false")
	s.Expect(err).NotTo(HaveOccurred(), output)
	output, err = s.run("delete", "pod", "sh", "--force", "--grace-period=0", "--timeout=1m")
	s.Expect(err).NotTo(HaveOccurred(), output)
	s.Eventually(func() error { _, err := os.Stat("/proc/" + pid); return err }, patience).Should(MatchError(os.ErrNotExist))
	// Another of the same name is not touched by the end of the first.
	s.makePod("sh", corev1.PodSpec{Containers: []corev1.Container{sh("sh", "exec sleep 600")}})
	s.eventually("sh", toBeReady)
	s.Consistently(func() bool { return isReady(s.pod("sh")) }, time.Second).Should(BeTrue())
}

func testServiceAccount(_ *testing.T, s space) {
	c := sh("sh", `"$KUBECTL" auth whoami -o jsonpath='{.status.userInfo.username}'; cat /var/run/secrets/kubernetes.io/serviceaccount/namespace`)
	c.Env = []corev1.EnvVar{{Name: "KUBECTL", Value: s.kubectl}}
	s.makePod("sh", corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{c}})
	pod := s.eventually("sh", toBeIn(corev1.PodSucceeded))
	s.Expect(s.log(pod, "sh", 0)).To(Equal("system:serviceaccount:" + s.name + ":default" + s.name))
}

func testLogs(_ *testing.T, s space) {
	s.makePod("sh", corev1.PodSpec{Containers: []corev1.Container{sh("sh", `
if [ -f again ]; then echo second; echo life; touch running; while [ ! -f end ]; do sleep 0.1; done; echo last; exec sleep 600; fi
touch again; echo first; exit 1`)}})
	s.eventually("sh", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
		g.Expect(pod.Status.ContainerStatuses[0].RestartCount).To(Equal(int32(1)))
		toBeReady(g, pod)
	})
	s.Eventually(s.run, patience).WithArguments("logs", "sh").Should(Equal("second\nlife\n"))
	s.Expect(s.run("logs", "sh", "--tail=1")).To(Equal("life\n"))
	s.Expect(s.run("logs", "sh", "--previous")).To(Equal("first\n"))
	output, err := s.run("logs", "sh", "--timestamps")
	s.Expect(err).To(HaveOccurred())
	s.Expect(output).To(ContainSubstring("timestamps is not supported"))

	follow := exec.CommandContext(s.ctx, s.kubectl, "--kubeconfig", s.cp.Kubeconfig(), "-n", s.name, "logs", "-f", "sh")
	out := gbytes.NewBuffer()
	follow.Stdout = out
	s.Expect(follow.Start()).To(Succeed())
	s.Eventually(out, patience).Should(gbytes.Say("second\nlife\n"))
	pod := s.pod("sh")
	s.Expect(os.WriteFile(filepath.Join(s.dir, "node", "pods", string(pod.UID), "work", "end"), nil, 0o600)).To(Succeed())
	s.Eventually(out, patience).Should(gbytes.Say("last\n"))
	s.Expect(follow.Process.Kill()).To(Succeed())
	_ = follow.Wait()
}

func testUnsupported(_ *testing.T, s space) {
	sidecar := sh("sidecar", "exec sleep 600")
	sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	s.makePod("sidecar", corev1.PodSpec{InitContainers: []corev1.Container{sidecar}, Containers: []corev1.Container{sh("sh", "exec sleep 600")}})
	s.eventually("sidecar", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.InitContainerStatuses).To(HaveLen(1))
		g.Expect(pod.Status.InitContainerStatuses[0].State.Waiting).To(HaveField("Message",
			"init container sidecar has a restart policy of its own: not supported by the rig"))
		g.Expect(pod.Status.Phase).To(Equal(corev1.PodPending))
	})
	output, err := s.run("delete", "pod", "sidecar", "--timeout=1m")
	s.Expect(err).NotTo(HaveOccurred(), output)
	s.makePod("image", corev1.PodSpec{Containers: []corev1.Container{{Name: "image", Image: "nginx"}}})
	s.eventually("image", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
		g.Expect(pod.Status.ContainerStatuses[0].State.Waiting).To(HaveField("Message", ContainSubstring("the rig runs no images")))
	})
}

func testExecAndTCPReadiness(t *testing.T, s space) {
	flag := filepath.Join(t.TempDir(), "flag")
	c := sh("sh", "exec sleep 600")
	c.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"cat", flag}}}}
	web := s.webContainer()
	web.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}}
	s.makePod("both", corev1.PodSpec{Containers: []corev1.Container{c, web}})
	s.eventually("both", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(2))
		g.Expect(pod.Status.ContainerStatuses[1].Ready).To(BeTrue())
	})
	s.Expect(isReady(s.pod("both"))).To(BeFalse())
	s.Expect(os.WriteFile(flag, nil, 0o600)).To(Succeed())
	s.eventually("both", toBeReady)
	s.Expect(os.Remove(flag)).To(Succeed()) // ready can be lost again
	s.eventually("both", func(g Gomega, pod *corev1.Pod) { g.Expect(isReady(pod)).To(BeFalse()) })
}
