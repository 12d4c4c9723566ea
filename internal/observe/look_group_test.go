// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func groupNames(look snapshot.TopicLook) []string {
	return slices.Sorted(maps.Keys(must(look.Groups)))
}

func (r *rig) join(spec brokertest.MemberSpec) *brokertest.Member {
	if spec.Subscriptions == nil {
		spec.Subscriptions = map[string]string{"TOPIC_A": "*"}
	}
	return r.Join(spec)
}

func TestR07_EveryGroupThatHasToDoWithTheTopic(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.CreateTopic("TOPIC_B", 4, 4)
		for _, g := range []string{"CG_ONLINE", "CG_OFFLINE", "CG_ELSEWHERE", "CG_SILENT", "CG_NEVER"} {
			r.CreateGroup(g)
		}
		r.join(brokertest.MemberSpec{Group: "CG_ONLINE"})
		r.Commit("CG_OFFLINE", "TOPIC_A", "broker-b", 3, 0)
		r.join(brokertest.MemberSpec{Group: "CG_ELSEWHERE", Subscriptions: map[string]string{"TOPIC_B": "*"}})
		r.Commit("TOOLS_CONSUMER", "TOPIC_A", "broker-a", 0, 1)
		r.Commit("CID_RMQ_SYS_TRANS", "TOPIC_A", "broker-a", 0, 1)
		declared := LookOptions{Declared: []DeclaredGroup{{Name: "CG_SILENT"}, {Name: "CG_NOT_THERE_YET", Broadcast: true}}}

		look := r.look("TOPIC_A", declared)
		r.g.Expect(groupNames(look)).To(Equal([]string{"CG_NOT_THERE_YET", "CG_OFFLINE", "CG_ONLINE", "CG_SILENT"}))
		groups := must(look.Groups)
		r.g.Expect(must(groups["CG_ONLINE"].Members)).To(Equal(1))
		r.g.Expect(must(groups["CG_ONLINE"].Reads)).To(BeTrue())
		r.g.Expect(must(groups["CG_ONLINE"].Broadcast)).To(BeFalse())
		r.g.Expect(groups["CG_ONLINE"].Declared).To(BeFalse())
		r.g.Expect(must(groups["CG_OFFLINE"].Members)).To(BeZero())
		r.g.Expect(must(groups["CG_OFFLINE"].Reads)).To(BeFalse())
		r.g.Expect(groups["CG_SILENT"].Declared).To(BeTrue())
		r.g.Expect(groups["CG_NOT_THERE_YET"].DeclaredBroadcast).To(BeTrue())
		for _, b := range look.Brokers {
			r.g.Expect(must(b.Committed)).NotTo(HaveKey("TOOLS_CONSUMER"), "tools never hold a drain")
			r.g.Expect(must(b.Committed)).NotTo(HaveKey("CID_RMQ_SYS_TRANS"))
		}

		// The cheap form misses the group that is online and never committed, and
		// asks only for the others.
		r.Recorder().Reset()
		r.Advance(0)
		some := declared
		some.Groups = KnownGroups
		r.g.Expect(groupNames(r.look("TOPIC_A", some))).To(ContainElements("CG_NOT_THERE_YET", "CG_OFFLINE", "CG_SILENT"))
		r.g.Expect(r.Recorder().Count(brokertest.WithCode(201))).To(BeZero())
		r.g.Expect(r.Recorder().Count(brokertest.WithCode(203), brokertest.WithArg("consumerGroup", "CG_NEVER"))).To(BeZero())

		some.Groups = NoGroups
		r.g.Expect(r.look("TOPIC_A", some).Groups.Why()).To(ContainSubstring("were not asked for"))
	})
}

func TestR07_AGroupThatNoLongerReadsIsStillThere(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateTopic("TOPIC_B", 4, 4)
	r.CreateGroup("CG_A")
	r.Commit("CG_A", "TOPIC_A", "broker-a", 0, 0)
	r.join(brokertest.MemberSpec{Group: "CG_A", Subscriptions: map[string]string{"TOPIC_B": "*"}})
	g := must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
	r.g.Expect(must(g.Members)).To(Equal(1))
	r.g.Expect(must(g.Reads)).To(BeFalse())
}

func TestR07_APullOnlyReaderIsNamed(t *testing.T) {
	r := start(t, brokertest.Options{Version: brokertest.V550})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.Broker("broker-a").SetPulled("CG_PULL", "TOPIC_A", 1, 7)
	r.Broker("broker-a").SetPulled("TOOLS_CONSUMER", "TOPIC_A", 1, 7)
	r.Broker("broker-a").SetPulled("CG_BOTH", "TOPIC_A", 1, 7)
	r.Commit("CG_BOTH", "TOPIC_A", "broker-a", 1, 5)
	look := r.look("TOPIC_A", LookOptions{})
	r.g.Expect(must(look.Brokers["broker-a"].Pulled)).To(Equal(map[string]struct{}{"CG_PULL": {}}))
	r.g.Expect(must(look.Brokers["broker-b"].Pulled)).To(BeEmpty())
	r.g.Expect(groupNames(look)).To(Equal([]string{"CG_BOTH", "CG_PULL"}))
}

