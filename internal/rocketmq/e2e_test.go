// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// These tests run the client against released servers, one version after the
// other: go test -tags e2e ./internal/rocketmq. With CAPTURE=1 in the
// environment they renew testdata/captured.
package rocketmq_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// startTime bounds the start of the servers on a loaded machine.
const startTime = 5 * time.Minute

type e2eVersion struct {
	version string
	ordinal int
}

// e2eVersions are the released versions to run, those that the environment
// variable LOCKSTEP_E2E_VERSIONS names if it is set.
func e2eVersions() []e2eVersion {
	all := []e2eVersion{{"4.9.7", 407}, {"5.3.3", 479}, {"5.5.0", 513}}
	chosen := strings.Fields(os.Getenv("LOCKSTEP_E2E_VERSIONS"))
	if len(chosen) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(v e2eVersion) bool { return !slices.Contains(chosen, v.version) })
}

func TestE2E_ReleasedServers(t *testing.T) {
	for _, tc := range e2eVersions() {
		t.Run(tc.version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), startTime)
			defer cancel()
			options := rig.Options{Version: tc.version, NameServers: 1, Masters: 1, BrokerProperties: rig.ShortDelays()}
			if tc.ordinal >= 413 {
				options.Proxies = 1
			}
			servers, err := rig.Start(ctx, options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = servers.Stop() })
			wire := remoting.NewClient(remoting.Options{Handler: answerRunningInfo})
			t.Cleanup(func() { _ = wire.Close() })
			captured := newCapture(wire)
			s := &scene{
				T: t, WithT: NewWithT(t), wire: wire, client: rocketmq.New(captured),
				can: rocketmq.CapabilityOf(tc.ordinal),
				ns:  servers.NameServerAddresses()[0],
				at:  rocketmq.Master{Addr: servers.Server("broker-a").Addr, Name: "broker-a", Cluster: "DefaultCluster"},
			}
			if options.Proxies > 0 {
				s.proxy = servers.Server("proxy-1").Addr
			}
			for _, step := range []struct {
				name string
				run  func(*scene)
			}{
				{"R03 who answers", (*scene).identity},
				{"R07 whose names", (*scene).namesAreKnown},
				{"G06 a proxy tells members only", (*scene).proxyTellsMembersOnly},
				{"a topic's life", (*scene).topic},
				{"P11 topics in a batch", (*scene).topicBatch},
				{"a group's life", (*scene).group},
				{"offsets and messages", (*scene).offsets},
				{"members", (*scene).members},
				{"resets", (*scene).resets},
				{"order configuration", (*scene).orderConfig},
				{"what is not there", (*scene).absent},
				{"deletion", (*scene).deletion},
			} {
				if !t.Run(step.name, func(t *testing.T) {
					at := *s
					at.T, at.WithT = t, NewWithT(t)
					step.run(&at)
				}) {
					break
				}
			}
			captured.save(t, tc.version)
		})
	}
}

// scene is what a step works with.
type scene struct {
	*testing.T
	*WithT
	wire   *remoting.Client
	client *rocketmq.Client
	can    rocketmq.Capability
	ns     string
	proxy  string
	at     rocketmq.Master
}

func (s *scene) ctx() context.Context { return s.Context() }

// must fails the step on an error.
func must[T any](s *scene) func(T, error) T {
	return func(v T, err error) T {
		s.Helper()
		s.Expect(err).NotTo(HaveOccurred())
		return v
	}
}

