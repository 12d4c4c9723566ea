// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// gate is a pass that tests hold and let go.
type gate struct {
	began chan map[string]LookOptions
	let   chan struct{}
}

func newGate() (*gate, *lookQueue) {
	g := &gate{began: make(chan map[string]LookOptions), let: make(chan struct{})}
	seq := uint64(0)
	return g, newLookQueue(func(ctx context.Context, topics map[string]LookOptions) map[string]snapshot.TopicLook {
		select {
		case g.began <- topics:
		case <-ctx.Done():
			return nil
		}
		select {
		case <-g.let:
		case <-ctx.Done():
			return nil
		}
		seq++
		out := map[string]snapshot.TopicLook{}
		for t := range topics {
			out[t] = snapshot.TopicLook{Topic: t, Seq: seq}
		}
		return out
	})
}

type answer struct {
	Look snapshot.TopicLook
	Err  error
}

func (q *lookQueue) asking(ctx context.Context, topic string, opts LookOptions) chan answer {
	out := make(chan answer, 1)
	go func() {
		look, err := q.ask(ctx, topic, opts)
		out <- answer{look, err}
	}()
	return out
}

func (q *lookQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == nil {
		return 0
	}
	return q.next.waiting
}

// A look never joins a pass that has begun, and those that wait share the next.
func TestR01_LooksShareAPassThatStartsAfterThem(t *testing.T) {
	g := NewWithT(t)
	gate, q := newGate()
	defer q.close()
	ctx := awaited(t)
	first := q.asking(ctx, "A", LookOptions{Queues: 4})
	g.Eventually(gate.began).WithTimeout(within).Should(Receive(Equal(map[string]LookOptions{"A": {Queues: 4}})))

	second := q.asking(ctx, "A", LookOptions{Queues: 8, Groups: NoGroups})
	third := q.asking(ctx, "A", LookOptions{Queues: 2, Groups: KnownGroups})
	fourth := q.asking(ctx, "B", LookOptions{})
	g.Eventually(q.waiting).WithTimeout(within).Should(Equal(3))
	gate.let <- struct{}{}
	g.Eventually(first).WithTimeout(within).Should(Receive(HaveField("Look.Seq", uint64(1))))

	var topics map[string]LookOptions
	g.Eventually(gate.began).WithTimeout(within).Should(Receive(&topics))
	g.Expect(topics).To(Equal(map[string]LookOptions{"A": {Queues: 8, Groups: KnownGroups, Declared: nil}, "B": {}}))
	gate.let <- struct{}{}
	for _, c := range []chan answer{second, third, fourth} {
		g.Eventually(c).WithTimeout(within).Should(Receive(HaveField("Look.Seq", uint64(2))))
	}
}

func TestLookQueue_APassForNobodyIsCutOff(t *testing.T) {
	g := NewWithT(t)
	gate, q := newGate()
	defer q.close()
	ctx, cancel := context.WithCancel(t.Context())
	gone := q.asking(ctx, "A", LookOptions{})
	g.Eventually(gate.began).WithTimeout(within).Should(Receive())
	waits := q.asking(awaited(t), "A", LookOptions{})
	g.Eventually(q.waiting).WithTimeout(within).Should(Equal(1))
	cancel()
	g.Eventually(gone).WithTimeout(within).Should(Receive(HaveField("Err", MatchError(context.Canceled))))
	// The first pass was cut off without being let go, and the next one begins.
	g.Eventually(gate.began).WithTimeout(within).Should(Receive())
	gate.let <- struct{}{}
	g.Eventually(waits).WithTimeout(within).Should(Receive(HaveField("Look.Topic", "A")))
}

