// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
)

// hold judges whether every broker's merged table is what the members
// subscribe to. A table always shows one expression, so it never proves that
// members agree (rocketmq.md 5.2), and a stale one skips messages although
// they do (case S13).
func (e *examination) hold() {
	v := &e.report.BrokersHold
	want, whose := e.report.Agreed, "its members read"
	if want == nil && e.ask.Declared != nil && e.report.MembersAgree.Now != True {
		want, whose = e.ask.Declared, "declared is"
	}
	var unsure []doubt
	tables, asked := 0, 0
	var first Set
	var firstName string
	reason, sentence := Reason(""), ""
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		b := e.ask.Look.Brokers[name]
		asked++
		listed, known := b.Members.Get()
		if !known {
			unsure = append(unsure, doubt{ReasonBrokerSilent, fmt.Sprintf("what %s has is not known: %s", name, b.Members.Why()), false})
			continue
		}
		if !e.classicHere(name) {
			if d, hosts := e.missing(name); hosts {
				unsure = append(unsure, d)
			}
			continue
		}
		table := tableSet(e.ask.Group, listed.Table)
		if len(table) == 0 {
			unsure = append(unsure, doubt{ReasonNotReported, fmt.Sprintf("%s lists %d members but no subscription, as for pull consumers", name, len(listed.Members)), false})
			continue
		}
		tables++
		if first == nil {
			first, firstName = table, name
		}
		expect, of := want, whose
		if expect == nil {
			expect, of = first, firstName+" has"
		}
		if table.Equal(expect) {
			continue
		}
		v.add(Odd{Broker: name, Reads: table.String(), Differs: table.against(expect)})
		if reason == "" {
			reason, sentence = ReasonBrokersDiffer, fmt.Sprintf("the table of %s %s; %s %s", name, table.against(expect), of, expect)
			if e.report.Agreed != nil {
				reason = ReasonBrokerStale
				sentence += "; a client whose clock is behind cannot replace an older expression (see its subVersion)"
			}
		}
	}
	odd, omitted := v.Odd, v.Omitted
	switch {
	case reason != "":
		*v = e.verdict(False, reason, sentence)
	case len(unsure) > 0:
		*v = e.verdict(Unknown, unsure[0].reason, unsure[0].sentence)
	case asked == 0:
		*v = e.verdict(Unknown, ReasonBrokerSilent, "no broker was asked")
	case tables == 0 && len(e.doubts) > 0:
		*v = e.unsure()
	case tables == 0 && len(e.counted) == 0:
		*v = e.verdict(True, ReasonNoMembers, "no member is connected")
	case tables == 0:
		*v = e.verdict(True, ReasonNoTable, "members bring their filter with each request; brokers keep none")
	case want == nil && tables < 2:
		*v = e.verdict(Unknown, e.report.MembersAgree.NowReason, fmt.Sprintf("%s has %s, and what it should have is not known", firstName, first))
	default:
		*v = e.verdict(True, ReasonHeld, fmt.Sprintf("%d brokers have %s", tables, first))
	}
	v.Odd, v.Omitted = odd, omitted
}

// classicHere reports whether a broker lists a member that sends it heartbeats.
func (e *examination) classicHere(broker string) bool {
	for _, m := range e.members {
		if slices.Contains(m.Servers, broker) && !m.Ghost {
			return true
		}
	}
	return false
}

// missing says that a broker that hosts a subscribed topic lists no member
// although others do (rule R32, case A14).
func (e *examination) missing(broker string) (doubt, bool) {
	elsewhere := false
	for name := range e.ask.Look.Brokers {
		elsewhere = elsewhere || e.classicHere(name)
	}
	if !elsewhere {
		return doubt{}, false
	}
	switch hosted, why := e.hosts(broker); {
	case why != "":
		return doubt{ReasonBrokerSilent, why, false}, true
	case len(hosted) > 0:
		return doubt{ReasonBrokerSilent, fmt.Sprintf("%s hosts %s but lists no member of the group", broker, hosted[0]), false}, true
	}
	return doubt{}, false
}

