// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package rocketmq_test

import (
	"maps"
	"slices"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// proxyTellsMembersOnly asks a proxy's remoting port for what it has, and for
// what only brokers have: that is an error, never zero.
func (s *scene) proxyTellsMembersOnly() {
	if s.proxy == "" {
		return // 4.9 has none
	}
	s.Expect(must[snapshot.Membership](s)(s.client.Members(s.ctx(), s.proxy, "nobody"))).To(Equal(snapshot.Membership{}))
	s.Expect(must[[]string](s)(s.client.MemberIDs(s.ctx(), s.proxy, "nobody"))).To(BeEmpty())

	_, err := s.client.Identify(s.ctx(), s.proxy)
	s.Expect(err).To(MatchError(remoting.Unsupported))
	_, err = s.client.AllCommittedOffsets(s.ctx(), s.proxy)
	s.Expect(err).To(MatchError(remoting.Unsupported))
	_, err = s.client.AllTopicConfigs(s.ctx(), s.proxy)
	s.Expect(err).To(MatchError(remoting.Unsupported))
	at := s.at
	at.Addr = s.proxy
	_, err = s.client.CreateOrUpdateTopic(s.ctx(), at, "orders", become(8, 8, nil))
	s.Expect(err).To(MatchError(remoting.Unsupported))

	// The proxy made its own topic on every master (rocketmq-live.md 1).
	stored := must[snapshot.StoredTopic](s)(s.client.TopicConfig(s.ctx(), s.at.Addr, names.DefaultHeartbeatTopic))
	s.Expect(stored.Present).To(BeTrue())
	pulled := must[rocketmq.Pulled](s)(s.client.Pull(s.ctx(), s.at.Addr, names.DefaultHeartbeatTopic, 0, 0, rocketmq.MaxPull))
	s.Expect(pulled.AtEnd()).To(BeTrue())
}

// namesAreKnown: every topic and group of a fresh broker is RocketMQ's own, and
// the rules of package names know each of them.
func (s *scene) namesAreKnown() {
	scope := names.Scope{Cluster: s.at.Cluster, Brokers: []string{s.at.Name}}
	topics := must[rocketmq.TopicTable](s)(s.client.AllTopicConfigs(s.ctx(), s.at.Addr)).Topics
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		s.Expect(names.ReservedTopic(topic, scope)).NotTo(BeEmpty(), "topic %s", topic)
	}
	groups := must[rocketmq.GroupTable](s)(s.client.AllGroups(s.ctx(), s.at.Addr)).Groups
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		s.Expect(names.ReservedGroup(group, scope)).NotTo(BeEmpty(), "group %s", group)
	}
}