func TestR07_POPIsJudgedByAllThatShowsIt(t *testing.T) {
	protocol := func(r *rig) snapshot.Fact[snapshot.Protocol] {
		return must(r.look("TOPIC_A", LookOptions{Declared: []DeclaredGroup{{Name: "CG_A"}}}).Groups)["CG_A"].Protocol
	}
	for name, tc := range map[string]struct {
		join func(r *rig)
		want snapshot.Protocol
	}{
		"classic members": {func(r *rig) { r.join(brokertest.MemberSpec{Group: "CG_A"}) }, snapshot.ProtocolClassic},
		"a gRPC member": {func(r *rig) {
			r.join(brokertest.MemberSpec{Group: "CG_A"})
			r.JoinGRPC(brokertest.GRPCSpec{Group: "CG_A", Subscriptions: map[string]string{"TOPIC_A": "*"}})
		}, snapshot.ProtocolPOP},
		"the request mode, on one broker": {func(r *rig) {
			r.join(brokertest.MemberSpec{Group: "CG_A"})
			r.Broker("broker-b").SetRequestMode("TOPIC_A", "CG_A", "POP")
		}, snapshot.ProtocolPOP},
		"running info of one member": {func(r *rig) {
			r.join(brokertest.MemberSpec{Group: "CG_A"})
			r.join(brokertest.MemberSpec{Group: "CG_A", POP: true})
		}, snapshot.ProtocolPOP},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, brokertest.Options{Proxies: 1})
			r.CreateTopic("TOPIC_A", 4, 4)
			r.CreateGroup("CG_A")
			tc.join(r)
			r.g.Expect(must(protocol(r))).To(Equal(tc.want))
		})
	}
	t.Run("nobody to show it, and brokers that have no POP", func(t *testing.T) {
		r := start(t, brokertest.Options{Version: brokertest.V497})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.CreateGroup("CG_A")
		r.g.Expect(must(protocol(r))).To(Equal(snapshot.ProtocolClassic))
		r.Broker("broker-b").Stop()
		look := r.look("TOPIC_A", LookOptions{Declared: []DeclaredGroup{{Name: "CG_A"}}})
		r.g.Expect(look.Groups.IsKnown()).To(BeFalse(), "a silent broker may be of any version")
	})
	t.Run("nobody to show it", func(t *testing.T) {
		r := start(t, brokertest.Options{})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.g.Expect(protocol(r).Why()).To(ContainSubstring("no member is connected"))
	})
	t.Run("modes not known", func(t *testing.T) {
		r := start(t, brokertest.Options{})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.join(brokertest.MemberSpec{Group: "CG_A"})
		r.Inject(brokertest.Fault{Node: "broker-b", Code: 402, Do: brokertest.HalfBody()})
		r.g.Expect(protocol(r).Why()).To(ContainSubstring("the request modes of broker-b are not known"))
	})
}

// Members behind a proxy are on no broker: what looks like nobody is somebody.
func TestR07_GRPCMembersAreSeenThroughProxies(t *testing.T) {
	r := start(t, brokertest.Options{Proxies: 2})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateGroup("CG_A")
	r.JoinGRPC(brokertest.GRPCSpec{Group: "CG_A", Subscriptions: map[string]string{"TOPIC_A": "*"}})
	g := must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
	r.g.Expect(must(g.Members)).To(Equal(1), "both proxies show the one member")
	r.g.Expect(must(g.Reads)).To(BeTrue())

	r.Proxy(1).Stop()
	g = must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
	r.g.Expect(g.Members.IsKnown()).To(BeFalse(), "the other proxy may have more")
	r.g.Expect(must(g.Reads)).To(BeTrue(), "that one reads is certain")
}

func TestA14_MembersOfAllBrokersAreUnited(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateGroup("CG_A")
	r.join(brokertest.MemberSpec{Group: "CG_A", ClientID: "10.0.0.1@1#1"})
	r.join(brokertest.MemberSpec{Group: "CG_A", ClientID: "10.0.0.2@1#1", Brokers: []string{"broker-a"}})
	r.join(brokertest.MemberSpec{Group: "CG_A", ClientID: "10.0.0.3@1#1", Brokers: []string{"broker-b"}})
	g := must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
	r.g.Expect(must(g.Members)).To(Equal(3))
	r.g.Expect(g.Split).To(Equal("broker-a lists 2 of 3 members and lacks 10.0.0.3@1#1; broker-b lists 2 of 3 members and lacks 10.0.0.2@1#1"))

	r.Inject(brokertest.Fault{Node: "broker-b", Code: 203, Do: brokertest.HalfBody()})
	g = must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
	r.g.Expect(g.Members.IsKnown()).To(BeFalse())
	r.g.Expect(g.Members.Why()).To(ContainSubstring("its members on broker-b are not known"))
	r.g.Expect(g.Broadcast.IsKnown()).To(BeFalse())
}

