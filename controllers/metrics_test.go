// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// listed is a cache that holds these topics, or fails.
type listed struct {
	client.Reader
	topics []rocketmqv1alpha1.Topic
	err    error
}

func (l *listed) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*rocketmqv1alpha1.TopicList).Items = l.topics
	return l.err
}

func elected() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func draining64() rocketmqv1alpha1.Topic {
	t := rocketmqv1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	t.Spec.Queues.PerBroker = 64
	t.Status.ReadQueues, t.Status.WriteQueues = ptr.To(int32(128)), ptr.To(int32(64))
	t.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}, {Type: "Draining", Status: metav1.ConditionTrue}}
	t.Status.Change = &rocketmqv1alpha1.QueueChange{
		Stage: "Draining", StageSince: metav1.NewTime(time.Unix(1764541864, 0)),
		Drain: &rocketmqv1alpha1.DrainProgress{Unread: ptr.To(int64(4100))},
	}
	return t
}

func TestMetricsAreWhatTheCacheHolds(t *testing.T) {
	g := NewWithT(t)
	cache := &listed{topics: []rocketmqv1alpha1.Topic{draining64()}}
	c := newTopicCollector(cache, elected())
	g.Expect(testutil.CollectAndCompare(c, strings.NewReader(`
# HELP lockstep_topic_condition 1 for the status that a condition of a Topic has, 0 for the others.
# TYPE lockstep_topic_condition gauge
lockstep_topic_condition{name="orders",namespace="shop",status="False",type="Draining"} 0
lockstep_topic_condition{name="orders",namespace="shop",status="False",type="Ready"} 0
lockstep_topic_condition{name="orders",namespace="shop",status="True",type="Draining"} 1
lockstep_topic_condition{name="orders",namespace="shop",status="True",type="Ready"} 1
lockstep_topic_condition{name="orders",namespace="shop",status="Unknown",type="Draining"} 0
lockstep_topic_condition{name="orders",namespace="shop",status="Unknown",type="Ready"} 0
# HELP lockstep_topic_queues Queues per broker of a Topic: declared, read (largest of all brokers) and write (largest of all brokers).
# TYPE lockstep_topic_queues gauge
lockstep_topic_queues{kind="declared",name="orders",namespace="shop"} 64
lockstep_topic_queues{kind="read",name="orders",namespace="shop"} 128
lockstep_topic_queues{kind="write",name="orders",namespace="shop"} 64
# HELP lockstep_topic_retiring_unread_messages About how many messages are unread in the retiring queues of a Topic.
# TYPE lockstep_topic_retiring_unread_messages gauge
lockstep_topic_retiring_unread_messages{name="orders",namespace="shop"} 4100
# HELP lockstep_topic_stage_since_seconds Time at which a Topic entered the present stage of a change of queues, in seconds since 1970.
# TYPE lockstep_topic_stage_since_seconds gauge
lockstep_topic_stage_since_seconds{name="orders",namespace="shop",stage="Draining"} 1.764541864e+09
`))).To(Succeed())
	problems, err := testutil.CollectAndLint(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(problems).To(BeEmpty())

	// The change is over and a condition gone: no series stays behind.
	rest := draining64()
	rest.Status.Change, rest.Status.Conditions = nil, rest.Status.Conditions[:1]
	cache.topics = []rocketmqv1alpha1.Topic{rest}
	g.Expect(testutil.CollectAndCount(c)).To(Equal(3 + 3))
	// What is not known is no series, and never 0.
	rest.Status.ReadQueues, rest.Status.WriteQueues = nil, nil
	cache.topics = []rocketmqv1alpha1.Topic{rest}
	g.Expect(testutil.CollectAndCount(c, "lockstep_topic_queues")).To(Equal(1))
	cache.topics = nil
	g.Expect(testutil.CollectAndCount(c)).To(BeZero())
}

// Two replicas of the operator would count every topic twice.
func TestMetricsComeFromTheLeaderOnly(t *testing.T) {
	g := NewWithT(t)
	waiting := make(chan struct{})
	c := newTopicCollector(&listed{topics: []rocketmqv1alpha1.Topic{draining64()}}, waiting)
	g.Expect(testutil.CollectAndCount(c)).To(BeZero())
	close(waiting)
	g.Expect(testutil.CollectAndCount(c)).To(BeNumerically(">", 0))
}

// No series would read as no topic.
func TestMetricsOfAnUnreadableCacheFailTheScrape(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	g.Expect(registry.Register(newTopicCollector(&listed{err: errors.New("not synced")}, elected()))).To(Succeed())
	_, err := registry.Gather()
	g.Expect(err).To(MatchError(ContainSubstring("not synced")))
}
