// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// scrapeTimeout bounds a reading of the cache, which answers from memory; it
// blocks only while it is being filled.
const scrapeTimeout = 5 * time.Second

// topicCollector exports Topics as the cache has them at the moment of a scrape.
// Nothing is kept per topic: a series ends with its object or its condition, is
// there after a restart although nothing was written, and costs no memory
// between scrapes. Labels are closed: namespace, name, and words of the API.
type topicCollector struct {
	topics client.Reader
	// elected is closed when this process leads; another exports nothing, so that
	// every topic is counted once.
	elected <-chan struct{}

	condition, queues, stage, unread *prometheus.Desc
}

func newTopicCollector(topics client.Reader, elected <-chan struct{}) *topicCollector {
	return &topicCollector{
		topics: topics, elected: elected,
		condition: prometheus.NewDesc("lockstep_topic_condition",
			"1 for the status that a condition of a Topic has, 0 for the others.",
			[]string{"namespace", "name", "type", "status"}, nil),
		queues: prometheus.NewDesc("lockstep_topic_queues",
			"Queues per broker of a Topic: declared, read (largest of all brokers) and write (largest of all brokers).",
			[]string{"namespace", "name", "kind"}, nil),
		stage: prometheus.NewDesc("lockstep_topic_stage_since_seconds",
			"Time at which a Topic entered the present stage of a change of queues, in seconds since 1970.",
			[]string{"namespace", "name", "stage"}, nil),
		unread: prometheus.NewDesc("lockstep_topic_retiring_unread_messages",
			"About how many messages are unread in the retiring queues of a Topic.",
			[]string{"namespace", "name"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *topicCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.condition, c.queues, c.stage, c.unread} {
		out <- d
	}
}

// Collect implements prometheus.Collector. A cache that cannot be read fails the
// scrape: no series is not the same as no topic.
func (c *topicCollector) Collect(out chan<- prometheus.Metric) {
	select {
	case <-c.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	list := &rocketmqv1alpha1.TopicList{}
	if err := c.topics.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		out <- prometheus.NewInvalidMetric(c.condition, fmt.Errorf("listing Topics: %w", err))
		return
	}
	for i := range list.Items {
		c.topic(out, &list.Items[i])
	}
}

// topic exports one Topic. It must not change it: the cache shares it.
func (c *topicCollector) topic(out chan<- prometheus.Metric, t *rocketmqv1alpha1.Topic) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{t.Namespace, t.Name}, labels...)...)
	}
	for _, condition := range t.Status.Conditions {
		for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
			value := 0.0
			if condition.Status == status {
				value = 1
			}
			gauge(c.condition, value, condition.Type, string(status))
		}
	}
	gauge(c.queues, float64(t.Spec.Queues.PerBroker), "declared")
	if n := t.Status.ReadQueues; n != nil {
		gauge(c.queues, float64(*n), "read")
	}
	if n := t.Status.WriteQueues; n != nil {
		gauge(c.queues, float64(*n), "write")
	}
	if change := t.Status.Change; change != nil {
		gauge(c.stage, float64(change.StageSince.Unix()), string(change.Stage))
		if change.Drain != nil && change.Drain.Unread != nil {
			gauge(c.unread, float64(*change.Drain.Unread))
		}
	}
}