func (s *scene) identity() {
	info := must[rocketmq.ClusterInfo](s)(s.client.ClusterInfo(s.ctx(), s.ns))
	entry := info.Of("DefaultCluster")["broker-a"]
	addr, ok := entry.Master()
	s.Expect(ok).To(BeTrue())
	s.Expect(addr).To(Equal(s.at.Addr))

	before := time.Now()
	var id rocketmq.Identity
	s.Eventually(func() (err error) {
		id, err = s.client.Identify(s.ctx(), s.at.Addr)
		if err != nil && !errors.Is(err, remoting.Busy) {
			return StopTrying("the broker does not say who it is").Wrap(err)
		}
		return err
	}).WithTimeout(30 * time.Second).Should(Succeed())
	s.Expect(id.Process).To(HaveField("Name", "broker-a"))
	s.Expect(id.Process).To(HaveField("Cluster", "DefaultCluster"))
	s.Expect(id.Process.BrokerID).To(BeZero())
	s.Expect(id.Process.Connection).NotTo(BeZero())
	s.Expect(id.Process.Booted).To(BeTemporally("~", before, startTime))
	s.Expect(id.Runtime.Version).To(Equal(s.can.Version))
	s.Expect(id.Settings.DelayLevels).To(HaveLen(18))
	s.Expect(id.Settings.DelayLevels[0]).To(Equal(time.Second))
	s.Expect(id.Settings.Retention).To(BeNumerically(">", 0))
	s.Expect(id.Settings.StoreType).To(Equal("default"))
	s.Expect(id.Settings.AutoCreateTopic).To(BeFalse())
	s.Expect(id.Settings.NameServers).To(ConsistOf(s.ns))
	s.Expect(id.Settings.TimerMaxDelay > 0).To(Equal(s.can.POP))
	again := must[rocketmq.Identity](s)(s.client.Identify(s.ctx(), s.at.Addr))
	s.Expect(again.Process.Same(id.Process)).To(BeTrue())

	system := must[map[string]struct{}](s)(s.client.SystemTopics(s.ctx(), s.at.Addr))
	s.Expect(system).To(HaveKey("SCHEDULE_TOPIC_XXXX"))
	s.Expect(must[map[string]struct{}](s)(s.client.TopicList(s.ctx(), s.ns))).To(HaveKey("broker-a"))

	for _, wrong := range []rocketmq.Master{
		{Addr: s.at.Addr, Name: "broker-b", Cluster: s.at.Cluster},
		{Addr: s.at.Addr, Name: s.at.Name, Cluster: "another"},
	} {
		_, err := s.client.CreateOrUpdateTopic(s.ctx(), wrong, "never", become(8, 8, nil))
		s.Expect(err).To(BeAssignableToTypeOf(&rocketmq.IdentityError{}))
	}
	s.Expect(must[snapshot.StoredTopic](s)(s.client.TopicConfig(s.ctx(), s.at.Addr, "never")).Present).To(BeFalse())
}

// become is a change of a topic to these counts and attributes.
func become(read, write int, attributes map[string]string) func(snapshot.StoredTopic) (snapshot.TopicConfig, error) {
	return func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		want := newTopic("", read, write)
		if current.Present {
			want = current.Config.Clone()
		}
		want.ReadQueues, want.WriteQueues, want.Attributes = read, write, attributes
		return want, nil
	}
}

func newTopic(name string, read, write int) snapshot.TopicConfig {
	return snapshot.TopicConfig{
		Name: name, ReadQueues: read, WriteQueues: write, Perm: snapshot.PermReadWrite, FilterType: rocketmq.SingleTag,
	}
}

func (s *scene) write(topic string, change func(snapshot.StoredTopic) (snapshot.TopicConfig, error)) rocketmq.TopicChange {
	s.Helper()
	named := func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		want, err := change(current)
		want.Name = topic
		return want, err
	}
	done := must[rocketmq.TopicChange](s)(s.client.CreateOrUpdateTopic(s.ctx(), s.at, topic, named))
	stored := must[snapshot.StoredTopic](s)(s.client.TopicConfig(s.ctx(), s.at.Addr, topic))
	s.Expect(stored.Present).To(BeTrue())
	s.Expect(stored.Config.Equal(done.Wanted)).To(BeTrue(), "stored %+v, wanted %+v", stored.Config, done.Wanted)
	route := must[snapshot.Route](s)(s.client.TopicRoute(s.ctx(), s.ns, topic))
	s.Expect(route.Queues).To(HaveKeyWithValue("broker-a", snapshot.RouteQueues{
		Read: done.Wanted.ReadQueues, Write: done.Wanted.WriteQueues, Perm: done.Wanted.Perm,
	}))
	s.Expect(route.Masters).To(HaveKeyWithValue("broker-a", s.at.Addr))
	return done
}

func (s *scene) version() rocketmq.DataVersion {
	return must[rocketmq.TopicTable](s)(s.client.AllTopicConfigs(s.ctx(), s.at.Addr)).Version
}

func (s *scene) topic() {
	const topic = "orders"
	fifo := map[string]string{"message.type": "FIFO"}
	done := s.write(topic, become(8, 8, fifo))
	s.Expect(done.Before.Present).To(BeFalse())
	s.Expect(done.Sent).To(BeTrue())

	// O12: a second pass changes nothing.
	was := s.version()
	done = s.write(topic, become(8, 8, fifo))
	s.Expect(done.Sent).To(BeFalse())
	s.Expect(s.version()).To(Equal(was))

	s.write(topic, become(8, 4, fifo))
	s.write(topic, become(8, 4, map[string]string{"message.type": "NORMAL"}))
	s.write(topic, become(8, 4, nil))
	s.write(topic, func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		// Q27: a change of one field keeps the others.
		want := current.Config.Clone()
		want.Perm, want.Order = snapshot.PermRead, true
		return want, nil
	})
	s.write(topic, become(4, 4, nil))
	s.write(topic, func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		want := current.Config.Clone()
		want.Perm, want.Order, want.ReadQueues, want.WriteQueues = snapshot.PermReadWrite, false, 8, 8
		return want, nil
	})
	s.Expect(must[map[string]struct{}](s)(s.client.TopicList(s.ctx(), s.ns))).To(HaveKey(topic))
}

