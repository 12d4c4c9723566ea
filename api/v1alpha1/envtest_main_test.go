// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// apiServer is the kube-apiserver that all tests of this package share; each works in a namespace of
// its own. It is written once, before any test runs.
var apiServer struct {
	config     *rest.Config
	client     client.Client
	kubeconfig string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS is not set: these tests need kube-apiserver, etcd and kubectl; run them with make test-envtest, which builds the three")
		return 1
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting kube-apiserver and etcd:", err)
		return 1
	}
	code := 1
	if err := prepare(environment, config); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	if err := errors.Join(environment.Stop(), removeKubeconfig()); err != nil {
		fmt.Fprintln(os.Stderr, "stopping kube-apiserver and etcd:", err)
		return 1
	}
	return code
}

func prepare(environment *envtest.Environment, config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	user, err := environment.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return fmt.Errorf("adding a user for kubectl: %w", err)
	}
	raw, err := user.KubeConfig()
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	file, err := os.CreateTemp("", "lockstep-kubeconfig-*")
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	_, writeErr := file.Write(raw)
	if err := errors.Join(writeErr, file.Close()); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	apiServer.config, apiServer.client, apiServer.kubeconfig = config, c, file.Name()
	return nil
}

func removeKubeconfig() error {
	if apiServer.kubeconfig == "" {
		return nil
	}
	return os.Remove(apiServer.kubeconfig)
}

// testContext ends with the test, and before the test's own patience does.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "api-"}}
	NewWithT(t).Expect(apiServer.client.Create(testContext(t), namespace)).To(Succeed())
	return namespace.Name
}

// kubectl runs the real kubectl and returns what it prints on stdout and stderr.
func kubectl(t *testing.T, stdin string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(testContext(t), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), arguments...)
	// A home of its own: kubectl caches what it discovers.
	command.Env = []string{"KUBECONFIG=" + apiServer.kubeconfig, "HOME=" + t.TempDir()}
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	return string(out), err
}
