// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

const (
	namespace = "soak"
	cluster   = "soak"
	// patience bounds what takes seconds on a free machine.
	patience = 5 * time.Minute

	// The waits of the declared BrokerCluster, in seconds. Ten resizes fit in ten
	// minutes with them. Clients that use a route for longer (the Go SDK asks every
	// 30 s) are caught by the stillness of the retiring queues and by the watch.
	routeAge  = 5
	settle    = 3
	invisible = 10
	sweep     = 2
	// longestDelay is longer than any delay of a producer here.
	longestDelay = 10
)

// worldOptions are two name servers, two masters, and a proxy where the version
// has one. A broker that acknowledged a message has it after a SIGKILL: it
// answers when the message is in the memory-mapped log, which belongs to the
// kernel (rocketmq.md 9.3). Only a pool of buffers of its own would lose it.
func (s *soak) worldOptions() world.Options {
	servers := rig.Options{Version: s.options.version, ClusterName: cluster, BrokerProperties: rig.ShortDelays()}
	maps.Copy(servers.BrokerProperties, map[string]string{
		"flushDiskType":            "ASYNC_FLUSH",
		"transientStorePoolEnable": "false",
	})
	if s.five() {
		servers.Proxies = 1
		servers.ProxyConfig = map[string]any{"defaultInvisibleTimeMills": invisible * 1000}
	}
	return world.Options{Dir: s.options.dir, Manager: s.options.manager, RocketMQ: servers, Log: s.log, Step: s.step}
}

// step notes the beginning and the end of a part of the start.
func (s *soak) step(part string) func(error) {
	began := time.Now()
	return func(err error) {
		if err != nil {
			s.journal.event("start", "%s failed after %.1f s", part, time.Since(began).Seconds())
			return
		}
		s.journal.event("start", "%s: up after %.1f s", part, time.Since(began).Seconds())
	}
}

// topic is one topic of the run.
type topic struct {
	object, name string
	queues       int32
}

// The topics of the run: one for each SDK's producers, one whose messages are
// delayed, and one with few messages.
var (
	topicJava    = topic{"java", "TOPIC_SOAK_JAVA", 8}
	topicGo      = topic{"go", "TOPIC_SOAK_GO", 6}
	topicDelayed = topic{"delayed", "TOPIC_SOAK_DELAYED", 5}
	topicCalm    = topic{"calm", "TOPIC_SOAK_CALM", 7}
	topicGRPC    = topic{"grpc", "TOPIC_SOAK_GRPC", 4}
)

// topics are those of the run; the gRPC SDK needs a proxy.
func topics(five bool) []topic {
	all := []topic{topicJava, topicGo, topicDelayed, topicCalm}
	if five {
		all = append(all, topicGRPC)
	}
	return all
}

// declare makes the BrokerCluster and the Topics and waits until they are there.
func (s *soak) declare(ctx context.Context) error {
	if err := s.world.Namespace(ctx, namespace, nil); err != nil {
		return err
	}
	c := &v1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}}
	c.Spec.ClusterName = cluster
	for _, address := range s.world.RocketMQ.NameServerAddresses() {
		c.Spec.NameServers = append(c.Spec.NameServers, v1alpha1.Endpoint(address))
	}
	for _, proxy := range s.world.RocketMQ.Proxies {
		c.Spec.Proxies = append(c.Spec.Proxies, v1alpha1.Endpoint(proxy.Addr))
	}
	c.Spec.Timings = &v1alpha1.Timings{
		LongestRouteAgeSeconds: ptr.To(int32(routeAge)), SettleSeconds: ptr.To(int32(settle)),
		LongestInvisibleSeconds: ptr.To(int32(invisible)), SweepSeconds: ptr.To(int32(sweep)),
		CallTimeoutSeconds: ptr.To(int32(10)),
	}
	if err := s.world.Client.Create(ctx, c); err != nil {
		return fmt.Errorf("declaring the BrokerCluster: %w", err)
	}
	for _, t := range topics(s.five()) {
		object := t.asObject()
		object.Spec.ClusterRef.Name = cluster
		object.Spec.TopicName = v1alpha1.TopicName(t.name)
		object.Spec.Queues.PerBroker = t.queues
		object.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: ptr.To(int64(longestDelay))}
		if err := s.world.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("declaring Topic %s: %w", t.object, err)
		}
	}
	for _, t := range topics(s.five()) {
		object := t.asObject()
		err := wait.PollUntilContextTimeout(ctx, time.Second/2, patience, true, func(ctx context.Context) (bool, error) {
			status, err := s.world.Condition(ctx, object, v1alpha1.ConditionAsDeclared)
			return status == metav1.ConditionTrue, err
		})
		if err != nil {
			return errors.Join(fmt.Errorf("waiting for Topic %s: %w", t.object, err), errors.New(world.Describe(object)))
		}
		s.journal.event("topic", "%s: %d queues on each broker", t.name, t.queues)
	}
	return nil
}

// asObject is the Topic, for reading.
func (t topic) asObject() *v1alpha1.Topic {
	return &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: t.object}}
}
