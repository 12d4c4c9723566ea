// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// brokersStatus is how the topic stands on each broker.
func (p *topicPass) brokersStatus() []rocketmqv1alpha1.TopicBrokerStatus {
	var out []rocketmqv1alpha1.TopicBrokerStatus
	for _, name := range slices.Sorted(maps.Keys(p.sweep.Brokers)) {
		b := p.sweep.Brokers[name]
		master, _ := b.Master.Get()
		stored, known, why := p.stored(name)
		s := rocketmqv1alpha1.TopicBrokerStatus{Name: name}
		expected := slices.Contains(p.view.Expected, name) || p.leaves(name)
		switch {
		case !known:
			if !expected {
				continue
			}
			s.State, s.Message = rocketmqv1alpha1.TopicBrokerUnknown, rocketmqv1alpha1.Cut(why, rocketmqv1alpha1.MaxBrokerMessage)
			s.Address = master
			if !b.Runtime.IsKnown() {
				s.State = rocketmqv1alpha1.TopicBrokerUnreachable
			}
		case !stored.Present && (!expected || p.leaves(name)):
			continue
		case !stored.Present:
			s.State = rocketmqv1alpha1.TopicBrokerMissing
			if p.stand.Decision.Step.Kind != "" || p.stand.Decision.Stage != "" {
				s.State = rocketmqv1alpha1.TopicBrokerPending
			}
		default:
			p.storedStatus(&s, b, stored.Config, expected)
		}
		out = append(out, s)
		if len(out) == rocketmqv1alpha1.MaxBrokers {
			break
		}
	}
	return out
}

// stored is the topic on a broker as this pass saw it last: the look is newer
// than the sweep.
func (p *topicPass) stored(broker string) (snapshot.StoredTopic, bool, string) {
	if p.look != nil {
		on, ok := p.look.Brokers[broker]
		if ok {
			stored, known := on.Config.Get()
			return stored, known, on.Config.Why()
		}
	}
	topics, known := p.sweep.Brokers[broker].Topics.Get()
	config, there := topics[p.topic.EffectiveName()]
	return snapshot.StoredTopic{Present: there, Config: config}, known, p.sweep.Brokers[broker].Topics.Why()
}

func (p *topicPass) storedStatus(s *rocketmqv1alpha1.TopicBrokerStatus, b snapshot.Broker, have snapshot.TopicConfig, expected bool) {
	s.Read, s.Write, s.Perm = ptr.To(int32(have.ReadQueues)), ptr.To(int32(have.WriteQueues)), ptr.To(int32(have.Perm))
	declared := int(p.topic.Spec.Queues.PerBroker)
	runtime, known := b.Runtime.Get()
	drift := ""
	if known {
		drift = fieldDrift(have, storable(withDeclared(&p.topic.Spec, have), have, runtime.Version))
	}
	switch {
	case !expected:
		s.State = rocketmqv1alpha1.TopicBrokerForeign
		s.Message = "this broker has the topic and is not in spec.placement; it is left as it is"
	case p.leaves(s.Name):
		s.State = rocketmqv1alpha1.TopicBrokerChanging
		s.Message = "spec.placement no longer names this broker; the topic is being taken from it"
	case have.ReadQueues == declared && have.WriteQueues == declared && drift == "":
		s.State = rocketmqv1alpha1.TopicBrokerInSync
		if known {
			s.Message = notStored(&p.topic.Spec, runtime.Version)
		}
	case p.stand.Failed != "":
		s.State, s.Message = rocketmqv1alpha1.TopicBrokerFailed, rocketmqv1alpha1.Cut(p.stand.Failed, rocketmqv1alpha1.MaxBrokerMessage)
	case p.decision != nil && p.decision.Open:
		s.State = rocketmqv1alpha1.TopicBrokerChanging
	default:
		s.State, s.Message = rocketmqv1alpha1.TopicBrokerPending, rocketmqv1alpha1.Cut(drift, rocketmqv1alpha1.MaxBrokerMessage)
	}
}

// countsStatus are the columns READ and WRITE: the largest on any broker.
func (p *topicPass) countsStatus() {
	var read, write *int32
	for _, b := range p.topic.Status.Brokers {
		if b.Read == nil || b.State == rocketmqv1alpha1.TopicBrokerForeign {
			continue
		}
		if read == nil || *b.Read > *read {
			read = b.Read
		}
		if write == nil || *b.Write > *write {
			write = b.Write
		}
	}
	p.topic.Status.ReadQueues, p.topic.Status.WriteQueues = read, write
}

