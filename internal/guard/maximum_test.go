// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"testing"

	. "github.com/onsi/gomega"
)

func named(name string, g Group) Group {
	g.Name, g.Object = name, name
	return g
}

// TestK22_TheMaximumBelongsToTheWorkload: the largest over its groups, none if any
// is unbounded, Unknown if any is Unknown, never below 1.
func TestK22_TheMaximumBelongsToTheWorkload(t *testing.T) {
	four := named("four", group(classic(2), topic("A", 4)))
	eight := named("eight", group(classic(2), topic("B", 4, 4)))
	free := named("free", group(grpc(2), topic("C", 1)))
	free.Protocol = GRPC
	lost := named("lost", group(nil, topic("D", 100)))
	lost.Members = unknown[[]Member]("no answer")
	three := named("three", group(classic(1), topic("E", 1)))
	three.MembersPerPod = 3
	for _, c := range []struct {
		name   string
		groups []Group
		kind   Kind
		max    int64
		by     string
	}{
		{"one", []Group{four}, Bounded, 4, "four"},
		{"the largest", []Group{four, eight}, Bounded, 8, "eight"},
		{"in any order", []Group{eight, four}, Bounded, 8, "eight"},
		{"equal ones by name", []Group{named("z", eight), eight, four}, Bounded, 8, "eight"},
		{"unknown if any is", []Group{four, lost, eight}, UnknownMaximum, 0, "lost"},
		{"none if any is unbounded, whatever else", []Group{four, lost, free}, Unbounded, 0, "free"},
		{"never below 1", []Group{three}, Bounded, 1, "three"},
		{"no group", nil, Unbounded, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			m := MaximumOf(scale(2, 0, c.groups...))
			g.Expect([]any{m.Kind, m.Replicas, m.Useful, m.Group}).To(Equal([]any{c.kind, c.max, c.max, c.by}))
		})
	}
	g := NewWithT(t)
	g.Expect(MaximumOf(scale(2, 0, four, eight)).Sentence).To(HavePrefix("8 can work: group eight (the most of its 2 groups) reads B with 8 queues"))
	g.Expect(MaximumOf(scale(2, 0, four, free)).Sentence).To(Equal("any number can work: group free: its members take single messages (gRPC or POP), so queues do not bound them"))
	g.Expect(MaximumOf(scale(2, 0)).Sentence).To(Equal("any number can work: no ConsumerGroup names Deployment.apps points"))
	g.Expect(MaximumOf(scale(2, 0, three)).Sentence).To(HavePrefix("1 can work with 3 members in each pod: group three reads E with 1 queue (broker-a 1) and"))
	expect{"no group, no rule", 1, 1000, Allowed, NoMaximum, 1000}.check(t)
	expect{"1 is never refused", 0, 1, Allowed, WithinMaximum, 1}.check(t, three)
	expect{"2 is", 0, 2, Refused, PastMaximum, 1}.check(t, three)
}

// TestK22_SeveralWorkloadsShareAGroup by max(current, (cap - others x members per
// pod) / members per pod).
func TestK22_SeveralWorkloadsShareAGroup(t *testing.T) {
	for _, c := range []struct {
		name              string
		queues, perPod    int64
		others            []Other
		current           int64
		useful, max, more int64 // more is asked and refused
	}{
		{"one other", 8, 1, []Other{other("b", 3, 1)}, 2, 5, 5, 6},
		{"two others", 8, 1, []Other{other("b", 3, 1), other("c", 4, 1)}, 0, 1, 1, 2},
		{"members of the other's pods", 8, 1, []Other{other("b", 3, 2)}, 0, 2, 2, 3},
		{"members of its own pods, rounded down", 9, 2, []Other{other("b", 2, 1)}, 0, 3, 3, 4},
		{"others take all", 8, 1, []Other{other("b", 20, 1)}, 0, 1, 1, 2},
		{"never below what is there", 8, 1, []Other{other("b", 6, 1)}, 6, 2, 6, 7},
		{"an other that is scaled to zero", 8, 1, []Other{other("b", 0, 4)}, 1, 8, 8, 9},
		{"members per pod not known count as one", 8, 0, []Other{other("b", 3, 0)}, 1, 5, 5, 6},
		{"a negative count is none", 8, 1, []Other{other("b", -3, 1)}, 1, 8, 8, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			x := group(classic(3), topic("T", c.queues))
			x.MembersPerPod, x.Others = c.perPod, c.others
			m := MaximumOf(scale(c.current, 0, x))
			g.Expect([]int64{m.Useful, m.Replicas}).To(Equal([]int64{c.useful, c.max}))
			v := Judge(scale(c.current, c.more, x))
			g.Expect(v.Outcome).To(Equal(Refused))
			g.Expect(v.Passed).To(Equal(c.max))
			g.Expect(Judge(scale(c.current, c.max, x)).Outcome).To(Equal(Allowed))
		})
	}
	g := NewWithT(t)
	x := group(classic(3), topic("T", 8))
	x.Others = []Other{other("b", 3, 2), other("c", 0, 1)}
	g.Expect(MaximumOf(scale(1, 0, x)).Sentence).To(HavePrefix("2 can work: group CG_SHOP_POINTS reads T with 8 queues (broker-a 8), of which others take 6 (Deployment.apps b 6), and its members"))
	x.Others = []Other{other("b", 1, 1), other("c", 1, 1), other("d", 1, 1), other("e", 1, 1), other("f", 1, 1)}
	g.Expect(MaximumOf(scale(1, 0, x)).Sentence).To(ContainSubstring("others take 5 (Deployment.apps b 1, Deployment.apps c 1, Deployment.apps d 1, 2 more),"))
}