func TestLookQueue_AQuestionThatWasGivenUpBeforeItsPassHarmsNoOther(t *testing.T) {
	g := NewWithT(t)
	gate, q := newGate()
	defer q.close()
	running := q.asking(awaited(t), "A", LookOptions{})
	g.Eventually(gate.began).WithTimeout(within).Should(Receive())
	ctx, cancel := context.WithCancel(t.Context())
	gone := q.asking(ctx, "B", LookOptions{})
	g.Eventually(q.waiting).WithTimeout(within).Should(Equal(1))
	cancel()
	g.Eventually(gone).WithTimeout(within).Should(Receive())
	g.Expect(q.waiting()).To(BeZero())
	waits := q.asking(awaited(t), "B", LookOptions{})
	g.Eventually(q.waiting).WithTimeout(within).Should(Equal(1))
	gate.let <- struct{}{}
	g.Eventually(running).WithTimeout(within).Should(Receive())
	g.Eventually(gate.began).WithTimeout(within).Should(Receive())
	gate.let <- struct{}{}
	g.Eventually(waits).WithTimeout(within).Should(Receive(And(HaveField("Err", BeNil()), HaveField("Look.Topic", "B"))))
}

func TestLookQueue_AfterTheStopNothingIsAnswered(t *testing.T) {
	g := NewWithT(t)
	gate, q := newGate()
	waits := q.asking(awaited(t), "A", LookOptions{})
	g.Eventually(gate.began).WithTimeout(within).Should(Receive())
	q.close()
	g.Eventually(waits).WithTimeout(within).Should(Receive(HaveField("Err", MatchError(ErrStopped))))
	_, err := q.ask(t.Context(), "A", LookOptions{})
	g.Expect(err).To(MatchError(ErrStopped))
}

func TestLookOptions_Merge(t *testing.T) {
	g := NewWithT(t)
	a := LookOptions{Queues: 4, Groups: KnownGroups, Declared: []DeclaredGroup{{Name: "G"}}}
	b := LookOptions{Queues: 2, Groups: NoGroups, Declared: []DeclaredGroup{{Name: "G", Broadcast: true}, {Name: "H"}}}
	want := LookOptions{Queues: 4, Groups: KnownGroups, Declared: []DeclaredGroup{{Name: "G", Broadcast: true}, {Name: "H"}}}
	g.Expect(a.merge(b)).To(Equal(want))
	g.Expect(a.Declared).To(Equal([]DeclaredGroup{{Name: "G"}}), "neither is changed")
	for _, other := range []Groups{KnownGroups, NoGroups} {
		g.Expect(LookOptions{}.merge(LookOptions{Groups: other}).Groups).To(Equal(AllGroups))
		g.Expect(LookOptions{Groups: other}.merge(LookOptions{}).Groups).To(Equal(AllGroups))
	}
}

// What is asked of a broker and not of a topic is asked once for all looks that
// share a pass.
func TestLook_OnePassAsksABrokerOnceForAllTopics(t *testing.T) {
	calls := map[int]map[int]int{}
	for _, n := range []int{1, 10} {
		r := start(t, brokertest.Options{Brokers: 1, NameServers: 1})
		topics := map[string]LookOptions{}
		for i := range n {
			name := "TOPIC_" + string(rune('A'+i))
			r.CreateTopic(name, 2, 2)
			topics[name] = LookOptions{}
		}
		r.CreateGroup("CG_A")
		calls[n] = r.calls(func() {
			looks := r.lookPass(t.Context(), topics)
			r.g.Expect(looks).To(HaveLen(n))
			for _, look := range looks {
				r.g.Expect(look.Groups.IsKnown()).To(BeTrue())
			}
		})
	}
	g := NewWithT(t)
	for _, perBroker := range []int{26, 28, 43, 61, 201, 203, 402, 106} {
		g.Expect(calls[10][perBroker]).To(Equal(calls[1][perBroker]), "call %d", perBroker)
	}
	g.Expect(calls[10][351]).To(Equal(10 * calls[1][351]))
	g.Expect(slices.Max([]int{calls[1][43], calls[1][201]})).To(Equal(1))
}

func TestLook_ManyTopicsAreReadByTheWholeTable(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	topics := map[string]LookOptions{}
	for i := range singleReads + 1 {
		name := "TOPIC_" + string(rune('A'+i))
		r.CreateTopic(name, 2, 2)
		topics[name] = LookOptions{Groups: NoGroups}
	}
	calls := r.calls(func() {
		for _, look := range r.lookPass(t.Context(), topics) {
			r.g.Expect(must(look.Brokers["broker-a"].Queues)).To(HaveLen(2))
		}
	})
	r.g.Expect(calls[351]).To(BeZero())
	r.g.Expect(calls[21]).To(Equal(2))
}
