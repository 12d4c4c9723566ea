// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// resizeSpec says in the planner's words what the objects declare. It reads
// nothing but its arguments.
func resizeSpec(topic *rocketmqv1alpha1.Topic, cluster *rocketmqv1alpha1.BrokerCluster) (resize.Spec, error) {
	spec := &topic.Spec
	acknowledged, err := acknowledgedOffsets(topic)
	if err != nil {
		return resize.Spec{}, err
	}
	return resize.Spec{
		Topic:            topic.EffectiveName(),
		Generation:       topic.Generation,
		Queues:           int(spec.Queues.PerBroker),
		Placement:        placement(spec.Placement),
		Permission:       snapshot.Perm(spec.Permission.Wire()),
		MessageType:      spec.MessageType.Wire(),
		Ordered:          spec.Order == rocketmqv1alpha1.OrderOrdered,
		AllowOrderChange: spec.AllowsOrderChange(),
		Mode:             resizeMode(spec.ResizeMode()),
		Approved:         topic.Annotations[rocketmqv1alpha1.AnnotationApprove],
		FirstSight:       firstSight(topic),
		Closing:          !topic.DeletionTimestamp.IsZero(),
		KeepHistory:      spec.KeepsHistory(),
		Rescue:           spec.RescuesStranded(),
		LongestDelay:     longestDelay(spec.Resize),
		// A declared type proves nothing (rule R15): half messages are ruled
		// out only by a declared longest delay, which includes them.
		Transactions: spec.Resize == nil || spec.Resize.LongestDelaySeconds == nil,
		Waivers:      waivers(spec.Resize),
		Acknowledged: acknowledged,
		Proxies:      len(cluster.Spec.Proxies) > 0,
		Timings:      resizeTimings(&cluster.Spec),
	}, nil
}

// firstSight reports that the topic was found larger than declared and neither
// the spec was edited nor a step approved since: it then stays as it is (rule
// K02).
func firstSight(topic *rocketmqv1alpha1.Topic) bool {
	adoption := topic.Status.Adoption
	if adoption == nil {
		return true
	}
	found := adoption.ReadQueues
	return adoption.Generation == topic.Generation && found != nil && *found > topic.Spec.Queues.PerBroker
}

func resizeMode(mode rocketmqv1alpha1.ResizeMode) resize.Mode {
	if mode == rocketmqv1alpha1.ResizeApprove {
		return resize.ModeApprove
	}
	return resize.ModeAutomatic
}

func placement(p *rocketmqv1alpha1.Placement) []string {
	if p == nil {
		return nil
	}
	names := make([]string, 0, len(p.Brokers))
	for _, b := range p.Brokers {
		names = append(names, string(b))
	}
	return names
}

func longestDelay(r *rocketmqv1alpha1.Resize) time.Duration {
	if r == nil || r.LongestDelaySeconds == nil {
		return 0
	}
	// Zero means "not said" to the planner; a declared zero is the shortest
	// window there is.
	return max(time.Duration(*r.LongestDelaySeconds)*time.Second, time.Second)
}

func waivers(r *rocketmqv1alpha1.Resize) []resize.Waiver {
	if r == nil {
		return nil
	}
	out := make([]resize.Waiver, 0, len(r.Waivers))
	for _, w := range r.Waivers {
		out = append(out, resize.Waiver{Group: w.Group, ToQueues: int(w.ToQueues)})
	}
	return out
}

func acknowledgedOffsets(topic *rocketmqv1alpha1.Topic) ([]resize.Seed, error) {
	entries, err := rocketmqv1alpha1.OffsetEntries(topic)
	if err != nil {
		return nil, err
	}
	out := make([]resize.Seed, 0, len(entries))
	for _, e := range entries {
		out = append(out, resize.Seed{Group: e.Group, Broker: e.Broker, Queue: int(e.Queue), Offset: e.Offset})
	}
	return out, nil
}

// resizeTimings takes the declared waits; the paces of looks follow the settle
// window, so that a window is always seen from inside several times.
func resizeTimings(spec *rocketmqv1alpha1.BrokerClusterSpec) resize.Timings {
	defaults := resize.DefaultTimings()
	settle := spec.Settle()
	pace := min(defaults.LookEvery, max(settle/4, time.Second))
	return resize.Timings{
		RouteAge:      spec.LongestRouteAge(),
		ProxyRouteAge: spec.LongestRouteAge(),
		Still:         settle,
		Apart:         settle,
		Invisible:     spec.LongestInvisible(),
		LookEvery:     pace,
		WatchEvery:    min(defaults.WatchEvery, 3*pace),
		IdleEvery:     spec.Audit(),
	}
}