func TestO22_GroupsThatCannotBeListedAreNotNoGroups(t *testing.T) {
	for code, what := range map[int]string{201: "the groups of broker-b are not known", 43: "the offsets of broker-b are not known"} {
		r := start(t, brokertest.Options{})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.Inject(brokertest.Fault{Node: "broker-b", Code: code, Do: brokertest.NoBody()})
		look := r.look("TOPIC_A", LookOptions{})
		r.g.Expect(look.Groups.Why()).To(ContainSubstring(what))
	}
}

func TestR21_LiveBroadcastMembersAreAsked(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 2, 2)
	r.CreateGroup("CG_A")
	r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 2)).To(Succeed())
	first := r.join(brokertest.MemberSpec{Group: "CG_A", Broadcast: true, From: "CONSUME_FROM_FIRST_OFFSET"})
	second := r.join(brokertest.MemberSpec{Group: "CG_A", Broadcast: true, From: "CONSUME_FROM_FIRST_OFFSET"})
	first.Read("TOPIC_A")
	second.Read("TOPIC_A")
	r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 3)).To(Succeed())
	first.Read("TOPIC_A")
	var g snapshot.GroupOnTopic
	for range 10 { // whichever member answers first
		g = must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
		r.g.Expect(must(g.Positions)["broker-a"][0]).To(Equal(int64(2)), "the slower member counts")
	}
	r.g.Expect(must(g.Broadcast)).To(BeTrue())
	r.g.Expect(first.Positions("TOPIC_A")["broker-a"][0]).To(Equal(int64(5)))
	r.g.Expect(g.Positions.Origin().Sent.IsZero()).To(BeFalse())

	r.join(brokertest.MemberSpec{Group: "CG_A", Broadcast: true})
	g = must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"]
	r.g.Expect(must(g.Positions)["broker-a"]).NotTo(HaveKey(0), "one member has no position there yet")

	silent := r.join(brokertest.MemberSpec{Group: "CG_A", Broadcast: true, Silent: true})
	r.g.Expect(must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"].Positions.Why()).To(ContainSubstring(silent.ClientID()))
}

func TestP12_AMemberThatDoesNotAnswerIsUnknownAndStallsNobody(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1}, patience(quick))
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateGroup("CG_A")
	for range 9 {
		r.join(brokertest.MemberSpec{Group: "CG_A"})
	}
	r.join(brokertest.MemberSpec{Group: "CG_A", ClientID: "10.9.9.9@1#1"})
	r.Inject(brokertest.Fault{Code: 307, Do: brokertest.Drop(), Match: func(c brokertest.Call) bool { return c.Args["clientId"] == "10.9.9.9@1#1" }})
	look := r.look("TOPIC_A", LookOptions{})
	g := must(look.Groups)["CG_A"]
	r.g.Expect(must(g.Members)).To(Equal(10))
	r.g.Expect(g.Protocol.IsKnown()).To(BeFalse())
	r.g.Expect(g.Protocol.Why()).To(ContainSubstring("9 of 10 members answered"))
	r.g.Expect(g.Protocol.Why()).To(ContainSubstring("10.9.9.9@1#1"))
	r.g.Expect(look.Brokers["broker-a"].Queues.IsKnown()).To(BeTrue())
}

func TestLook_GRPCMembersAreNeverAskedForRunningInfo(t *testing.T) {
	r := start(t, brokertest.Options{Proxies: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateGroup("CG_A")
	r.JoinGRPC(brokertest.GRPCSpec{Group: "CG_A", Subscriptions: map[string]string{"TOPIC_A": "*"}})
	r.look("TOPIC_A", LookOptions{})
	r.g.Expect(r.Recorder().Count(brokertest.WithCode(307))).To(BeZero())
}

func TestLook_WhenAGroupLastMoved(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateGroup("CG_A")
	r.Commit("CG_A", "TOPIC_A", "broker-a", 0, 0)
	moved := func() time.Time { return must(r.look("TOPIC_A", LookOptions{}).Groups)["CG_A"].LastCommit }
	r.g.Expect(moved().IsZero()).To(BeTrue(), "never seen to move")
	r.step(time.Minute)
	r.g.Expect(moved().IsZero()).To(BeTrue())
	r.Commit("CG_A", "TOPIC_A", "broker-a", 0, 4)
	at := r.Cluster.Clock().Now()
	r.g.Expect(moved()).To(Equal(at))
	r.step(time.Hour / 2)
	r.g.Expect(moved()).To(Equal(at))
}
