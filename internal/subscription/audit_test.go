// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestAudit_AllAlike(t *testing.T) {
	s := newScene(t)
	s.declared = orders("PAID||REFUND")
	for range 3 {
		s.pod(orders("REFUND || PAID"))
	}
	r := s.audit()
	s.Expect(r.MembersAgree.Status).To(Equal(True))
	s.Expect(r.MembersAgree.Sentence).To(Equal("3 of 3 members read TOPIC_SHOP_ORDER with PAID || REFUND"))
	s.Expect(r.MatchesSpec.Status).To(Equal(True))
	s.Expect(r.BrokersHold.Status).To(Equal(True))
	s.Expect(r.Findings).To(BeEmpty())
	s.Expect([]int{r.Members, r.Agreeing, r.Ghosts, r.Joining, r.Unmapped}).To(Equal([]int{3, 3, 0, 0, 0}))
	s.Expect(r.Agreed).To(Equal(orders("PAID||REFUND")))
	s.Expect(r.Skipped).To(BeEmpty())
}

func TestS01_OddMemberIsNamedWithPodFilterAndWhatIsSkipped(t *testing.T) {
	s := newScene(t)
	s.declared = orders("PAID||REFUND")
	s.pod(orders("PAID||REFUND"))
	s.pod(orders("PAID||REFUND"))
	s.audit()
	s.pod(orders("PAID"))
	r := s.audit()
	s.Expect(r.MembersAgree.Now).To(Equal(False), "seen at once")
	s.Expect(r.MembersAgree.Status).To(Equal(True), "shown when confirmed")
	r = s.until(20 * time.Second)
	v := r.MembersAgree
	s.Expect(v.Status).To(Equal(False), "within two sweeps")
	s.Expect(v.Reason).To(Equal(ReasonFilterDiffers))
	s.Expect(v.Odd).To(Equal([]Odd{{Pod: "shop/points-3", Workload: "Deployment/points", ReplicaSet: "points-7d9f", ClientID: "10.0.0.3@1#103",
		Address: "10.0.0.3:4003", Reads: "TOPIC_SHOP_ORDER with PAID", Differs: "reads TOPIC_SHOP_ORDER with PAID"}}))
	s.Expect(r.Skipped).To(Equal([]Skipped{{Topic: topic, Tags: []string{"REFUND"}}}))
	s.Expect(v.Sentence).To(Equal("2 of 3 members read TOPIC_SHOP_ORDER with PAID || REFUND; pod points-3 (ReplicaSet points-7d9f, client 10.0.0.3@1#103) reads TOPIC_SHOP_ORDER with PAID. " +
		"While they differ, brokers may use one filter for all: REFUND messages of TOPIC_SHOP_ORDER may be skipped for good. Since 14:00:20; last seen to agree at 14:00:10."))
	s.Expect(r.MatchesSpec.Status).To(Equal(False))
	s.Expect(r.MatchesSpec.Sentence).To(ContainSubstring("1 of 3 members do not subscribe as declared"))
	s.Expect(r.Agreeing).To(Equal(2))

	s.peers[2].reads = orders("*")
	r = s.until(20 * time.Second)
	s.Expect(r.MembersAgree.Status).To(Equal(False), "* is not equal to any list")
	s.Expect(r.Skipped[0].String()).To(Equal("all messages of TOPIC_SHOP_ORDER but PAID || REFUND"))
}

func TestS02_ExpressionTypesDoNotMix(t *testing.T) {
	s := newScene(t)
	s.pod(orders("tag1"))
	s.pod(Set{topic: {Type: SQL92, SQL: "tag1"}})
	r := s.audit()
	s.Expect(r.MembersAgree.Status).To(Equal(False), "a first audit shows what it sees")
	s.Expect(r.MembersAgree.Reason).To(Equal(ReasonExpressionType))
	s.Expect(r.Skipped).To(Equal([]Skipped{{Topic: topic, Untold: true}}))
}

