// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

const topic = "TOPIC_A"

// within is the time a test gives something that happens on other goroutines.
const within = time.Minute

// rig is an actor on a RocketMQ in this process.
type rig struct {
	*brokertest.Cluster
	*Actor
	o     *observe.Observer
	clock *clocktesting.FakeClock
	t     *testing.T
	g     *WithT
}

func start(t *testing.T, o brokertest.Options) *rig {
	t.Helper()
	c := brokertest.Start(t, o)
	r := &rig{Cluster: c, clock: c.Clock().(*clocktesting.FakeClock), t: t, g: NewWithT(t)}
	m := observe.NewManager(observe.Options{Clock: r.clock})
	id := observe.ID{Name: "shop"}
	var err error
	r.o, err = m.Ensure(id, observe.Config{
		ClusterName: c.Name(), NameServers: c.NameServerAddrs(), Proxies: c.ProxyAddrs(),
		Timings: observe.Timings{CallTimeout: 2 * time.Second},
		Connect: func() (observe.Wire, error) { return remoting.NewClient(remoting.Options{}), nil },
	})
	r.g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { m.Remove(id) })
	r.Actor = New(r.o, r.o.Wire(), r.clock)
	c.Watch(topic)
	return r
}

func forEachVersion(t *testing.T, f func(t *testing.T, v brokertest.Version)) {
	t.Helper()
	for _, v := range brokertest.Versions() {
		t.Run(v.String(), func(t *testing.T) { f(t, v) })
	}
}

// withTopic starts a cluster whose masters all have the topic, and looks.
func withTopic(t *testing.T, o brokertest.Options, read, write int) (*rig, snapshot.TopicLook) {
	t.Helper()
	r := start(t, o)
	r.CreateTopic(topic, read, write)
	look := r.look()
	r.Recorder().Reset()
	return r, look
}

func (r *rig) look() snapshot.TopicLook {
	r.t.Helper()
	look, err := r.o.TopicLook(r.t.Context(), topic, observe.LookOptions{Groups: observe.NoGroups})
	r.g.Expect(err).NotTo(HaveOccurred())
	return look
}

// order makes a step of changes on every broker of the look.
func order(kind resize.StepKind, look snapshot.TopicLook, want func(resize.Shown) resize.Shown) Order {
	o := Order{Step: resize.Step{Kind: kind}, Topic: topic, Look: look}
	for _, broker := range slices.Sorted(maps.Keys(look.Brokers)) {
		stored, _ := look.Brokers[broker].Config.Get()
		o.Step.Changes = append(o.Step.Changes, resize.BrokerChange{
			Broker: broker, Expect: shown(stored), Want: want(shown(stored)), Process: look.Brokers[broker].Config.Origin().From,
		})
	}
	return o
}

func counts(read, write int) func(resize.Shown) resize.Shown {
	return func(s resize.Shown) resize.Shown {
		s.Present, s.Read, s.Write = true, read, write
		if s.Perm == 0 {
			s.Perm = snapshot.PermReadWrite
		}
		return s
	}
}

// do carries an order out that must not be refused as a whole.
func (r *rig) do(o Order) Outcome {
	r.t.Helper()
	out, err := r.Do(r.t.Context(), o)
	r.g.Expect(err).NotTo(HaveOccurred())
	return out
}

// has is the topic's counts and permission on a broker.
func (r *rig) has(broker string) [3]int {
	t, _ := r.Broker(broker).Topic(topic)
	return [3]int{t.Read, t.Write, t.Perm}
}

func (r *rig) master(broker string) rocketmq.Master {
	return rocketmq.Master{Addr: r.Broker(broker).Addr(), Name: broker, Cluster: r.Name()}
}

func awaited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

// broken are faults of a write, and whether the write takes effect.
func broken() map[string]struct {
	do      brokertest.Effect
	applied bool
} {
	return map[string]struct {
		do      brokertest.Effect
		applied bool
	}{
		"the write is lost":                 {brokertest.Lose(), false},
		"refused":                           {brokertest.Answer(1, "broken"), false},
		"the connection closes before":      {brokertest.HangUp(), false},
		"the connection closes after":       {brokertest.HangUpAfter(), true},
		"the answer is cut":                 {brokertest.Cut(), true},
		"no answer, and it was not done":    {brokertest.Drop(), false},
		"no answer, and it was done":        {brokertest.DropReply(), true},
		"a remark that is hostile to logs":  {brokertest.ForeignRemark(), false},
		"refused for want of a credentials": {brokertest.Answer(16, "no permission"), false},
	}
}
