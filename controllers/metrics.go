// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// topicMetrics are what is exported of topics. Labels are closed: namespace,
// name, and words of the API.
type topicMetrics struct {
	condition *prometheus.GaugeVec
	queues    *prometheus.GaugeVec
	stage     *prometheus.GaugeVec
	unread    *prometheus.GaugeVec
}

// newTopicMetrics registers the metrics; a second reconciler of the same
// process shares them.
func newTopicMetrics() (*topicMetrics, error) {
	m := &topicMetrics{
		condition: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lockstep_topic_condition",
			Help: "1 for the status that a condition of a Topic has, 0 for the others.",
		}, []string{"namespace", "name", "type", "status"}),
		queues: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lockstep_topic_queues",
			Help: "Queues per broker of a Topic: declared, read (largest of all brokers) and write (largest of all brokers).",
		}, []string{"namespace", "name", "kind"}),
		stage: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lockstep_topic_stage_since_seconds",
			Help: "Time at which a Topic entered the present stage of a change of queues, in seconds since 1970.",
		}, []string{"namespace", "name", "stage"}),
		unread: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lockstep_topic_retiring_unread_messages",
			Help: "About how many messages are unread in the retiring queues of a Topic.",
		}, []string{"namespace", "name"}),
	}
	for _, vec := range []**prometheus.GaugeVec{&m.condition, &m.queues, &m.stage, &m.unread} {
		if err := metrics.Registry.Register(*vec); err != nil {
			var there prometheus.AlreadyRegisteredError
			if !errors.As(err, &there) {
				return nil, fmt.Errorf("registering metrics: %w", err)
			}
			existing, ok := there.ExistingCollector.(*prometheus.GaugeVec)
			if !ok {
				return nil, fmt.Errorf("registering metrics: %w", err)
			}
			*vec = existing
		}
	}
	return m, nil
}

// observe exports a status that was just written.
func (m *topicMetrics) observe(topic *rocketmqv1alpha1.Topic) {
	key := types.NamespacedName{Namespace: topic.Namespace, Name: topic.Name}
	labels := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	for _, c := range topic.Status.Conditions {
		for _, status := range []string{"True", "False", "Unknown"} {
			value := 0.0
			if string(c.Status) == status {
				value = 1
			}
			m.condition.WithLabelValues(key.Namespace, key.Name, c.Type, status).Set(value)
		}
	}
	m.queues.WithLabelValues(key.Namespace, key.Name, "declared").Set(float64(topic.Spec.Queues.PerBroker))
	for kind, n := range map[string]*int32{"read": topic.Status.ReadQueues, "write": topic.Status.WriteQueues} {
		if n == nil {
			m.queues.DeleteLabelValues(key.Namespace, key.Name, kind)
			continue
		}
		m.queues.WithLabelValues(key.Namespace, key.Name, kind).Set(float64(*n))
	}
	m.stage.DeletePartialMatch(labels)
	m.unread.DeletePartialMatch(labels)
	if c := topic.Status.Change; c != nil {
		m.stage.WithLabelValues(key.Namespace, key.Name, string(c.Stage)).Set(float64(c.StageSince.Unix()))
		if c.Drain != nil && c.Drain.Unread != nil {
			m.unread.WithLabelValues(key.Namespace, key.Name).Set(float64(*c.Drain.Unread))
		}
	}
}

// forget removes what was exported of an object that is gone.
func (m *topicMetrics) forget(key types.NamespacedName) {
	labels := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	for _, vec := range []*prometheus.GaugeVec{m.condition, m.queues, m.stage, m.unread} {
		vec.DeletePartialMatch(labels)
	}
}