func TestS03_TwoAppsWithOneGroup(t *testing.T) {
	s := newScene(t)
	s.pod(Set{"T1": Everything()})
	s.pod(Set{"T2": Everything()})
	s.pods[1].Owner = Ref{"shop", "Deployment", "mail"}
	s.tamper = func(a *Ask) {
		for _, b := range a.Look.Brokers {
			for _, name := range []string{"T1", "T2"} {
				b.Topics[name] = b.Topics[topic]
			}
		}
	}
	r := s.until(2 * time.Minute)
	s.Expect(r.MembersAgree.Reason).To(Equal(ReasonSameGroupTwoApps))
	s.Expect(r.MembersAgree.Sentence).To(ContainSubstring("it belongs to Deployment/mail and the others to Deployment/points, so give it a group of its own"))
	s.Expect(kinds(r)).To(ContainElement(UnreferencedWorkload))
}

func TestS05_S06_RolloutIsAnExcuseUntilItsDeadline(t *testing.T) {
	s := newScene(t)
	for range 3 {
		s.pod(orders("A"))
	}
	s.audit()
	s.works[0].Revision, s.works[0].Deadline = "r2", 2*time.Minute
	s.pod(orders("A||B"))
	s.pods[3].Revision = "r2"
	r := s.until(30 * time.Second)
	v := r.MembersAgree
	s.Expect(v.Status).To(Equal(False))
	s.Expect(v.Reason).To(Equal(ReasonRolloutInProgress))
	s.Expect(v.Sentence).To(HavePrefix("Deployment/points rolls out: 1 of 4 pods updated, deadline 14:02; 3 of 4 members read"))
	s.Expect(*r.Rolling).To(Equal(Rollout{Workload: points, Updated: 1, Pods: 4, Since: epoch.Add(20 * time.Second), Deadline: epoch.Add(140 * time.Second)}))
	r = s.until(2 * time.Minute)
	s.Expect(r.MembersAgree.Reason).To(Equal(ReasonFilterDiffers), "K31: bounded by the workload's own deadline")
	s.Expect(r.Since).To(Equal(epoch.Add(20*time.Second)), "at risk since the first look that differed")
	s.Expect(r.LastAgreed).To(Equal(epoch.Add(10 * time.Second)))
}

func TestK31_RolloutsByRevisionOfPodsPausedAndOnDeleteIncluded(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A||B"))
	r := s.audit()
	s.Expect(r.Rolling).To(BeNil())
	s.works[0].Rolling = true
	s.Expect(s.audit().Rolling).NotTo(BeNil(), "the workload's own status, paused")
	s.works[0].Rolling = false
	s.Expect(s.audit().Rolling).To(BeNil())
	s.pods[1].Revision = "r2"
	s.Expect(s.audit().Rolling).NotTo(BeNil(), "two revisions among pods, OnDelete")
	s.pods[1].Gone = s.now
	s.Expect(s.audit().Rolling).To(BeNil(), "a pod that is gone is of no revision")
}

func TestS07_TwoClientsInOnePod(t *testing.T) {
	s := newScene(t)
	s.pod(Set{"test1": Everything()})
	s.peers = append(s.peers, peer{id: "10.0.0.1@1#999", address: "10.0.0.1:5001", reads: Set{"test2": Everything()}, language: "JAVA"})
	r := s.audit()
	s.Expect(r.MembersAgree.Reason).To(Equal(ReasonTopicsDiffer))
	s.Expect(r.Findings[0].Sentence).To(ContainSubstring("such as shop/points-1 with 10.0.0.1@1#101, 10.0.0.1@1#999"))
	s.Expect(r.Findings[0].Sentence).To(ContainSubstring("the fix is in the code, not in scaling"))
}

