// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestA05_A10_DuplicateIDsAreNeverTrue(t *testing.T) {
	for name, second := range map[string]string{"another host": "10.0.0.2:7000", "the same host": "10.0.0.1:7000"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.pod(orders("A"))
			s.pod(orders("A"))
			s.Expect(s.audit().MembersAgree.Status).To(Equal(True))
			s.peers[0].id, s.peers[1].id = "@8#DEFAULT", "@8#DEFAULT"
			s.peers[1].address = second
			r := s.audit()
			s.Expect([]any{r.MembersAgree.Status, r.MembersAgree.Reason}).To(Equal([]any{Unknown, ReasonDuplicateClientID}), "R40: at once")
			s.Expect(r.MatchesSpec.Status).NotTo(Equal(True))
			s.Expect(kinds(r)).To(ContainElement(DuplicateClientID))
			s.Expect(r.Findings[0].Sentence).To(ContainSubstring("10.0.0.1:4001"))
			s.Expect(r.Findings[0].Sentence).To(ContainSubstring(second))
		})
	}
}

func TestA11_AllMembersWithOneIDConsumeTwice(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A"))
	s.peers[0].id, s.peers[1].id = "topic@1", "topic@1"
	s.Expect(s.audit().Findings[0].Sentence).To(ContainSubstring("every message is consumed more than once"))
}

func queues(broker string, ids ...int) []snapshot.Queue {
	var out []snapshot.Queue
	for _, id := range ids {
		out = append(out, snapshot.Queue{Topic: topic, Broker: broker, ID: id})
	}
	return out
}

func TestA06_A07_DuplicateIDsWithUnownedAndDoublyOwnedQueues(t *testing.T) {
	s := newScene(t)
	for range 2 {
		s.pod(orders("A")).queues = queues("broker-a", 0, 1, 2, 3)
	}
	s.peers[0].id, s.peers[1].id = "172.17.0.1@1", "172.17.0.1@1"
	r := s.audit()
	s.Expect(kinds(r)).To(Equal([]FindingKind{DuplicateClientID}), "A12: not before the settling time")
	r = s.until(70 * time.Second)
	s.Expect(kinds(r)).To(Equal([]FindingKind{DuplicateClientID, DoubleOwned, Unowned}))
	s.Expect(r.Findings[1].Queues).To(Equal(queues("broker-a", 0, 1, 2, 3)))
	s.Expect(r.Findings[2].Queues).To(Equal(queues("broker-b", 0, 1, 2, 3)))
	s.Expect(r.Findings[2].Sentence).To(HavePrefix("4 of 8 queues have no owner (TOPIC_SHOP_ORDER broker-b/0, "))
}

func TestA12_A13_OwnersMayOverlapWhileMembersMove(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A")).queues = append(queues("broker-a", 0, 1, 2, 3), queues("broker-b", 0, 1)...)
	for range 5 {
		s.pod(orders("A")).queues = queues("broker-b", 1, 2, 3)
		s.Expect(kinds(s.until(50 * time.Second))).NotTo(ContainElement(DoubleOwned))
	}
	s.Expect(kinds(s.until(20 * time.Second))).To(ContainElement(DoubleOwned))
}

func TestA27_QueuesOfOneBrokerAfterItsRestart(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A")).queues = queues("broker-b", 0, 1, 2, 3)
	r := s.until(2 * time.Minute)
	s.Expect(r.Findings[0].Sentence).To(ContainSubstring("they are all of one broker, as after its restart"))
}

func TestOwnership_UnknownAnswersSayNothing(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A")).queues = queues("broker-b", 0)
	s.pod(nil)
	s.Expect(kinds(s.until(3 * time.Minute))).To(BeEmpty())
	s = newScene(t)
	s.pod(orders("A")).properties = map[string]string{"messageModel": "BROADCASTING"}
	s.Expect(kinds(s.until(3*time.Minute))).To(BeEmpty(), "R21: every broadcast member owns every queue")
}

func TestA14_BrokersThatListDifferentMembers(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A"))
	s.tamper = broker("broker-b", func(b *snapshot.GroupOnBroker) {
		m, _ := b.Members.Get()
		m.Members = m.Members[:1]
		b.Members = snapshot.Known(m, b.Members.Origin())
	})
	s.Expect(kinds(s.until(time.Minute))).NotTo(ContainElement(MembershipSplit))
	r := s.until(2 * time.Minute)
	s.Expect(kinds(r)).To(ContainElement(MembershipSplit))
	s.Expect(fmt.Sprint(r.Findings)).To(ContainSubstring("broker-a lists 2, broker-b lists 1"))
}

