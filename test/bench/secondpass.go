// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// secondPass restarts the operator, which then goes over every object anew, and
// counts what it wrote in a minute: to the API server by the objects' resource
// versions, to the brokers by the versions of their topic tables.
//
// The number of topics in the BrokerCluster's status follows at most once a
// minute (rule K05); the count begins when it has.
func secondPass(ctx context.Context, w *world.World, topics int) (writes, changing int, err error) {
	if err := poll(ctx, 3*time.Minute, func() (bool, error) {
		c := &v1alpha1.BrokerCluster{}
		err := w.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "bench"}, c)
		return err == nil && c.Status.Counts != nil && c.Status.Counts.Topics != nil && int(*c.Status.Counts.Topics) >= topics, err
	}); err != nil {
		return 0, 0, fmt.Errorf("waiting for the number of topics in the status of the BrokerCluster: %w", err)
	}
	before, err := resourceVersions(ctx, w.Client)
	if err != nil {
		return 0, 0, err
	}
	tables, err := tableVersions(ctx, w.RocketMQ)
	if err != nil {
		return 0, 0, err
	}
	w.Operator.Stop()
	if err := w.Operator.Start(ctx); err != nil {
		return 0, 0, err
	}
	if err := pause(ctx, watchedFor); err != nil {
		return 0, 0, err
	}
	after, err := resourceVersions(ctx, w.Client)
	if err != nil {
		return 0, 0, err
	}
	for name, version := range after {
		if before[name] != version {
			fmt.Fprintf(os.Stderr, "written in the second pass: %s\n", name)
			writes++
		}
	}
	now, err := tableVersions(ctx, w.RocketMQ)
	if err != nil {
		return 0, 0, err
	}
	for broker, version := range now {
		if tables[broker] != version {
			changing++
		}
	}
	return writes, changing, nil
}

// watchedFor is how long writes are counted after the restart. A pass at rest
// leaves no trace to wait for; a thousand take well under a second of CPU.
const watchedFor = time.Minute

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func resourceVersions(ctx context.Context, c client.Client) (map[string]string, error) {
	out := map[string]string{}
	topics := &v1alpha1.TopicList{}
	if err := c.List(ctx, topics, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range topics.Items {
		out["topic/"+topics.Items[i].Name] = topics.Items[i].ResourceVersion
	}
	clusters := &v1alpha1.BrokerClusterList{}
	if err := c.List(ctx, clusters, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range clusters.Items {
		out["cluster/"+clusters.Items[i].Name] = clusters.Items[i].ResourceVersion
	}
	return out, nil
}

func tableVersions(ctx context.Context, mq *rig.Cluster) (map[string]string, error) {
	wire := remoting.NewClient(remoting.Options{})
	defer wire.Close()
	c := rocketmq.New(wire)
	out := map[string]string{}
	for _, master := range mq.Masters() {
		all, err := c.AllTopicConfigs(ctx, master.Addr)
		if err != nil {
			return nil, err
		}
		out[master.Addr] = fmt.Sprint(all.Version)
	}
	return out, nil
}
