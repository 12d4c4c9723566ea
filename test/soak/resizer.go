// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

const (
	fewest, most = 2, 12
	// topicPeriod is how often a Topic is looked at.
	topicPeriod = time.Second / 2

	// openResizes counts those that were under way when the faults stopped.
	openResizes = "resizes open when the faults stopped"
)

// resizer changes the queues of one topic again and again.
type resizer struct {
	*soak
	topic topic
	dice  *rand.Rand
	// asked is when the present target was set; wanted is its generation.
	asked  time.Time
	wanted int64
	// turn is when the mind changes; zero for never.
	turn  time.Time
	stage v1alpha1.Stage
}

// resizeTopic resizes a topic until the context ends.
func (s *soak) resizeTopic(ctx context.Context, t topic) error {
	r := &resizer{soak: s, topic: t, dice: s.dice("resize " + t.name)}
	for pause(ctx, between(r.dice, time.Second, 8*time.Second)) {
		object, err := r.ask(ctx, "resize")
		if err != nil {
			return ended(ctx, err)
		}
		if err := r.follow(ctx, object); err != nil {
			return ended(ctx, err)
		}
	}
	return nil
}

// ended makes nothing of an error that came with the end of the context.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the run is over, and what it interrupts is no failure
	}
	return err
}

// ask sets another number of queues, in a quarter of all cases by approval, and
// decides whether the mind will change.
func (r *resizer) ask(ctx context.Context, word string) (*v1alpha1.Topic, error) {
	object := r.topic.asObject()
	if err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return nil, fmt.Errorf("reading Topic %s: %w", r.topic.object, err)
	}
	from := object.Spec.Queues.PerBroker
	to := int32(fewest + r.dice.IntN(most-fewest))
	if to >= from {
		to++
	}
	base := object.DeepCopy()
	object.Spec.Queues.PerBroker = to
	object.Spec.Resize.Mode = ""
	how := ""
	if r.dice.IntN(4) == 0 {
		object.Spec.Resize.Mode, how = v1alpha1.ResizeApprove, ", each cut by approval"
	}
	if err := r.world.Client.Patch(ctx, object, client.MergeFrom(base)); err != nil {
		return nil, fmt.Errorf("resizing Topic %s: %w", r.topic.object, err)
	}
	r.asked, r.wanted, r.turn = time.Now(), object.Generation, time.Time{}
	if r.dice.IntN(3) == 0 {
		r.turn = r.asked.Add(between(r.dice, 2*time.Second, 45*time.Second))
	}
	r.counts.add("resizes asked", 1)
	r.journal.event(word, "%s %d → %d queues%s", r.topic.name, from, to, how)
	return object, nil
}

// follow looks at the Topic until it is as declared, approves what waits for it,
// and changes the mind when that is due.
func (r *resizer) follow(ctx context.Context, object *v1alpha1.Topic) error {
	finished := false
	defer func() {
		if !finished && ctx.Err() != nil {
			r.counts.add(openResizes, 1)
		}
	}()
	for {
		if object.Generation == r.wanted {
			r.tell(object)
			if isTrue(object, v1alpha1.ConditionAsDeclared) {
				finished = true
				r.counts.add("resizes finished", 1)
				r.journal.event("finished", "%s has %d queues after %.0f s", r.topic.name, object.Spec.Queues.PerBroker, time.Since(r.asked).Seconds())
				return nil
			}
			if !r.turn.IsZero() && time.Now().After(r.turn) {
				r.counts.add("resizes turned round", 1)
				var err error
				if object, err = r.ask(ctx, "turn"); err != nil {
					return err
				}
			}
			if r.dice.IntN(6) == 0 { // a person takes a few seconds
				if err := r.approve(ctx, object); err != nil {
					return err
				}
			}
		}
		if !pause(ctx, topicPeriod) {
			return ctx.Err()
		}
		if err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return fmt.Errorf("reading Topic %s: %w", r.topic.object, err)
		}
	}
}

// tell notes a new stage.
func (r *resizer) tell(object *v1alpha1.Topic) {
	stage := v1alpha1.Stage("")
	if object.Status.Change != nil {
		stage = object.Status.Change.Stage
	}
	if stage == r.stage {
		return
	}
	r.stage = stage
	if stage != "" {
		r.journal.event("stage", "%s %s: %s", r.topic.name, stage, world.Message(object, v1alpha1.ConditionAsDeclared))
	}
}

// approve approves the step that waits for it.
func (s *soak) approve(ctx context.Context, object *v1alpha1.Topic) error {
	change := object.Status.Change
	if change == nil || change.Approval == "" || object.IsApproved() {
		return nil
	}
	base := object.DeepCopy()
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[v1alpha1.AnnotationApprove] = change.Approval
	if err := s.world.Client.Patch(ctx, object, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("approving a step of Topic %s: %w", object.Name, err)
	}
	s.counts.add("steps approved", 1)
	s.journal.event("approval", "%s: %s", object.Spec.TopicName, change.Approval)
	return nil
}

func isTrue(object *v1alpha1.Topic, kind string) bool {
	c := meta.FindStatusCondition(object.Status.Conditions, kind)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == object.Generation
}