func TestA18_GhostsOfDeadPodsDoNotCount(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(nil)
	s.pods[1].Gone, s.pods[1].Ready = epoch.Add(5*time.Second), false
	r := s.audit()
	s.Expect([]any{r.MembersAgree.Status, r.Members, r.Ghosts}).To(Equal([]any{True, 1, 1}))
	s.Expect(r.Findings[0].Sentence).To(Equal("1 members belong to pods that are gone, such as points-2; brokers drop them, and give their queues to others, by 14:02:15"))
	r = s.until(3 * time.Minute)
	s.Expect(r.Findings[0].Sentence).To(ContainSubstring("should have expired at 14:02:15"))
}

func TestA28_A29_ProtocolsObservedBeatTheDeclared(t *testing.T) {
	s := newScene(t)
	s.protocol = snapshot.ProtocolPOP
	s.pod(orders("A"))
	r := s.audit()
	s.Expect(kinds(r)).To(ContainElement(ProtocolMismatch))
	s.Expect(r.MembersAgree.Status).To(Equal(Unknown), "declared gRPC, and no proxy was asked")
	s.protocol = snapshot.ProtocolClassic
	s.peers[0].pops = []snapshot.Queue{{Topic: topic, Broker: "broker-a", ID: -1}}
	s.Expect(kinds(s.audit())).To(ContainElement(ProtocolMismatch))
}

func TestG01_NoMemberOnBrokersIsNotNoMember(t *testing.T) {
	for name, tamper := range map[string]func(*Ask){
		"traces of POP":    broker("broker-a", func(b *snapshot.GroupOnBroker) { b.PopTraces = snapshot.Known(true, b.PopTraces.Origin()) }),
		"traces not known": broker("broker-a", func(b *snapshot.GroupOnBroker) { b.PopTraces = snapshot.Unknown[bool]("broker-a silent") }),
		"declared gRPC":    func(a *Ask) { a.Protocol = snapshot.ProtocolPOP },
		"a proxy that does not answer": func(a *Ask) {
			a.Look.Proxies = map[string]snapshot.Fact[snapshot.Membership]{"p1:8080": snapshot.Unknown[snapshot.Membership]("refused")}
		},
		"heartbeats read back too little (R41)": func(a *Ask) {
			a.Look.Heartbeats = snapshot.Known(snapshot.Heartbeats{Back: 30 * time.Second}, snapshot.Origin{Sent: a.Now})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.declared, s.tamper = orders("A"), tamper
			r := s.audit()
			s.Expect([]any{r.MembersAgree.Status, r.MembersAgree.Reason}).To(Equal([]any{Unknown, ReasonProxyNotQueried}))
			s.Expect(r.MatchesSpec.Status).To(Equal(Unknown))
			s.Expect(r.BrokersHold.Status).To(Equal(Unknown))
		})
	}
	s := newScene(t)
	r := s.audit()
	s.Expect([]any{r.MembersAgree.Status, r.MembersAgree.Reason}).To(Equal([]any{True, ReasonNoMembers}), "proven on every broker")
}

// grpc adds a pod with a gRPC member.
func (s *scene) grpc(reads Set, age time.Duration) {
	s.pod(nil)
	n := len(s.peers)
	s.peers[n-1] = peer{id: fmt.Sprintf("points-%d@7@0@m%d", n, n), address: fmt.Sprintf("10.9.9.9:%d", 5000+n), reads: reads, grpc: true, age: age, language: "JAVA"}
}

func TestR41_GRPCMembersByTheirOwnHeartbeats(t *testing.T) {
	s := newScene(t)
	s.grpc(orders("PAID"), 5*time.Second)
	s.grpc(orders("PAID"), 20*time.Second)
	r := s.audit()
	s.Expect([]any{r.MembersAgree.Status, r.Members, r.Unmapped}).To(Equal([]any{True, 2, 0}), "mapped by host name, whatever the address")
	s.Expect([]any{r.BrokersHold.Status, r.BrokersHold.Reason}).To(Equal([]any{True, ReasonNoTable}))
	s.peers[1].age = 40 * time.Second
	r = s.until(90 * time.Second)
	s.Expect([]any{r.MembersAgree.Status, r.MembersAgree.Reason}).To(Equal([]any{Unknown, ReasonMemberSilent}), "silent for 25 to 130 s is not gone")
	s.Expect(r.MembersAgree.Sentence).To(ContainSubstring("has sent no heartbeat for about 40 s"))
	s.peers[1].age = 131 * time.Second
	s.pods[1].Gone = s.now
	r = s.until(30 * time.Second)
	s.Expect([]any{r.MembersAgree.Status, r.Members}).To(Equal([]any{True, 1}), "gone after 130 s")
	s.peers[0].reads, s.peers[1].age, s.peers[1].reads = orders("PAID||REFUND"), 0, orders("PAID")
	s.pods[1].Gone = time.Time{}
	r = s.until(30 * time.Second)
	s.Expect(r.MembersAgree.Status).To(Equal(False), "brokers see nothing of it")
	s.Expect(r.MembersAgree.Odd[0].Pod).To(Equal("shop/points-2"))
}

