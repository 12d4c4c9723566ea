// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"net"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// speaking is a port that answers every connection with the same bytes.
func speaking(t *testing.T, greeting string) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(greeting))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

// Every way to lead the operator astray gives a sentence that says where and
// what to do about it.
func TestTrouble_SentencesAPersonCanActOn(t *testing.T) {
	nobody := func(t *testing.T) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		defer func() { _ = ln.Close() }()
		return ln.Addr().String()
	}
	const settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00" // an HTTP/2 SETTINGS frame
	for name, tc := range map[string]struct {
		edit  func(t *testing.T, r *rig, c *Config)
		kind  snapshot.Trouble
		wants []string
	}{
		"nobody listens": {func(t *testing.T, r *rig, c *Config) { c.NameServers = []string{nobody(t)} },
			snapshot.NameServerUnreachable, []string{"127.0.0.1:", "check spec.nameServers"}},
		"a gRPC port": {func(t *testing.T, r *rig, c *Config) { c.NameServers = []string{speaking(t, settings)} },
			snapshot.WrongEndpoint, []string{"speaks gRPC", "9876"}},
		"an HTTP port": {func(t *testing.T, r *rig, c *Config) {
			c.NameServers = []string{speaking(t, "HTTP/1.1 400 Bad Request\r\n\r\n")}
		},
			snapshot.WrongEndpoint, []string{"speaks HTTP"}},
		"a broker's port": {func(_ *testing.T, r *rig, c *Config) { c.NameServers = []string{r.Broker("broker-a").Addr()} },
			snapshot.NameServerUnreachable, []string{"check spec.nameServers"}},
		"a name that does not resolve": {func(_ *testing.T, _ *rig, c *Config) { c.NameServers = []string{"nowhere.example:9876"} },
			snapshot.Unresolvable, []string{"nowhere.example leads to no address", "check its spelling"}},
		"another cluster's name": {func(_ *testing.T, _ *rig, c *Config) { c.ClusterName = "shopp" },
			snapshot.ClusterNotFound, []string{"no broker of a cluster named shopp", "spec.clusterName"}},
		"a proxy that is down": {func(t *testing.T, _ *rig, c *Config) { c.Proxies = []string{nobody(t)} },
			snapshot.ProxyUnreachable, []string{"members behind proxies are unknown"}},
		"a proxy's gRPC port": {func(t *testing.T, _ *rig, c *Config) { c.Proxies = []string{speaking(t, settings)} },
			snapshot.WrongEndpoint, []string{"speaks gRPC", "8080"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, brokertest.Options{})
			cfg := r.config()
			tc.edit(t, r, &cfg)
			r.Observer = r.observe(cfg)
			c := r.swept()
			said := sentence(c, tc.kind)
			r.g.Expect(said).NotTo(BeEmpty(), "%v", c.Problems)
			for _, want := range tc.wants {
				r.g.Expect(said).To(ContainSubstring(want))
			}
			r.g.Expect(strings.Contains(said, "\n")).To(BeFalse())
			again := r.swept()
			r.g.Expect(sentence(again, tc.kind)).To(Equal(said), "a status that repeats it can rest")
		})
	}
}

// What a hostile peer says reaches no status as it came (rule K43).
func TestK43_ForeignBytesAreNotEchoed(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.Inject(brokertest.Fault{Node: "broker-a", Do: brokertest.ForeignRemark()})
	c := r.swept()
	r.g.Expect(c.Problems).NotTo(BeEmpty())
	for _, p := range c.Problems {
		r.g.Expect(len(p.Sentence)).To(BeNumerically("<", 1024))
		r.g.Expect(strings.ContainsAny(p.Sentence, "\x00\x1b\r\n\u202e\u2028")).To(BeFalse())
	}
}

func TestTrouble_ProblemsAreOrderedAndSaidOnce(t *testing.T) {
	g := NewWithT(t)
	p := func(kind snapshot.Trouble, subject string) snapshot.Problem {
		return snapshot.Problem{Trouble: kind, Subject: subject}
	}
	g.Expect(sortProblems([]snapshot.Problem{
		p("B", "x"), p("A", "z"), p("B", "x"), p("A", "y"),
	})).To(Equal([]snapshot.Problem{p("A", "y"), p("A", "z"), p("B", "x")}))
}

// The first problem is the one that a Ready condition quotes.
func TestSortProblems_ProxiesLast(t *testing.T) {
	g := NewWithT(t)
	g.Expect(sortProblems([]snapshot.Problem{
		{Trouble: snapshot.ProxyUnreachable, Subject: "p"},
		{Trouble: snapshot.WrongEndpoint, Subject: "ns"},
		{Trouble: snapshot.Unresolvable, Subject: "ns"},
	})).To(HaveExactElements(
		HaveField("Trouble", snapshot.Unresolvable), HaveField("Trouble", snapshot.WrongEndpoint), HaveField("Trouble", snapshot.ProxyUnreachable)))
}