func (s *scene) topicBatch() {
	wanted := []snapshot.TopicConfig{newTopic("orders", 8, 8)}
	for i := range 40 {
		config := newTopic("batch-"+strconv.Itoa(i), 3, 2)
		if s.can.Attributes {
			config.Attributes = map[string]string{"message.type": "DELAY"}
		}
		wanted = append(wanted, config)
	}
	batch := must[rocketmq.TopicBatch](s)(s.client.CreateTopics(s.ctx(), s.at, wanted))
	s.Expect(batch.Sent).To(HaveLen(40))
	s.Expect(slices.Collect(maps.Keys(batch.Existing))).To(ConsistOf("orders"))
	there := must[rocketmq.TopicTable](s)(s.client.AllTopicConfigs(s.ctx(), s.at.Addr))
	for _, want := range wanted {
		got := there.Topics[want.Name]
		s.Expect(got.Equal(want)).To(BeTrue(), "stored %+v, wanted %+v", got, want)
	}
	again := must[rocketmq.TopicBatch](s)(s.client.CreateTopics(s.ctx(), s.at, wanted))
	s.Expect(again.Sent).To(BeEmpty())
	s.Expect(again.Existing).To(HaveLen(41))
}

func (s *scene) group() {
	const group = "payments"
	set := func(change func(*snapshot.GroupConfig)) rocketmq.GroupChange {
		s.Helper()
		done := must[rocketmq.GroupChange](s)(s.client.UpdateGroup(s.ctx(), s.at, group,
			func(current snapshot.GroupConfig, _ bool) (snapshot.GroupConfig, error) {
				change(&current)
				return current, nil
			}))
		stored := must[rocketmq.GroupTable](s)(s.client.AllGroups(s.ctx(), s.at.Addr)).Groups[group]
		s.Expect(stored.Equal(done.Wanted)).To(BeTrue(), "stored %+v, wanted %+v", stored, done.Wanted)
		return done
	}
	done := set(func(*snapshot.GroupConfig) {})
	s.Expect(done.Before).To(BeNil())
	s.Expect(done.Sent).To(BeTrue())
	s.Expect(set(func(*snapshot.GroupConfig) {}).Sent).To(BeFalse())
	set(func(c *snapshot.GroupConfig) { c.ConsumeEnable, c.RetryMax, c.RetryQueues = false, 3, 2 })
	set(func(c *snapshot.GroupConfig) { c.ConsumeEnable = true })
	if s.can.Attributes {
		set(func(c *snapshot.GroupConfig) {
			c.ConsumeOrderly, c.ConsumeTimeout = true, 20*time.Minute
			c.Retry = snapshot.RetryPolicy{Type: "EXPONENTIAL", Initial: time.Second, Max: time.Hour, Multiplier: 3}
			c.Subscriptions = []snapshot.GroupSubscription{{Topic: "orders", ExpressionType: "TAG", Expression: "PAID"}}
		})
		set(func(c *snapshot.GroupConfig) {
			c.Retry = snapshot.RetryPolicy{Type: "CUSTOMIZED", Next: []time.Duration{time.Second, 5 * time.Second}}
		})
		set(func(c *snapshot.GroupConfig) { c.RetryMax = 5 })
	}
	var wanted []snapshot.GroupConfig
	for i := range 20 {
		config := snapshot.DefaultGroup("group-" + strconv.Itoa(i))
		config.RetryMax = 4
		wanted = append(wanted, config)
	}
	wanted = append(wanted, snapshot.DefaultGroup(group))
	batch := must[rocketmq.GroupBatch](s)(s.client.CreateGroups(s.ctx(), s.at, wanted))
	s.Expect(batch.Sent).To(HaveLen(20))
	s.Expect(batch.Existing).To(HaveKey(group))
	there := must[rocketmq.GroupTable](s)(s.client.AllGroups(s.ctx(), s.at.Addr)).Groups
	for _, want := range wanted[:20] {
		s.Expect(there[want.Name].Equal(want)).To(BeTrue(), "stored %+v, wanted %+v", there[want.Name], want)
	}
	s.Expect(there).To(HaveKey("TOOLS_CONSUMER"))
}