func TestR41_AnUnregisteredMemberIsGoneAtOnce(t *testing.T) {
	s := newScene(t)
	s.grpc(orders("PAID"), 0)
	s.grpc(orders("REFUND"), 0)
	s.tamper = func(a *Ask) {
		beats, _ := a.Look.Heartbeats.Get()
		beats.Members[1].Left = true
		a.Pods = snapshot.Known(s.pods[:1], snapshot.Origin{})
	}
	r := s.audit()
	s.Expect([]any{r.MembersAgree.Status, r.Members}).To(Equal([]any{True, 1}))
}

func TestR41_AMemberThatOnlyItsProxyListsHasNotSaidWhatItReads(t *testing.T) {
	s := newScene(t)
	s.grpc(orders("PAID"), 0)
	s.tamper = func(a *Ask) {
		a.Look.Proxies = map[string]snapshot.Fact[snapshot.Membership]{"p1:8080": snapshot.Known(snapshot.Membership{
			Members: []snapshot.Member{{ClientID: "points-9@7@0@m9", Address: "10.0.0.9:1"}}}, snapshot.Origin{})}
	}
	s.Expect(s.audit().MembersAgree.Status).To(Equal(Unknown))
}

func TestG15_BothGranularitiesAndBothModels(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.grpc(orders("A"), 0)
	s.Expect(kinds(s.audit())).To(ContainElement(MixedModes))
	s = newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A")).properties = map[string]string{"messageModel": "BROADCASTING"}
	s.Expect(s.audit().Findings[0].Sentence).To(ContainSubstring("1 members broadcast and 1 share the queues"))
}

func TestG17_NoGuessOfTheClientFromAVersion(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A")).language = "GO"
	r := s.audit()
	s.Expect(kinds(r)).To(Equal([]FindingKind{MixedSDKs}))
	s.Expect(r.Findings[0].Sentence).To(ContainSubstring("(1 GO, 1 JAVA)"))
	s.Expect(r.All[0].SDK).To(BeEmpty())
}

func TestR40_FewerMembersThanReadyPodsIsSaidAndNeverTrue(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A"))
	s.peers = s.peers[:1]
	r := s.audit()
	s.Expect([]any{r.MembersAgree.Status, r.MembersAgree.Reason}).To(Equal([]any{Unknown, ReasonPodsWithoutMember}))
	s.Expect(kinds(r)).To(Equal([]FindingKind{FewerMembers}))
	s.works[0].Mixed = true
	s.state = State{}
	s.Expect(s.audit().MembersAgree.Status).To(Equal(True), "a web service that also consumes")
}

func TestR40_ANewAddressIsANewMember(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A"))
	s.until(2 * time.Minute)
	s.pods[1].IPs, s.peers[1].address, s.peers[1].reads = []string{"10.0.0.77"}, "10.0.0.77:1", nil
	r := s.audit()
	s.Expect([]any{r.Joining, r.Members, r.MembersAgree.Status}).To(Equal([]any{1, 1, True}))
	s.Expect(r.MembersAgree.NowSentence).To(ContainSubstring("1 joined just now"))
	r = s.until(2 * time.Minute)
	s.Expect(r.MembersAgree.Status).To(Equal(Unknown), "its grace is over")
}

func TestS03_MembersFromOutsideTheCluster(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.peers = append(s.peers, peer{id: "192.168.7.7@1#1", address: "192.168.7.7:99", reads: orders("A"), language: "JAVA"})
	r := s.audit()
	s.Expect(r.Unmapped).To(Equal(1))
	s.Expect(kinds(r)).To(Equal([]FindingKind{OutsideCluster}))
	s.Expect(r.MembersAgree.Status).To(Equal(True))
}

func TestIdentity_HostNetworkIsMappedByNothingButItsName(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pods[0].HostNetwork = true
	s.Expect(s.audit().Unmapped).To(Equal(1), "an address of its node is no proof")
	s.grpc(orders("A"), 0)
	s.pods[1].HostNetwork = true
	s.Expect(s.audit().All[1].Pod.Name).To(Equal("points-2"))
}