// routesStatus counts from the look the name servers that route the topic as
// the brokers have it.
func (p *topicPass) routesStatus() {
	asked, agreeing := 0, 0
	for _, fact := range p.look.Routes {
		asked++
		if route, known := fact.Get(); known && p.routeMatchesLook(route) {
			agreeing++
		}
	}
	p.topic.Status.NameServers = &rocketmqv1alpha1.NameServerAgreement{Asked: ptr.To(int32(asked)), Agreeing: ptr.To(int32(agreeing))}
}

func (p *topicPass) routeMatchesLook(route snapshot.Route) bool {
	for name, on := range p.look.Brokers {
		stored, known := on.Config.Get()
		if !known {
			continue
		}
		routed, listed := route.Queues[name]
		if stored.Present != listed {
			return false
		}
		if listed && (routed.Read != stored.Config.ReadQueues || routed.Write != stored.Config.WriteQueues) {
			return false
		}
	}
	return true
}

// sameNews says that two statuses differ in numbers and times only: a reader
// who waits for something has nothing new to see (rule K05).
func sameNews(was, is *rocketmqv1alpha1.TopicStatus) bool {
	a, b := was.DeepCopy(), is.DeepCopy()
	for _, s := range []*rocketmqv1alpha1.TopicStatus{a, b} {
		for i := range s.Conditions {
			s.Conditions[i].Message = ""
		}
		if c := s.Change; c != nil {
			c.Drain, c.History, c.ExpectedEnd, c.SettleUntil, c.Omitted = nil, nil, nil, nil, 0
			for i := range c.WaitsFor {
				h := &c.WaitsFor[i]
				c.WaitsFor[i] = rocketmqv1alpha1.Hold{Reason: h.Reason, Group: h.Group}
			}
		}
		if s.Stranded != nil {
			s.Stranded = &rocketmqv1alpha1.StrandedMessages{}
		}
	}
	return equality.Semantic.DeepEqual(a, b)
}

// stranded shows what nobody can read; nil when nothing was found.
func stranded(d resize.Decision) *rocketmqv1alpha1.StrandedMessages {
	var out *rocketmqv1alpha1.StrandedMessages
	total := int64(0)
	for _, f := range d.Findings {
		if f.Reason != resize.FindingStranded {
			continue
		}
		if out == nil {
			out = &rocketmqv1alpha1.StrandedMessages{}
		}
		total += f.Count
		out.Omitted += int32(f.More)
		for _, w := range f.Where {
			if len(out.Worst) == rocketmqv1alpha1.MaxStrandedQueues {
				out.Omitted++
				continue
			}
			out.Worst = append(out.Worst, rocketmqv1alpha1.StrandedQueue{Broker: w.Broker, Queue: ptr.To(int32(w.Queue)), Group: f.Group})
		}
	}
	if out != nil {
		out.Messages = ptr.To(coarse(total))
	}
	return out
}

// givenUp keeps what waivers gave up, the latest first; an entry of the same
// change is replaced.
func givenUp(was []rocketmqv1alpha1.GivenUp, d resize.Decision, now time.Time) []rocketmqv1alpha1.GivenUp {
	r := d.Next.Record
	if len(r.GivenUp) == 0 {
		return was
	}
	byGroup := map[string]*rocketmqv1alpha1.GivenUp{}
	var order []string
	for _, g := range r.GivenUp {
		entry, ok := byGroup[g.Group]
		if !ok {
			entry = &rocketmqv1alpha1.GivenUp{Group: g.Group, ToQueues: int32(r.Target), Time: atSecond(now), Messages: ptr.To(int64(0))}
			byGroup[g.Group] = entry
			order = append(order, g.Group)
		}
		*entry.Messages += g.Messages
		if len(entry.Queues) == rocketmqv1alpha1.MaxGivenUpQueues {
			entry.Omitted++
			continue
		}
		entry.Queues = append(entry.Queues, g.Broker+"/"+strconv.Itoa(g.Queue)+":"+strconv.FormatInt(g.Messages, 10))
	}
	var out []rocketmqv1alpha1.GivenUp
	for _, group := range order {
		entry := byGroup[group]
		for _, old := range was {
			if old.Group == group && old.ToQueues == entry.ToQueues && *old.Messages == *entry.Messages {
				entry.Time = old.Time
			}
		}
		out = append(out, *entry)
	}
	for _, old := range was {
		if fresh, ok := byGroup[old.Group]; ok && fresh.ToQueues == old.ToQueues {
			continue
		}
		out = append(out, old)
	}
	return out[:min(len(out), rocketmqv1alpha1.MaxGivenUp)]
}