// TestK22_MixedIsReportedNeverRefused: a web service that also consumes.
func TestK22_MixedIsReportedNeverRefused(t *testing.T) {
	mixed := group(classic(4), topic("T", 4))
	mixed.Role = Mixed
	consumer := named("consumer", group(classic(4), topic("T", 4)))
	expect{"mixed", 4, 30, Allowed, MixedRole, 30}.check(t, mixed)
	expect{"mixed to one of its groups", 4, 30, Allowed, MixedRole, 30}.check(t, consumer, mixed)
	expect{"within", 2, 4, Allowed, WithinMaximum, 4}.check(t, mixed)
	g := NewWithT(t)
	v := Judge(scale(4, 30, consumer, mixed))
	g.Expect(v.Maximum.Role).To(Equal(Mixed))
	g.Expect(v.Warns()).To(BeTrue())
	g.Expect(v.Short).To(HavePrefix("30 replicas asked, 4 can work: "))
	g.Expect(Judge(scale(4, 30, consumer)).Maximum.Role).To(Equal(Consumer))
}

// TestK22_AboveTheMaximumIsReported, not touched.
func TestK22_AboveTheMaximumIsReported(t *testing.T) {
	g := NewWithT(t)
	x := group(classic(4), topic("T", 4))
	g.Expect(MaximumOf(scale(9, 9, x)).Excess(9)).To(BeEquivalentTo(5))
	g.Expect(MaximumOf(scale(9, 9, x)).Excess(4)).To(BeZero())
	x.Idle = IdleReplicas{3, "rehearsal"}
	g.Expect(MaximumOf(scale(9, 9, x)).Excess(9)).To(BeEquivalentTo(2))
	x.Others = []Other{other("b", 3, 1)}
	g.Expect(MaximumOf(scale(9, 9, x)).Excess(9)).To(BeEquivalentTo(5), "by what is useful, though the maximum follows the current count")
}

// TestK23_IdleReplicas lets a person go past by a stated number for a stated reason.
func TestK23_IdleReplicas(t *testing.T) {
	with := func(count int64, reason string) Group {
		x := group(classic(4), topic("T", 4))
		x.Idle = IdleReplicas{count, reason}
		return x
	}
	expect{"within", 4, 8, Allowed, WithinIdleReplicas, 8}.check(t, with(4, "failover rehearsal"))
	expect{"past it", 4, 9, Refused, PastMaximum, 8}.check(t, with(4, "failover rehearsal"))
	expect{"without a reason", 4, 5, Refused, PastMaximum, 4}.check(t, with(4, ""))
	expect{"none", 4, 5, Refused, PastMaximum, 4}.check(t, with(0, "why not"))
	expect{"a negative number takes nothing away", 3, 4, Allowed, WithinMaximum, 4}.check(t, with(-3, "why not"))
	expect{"of one of two groups", 4, 6, Allowed, WithinIdleReplicas, 6}.check(t, with(1, "one"), with(2, "two"))
	g := NewWithT(t)
	v := Judge(scale(4, 7, with(4, "failover\nrehearsal")))
	g.Expect(v.Notes).To(ConsistOf("3 replicas will be idle, as spec.scaling.idleReplicas allows: failover rehearsal"))
	g.Expect(v.Warns()).To(BeFalse(), "a person wants it so")
	g.Expect(v.Sentence).To(HavePrefix("7 replicas asked, 4 can work: "))
	shared := with(2, "rehearsal")
	shared.Others = []Other{other("b", 2, 1)}
	expect{"shared", 2, 4, Allowed, WithinIdleReplicas, 4}.check(t, shared)
	expect{"a scale-up makes no room for the next", 4, 5, Refused, PastMaximum, 4}.check(t, shared)
}

