// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/act"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

// change looks at the topic, plans the next step, writes down what cannot be
// seen again, and carries the step out.
func (p *topicPass) change(ctx context.Context) (bool, error) {
	spec, err := resizeSpec(p.topic, p.cluster)
	if err != nil {
		// An annotation that cannot be read is the user's to correct.
		p.block(blocked{Reason: rocketmqv1alpha1.ReasonInvalidSpec, Message: err.Error(), Edit: true})
		return true, nil //nolint:nilerr // it is reported in conditions; trying again would not help
	}
	spec.FirstSight = spec.FirstSight && !p.note.begun()
	if wait := p.mem.NextLook.Sub(p.now); wait > 0 && p.mem.Planned == p.planned() {
		p.again, p.silent = wait, true
		return true, nil
	}
	// A decision may ask for a look of its own, begun after it (rule R02); the
	// second decision then rests on that look.
	for range 2 {
		if err := p.lookAndPlan(ctx, spec); err != nil {
			return true, err
		}
		if p.decision.Step.Kind != resize.StepFreshLook {
			break
		}
	}
	d := p.decision
	p.mem.NextLook = p.now.Add(d.LookAgain)
	p.mem.Planned = p.planned()
	p.again = d.LookAgain
	p.standFromLook()
	if err := p.persist(ctx); err != nil {
		return true, err
	}
	return true, p.act(ctx)
}

// planned stands for everything that a plan depends on and that a look is not
// needed to see: the declarations, and what the last sweep showed.
func (p *topicPass) planned() string {
	a := p.topic.Annotations
	text, err := json.Marshal([]string{
		fmt.Sprint(p.topic.Generation), fmt.Sprint(p.cluster.Generation), fmt.Sprint(p.topic.DeletionTimestamp != nil),
		a[rocketmqv1alpha1.AnnotationApprove], a[rocketmqv1alpha1.AnnotationSetOffset],
		a[rocketmqv1alpha1.AnnotationReconcileRequest],
		p.view.String(),
	})
	if err != nil {
		// A list of strings always has a JSON form.
		return ""
	}
	return string(text)
}

func (p *topicPass) lookAndPlan(ctx context.Context, spec resize.Spec) error {
	look, err := p.observer.TopicLook(ctx, spec.Topic, observe.LookOptions{Queues: p.highestEver()})
	if err != nil {
		return fmt.Errorf("looking at topic %s: %w", spec.Topic, err)
	}
	p.now = p.r.Clock.Now()
	progress := resize.Progress{Record: p.note.Record, Note: p.note.Note, Lived: p.mem.Lived}
	progress.Record.Placed = p.placed()
	d := resize.Plan(spec, progress, look, p.now)
	p.look, p.decision = &look, &d
	p.note.Record, p.note.Note, p.mem.Lived = d.Next.Record, d.Next.Note, d.Next.Lived
	p.mem.Looked = true
	return nil
}

// highestEver is the highest queue count the topic is known to have had or is
// to have, so that retired queues and those to come are looked at.
func (p *topicPass) highestEver() int {
	highest := max(p.view.Highest, int(p.topic.Spec.Queues.PerBroker))
	if a := p.topic.Status.Adoption; a != nil && a.ReadQueues != nil {
		highest = max(highest, int(*a.ReadQueues))
	}
	for _, c := range p.note.Note.Cuts {
		highest = max(highest, c.From)
	}
	for _, b := range p.note.Record.Brokers {
		highest = max(highest, b.From.Read, b.From.Write)
	}
	return highest
}

// persist writes down, before a step is sent, what could not be seen again: the
// finalizer that keeps the object while a change is open, and the note (rules
// K10, R23).
func (p *topicPass) persist(ctx context.Context) error {
	if p.decision.Open && p.topic.DeletionTimestamp.IsZero() {
		if err := p.ensureFinalizer(ctx); err != nil {
			return err
		}
	}
	cm, err := p.r.notes().save(ctx, p.topic, p.note, p.noteCM)
	if err != nil {
		return err
	}
	p.noteCM = cm
	return nil
}

func (p *topicPass) ensureFinalizer(ctx context.Context) error {
	if controllerutil.ContainsFinalizer(p.topic, rocketmqv1alpha1.Finalizer) {
		return nil
	}
	return p.patchMeta(ctx, func(t *rocketmqv1alpha1.Topic) { controllerutil.AddFinalizer(t, rocketmqv1alpha1.Finalizer) })
}

// patchMeta changes metadata only, with the resource version as precondition.
func (p *topicPass) patchMeta(ctx context.Context, edit func(*rocketmqv1alpha1.Topic)) error {
	base := p.was.DeepCopy()
	next := p.was.DeepCopy()
	edit(next)
	if err := p.r.Client.Patch(ctx, next, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("writing metadata of Topic %s/%s: %w", p.topic.Namespace, p.topic.Name, err)
	}
	p.topic.ObjectMeta, p.was.ObjectMeta = *next.ObjectMeta.DeepCopy(), next.ObjectMeta
	return nil
}

// act carries the step of the decision out, and what else differs.
func (p *topicPass) act(ctx context.Context) error {
	step := p.decision.Step
	if !step.Changing() {
		return nil
	}
	order := act.Order{Step: step, Topic: p.topic.EffectiveName(), Look: *p.look, New: newTopic(&p.topic.Spec, p.topic.EffectiveName())}
	if step.Cuts() {
		intent, err := p.intend(ctx)
		if err != nil || intent.IsZero() {
			return err
		}
		order.Intent = intent
	}
	outcome, failed := p.actor().Do(ctx, order)
	if failed == nil {
		failed = outcome.Err()
	}
	p.mem.Lived = p.decision.Next.Acted(p.r.Clock.Now()).Lived
	p.mem.NextLook = time.Time{}
	p.again = time.Second
	p.stand.Failed = ""
	if failed != nil {
		p.stand.Failed = oneLine(failed)
		p.again = retryAfter
	}
	return nil
}

// retryAfter is the wait after a step that failed; what failed is looked at
// again before anything is sent.
const retryAfter = 5 * time.Second

// intend reads the object past the cache and writes the intent with its
// resource version, and returns when it was read. An edit, a pause or another
// leader in between ends the attempt: the time is then zero (rule K11).
func (p *topicPass) intend(ctx context.Context) (time.Time, error) {
	read := p.r.Clock.Now()
	live := &rocketmqv1alpha1.Topic{}
	if err := p.r.Live.Get(ctx, client.ObjectKeyFromObject(p.topic), live); err != nil {
		return time.Time{}, client.IgnoreNotFound(err)
	}
	if live.UID != p.topic.UID || live.Generation != p.topic.Generation || rocketmqv1alpha1.IsPaused(live) ||
		(live.DeletionTimestamp == nil) != (p.topic.DeletionTimestamp == nil) {
		p.again = time.Second
		return time.Time{}, nil
	}
	p.was = live.DeepCopy()
	p.topic.ObjectMeta = live.ObjectMeta
	p.report()
	err := p.writeStatus(ctx, true)
	if apierrors.IsConflict(err) {
		p.again = time.Second
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return read, nil
}

func (p *topicPass) actor() *clusterActor { return p.r.actors.of(p.id, p.observer) }

// oneLine is a joined error as one sentence.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
