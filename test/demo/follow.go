// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

const (
	// redraw is how often the display is drawn again.
	redraw = time.Second
	// repeat is how far apart lines about one stage are where nothing can be
	// drawn again.
	repeat = 10 * time.Second
	// changeTime bounds the whole change on a loaded machine.
	changeTime = 20 * time.Minute
)

// follow shows each stage of the change until it is over. While it drains, the
// offline group is started again as soon as the Topic names it.
func (d *demo) follow(ctx context.Context, generation int64) error {
	ctx, cancel := context.WithTimeout(ctx, changeTime)
	defer cancel()
	v := &view{demo: d, tracker: newTracker(generation), book: newBook(d.world.LedgerDir(d.places.Shop))}
	topics := d.watchTopic(ctx)
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for !v.tracker.over() {
		select {
		case <-ctx.Done():
			return d.stuck(v.topic, ctx.Err())
		case topic, open := <-topics:
			if !open {
				return d.stuck(v.topic, errors.New("the Topic cannot be watched any more"))
			}
			v.see(topic, time.Now())
			if err := d.startOffline(ctx, topic); err != nil {
				return err
			}
		case now := <-ticker.C:
			if err := v.draw(now); err != nil {
				return err
			}
		}
	}
	v.end()
	return nil
}

// watchTopic sends the Topic whenever it changes, until the context ends.
func (d *demo) watchTopic(ctx context.Context) <-chan *v1alpha1.Topic {
	out := make(chan *v1alpha1.Topic)
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			// A watch begins with the object as it is, and may end at any time.
			events, err := d.world.Client.Watch(ctx, &v1alpha1.TopicList{}, client.InNamespace(d.places.Shop), client.MatchingFields{"metadata.name": topicObject})
			if err != nil {
				return
			}
			forward(ctx, events, out)
			events.Stop()
		}
	}()
	return out
}

func forward(ctx context.Context, events watch.Interface, out chan<- *v1alpha1.Topic) {
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-events.ResultChan():
			if !open {
				return
			}
			topic, ok := event.Object.(*v1alpha1.Topic)
			if !ok {
				continue
			}
			select {
			case out <- topic:
			case <-ctx.Done():
				return
			}
		}
	}
}

// stuck says that the change did not end in time, and what it waits for.
func (d *demo) stuck(topic *v1alpha1.Topic, why error) error {
	said := ""
	if topic != nil {
		said = "\n" + world.Describe(topic)
	}
	return &world.PartError{Part: "the change of queues", Err: fmt.Errorf("%w%s", why, said), Log: d.world.Operator.LogFile(),
		Try: fmt.Sprintf("make demo-up, then %s describe rmqt -n %s %s", d.kubectl, d.places.Shop, topicObject)}
}

// startOffline starts the group that is offline when the Topic waits for it.
func (d *demo) startOffline(ctx context.Context, topic *v1alpha1.Topic) error {
	if topic.Status.Change == nil || d.audited {
		return nil
	}
	for _, hold := range topic.Status.Change.WaitsFor {
		if hold.Group != groupAudit || hold.Reason != v1alpha1.ReasonGroupOffline {
			continue
		}
		d.audited = true
		d.screen.line("   Nothing is cut while %s has something to read. It is started again:", groupAudit)
		d.screen.line("   %s", d.scaleCommand(d.roles.audit, 1))
		if err := d.roles.audit.fleet.Scale(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// scaleCommand is what a person would type to scale a workload.
func (d *demo) scaleCommand(r *role, replicas int) string {
	if d.options.kubeconfig != "" {
		return fmt.Sprintf("(local processes of %s: %d)", r.Name, replicas)
	}
	return fmt.Sprintf("$ kubectl scale -n %s deploy/%s --replicas=%d", r.Namespace, r.Name, replicas)
}