// TestK23_LoweredNotStuck: who lowers passes on max(cap, current).
func TestK23_LoweredNotStuck(t *testing.T) {
	x := group(classic(4), topic("T", 4))
	for _, e := range []expect{
		{"from below", 2, 12, Refused, PastMaximum, 4},
		{"at the cap", 4, 12, Refused, PastMaximum, 4},
		{"from above", 7, 12, Refused, PastMaximum, 7},
	} {
		e.check(t, x)
	}
}

// TestA19_ACeilingAboveTheCapIsSaid and TestA22: before any scale event happens.
func TestA19_ACeilingAboveTheCapIsSaid(t *testing.T) {
	g := NewWithT(t)
	m := MaximumOf(scale(4, 4, group(classic(4), topic("T", 4, 4))))
	g.Expect(WarnScalers(points, m, []Scaler{{Kind: "ScaledObject", Name: "points", Max: 20}})).To(ConsistOf(
		"ScaledObject/points may ask for 20 replicas of Deployment.apps points, but 8 can work: group CG_SHOP_POINTS reads T with 8 queues"))
	g.Expect(WarnScalers(points, m, []Scaler{{Kind: "ScaledObject", Name: "points", Max: 8}})).To(BeEmpty())
	g.Expect(WarnScalers(points, m, nil)).To(BeEmpty())
	g.Expect(WarnScalers(points, Maximum{Kind: Bounded, Useful: 8}, []Scaler{{Kind: "ScaledObject", Name: "points", Max: 20}})).To(ConsistOf(
		"ScaledObject/points may ask for 20 replicas of Deployment.apps points, but 8 can work"), "as a door knows it from a status")
}

func TestA22_NoCeilingWithoutANumber(t *testing.T) {
	g := NewWithT(t)
	fifty := []Scaler{{Kind: "HorizontalPodAutoscaler", Name: "points", Max: 50}}
	free := group(grpc(1), topic("T", 4))
	free.Protocol = GRPC
	g.Expect(WarnScalers(points, MaximumOf(scale(1, 1, free)), fifty)).To(BeEmpty())
	lost := group(nil, topic("T", 4))
	lost.Members = unknown[[]Member]("no answer")
	g.Expect(WarnScalers(points, MaximumOf(scale(1, 1, lost)), fifty)).To(BeEmpty())
	idle := group(classic(1), topic("T", 16))
	g.Expect(WarnScalers(points, MaximumOf(scale(1, 1, idle)), fifty)).To(HaveLen(1))
	idle.Idle = IdleReplicas{34, "a person wants it so"}
	g.Expect(WarnScalers(points, MaximumOf(scale(1, 1, idle)), fifty)).To(BeEmpty())
}

// TestO36_TwoAutoscalersOnOneWorkload are named; a ScaledObject and the HPA that it
// made are one.
func TestO36_TwoAutoscalersOnOneWorkload(t *testing.T) {
	g := NewWithT(t)
	m := Maximum{Kind: Unbounded}
	hpa := Scaler{Kind: "HorizontalPodAutoscaler", Name: "points", Max: 6}
	keda := Scaler{Kind: "ScaledObject", Name: "points", Max: 6}
	g.Expect(WarnScalers(points, m, []Scaler{hpa, keda})).To(ConsistOf(
		"2 autoscalers scale Deployment.apps points, and undo each other's work; keep one: HorizontalPodAutoscaler/points, ScaledObject/points"))
	made := Scaler{Kind: "HorizontalPodAutoscaler", Name: "keda-hpa-points", Max: 6, Owner: "points"}
	g.Expect(WarnScalers(points, m, []Scaler{made, keda})).To(BeEmpty())
	g.Expect(WarnScalers(points, m, []Scaler{made})).To(BeEmpty())
	g.Expect(WarnScalers(points, m, []Scaler{made, hpa})).To(HaveLen(1), "its ScaledObject is gone: it stands for itself")
	g.Expect(WarnScalers(points, m, []Scaler{hpa})).To(BeEmpty())
	hpa.OnGroup = true
	g.Expect(WarnScalers(points, m, []Scaler{hpa, keda})[0]).To(ContainSubstring("one of them through its ConsumerGroup"))
}
