// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		name             string
		success, failure int32
		results, want    string // + and - are results; a dot leaves it open
	}{
		{"thresholds of one", 1, 1, "+-+", "+-+"},
		{"unset means one", 0, 0, "+-", "+-"},
		{"three failures", 1, 3, "+--+---+", "+..+..-+"},
		{"two successes", 2, 1, "-+-++-", "-.-.+-"},
		{"failures at the beginning", 1, 3, "----", "..--"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			counts := tally{successThreshold: tc.success, failureThreshold: tc.failure}
			var got strings.Builder
			for _, result := range tc.results {
				verdict, decided := counts.add(result == '+')
				switch {
				case !decided:
					got.WriteByte('.')
				case verdict:
					got.WriteByte('+')
				default:
					got.WriteByte('-')
				}
			}
			NewWithT(t).Expect(got.String()).To(Equal(tc.want))
		})
	}
}

// scripted is a handler whose exec probes answer by a script and note the time.
func scripted(began time.Time, script string, at *[]time.Duration) handler {
	return handler{exec: func(context.Context, []string) (string, error) {
		*at = append(*at, time.Since(began))
		if n := len(*at); n > len(script) || script[n-1] == '+' {
			return "", nil
		}
		return "no", errors.New("exit code 1")
	}}
}

func execProbe(p corev1.Probe) *corev1.Probe {
	p.Exec = &corev1.ExecAction{Command: []string{"check"}}
	return &p
}

func TestProberKeepsItsTimes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		probe  corev1.Probe
		eager  bool
		script string
		want   []time.Duration
	}{
		{"delay and period", corev1.Probe{InitialDelaySeconds: 3, PeriodSeconds: 10}, false, "+++", []time.Duration{3 * time.Second, 13 * time.Second, 23 * time.Second}},
		{"failures do not hurry a patient one", corev1.Probe{PeriodSeconds: 10}, false, "--", []time.Duration{0, 10 * time.Second, 20 * time.Second}},
		{"an eager one hurries to its first success", corev1.Probe{PeriodSeconds: 10}, true, "--+-", []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, 10500 * time.Millisecond, 20500 * time.Millisecond}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				var at []time.Duration
				prober{handler: scripted(time.Now(), tc.script, &at), probe: execProbe(tc.probe), eager: tc.eager, result: func(bool, error) {}}.run(ctx, false)
				NewWithT(t).Expect(at[:len(tc.want)]).To(Equal(tc.want))
			})
		})
	}
}

func TestProberTellsVerdictsAndEndsOnceGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var at []time.Duration
		var verdicts []string
		prober{handler: scripted(time.Now(), "---+", &at), probe: execProbe(corev1.Probe{PeriodSeconds: 1, FailureThreshold: 2}),
			result: func(ok bool, err error) {
				if ok {
					verdicts = append(verdicts, "ok")
				} else {
					verdicts = append(verdicts, err.Error())
				}
			}}.run(t.Context(), true)
		const failed = `command ["check"]: exit code 1: no`
		g.Expect(verdicts).To(Equal([]string{failed, failed, "ok"}))
	})
}

func TestAProbeThatHangsTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		began := time.Now()
		h := handler{exec: func(ctx context.Context, _ []string) (string, error) { <-ctx.Done(); return "", ctx.Err() }}
		err := prober{handler: h, probe: execProbe(corev1.Probe{TimeoutSeconds: 2})}.try(t.Context())
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
		g.Expect(time.Since(began)).To(Equal(2 * time.Second))
	})
}

func TestHandlers(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "q=1" || r.Host != "example.com" || r.Header.Get("X-A") != "b" {
			http.Error(w, "not what was asked for", http.StatusBadRequest)
		}
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "on fire", http.StatusServiceUnavailable) })
	mux.Handle("/moved", http.RedirectHandler("/bad", http.StatusFound))
	plain, secure := httptest.NewServer(mux), httptest.NewTLSServer(mux)
	defer plain.Close()
	defer secure.Close()
	port := func(server *httptest.Server) intstr.IntOrString {
		return intstr.FromInt(server.Listener.Addr().(*net.TCPAddr).Port)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := intstr.FromInt(closed.Addr().(*net.TCPAddr).Port)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	h := handler{podIP: "127.0.0.1", container: &corev1.Container{Name: "c",
		Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: port(plain).IntVal}}}}
	headers := []corev1.HTTPHeader{{Name: "Host", Value: "example.com"}, {Name: "X-A", Value: "b"}}
	get := func(path string, p intstr.IntOrString, scheme corev1.URIScheme) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: p, Scheme: scheme, HTTPHeaders: headers}}
	}
	tcp := func(p intstr.IntOrString) corev1.ProbeHandler {
		return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: p}}
	}
	for _, tc := range []struct {
		name    string
		probe   corev1.ProbeHandler
		wantErr string
	}{
		{"http", get("/ok?q=1", port(plain), ""), ""},
		{"http by the name of its port", get("/ok?q=1", intstr.FromString("web"), "HTTP"), ""},
		{"http by a number in text", get("/ok?q=1", intstr.FromString(strconv.Itoa(int(port(plain).IntVal))), ""), ""},
		{"https with any certificate", get("/ok?q=1", port(secure), "HTTPS"), ""},
		{"a redirect is an answer", get("/moved", port(plain), ""), ""},
		{"an error is not", get("/bad", port(plain), ""), "answered 503 Service Unavailable: on fire"},
		{"nobody listens", get("/ok", nobody, ""), "connection refused"},
		{"no such port", get("/ok", intstr.FromString("none"), ""), `container c has no port named "none"`},
		{"tcp", tcp(port(plain)), ""},
		{"tcp with nobody", tcp(nobody), "connection refused"},
		{"grpc", corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}}, "not supported by the rig"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			err := h.probe(t.Context(), tc.probe)
			if tc.wantErr == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
			}
		})
	}
}

func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var at []time.Duration
		h := scripted(time.Now(), "+", &at)
		g.Expect(h.hook(t.Context(), &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bye"}}})).To(Succeed())
		g.Expect(at).To(HaveLen(1))
		began := time.Now()
		g.Expect(h.hook(t.Context(), &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}})).To(Succeed())
		g.Expect(time.Since(began)).To(Equal(5 * time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(h.hook(ctx, &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}})).To(MatchError(context.DeadlineExceeded))
		g.Expect(h.hook(t.Context(), &corev1.LifecycleHandler{})).To(MatchError(ContainSubstring("not supported")))
	})
}
