// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// memberTimeout bounds one question to one member. The broker itself waits 10 s
// for a client that does not answer, which is longer than a look may take that
// a cut rests on (rule R02); such a member is unknown either way (case P12).
const memberTimeout = 3 * time.Second

// maxMembers is how many members of one group are asked in a look; a group with
// more stays unknown in what only its members know.
const maxMembers = 64

// askReports asks the members of every group that reads a topic of the pass for
// their running info (call 307), through the broker that lists them: whether
// they pop (rule R07), and where broadcast members are (rule R21). Members
// behind proxies cannot be asked.
func (g *groupPass) askReports() {
	type question struct {
		group, client string
		at            groupServer
	}
	var questions []question
	for _, group := range slices.Sorted(maps.Keys(g.members)) {
		if !g.readsAny(group) {
			continue
		}
		asked := map[string]struct{}{}
		for _, s := range g.servers {
			m, _ := g.members[group][s.name].Get()
			for _, member := range m.Members {
				_, twice := asked[member.ClientID]
				if s.proxy || twice || rocketmq.IsGRPC(member.ClientID) || len(asked) >= maxMembers {
					continue
				}
				asked[member.ClientID] = struct{}{}
				questions = append(questions, question{group, member.ClientID, s})
			}
		}
	}
	facts := make([]snapshot.Fact[snapshot.MemberReport], len(questions))
	forEach(maxServers, questions, func(i int, q question) {
		facts[i] = fact(g.pass, q.at.address, q.at.from, func(ctx context.Context, addr string) (snapshot.MemberReport, error) {
			ctx, cancel := context.WithTimeout(ctx, memberTimeout)
			defer cancel()
			return q.at.client.RunningInfo(ctx, addr, q.group, q.client)
		})
	})
	for i, q := range questions {
		if g.reports[q.group] == nil {
			g.reports[q.group] = map[string]snapshot.Fact[snapshot.MemberReport]{}
		}
		g.reports[q.group][q.client] = facts[i]
	}
}

// readsAny reports whether a member of the group subscribes to a topic for which
// a proof was asked.
func (g *groupPass) readsAny(group string) bool {
	for topic, opts := range g.topics {
		if opts.Groups != AllGroups {
			continue
		}
		for _, fact := range g.members[group] {
			m, _ := fact.Get()
			if _, reads := m.Table[topic]; reads {
				return true
			}
		}
	}
	return false
}

// reported are the reports of all classic members of a group, or why one is
// missing: "2 of 3 members answered; …".
func (g *groupPass) reported(group string, clients map[string]struct{}) (map[string]snapshot.MemberReport, snapshot.Origin, string) {
	out := map[string]snapshot.MemberReport{}
	var origin snapshot.Origin
	why := ""
	for _, client := range slices.Sorted(maps.Keys(clients)) {
		f, asked := g.reports[group][client]
		report, known := f.Get()
		switch {
		case !asked:
			why = client + " was not asked"
		case !known:
			why = client + ": " + f.Why()
		default:
			out[client] = report
			origin = earlier(origin, f.Origin())
		}
	}
	if why != "" {
		return nil, origin, fmt.Sprintf("%d of %d members answered; %s", len(out), len(clients), why)
	}
	return out, origin, ""
}

// earlier is the origin that was sent first: what was derived from several
// answers is as old as the oldest.
func earlier(a, b snapshot.Origin) snapshot.Origin {
	if a.Sent.IsZero() || b.Sent.Before(a.Sent) {
		return b
	}
	return a
}