// send puts n messages on one queue.
func (s *scene) send(topic string, queue, n int) {
	s.Helper()
	for i := range n {
		_, err := s.wire.Invoke(s.ctx(), s.at.Addr, &remoting.Command{
			Code: remoting.ReqSendMessage,
			ExtFields: map[string]string{
				"producerGroup": "senders", "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
				"queueId": strconv.Itoa(queue), "sysFlag": "0", "bornTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10),
				"flag": "0", "properties": "TAGS\x01PAID\x02KEYS\x01k" + strconv.Itoa(i) + "\x02WAIT\x01true\x02", "reconsumeTimes": "0",
				"unitMode": "false", "batch": "false", "maxReconsumeTimes": "16",
			},
			Body: []byte("body " + strconv.Itoa(i)),
		})
		s.Expect(err).NotTo(HaveOccurred())
	}
}

func (s *scene) offsets() {
	const topic, group = "orders", "payments"
	s.send(topic, 3, 5)
	s.Eventually(func(g Gomega) {
		ends, err := s.client.MaxOffsets(s.ctx(), s.at.Addr, topic, []int{0, 1, 2, 3, 4, 5, 6, 7})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ends).To(Equal(map[int]int64{0: 0, 1: 0, 2: 0, 3: 5, 4: 0, 5: 0, 6: 0, 7: 0}))
	}).WithTimeout(30 * time.Second).Should(Succeed())
	bounds := must[map[int]snapshot.QueueOffsets](s)(s.client.QueueOffsets(s.ctx(), s.at.Addr, topic, []int{3, 7}))
	s.Expect(bounds).To(Equal(map[int]snapshot.QueueOffsets{3: {Min: 0, Max: 5}, 7: {}}))

	pulled := must[rocketmq.Pulled](s)(s.client.Pull(s.ctx(), s.at.Addr, topic, 3, 1, 32))
	s.Expect(pulled.Messages).To(HaveLen(4))
	s.Expect(pulled.AtEnd()).To(BeTrue())
	first := pulled.Messages[0]
	s.Expect(first).To(HaveField("Topic", topic))
	s.Expect(first).To(HaveField("Queue", 3))
	s.Expect(first.Offset).To(BeEquivalentTo(1))
	s.Expect(string(first.Body)).To(Equal("body 1"))
	s.Expect(first.Properties).To(HaveKeyWithValue("TAGS", "PAID"))
	s.Expect(first.Stored).To(BeTemporally("~", time.Now(), time.Minute))
	end := must[rocketmq.Pulled](s)(s.client.Pull(s.ctx(), s.at.Addr, topic, 3, 5, 32))
	s.Expect(end).To(Equal(rocketmq.Pulled{Next: 5, Min: 0, Max: 5}))
	beyond := must[rocketmq.Pulled](s)(s.client.Pull(s.ctx(), s.at.Addr, topic, 3, 900, 32))
	s.Expect(beyond.Messages).To(BeEmpty())
	s.Expect(beyond.Next).To(BeEquivalentTo(5))

	index := must[rocketmq.QueueIndex](s)(s.client.ConsumeQueue(s.ctx(), s.at.Addr, topic, 3, 2, 2))
	s.Expect(index).To(HaveField("Max", int64(5)))
	s.Expect(index.Entries).To(HaveLen(2))
	s.Expect(index.Entries[0].TagsCode).To(BeEquivalentTo(2448076)) // "PAID".hashCode()

	_, found, err := s.client.CommittedOffset(s.ctx(), s.at.Addr, topic, group, 3)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(found).To(BeFalse())
	s.Expect(s.client.CommitOffset(s.ctx(), s.at, topic, group, 3, 2)).To(Succeed())
	s.Expect(s.client.CommitOffset(s.ctx(), s.at, topic, group, 7, 0)).To(Succeed())
	for queue, want := range map[int]int64{3: 2, 7: 0} {
		offset, found, err := s.client.CommittedOffset(s.ctx(), s.at.Addr, topic, group, queue)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(found).To(BeTrue())
		s.Expect(offset).To(Equal(want))
	}
	all := must[rocketmq.CommittedOffsets](s)(s.client.AllCommittedOffsets(s.ctx(), s.at.Addr))
	s.Expect(all.Committed[topic]).To(Equal(map[string]map[int]int64{group: {3: 2, 7: 0}}))
	s.Expect(all.Odd).To(BeEmpty())
	if s.can.Version >= 513 {
		s.Expect(all.Pulled[topic]).To(HaveKey("TOOLS_CONSUMER"))
	}
	runtime := must[snapshot.Runtime](s)(s.client.Runtime(s.ctx(), s.at.Addr))
	s.Expect(runtime.DispatchBehind).To(BeEquivalentTo(0))
	timers := must[map[string]int64](s)(s.client.TimerMetrics(s.ctx(), s.at.Addr))
	s.Expect(timers[topic]).To(BeZero())
	s.Expect(must[map[string]map[string]string](s)(s.client.MessageRequestModes(s.ctx(), s.at.Addr))).NotTo(HaveKey(topic))
}

