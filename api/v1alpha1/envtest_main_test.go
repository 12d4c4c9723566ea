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
	"sync"
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

// server is a kube-apiserver with the CRDs of this project.
type server struct {
	environment *envtest.Environment
	config      *rest.Config
	client      client.Client
	kubeconfig  string
}

// shared starts the server at its first use and is used by all tests; each works in a namespace of its
// own. It starts inside a test, not in TestMain, so that the test cache knows that it read the CRDs.
var shared = sync.OnceValues(start)

func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS is not set: these tests need kube-apiserver, etcd and kubectl; run them with make test-envtest, which builds the three")
		os.Exit(1)
	}
	code := m.Run()
	if s, err := shared(); err == nil {
		if err := s.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping kube-apiserver and etcd:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// api is the shared server, or the end of the test.
func api(t *testing.T) *server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start() (*server, error) {
	s := &server{environment: &envtest.Environment{
		BinaryAssetsDirectory: os.Getenv("KUBEBUILDER_ASSETS"),
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}}
	config, err := s.environment.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting kube-apiserver and etcd: %w", err), s.environment.Stop())
	}
	s.config = config
	if err := errors.Join(s.addClient(), s.addKubeconfig()); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) stop() error {
	err := s.environment.Stop()
	if s.kubeconfig != "" {
		err = errors.Join(err, os.Remove(s.kubeconfig))
	}
	return err
}

func (s *server) addClient() error {
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
	if err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	if s.client, err = client.New(s.config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return nil
}

func (s *server) addKubeconfig() error {
	user, err := s.environment.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return fmt.Errorf("adding a user for kubectl: %w", err)
	}
	raw, err := user.KubeConfig()
	if err != nil {
		return fmt.Errorf("making a kubeconfig: %w", err)
	}
	file, err := os.CreateTemp("", "lockstep-kubeconfig-*")
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	s.kubeconfig = file.Name()
	_, err = file.Write(raw)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
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
	NewWithT(t).Expect(api(t).client.Create(testContext(t), namespace)).To(Succeed())
	return namespace.Name
}

// kubectl runs the real kubectl and returns what it prints on stdout and stderr.
func kubectl(t *testing.T, stdin string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(testContext(t), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), arguments...)
	// A home of its own: kubectl caches what it discovers.
	command.Env = []string{"KUBECONFIG=" + api(t).kubeconfig, "HOME=" + t.TempDir()}
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	return string(out), err
}

// joinLines undoes the line breaks and indents that kubectl adds.
func joinLines(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