func TestS22_MissingTopicsAreNamedPerPod(t *testing.T) {
	s := newScene(t)
	s.declared = Set{topic: Everything(), "T3": Of("X")}
	s.pod(orders("*"))
	r := s.audit()
	s.Expect(r.MembersAgree.Status).To(Equal(True))
	s.Expect(r.MatchesSpec.Odd[0].Differs).To(Equal("does not read T3"))
	s.peers[0].reads = Set{topic: Everything(), "T3": Of("X"), "T4": Of("Y")}
	s.Expect(s.audit().MatchesSpec.Odd[0].Differs).To(Equal("also reads T4 with Y"))
}

func TestS13_StaleTableOnABroker(t *testing.T) {
	s := newScene(t)
	s.declared = orders("B")
	s.pod(orders("B"))
	s.pod(orders("B"))
	s.tamper = broker("broker-b", func(b *snapshot.GroupOnBroker) {
		m, _ := b.Members.Get()
		m.Table = map[string]snapshot.Subscription{topic: {Topic: topic, ExpressionType: "TAG", Expression: "A", Tags: []string{"A"}, Version: 9e15}}
		b.Members = snapshot.Known(m, b.Members.Origin())
	})
	r := s.audit()
	s.Expect(r.MembersAgree.Status).To(Equal(True), "the three verdicts are kept apart")
	s.Expect(r.MatchesSpec.Status).To(Equal(True))
	v := r.BrokersHold
	s.Expect([]any{v.Status, v.Reason}).To(Equal([]any{False, ReasonBrokerStale}))
	s.Expect(v.Sentence).To(ContainSubstring("the table of broker-b reads TOPIC_SHOP_ORDER with A; its members read TOPIC_SHOP_ORDER with B; a client whose clock is behind"))
	s.Expect(v.Odd).To(Equal([]Odd{{Broker: "broker-b", Reads: "TOPIC_SHOP_ORDER with A", Differs: "reads TOPIC_SHOP_ORDER with A"}}))
	s.Expect(r.Skipped).To(Equal([]Skipped{{Topic: topic, Tags: []string{"B"}}}))
}

func TestS09_ATableThatLacksATopicIsAMismatch(t *testing.T) {
	s := newScene(t)
	s.pod(Set{topic: Everything(), "T2": Everything()})
	s.tamper = broker("broker-a", func(b *snapshot.GroupOnBroker) {
		m, _ := b.Members.Get()
		m.Table = map[string]snapshot.Subscription{topic: {Topic: topic, Expression: "*"}}
		b.Members = snapshot.Known(m, b.Members.Origin())
	})
	s.Expect(s.audit().BrokersHold.Sentence).To(ContainSubstring("the table of broker-a does not read T2"))
}

func TestS14_BurstsAndRestartsFlipNothing(t *testing.T) {
	s := newScene(t)
	for range 3 {
		s.pod(orders("A"))
	}
	s.audit()
	for range 12 {
		s.peers[1].reads = nil // one look without its answer
		r := s.audit()
		s.Expect([]Status{r.MembersAgree.Status, r.MembersAgree.Now}).To(Equal([]Status{True, Unknown}))
		s.peers[1].reads = orders("A")
		s.Expect(s.audit().MembersAgree.Status).To(Equal(True))
	}
	s.peers[1].reads = nil
	r := s.until(80 * time.Second)
	s.Expect([]any{r.MembersAgree.Status, r.MembersAgree.Reason}).To(Equal([]any{Unknown, ReasonMemberSilent}))
	s.Expect(r.MembersAgree.Sentence).To(Equal("2 of 3 members answered; pod points-2 (ReplicaSet points-7d9f, client 10.0.0.2@1#102) did not answer within 10 s"))
	s.Expect([]int{r.MembersAgree.Answered, r.MembersAgree.Of}).To(Equal([]int{2, 3}))
}

// TestS14_ADoubtfulVerdictIsNotKept: a verdict that no look confirms any more
// is withdrawn, whatever the looks in between say.
func TestS14_ADoubtfulVerdictIsNotKept(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A"))
	s.audit()
	for i := range 7 {
		s.peers[1].reads = []Set{nil, orders("B")}[i%2]
		s.audit()
	}
	s.Expect(s.state.Agree.Status).NotTo(Equal(True))
}

