// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// rig is an observer of a RocketMQ in this process. Nothing sweeps by itself.
type rig struct {
	*brokertest.Cluster
	*Observer
	t   *testing.T
	g   *WithT
	dns dnsNames
}

// quick is a call timeout that keeps tests with silent servers short.
const quick = 250 * time.Millisecond

// start builds a RocketMQ and an observer of it; edits change its config.
func start(t *testing.T, o brokertest.Options, edits ...func(*Config)) *rig {
	t.Helper()
	c := brokertest.Start(t, o)
	r := &rig{Cluster: c, t: t, g: NewWithT(t), dns: dnsNames{}}
	cfg := r.config()
	for _, edit := range edits {
		edit(&cfg)
	}
	r.Observer = r.observe(cfg)
	return r
}

// config leads to the rig's RocketMQ.
func (r *rig) config() Config {
	return Config{
		ClusterName: r.Name(),
		NameServers: r.NameServerAddrs(),
		Proxies:     r.ProxyAddrs(),
		Timings:     Timings{CallTimeout: 5 * time.Second},
		Connect:     func() (Wire, error) { return remoting.NewClient(remoting.Options{}), nil },
	}
}

func (r *rig) observe(cfg Config) *Observer {
	r.t.Helper()
	o, err := newObserver(key("shop"), cfg, NewHub(), Options{Clock: r.Cluster.Clock(), Resolver: r.dns}.withDefaults())
	r.g.Expect(err).NotTo(HaveOccurred())
	r.t.Cleanup(o.close)
	return o
}

// patience makes calls to silent servers fail soon.
func patience(d time.Duration) func(*Config) {
	return func(c *Config) { c.Timings.CallTimeout = d }
}

// swept sweeps and returns what was seen.
func (r *rig) swept() *snapshot.Cluster {
	r.t.Helper()
	r.sweep(r.t.Context())
	return r.Observer.Cluster()
}

// calls sweeps and returns how many calls of each code that took.
func (r *rig) calls(do func()) map[int]int {
	r.Recorder().Reset()
	do()
	return r.Recorder().ByCode()
}

// look takes a look at a topic.
func (r *rig) look(topic string, opts LookOptions) snapshot.TopicLook {
	r.t.Helper()
	look, err := r.TopicLook(r.t.Context(), topic, opts)
	r.g.Expect(err).NotTo(HaveOccurred())
	return look
}

// step moves the clock without letting anything of the cluster happen.
func (r *rig) step(d time.Duration) {
	r.Cluster.Clock().(*clocktesting.FakeClock).Step(d)
}

// troubles are the kinds of problems of a sweep, sorted and without repetition.
func troubles(c *snapshot.Cluster) []snapshot.Trouble {
	kinds := map[snapshot.Trouble]struct{}{}
	for _, p := range c.Problems {
		kinds[p.Trouble] = struct{}{}
	}
	return slices.Sorted(maps.Keys(kinds))
}

// sentence is the sentence of the first problem of a kind.
func sentence(c *snapshot.Cluster, kind snapshot.Trouble) string {
	for _, p := range c.Problems {
		if p.Trouble == kind {
			return p.Sentence
		}
	}
	return ""
}

// within is the time a test gives something that happens on other goroutines.
const within = time.Minute

// awaited is a context that ends before the test's patience does.
func awaited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}
