// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package controlplane_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lockstep-dev/lockstep/test/rig/controlplane"
)

const patience = 2 * time.Minute

func start(t *testing.T, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	if options.Dir == "" {
		options.Dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	cp, err := controlplane.Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		began := time.Now()
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("stopped in %s", time.Since(began).Round(time.Millisecond))
	})
	return cp
}

func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

func TestControlPlane(t *testing.T) {
	cp := start(t, controlplane.Options{HPASyncPeriod: time.Second})
	client := kubernetes.NewForConfigOrDie(cp.Config())
	ctx := t.Context()

	t.Run("controllers run", func(t *testing.T) {
		g := NewWithT(t)
		labels := map[string]string{"app": "web"}
		_, err := client.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}}},
		}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Eventually(func(g Gomega) {
			pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods.Items).To(HaveLen(2))
		}, patience).Should(Succeed())
	})

	t.Run("version and service range are as built and set", func(t *testing.T) {
		g := NewWithT(t)
		version, err := client.Discovery().ServerVersion()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(version.GitVersion).To(MatchRegexp(`^v1\.\d+\.\d+$`))
		service, err := client.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(service.Spec.ClusterIP).To(Equal("127.96.0.1"))
	})

	t.Run("the kubeconfig file works", func(t *testing.T) {
		g := NewWithT(t)
		config, err := clientcmd.BuildConfigFromFlags("", cp.Kubeconfig())
		g.Expect(err).NotTo(HaveOccurred())
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	})

	t.Run("another user has no rights of its own", func(t *testing.T) {
		g := NewWithT(t)
		path, err := cp.KubeconfigFor("team:payments/dev", "developers")
		g.Expect(err).NotTo(HaveOccurred())
		config, err := clientcmd.BuildConfigFromFlags("", path)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "got %v", err)
		g.Expect(err).To(MatchError(ContainSubstring(`User "team:payments/dev"`)))
	})

	t.Run("a server certificate is trusted through its ca", func(t *testing.T) {
		g := NewWithT(t)
		cert, key, ca, err := cp.ServerCertificate("hook.default.svc", "127.96.0.50")
		g.Expect(err).NotTo(HaveOccurred())
		pair, err := tls.X509KeyPair(cert, key)
		g.Expect(err).NotTo(HaveOccurred())
		roots := x509.NewCertPool()
		g.Expect(roots.AppendCertsFromPEM(ca)).To(BeTrue())
		for _, name := range []string{"hook.default.svc", "127.96.0.50"} {
			_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
			g.Expect(err).NotTo(HaveOccurred(), name)
		}
	})

	t.Run("nothing is left after Stop", func(t *testing.T) {
		g := NewWithT(t)
		pids := cp.PIDs()
		g.Expect(pids).To(HaveLen(3))
		g.Expect(cp.Err()).NotTo(HaveOccurred())
		g.Expect(cp.Stop()).To(Succeed())
		for name, pid := range pids {
			g.Expect(gone(pid)).To(BeTrue(), name)
		}
		g.Expect(cp.Err()).NotTo(HaveOccurred())
		g.Expect(cp.Done()).NotTo(BeClosed())
		g.Expect(cp.Stop()).To(Succeed())
	})
}

func TestAProgramThatEndsByItselfIsNoticed(t *testing.T) {
	g := NewWithT(t)
	cp := start(t, controlplane.Options{})
	g.Expect(syscall.Kill(cp.PIDs()["kube-controller-manager"], syscall.SIGKILL)).To(Succeed())
	g.Eventually(cp.Done(), patience).Should(BeClosed())
	g.Expect(cp.Err()).To(MatchError(ContainSubstring("kube-controller-manager ended by itself with exit code 137")))
}

func TestAFailedStartSaysWhyAndLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := controlplane.Start(t.Context(), controlplane.Options{Dir: dir, APIServerArgs: []string{"--no-such-flag"}})
	g.Expect(err).To(MatchError(ContainSubstring("starting kube-apiserver: it ended before it was ready, with exit code")))
	g.Expect(err).To(MatchError(ContainSubstring("no-such-flag")), "the end of the log")
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tasks).NotTo(BeEmpty())
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if err == nil { // the thread may have ended
			g.Expect(string(children)).To(BeEmpty())
		}
	}
}