func TestS16_NotReportedIsUnknown(t *testing.T) {
	s := newScene(t)
	s.declared = orders("A")
	s.pod(Set{})
	r := s.audit()
	for _, v := range []Verdict{r.MembersAgree, r.MatchesSpec, r.BrokersHold} {
		s.Expect([]any{v.Status, v.Reason}).To(Equal([]any{Unknown, ReasonNotReported}))
	}
}

func TestS17_TwinBehindANamespace(t *testing.T) {
	s := newScene(t)
	s.tamper = func(a *Ask) { a.Look.Twins = map[string]int{"prod%" + group: 4} }
	r := s.audit()
	s.Expect(kinds(r)).To(Equal([]FindingKind{Twin}))
	s.Expect(r.Findings[0].Sentence).To(HavePrefix("group prod%CG_SHOP_POINTS has 4 members"))
}

func TestP12_OneSilentMemberIsUnknownUnlessOthersDiffer(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(nil)
	s.Expect(s.audit().MembersAgree.Status).To(Equal(Unknown), "nobody is new at the first look")
	s.pod(orders("B"))
	r := s.audit()
	s.Expect(r.MembersAgree.Now).To(Equal(False), "two that differ are proof whatever a third says")
	s.Expect(r.MembersAgree.NowSentence).To(ContainSubstring("1 did not answer"))
}

func TestAudit_ABrokerThatIsDownIsUnknownNeverTrue(t *testing.T) {
	s := newScene(t)
	s.declared = orders("A")
	s.pod(orders("A"))
	s.tamper = broker("broker-b", func(b *snapshot.GroupOnBroker) {
		b.Members = snapshot.Unknown[snapshot.Membership]("broker-b did not answer")
	})
	r := s.audit()
	for _, v := range []Verdict{r.MembersAgree, r.MatchesSpec, r.BrokersHold} {
		s.Expect([]any{v.Status, v.Reason}).To(Equal([]any{Unknown, ReasonBrokerSilent}))
	}
}

func TestK05_AtMostEightOddOnes(t *testing.T) {
	s := newScene(t)
	for i := range 500 {
		s.pod(orders(fmt.Sprintf("T%d", i%100)))
	}
	r := s.audit()
	s.Expect(r.MembersAgree.Odd).To(HaveLen(MaxOdd))
	s.Expect(r.MembersAgree.Omitted).To(Equal(500 - 5 - MaxOdd))
	raw, err := json.Marshal(r.State)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(len(raw)).To(BeNumerically("<", 4096), "the state is kept in status")
}

func TestR05_ARestartFlapsNothing(t *testing.T) {
	s := newScene(t)
	s.pod(orders("A"))
	s.pod(orders("A"))
	s.until(time.Minute)
	s.state = State{Agree: Shown(True, ReasonAgree, "as the condition said")}
	s.peers[1].reads = nil
	s.Expect(s.audit().MembersAgree.Sentence).To(Equal("as the condition said"))
}

// TestAudit_ChurnFlapsNothing: 20 pods are replaced at random for ten minutes,
// killed ones stay listed for two minutes, new ones answer late.
func TestS14_ChurnOfTwentyPodsFlapsNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s := newScene(t)
	for range 20 {
		s.pod(orders("A"))
	}
	next := 20
	s.audit()
	late := map[string]int{}
	for range 60 {
		for range 1 + random.IntN(2) {
			i := random.IntN(len(s.pods))
			if s.pods[i].Gone.IsZero() {
				s.pods[i].Gone, s.pods[i].Ready, s.peers[i].reads = s.now, false, nil
				next++
				name := fmt.Sprintf("10.0.1.%d", next%250)
				s.pods = append(s.pods, Pod{Namespace: "shop", Name: fmt.Sprintf("points-%d", next), IPs: []string{name}, Owner: points, Revision: "r1"})
				s.peers = append(s.peers, peer{id: fmt.Sprintf("%s@1#%d", name, next), address: name + ":1", language: "JAVA"})
				late[s.pods[len(s.pods)-1].Name] = 1 + random.IntN(4)
			}
		}
		for i := range s.pods {
			if n := late[s.pods[i].Name]; n > 0 && s.pods[i].Gone.IsZero() {
				if late[s.pods[i].Name]--; n == 1 {
					s.pods[i].Ready, s.peers[i].reads = true, orders("A")
				}
			}
		}
		s.peers = slices.Clone(s.peers)
		r := s.audit()
		s.Expect(r.MembersAgree.Status).To(Equal(True), r.MembersAgree.NowSentence)
		s.Expect(r.BrokersHold.Status).To(Equal(True), r.BrokersHold.NowSentence)
	}
}

