// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// sweepView is one topic as the last sweep saw it: enough to know that it is at
// rest, or that it is nowhere, without asking anybody.
type sweepView struct {
	// Expected are the brokers that the spec places the topic on, sorted.
	Expected []string
	// Unknown says, where something is not known, what and why; empty else.
	Unknown string
	// Undeclared are brokers of placement that the cluster does not have.
	Undeclared []string
	// Present are the expected brokers that have the topic, Absent those that
	// answered and do not.
	Present, Absent []string
	// CountsDiffer says that some expected broker has other queue counts than
	// declared; Drift what else differs, by broker.
	CountsDiffer bool
	Drift        map[string]string
	// Elsewhere are brokers outside the placement that have the topic.
	Elsewhere []string
	// Leaving are brokers outside the placement that were in it when the status
	// was written, and that have the topic or do not say.
	Leaving []string
	// Highest is the largest read or write count on any broker.
	Highest int
	// Counts are read, write and permission by broker, as text.
	Counts string
}

// String stands for what a sweep shows of the topic.
func (v sweepView) String() string {
	return fmt.Sprint(v.Unknown != "", v.Present, v.Absent, v.Elsewhere, v.Counts, v.driftSentence())
}

// AtRest says that every expected broker shows the topic as declared.
func (v sweepView) AtRest() bool {
	return v.Unknown == "" && len(v.Undeclared) == 0 && len(v.Absent) == 0 && len(v.Present) > 0 &&
		len(v.Leaving) == 0 && !v.CountsDiffer && len(v.Drift) == 0
}

// Nowhere says that every broker of the cluster answered and none has it.
func (v sweepView) Nowhere() bool {
	return v.Unknown == "" && len(v.Undeclared) == 0 && len(v.Present) == 0 && len(v.Elsewhere) == 0 && len(v.Absent) > 0
}

// viewOf reads a sweep. An answer that is missing is said and not guessed.
func viewOf(topic *rocketmqv1alpha1.Topic, sweep *snapshot.Cluster) sweepView {
	v := sweepView{Drift: map[string]string{}}
	if sweep == nil || sweep.Seq == 0 {
		v.Unknown = "the cluster has not been swept yet"
		return v
	}
	v.Expected = expectedBrokers(topic, sweep)
	if len(v.Expected) == 0 {
		v.Unknown = fmt.Sprintf("no name server shows a broker of cluster %s", sweep.Name)
		return v
	}
	declared := int(topic.Spec.Queues.PerBroker)
	name := topic.EffectiveName()
	for _, broker := range slices.Sorted(maps.Keys(sweep.Brokers)) {
		b := sweep.Brokers[broker]
		expected := slices.Contains(v.Expected, broker)
		topics, known := b.Topics.Get()
		if _, there := topics[name]; !expected && (there || !known) && wasPlaced(topic, broker) {
			v.Leaving = append(v.Leaving, broker)
		}
		if !known {
			if v.Unknown == "" {
				v.Unknown = fmt.Sprintf("topics of %s are not known: %s", broker, b.Topics.Why())
			}
			continue
		}
		config, there := topics[name]
		if there {
			v.Highest = max(v.Highest, config.Highest())
			v.Counts += fmt.Sprintf("%s:%d/%d/%d ", broker, config.ReadQueues, config.WriteQueues, config.Perm)
		}
		switch {
		case !expected && there:
			v.Elsewhere = append(v.Elsewhere, broker)
		case !expected:
		case !there:
			v.Absent = append(v.Absent, broker)
		default:
			v.Present = append(v.Present, broker)
			v.compare(topic, broker, b, config, declared)
		}
	}
	for _, broker := range v.Expected {
		if _, ok := sweep.Brokers[broker]; !ok {
			v.Undeclared = append(v.Undeclared, broker)
		}
	}
	return v
}

func (v *sweepView) compare(topic *rocketmqv1alpha1.Topic, broker string, b snapshot.Broker, have snapshot.TopicConfig, declared int) {
	if have.ReadQueues != declared || have.WriteQueues != declared {
		v.CountsDiffer = true
	}
	runtime, known := b.Runtime.Get()
	if !known {
		if v.Unknown == "" {
			v.Unknown = fmt.Sprintf("the version of %s is not known: %s", broker, b.Runtime.Why())
		}
		return
	}
	want := storable(withDeclared(&topic.Spec, have), have, runtime.Version)
	if drift := fieldDrift(have, want); drift != "" {
		v.Drift[broker] = drift
	}
}

