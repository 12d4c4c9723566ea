// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// How many messages pass before each act of the story.
const (
	warmUp  = 1500
	backlog = 2000
)

// story declares a topic, loads it, shrinks it, and counts.
func (d *demo) story(ctx context.Context) error {
	if err := d.declare(ctx); err != nil {
		return err
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	generation, err := d.shrink(ctx)
	if err != nil {
		return err
	}
	if err := d.follow(ctx, generation); err != nil {
		return err
	}
	return d.count(ctx)
}

// declare applies the BrokerCluster and the Topic and waits until the topic is
// there.
func (d *demo) declare(ctx context.Context) error {
	if err := errors.Join(d.world.Namespace(ctx, d.places.Platform, nil),
		d.world.Namespace(ctx, d.places.Shop, map[string]string{"rocketmq": "shop"})); err != nil {
		return err
	}
	for _, name := range []string{"brokercluster.yaml", "topic.yaml"} {
		text, path, err := render(d.places, name, d.manifests)
		if err != nil {
			return err
		}
		d.title("$ kubectl apply --server-side -f %s", path)
		d.screen.text("   ", string(text))
		if err := d.world.ApplyYAML(ctx, text); err != nil {
			return err
		}
	}
	return d.awaitTopic(ctx)
}

func (d *demo) awaitTopic(ctx context.Context) error {
	began := time.Now()
	topic := d.topic()
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		status, err := d.world.Condition(ctx, topic, v1alpha1.ConditionReady)
		return status == metav1.ConditionTrue, err
	})
	if err != nil {
		return d.stuck(topic, err)
	}
	d.screen.line("\n %s %-86s %10s", d.screen.paint(green, signDone), topicName+": "+world.Message(topic, v1alpha1.ConditionReady), short(time.Since(began)))
	return nil
}

func (d *demo) topic() *v1alpha1.Topic {
	return &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: d.places.Shop, Name: topicObject}}
}

// load starts all clients, lets messages flow, and stops one group.
func (d *demo) load(ctx context.Context) error {
	d.title("Live applications, which are never touched by the change")
	began := time.Now()
	if err := d.deploy(ctx); err != nil {
		return err
	}
	if err := d.awaitMessages(ctx, warmUp, groups()...); err != nil {
		return err
	}
	d.screen.line(" %s %-86s %10s", d.screen.paint(green, signDone), fmt.Sprintf("more than %d messages sent, and every group reads", warmUp), short(time.Since(began)))
	d.hints()

	d.title("Somebody stops the audit for the night, so that it has something left to read")
	d.screen.line("   %s", d.scaleCommand(d.roles.audit, 0))
	ending, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := world.End(ending, d.roles.audit.fleet); err != nil {
		return err
	}
	return d.awaitMessages(ctx, warmUp+backlog)
}

// hints says what the reader can do meanwhile.
func (d *demo) hints() {
	d.title("In a second terminal you can type")
	d.screen.line("   export KUBECONFIG=%s", d.world.Kubeconfig)
	d.screen.line("   %s get rmqt -n %s -w", d.kubectl, d.places.Shop)
	d.screen.line("   %s describe rmqt -n %s %s", d.kubectl, d.places.Shop, topicObject)
	if d.options.kubeconfig == "" {
		d.screen.line("   %s get pods -n %s", d.kubectl, d.places.Shop)
	}
}

// awaitMessages waits until so many messages were sent, and each of the groups
// has consumed some.
func (d *demo) awaitMessages(ctx context.Context, sent int, groups ...string) error {
	b := newBook(d.world.LedgerDir(d.places.Shop))
	err := wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		if err := b.update(); err != nil {
			return false, err
		}
		for _, group := range groups {
			if len(b.consumed[group]) == 0 {
				return false, nil
			}
		}
		return len(b.sent) >= sent, nil
	})
	if err == nil {
		return nil
	}
	seen := fmt.Sprintf("%d messages were sent", len(b.sent))
	for _, group := range groups {
		seen += fmt.Sprintf(", %s consumed %d", group, len(b.consumed[group]))
	}
	return &world.PartError{Part: "the applications", Err: fmt.Errorf("%s: %w", seen, err), Try: "see their logs in " + d.world.Dir + "/node/logs"}
}

// shrink edits the Topic and returns the generation of the edit.
func (d *demo) shrink(ctx context.Context) (int64, error) {
	d.title("$ kubectl patch rmqt -n %s %s --type=merge -p '{\"spec\":{\"queues\":{\"perBroker\":%d}}}'", d.places.Shop, topicObject, narrow)
	topic := d.topic()
	if err := d.world.Client.Get(ctx, client.ObjectKeyFromObject(topic), topic); err != nil {
		return 0, fmt.Errorf("reading the Topic: %w", err)
	}
	base := topic.DeepCopy()
	topic.Spec.Queues.PerBroker = narrow
	if err := d.world.Client.Patch(ctx, topic, client.MergeFrom(base)); err != nil {
		return 0, fmt.Errorf("editing the Topic: %w", err)
	}
	d.screen.line("%s (%s on %s)   %d → %d queues per broker, %d brokers%30s", topicObject, topicName, clusterName, wide, narrow,
		len(d.world.RocketMQ.Masters()), "started "+time.Now().Format("15:04:05"))
	return topic.Generation, nil
}

// serve starts all that the story has and keeps it running.
func (d *demo) serve(ctx context.Context) error {
	if err := d.declare(ctx); err != nil {
		return err
	}
	d.title("Live applications")
	if err := d.deploy(ctx); err != nil {
		return err
	}
	d.hints()
	d.screen.line("   %s patch rmqt -n %s %s --type=merge -p '{\"spec\":{\"queues\":{\"perBroker\":%d}}}'", d.kubectl, d.places.Shop, topicObject, narrow)
	d.screen.line("   make demo-down          # when you have seen enough")
	if err := d.announce(); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
