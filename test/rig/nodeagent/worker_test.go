// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

func agentOf(t *testing.T, pods ...*corev1.Pod) (*Agent, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset()
	for _, pod := range pods {
		if err := client.Tracker().Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return &Agent{ctx: ctx, killCtx: ctx, client: client, log: logr.Discard(), recorder: record.NewFakeRecorder(100),
		options: Options{Dir: t.TempDir(), NodeName: "node-1"}}, client
}

func TestTheShorterGraceCounts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		graces []time.Duration // asked for one second apart
		killed time.Duration
	}{
		{"once", []time.Duration{30 * time.Second}, 30 * time.Second},
		{"the same again", []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second}, 30 * time.Second},
		{"shorter", []time.Duration{30 * time.Second, 5 * time.Second}, 6 * time.Second},
		{"longer", []time.Duration{5 * time.Second, 30 * time.Second}, 5 * time.Second},
		{"at once", []time.Duration{30 * time.Second, 0}, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				a, _ := agentOf(t)
				w := newPodWorker(a, podOf("Always", "a"))
				g.Expect(w.beingDeleted()).To(BeFalse())
				began := time.Now()
				for i, grace := range tc.graces {
					if i > 0 {
						wait(t.Context(), nil, time.Second)
					}
					w.deletion(grace)
				}
				g.Expect(w.stopCtx.Err()).To(HaveOccurred())
				g.Expect(w.beingDeleted()).To(BeTrue())
				<-w.killCtx.Done()
				g.Expect(time.Since(began)).To(Equal(tc.killed))
			})
		})
	}
}

func TestAPodOfAnEarlierAgentCountsOn(t *testing.T) {
	g := NewWithT(t)
	a, _ := agentOf(t)
	pod := podOf("Always", "a", "b")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "a", ContainerID: "process://x", RestartCount: 4}, {Name: "b"}}
	w := newPodWorker(a, pod)
	g.Expect(w.restarts("a")).To(Equal(int32(5)))
	g.Expect(w.restarts("b")).To(BeZero(), "it was never started")
}

func TestFinishTriesUntilThePodIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		pod := podOf("Always", "a")
		a, client := agentOf(t, pod)
		failures := 3
		client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			failures--
			return failures >= 0, nil, apierrors.NewInternalError(errors.New("etcd leader changed"))
		})
		newPodWorker(a, pod).finish(true)
		var last clienttesting.DeleteActionImpl
		for _, action := range client.Actions() {
			if action.GetVerb() == "delete" {
				last = action.(clienttesting.DeleteActionImpl)
			}
		}
		g.Expect(failures).To(Equal(-1))
		g.Expect(*last.DeleteOptions.GracePeriodSeconds).To(BeZero())
		g.Expect(*last.DeleteOptions.Preconditions.UID).To(Equal(pod.UID))
		_, err := client.CoreV1().Pods("ns").Get(t.Context(), pod.Name, metav1.GetOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	})
}

func TestFinishLeavesAnotherPodOfTheSameNameAlone(t *testing.T) {
	g := NewWithT(t)
	a, client := agentOf(t)
	client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("the UID in the precondition"))
	})
	newPodWorker(a, podOf("Always", "a")).finish(false)
	g.Expect(client.Actions()).To(HaveLen(1), "asked once, and no status written")
}

func TestTokensAreKeptUntilTheyAreOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		client := fake.NewClientset()
		asked := 0
		client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
			asked++
			request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
			g.Expect(request.Spec.BoundObjectRef.UID).To(BeEquivalentTo("uid"))
			request.Status = authenticationv1.TokenRequestStatus{Token: "token", ExpirationTimestamp: metav1.NewTime(time.Now().Add(1000 * time.Second))}
			return true, request, nil
		})
		tokens := &podTokens{client: client, pod: podOf("Always")}
		ask := func(audience string) {
			g.Expect(tokens.token(t.Context(), &corev1.ServiceAccountTokenProjection{Audience: audience})).To(Equal("token"))
		}
		ask("")
		wait(t.Context(), nil, 799*time.Second)
		ask("")
		g.Expect(asked).To(Equal(1))
		wait(t.Context(), nil, 2*time.Second)
		ask("")
		g.Expect(asked).To(Equal(2))
		ask("other")
		g.Expect(asked).To(Equal(3), "one for each audience")
	})
}

func TestSeekTail(t *testing.T) {
	for _, tc := range []struct{ log, lines, want string }{
		{"a\nb\nc\n", "", "a\nb\nc\n"}, {"a\nb\nc\n", "2", "b\nc\n"}, {"a\nb\nc\n", "0", ""}, {"a\nb\nc\n", "9", "a\nb\nc\n"},
		{"a\nb\nhalf", "1", "half"}, {"a\nb\nhalf", "2", "b\nhalf"}, {"", "3", ""}, {"\n\n", "1", "\n"},
	} {
		t.Run(tc.log+"/"+tc.lines, func(t *testing.T) {
			g := NewWithT(t)
			r := strings.NewReader(tc.log)
			g.Expect(seekTail(r, tc.lines)).To(Succeed())
			g.Expect(tc.log[len(tc.log)-r.Len():]).To(Equal(tc.want))
		})
	}
	NewWithT(t).Expect(seekTail(strings.NewReader("a"), "many")).To(MatchError(ContainSubstring("tailLines")))
}