// expectedBrokers are the brokers that the spec places the topic on: those it
// lists, or every broker of the cluster that was ever seen to register.
func expectedBrokers(topic *rocketmqv1alpha1.Topic, sweep *snapshot.Cluster) []string {
	if listed := placement(topic.Spec.Placement); listed != nil {
		slices.Sort(listed)
		return listed
	}
	return slices.Sorted(maps.Keys(sweep.Brokers))
}

// driftSentence says on which broker what differs.
func (v sweepView) driftSentence() string {
	s := ""
	for _, broker := range slices.Sorted(maps.Keys(v.Drift)) {
		if s != "" {
			s += "; "
		}
		s += broker + ": " + v.Drift[broker]
	}
	return s
}

// unsettledServers says why no topic may be written now: a name server that
// does not answer, disagrees or was just started (cases O19, O25); empty when
// all are fine.
func unsettledServers(sweep *snapshot.Cluster) (reason, why string) {
	for _, ns := range sweep.NameServers {
		if ns.WarmUp != "" {
			return rocketmqv1alpha1.ReasonNameServerWarmingUp, fmt.Sprintf("name server %s: %s", ns.Address, ns.WarmUp)
		}
		if !ns.Masters.IsKnown() {
			return rocketmqv1alpha1.ReasonUnreachable, fmt.Sprintf("name server %s: %s", ns.Address, ns.Masters.Why())
		}
		if !ns.Topics.IsKnown() {
			return rocketmqv1alpha1.ReasonIncompleteAnswer, fmt.Sprintf("name server %s: %s", ns.Address, ns.Topics.Why())
		}
	}
	for _, p := range sweep.Problems {
		if p.Trouble == snapshot.NameServersDisagree || p.Trouble == snapshot.AddressesMissing {
			return rocketmqv1alpha1.ReasonNameServersDiffer, p.Sentence
		}
	}
	if len(sweep.NameServers) == 0 {
		return rocketmqv1alpha1.ReasonUnreachable, "no name server was asked yet"
	}
	return "", ""
}

// routesAgree counts the name servers whose route equals what the brokers have
// (case Q30); all is false when one differs or is not known.
func routesAgree(name string, sweep *snapshot.Cluster, routes map[string]snapshot.Fact[snapshot.Route]) (asked, agreeing int, why string) {
	for _, address := range slices.Sorted(maps.Keys(routes)) {
		asked++
		route, known := routes[address].Get()
		switch {
		case !known:
			why = first(why, fmt.Sprintf("name server %s: %s", address, routes[address].Why()))
		case !route.Present:
			why = first(why, fmt.Sprintf("name server %s has no route for the topic", address))
		default:
			if differs := routeDiffers(name, sweep, route); differs != "" {
				why = first(why, fmt.Sprintf("name server %s: %s", address, differs))
				continue
			}
			agreeing++
		}
	}
	return asked, agreeing, why
}

func routeDiffers(name string, sweep *snapshot.Cluster, route snapshot.Route) string {
	for _, broker := range slices.Sorted(maps.Keys(sweep.Brokers)) {
		topics, known := sweep.Brokers[broker].Topics.Get()
		if !known {
			continue
		}
		have, there := topics[name]
		routed, listed := route.Queues[broker]
		switch {
		case there != listed && there:
			return broker + " has the topic and is not in the route"
		case there != listed:
			return broker + " is in the route and does not have the topic"
		case !there:
		case routed.Read != have.ReadQueues || routed.Write != have.WriteQueues:
			return fmt.Sprintf("%s is routed with read %d, write %d and has read %d, write %d", broker, routed.Read, routed.Write, have.ReadQueues, have.WriteQueues)
		case routed.Perm != routePerm(have.Perm, sweep.Brokers[broker]):
			return fmt.Sprintf("%s is routed with permission %d and has %d", broker, routed.Perm, routePerm(have.Perm, sweep.Brokers[broker]))
		}
	}
	return ""
}

// routePerm is what a broker registers: the topic's permission and its own
// (rocketmq.md 3.2).
func routePerm(topic snapshot.Perm, b snapshot.Broker) snapshot.Perm {
	if settings, known := b.Settings.Get(); known {
		return topic & settings.Permission
	}
	return topic
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// driftingBrokers are the brokers on which something beside counts differs.
func (v sweepView) driftingBrokers() []string { return slices.Sorted(maps.Keys(v.Drift)) }

// problemSentence says the first problem of a cluster; empty where there is none.
func problemSentence(problems []snapshot.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	return problems[0].Sentence
}