func (s *scene) orderConfig() {
	const topic, value = "orders", "broker-a:8"
	s.Expect(must[string](s)(s.client.OrderConfig(s.ctx(), s.ns, topic))).To(BeEmpty())
	s.Expect(must[map[string]string](s)(s.client.OrderConfigs(s.ctx(), s.ns))).To(BeEmpty())
	s.Expect(s.client.SetOrderConfig(s.ctx(), s.ns, topic, value)).To(Succeed())
	s.Expect(must[string](s)(s.client.OrderConfig(s.ctx(), s.ns, topic))).To(Equal(value))
	s.Expect(must[map[string]string](s)(s.client.OrderConfigs(s.ctx(), s.ns))).To(Equal(map[string]string{topic: value}))
	s.Expect(s.client.DeleteOrderConfig(s.ctx(), s.ns, topic)).To(Succeed())
	s.Expect(must[string](s)(s.client.OrderConfig(s.ctx(), s.ns, topic))).To(BeEmpty())
}

func (s *scene) absent() {
	s.Expect(must[snapshot.Route](s)(s.client.TopicRoute(s.ctx(), s.ns, "nowhere")).Present).To(BeFalse())
	s.Expect(must[snapshot.StoredTopic](s)(s.client.TopicConfig(s.ctx(), s.at.Addr, "nowhere")).Present).To(BeFalse())
	s.Expect(must[snapshot.Membership](s)(s.client.Members(s.ctx(), s.at.Addr, "nobody")).Online()).To(BeFalse())
	s.Expect(must[[]string](s)(s.client.MemberIDs(s.ctx(), s.at.Addr, "nobody"))).To(BeEmpty())
	_, err := s.client.RunningInfo(s.ctx(), s.at.Addr, "payments", "10.0.0.1@1")
	s.Expect(err).To(MatchError(remoting.NotFound))
	_, err = s.client.ConsumeQueue(s.ctx(), s.at.Addr, "orders", 3, 4000, 1)
	s.Expect(err).To(MatchError(remoting.NotFound))
	_, err = s.client.Pull(s.ctx(), s.at.Addr, "nowhere", 0, 0, 1)
	s.Expect(err).To(MatchError(remoting.NotFound))
	_, found, err := s.client.CommittedOffset(s.ctx(), s.at.Addr, "nowhere", "nobody", 0)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(found).To(BeFalse())
	if s.can.Attributes {
		s.Expect(s.client.CommitOffset(s.ctx(), s.at, "orders", "nobody", 0, 0)).To(MatchError(remoting.NotFound))
	}
	s.Expect(must[rocketmq.GroupTable](s)(s.client.AllGroups(s.ctx(), s.at.Addr)).Groups).NotTo(HaveKey("nobody"))
}

func (s *scene) deletion() {
	const topic, group = "orders", "group-0"
	s.Expect(s.client.DeleteTopic(s.ctx(), s.at, topic)).To(Succeed())
	s.Expect(s.client.DeleteTopicRoute(s.ctx(), s.ns, topic, s.at.Cluster)).To(Succeed())
	s.Expect(must[snapshot.StoredTopic](s)(s.client.TopicConfig(s.ctx(), s.at.Addr, topic)).Present).To(BeFalse())
	s.Expect(must[snapshot.Route](s)(s.client.TopicRoute(s.ctx(), s.ns, topic)).Present).To(BeFalse())
	s.Expect(s.client.DeleteTopic(s.ctx(), s.at, topic)).To(Succeed())
	s.Expect(s.client.DeleteTopicRoute(s.ctx(), s.ns, topic, s.at.Cluster)).To(Succeed())
	s.Expect(s.client.DeleteGroup(s.ctx(), s.at, group, true)).To(Succeed())
	s.Expect(s.client.DeleteGroup(s.ctx(), s.at, group, true)).To(Succeed())
	s.Expect(must[rocketmq.GroupTable](s)(s.client.AllGroups(s.ctx(), s.at.Addr)).Groups).NotTo(HaveKey(group))
}