func TestWhichLogIsServed(t *testing.T) {
	a, _ := agentOf(t)
	pod := podOf("Always", "a")
	w := newPodWorker(a, pod)
	a.workers = map[podKey]*podWorker{pod.UID: w}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", a.serveLog)
	for i, content := range []string{"zero\n", "one\n", "two\n"} {
		path := a.logFile(pod, "a", int32(i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	second := running(true)
	second.RestartCount = 1
	third := backingOff(1)
	third.RestartCount = 2
	for _, tc := range []struct {
		name, query string
		status      corev1.ContainerStatus
		code        int
		want        string
	}{
		{"first start", "/ns/web-0/a", running(true), 200, "zero\n"},
		{"second start", "/ns/web-0/a", second, 200, "one\n"},
		{"the one before", "/ns/web-0/a?previous=true", second, 200, "zero\n"},
		{"between two starts", "/ns/web-0/a", third, 200, "one\n"},
		{"limited", "/ns/web-0/a?limitBytes=2", second, 200, "on"},
		{"no earlier start", "/ns/web-0/a?previous=true", running(true), 404, "container a of Pod ns/web-0 was started only once\n"},
		{"no such Pod", "/ns/web-1/a", running(true), 404, "there is no Pod ns/web-1 on this node\n"},
		{"times", "/ns/web-0/a?sinceSeconds=3", second, 400, "the rig keeps logs without times: sinceSeconds is not supported\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			w.state.container("a", func(s *corev1.ContainerStatus) { *s = tc.status })
			response := httptest.NewRecorder()
			mux.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/containerLogs"+tc.query, nil))
			g.Expect(response.Code).To(Equal(tc.code))
			g.Expect(response.Body.String()).To(Equal(tc.want))
		})
	}
}

func TestLookPath(t *testing.T) {
	g := NewWithT(t)
	first, second := t.TempDir(), t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(first, "tool"), nil, 0o644)).To(Succeed()) // not a program
	g.Expect(os.WriteFile(filepath.Join(second, "tool"), nil, 0o755)).To(Succeed())
	g.Expect(lookPath("tool", first+":"+second)).To(Equal(filepath.Join(second, "tool")))
	g.Expect(lookPath("none", first+":"+second)).To(Equal("none"))
	g.Expect(lookPath("./tool", second)).To(Equal("./tool"))
}

func TestTerminationMessage(t *testing.T) {
	dir := t.TempDir()
	message, log := filepath.Join(dir, "message"), filepath.Join(dir, "log")
	for _, tc := range []struct {
		name, message, log string
		state              process.State
		want               string
	}{
		{"success says nothing", "", "chatter\n", process.State{}, ""},
		{"last words", "done", "chatter\n", process.State{}, "done"},
		{"failure shows the log", "", "cannot open\n", process.State{ExitCode: 1}, "cannot open\n"},
		{"last words of a failure", "why", "chatter\n", process.State{ExitCode: 1}, "why"},
		{"only the end", "", strings.Repeat("x", 5000) + "end", process.State{ExitCode: 1}, strings.Repeat("x", 2045) + "end"},
		{"unknown", "", "chatter\n", process.State{Err: errors.New("not observed")}, "not observed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(os.WriteFile(message, []byte(tc.message), 0o600)).To(Succeed())
			g.Expect(os.WriteFile(log, []byte(tc.log), 0o600)).To(Succeed())
			g.Expect(program{message: message, log: log}.terminationMessage(tc.state)).To(Equal(tc.want))
		})
	}
}

func TestBroadcast(t *testing.T) {
	g := NewWithT(t)
	var b broadcast
	b.fire() // nobody listens
	first, second := b.next(), b.next()
	g.Expect(first).NotTo(BeClosed())
	b.fire()
	g.Expect(first).To(BeClosed())
	g.Expect(second).To(BeClosed())
	g.Expect(b.next()).NotTo(BeClosed())
}

func TestOptionsAndAddressAreChecked(t *testing.T) {
	g := NewWithT(t)
	_, err := Options{}.completed()
	g.Expect(err).To(MatchError(ContainSubstring("Config and Dir are needed")))
	host, port, err := apiAddress("https://127.0.0.1:6443")
	g.Expect([]any{host, port, err}).To(Equal([]any{"127.0.0.1", "6443", nil}))
	host, port, err = apiAddress("https://example.com")
	g.Expect([]any{host, port, err}).To(Equal([]any{"example.com", "443", nil}))
}