// hosts lists the subscribed topics that a broker has.
func (e *examination) hosts(broker string) (topics []string, why string) {
	b := e.ask.Look.Brokers[broker]
	for _, topic := range e.topics() {
		f, asked := b.Topics[topic]
		stored, known := f.Get()
		switch {
		case !asked:
			return nil, fmt.Sprintf("whether %s has %s was not asked", broker, topic)
		case !known:
			return nil, fmt.Sprintf("whether %s has %s is not known: %s", broker, topic, f.Why())
		case stored.Present:
			topics = append(topics, topic)
		}
	}
	return topics, ""
}

// topics are those that are declared, that a member reads or a table has.
func (e *examination) topics() []string {
	all := maps.Clone(map[string]Filter(e.ask.Declared))
	if all == nil {
		all = map[string]Filter{}
	}
	for _, m := range e.answered {
		set, _ := m.Reads.Get()
		maps.Copy(all, set)
	}
	for _, b := range e.ask.Look.Brokers {
		listed, _ := b.Members.Get()
		maps.Copy(all, tableSet(e.ask.Group, listed.Table))
	}
	return slices.Sorted(maps.Keys(all))
}

// risk says which messages may be skipped while members disagree: those that
// some member takes and another, or a broker's table, does not.
func (e *examination) risk() {
	var sets []Set
	for _, m := range e.answered {
		set, _ := m.Reads.Get()
		sets = append(sets, set)
	}
	wanted := len(sets)
	if e.report.MembersAgree.Now != False && e.report.BrokersHold.Now != False {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		if listed, known := e.ask.Look.Brokers[name].Members.Get(); known && e.classicHere(name) {
			sets = append(sets, tableSet(e.ask.Group, listed.Table))
		}
	}
	for _, topic := range e.topics() {
		if s, at := skipped(topic, sets[:wanted], sets); at && len(e.report.Skipped) < MaxOdd {
			e.report.Skipped = append(e.report.Skipped, s)
		}
	}
}

// skipped is what is between the union of what is wanted and what passes all.
func skipped(topic string, wanted, all []Set) (Skipped, bool) {
	s := Skipped{Topic: topic}
	var want []Filter
	for _, set := range wanted {
		if f, ok := set[topic]; ok {
			want = append(want, f)
		}
	}
	if len(want) == 0 {
		return s, false
	}
	differ := false
	everything, tags := false, map[string]int{}
	narrow := map[string]int{}
	lists := 0
	for _, set := range all {
		f, ok := set[topic]
		differ = differ || !ok || !f.Equal(want[0])
		if ok && (f.Type != Tag || f.Class) {
			s.Untold = true
		}
		if ok && f.All {
			continue
		}
		lists++ // a set without the topic takes nothing of it
		for _, t := range f.Tags {
			narrow[t]++
		}
	}
	for _, f := range want {
		everything = everything || f.All
		for _, t := range f.Tags {
			tags[t]++
		}
	}
	switch {
	case !differ:
		return s, false
	case s.Untold:
		return s, true
	case everything:
		s.AllBut = []string{}
		for _, t := range slices.Sorted(maps.Keys(narrow)) {
			if narrow[t] == lists {
				s.AllBut = append(s.AllBut, t)
			}
		}
		return s, true
	}
	for _, t := range slices.Sorted(maps.Keys(tags)) {
		if narrow[t] < lists {
			s.Tags = append(s.Tags, t)
		}
	}
	return s, len(s.Tags) > 0
}

// String says which messages it is about.
func (s Skipped) String() string {
	switch {
	case s.Untold:
		return "messages of " + s.Topic + " that not all filters take"
	case len(s.Tags) > 0:
		return Of(s.Tags...).String() + " messages of " + s.Topic
	case len(s.AllBut) > 0:
		return "all messages of " + s.Topic + " but " + Of(s.AllBut...).String()
	}
	return "all messages of " + s.Topic
}