// TestAudit_TrueNeedsEveryAnswer: over random groups, True is said only when
// every member that counts answered and reads the same, and False only when
// two that answered differ.
func TestAudit_TrueNeedsEveryAnswer(t *testing.T) {
	seen := map[Status]int{}
	rapid.Check(t, func(rt *rapid.T) {
		s := newScene(t)
		filters := []Set{orders("A"), orders("A||B"), orders("B||A"), nil, {}}
		sets, silent := map[string]bool{}, false
		for range rapid.IntRange(0, 5).Draw(rt, "members") {
			set := filters[rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3, 4}).Draw(rt, "set")]
			s.pod(set)
			if len(set) == 0 {
				silent = true
			} else {
				sets[set.key()] = true
			}
		}
		if rapid.IntRange(0, 4).Draw(rt, "down") == 0 {
			silent = true
			s.tamper = broker("broker-a", func(b *snapshot.GroupOnBroker) { b.Members = snapshot.Unknown[snapshot.Membership]("down") })
		}
		want := True
		if silent {
			want = Unknown
		}
		if len(sets) > 1 {
			want = False
		}
		r := s.audit()
		seen[want]++
		if r.MembersAgree.Status != want || strings.TrimSpace(r.MembersAgree.Sentence) == "" {
			rt.Fatalf("want %s, have %+v", want, r.MembersAgree)
		}
	})
	if len(seen) < 3 {
		t.Errorf("only %v were tried", seen)
	}
}

// TestSkipped_IsWhatSomeTakeAndOthersDoNot against a message-by-message
// reference.
func TestSkipped_IsWhatSomeTakeAndOthersDoNot(t *testing.T) {
	tags := []string{"A", "B", "C", "D", "never"}
	rapid.Check(t, func(t *rapid.T) {
		expression := rapid.SampledFrom([]string{"", "A", "B", "A||B", "B||C", "A||B||C", "absent"})
		members := rapid.SliceOfN(expression, 1, 4).Draw(t, "members")
		tables := rapid.SliceOfN(expression, 0, 2).Draw(t, "tables")
		sets := func(texts []string) (out []Set) {
			for _, x := range texts {
				if x == "absent" {
					out = append(out, Set{})
				} else {
					out = append(out, orders(x))
				}
			}
			return out
		}
		wanted := sets(members)
		s, at := skipped(topic, wanted, append(slices.Clone(wanted), sets(tables)...))
		risky := false
		for _, m := range tags {
			some, all := false, true
			for i, x := range append(slices.Clone(members), tables...) {
				takes := x != "absent" && refer(x).accepts(m)
				some = some || takes && i < len(members)
				all = all && takes
			}
			told := slices.Contains(s.Tags, m) || at && len(s.Tags) == 0 && !slices.Contains(s.AllBut, m)
			if (some && !all) != told {
				t.Fatalf("members %q, tables %q: tag %s at risk %v, told %v (%+v)", members, tables, m, some && !all, told, s)
			}
			risky = risky || some && !all
		}
		if risky != at {
			t.Fatalf("members %q, tables %q: at risk %v, said %v", members, tables, risky, at)
		}
	})
}
