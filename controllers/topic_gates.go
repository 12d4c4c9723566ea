// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
)

func keyOf(n types.NamespacedName) observe.Key {
	return observe.Key{Namespace: n.Namespace, Name: n.Name}
}

// paused ends the pass of a paused topic: no broker is written to, not even for
// a deletion (case O08); conditions stay as they were (rule K07).
func (p *topicPass) paused(context.Context) (bool, error) {
	set := conditionSet{p.topic.Generation, p.now, &p.topic.Status.Conditions}
	if !rocketmqv1alpha1.IsPaused(p.topic) {
		set.keep(rocketmqv1alpha1.ConditionPaused, nil)
		return false, nil
	}
	message := "the annotation " + rocketmqv1alpha1.AnnotationPaused + " stops every write to the brokers; remove it to go on"
	if !p.topic.DeletionTimestamp.IsZero() {
		message = "the deletion waits: " + message
	}
	set.set(rocketmqv1alpha1.ConditionPaused, yes(rocketmqv1alpha1.ReasonPaused, message))
	return true, nil
}

// findCluster finds the BrokerCluster and what was last seen of it, and says
// what is to wake this topic.
func (p *topicPass) findCluster(ctx context.Context) (bool, error) {
	namespace, name := p.topic.ClusterKey()
	p.id = observe.ID{Namespace: namespace, Name: name}
	p.r.wakes.Watch(keyOf(client.ObjectKeyFromObject(p.topic)), p.id, p.topic.EffectiveName())
	cluster := &rocketmqv1alpha1.BrokerCluster{}
	err := p.r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, cluster)
	if apierrors.IsNotFound(err) {
		p.block(blocked{Reason: rocketmqv1alpha1.ReasonBrokerClusterNotFound,
			Message: fmt.Sprintf("BrokerCluster %s/%s does not exist; create it, or name another in spec.clusterRef of a new Topic", namespace, name)})
		return p.releaseWithout(ctx)
	}
	if err != nil {
		return true, fmt.Errorf("reading BrokerCluster %s/%s: %w", namespace, name, err)
	}
	p.cluster = cluster
	observer, ok := p.r.Observers.Get(p.id)
	if !ok {
		message := "BrokerCluster " + namespace + "/" + name + " is not observed yet"
		reason := rocketmqv1alpha1.ReasonBrokerClusterNotReady
		if c := meta.FindStatusCondition(cluster.Status.Conditions, rocketmqv1alpha1.ConditionReady); c != nil && c.Status != metav1.ConditionTrue && c.Reason != rocketmqv1alpha1.ReasonNotSeen {
			message = "BrokerCluster " + namespace + "/" + name + ": " + c.Message
		}
		p.block(blocked{Reason: reason, Message: message, Unsure: p.topic.Status.ObservedGeneration == p.topic.Generation})
		p.again = 10 * time.Second
		return p.releaseWithout(ctx)
	}
	p.observer = observer
	if asked := rocketmqv1alpha1.ReconcileRequest(p.topic); asked != p.topic.Status.LastHandledReconcileRequest {
		observer.Poke()
	}
	p.sweep = observer.Cluster()
	p.view = viewOf(p.topic, p.sweep)
	return false, nil
}

// loadNote reads the topic's note where there can be one.
func (p *topicPass) loadNote(ctx context.Context) (bool, error) {
	n, cm, err := p.r.notes().load(ctx, p.topic.UID)
	if err != nil {
		p.block(blocked{Reason: rocketmqv1alpha1.ReasonIncompleteAnswer, Message: err.Error(), Unsure: true})
		return true, err
	}
	p.note, p.noteCM = n, cm
	return false, nil
}

// claim finds out who holds the topic's name on the physical cluster. One that
// does not hold it changes nothing (rules K13, R19).
func (p *topicPass) claim(ctx context.Context) (bool, error) {
	own := claimant{Topic: p.topic, Cluster: p.id}
	own.Identity, own.Known = p.observer.Identity()
	if !own.Known {
		if p.topic.DeletionTimestamp.IsZero() {
			p.block(blocked{Reason: rocketmqv1alpha1.ReasonBrokerClusterNotReady, Unsure: true,
				Message: first(problemSentence(p.sweep.Problems), "the brokers of the cluster are not known yet")})
			return true, nil
		}
		return false, nil
	}
	all, err := p.r.claimants(ctx, p.topic.EffectiveName())
	if err != nil {
		return true, err
	}
	others := rivals(own, all)
	held := holder(append(others, own))
	set := conditionSet{p.topic.Generation, p.now, &p.topic.Status.Conditions}
	if held == nil || held.UID == p.topic.UID {
		set.keep(rocketmqv1alpha1.ConditionConflict, nil)
		if held != nil && !p.topic.Status.Claim.HeldBy(p.topic.UID) {
			// A hand-over: whatever was found before is found anew (rule K02).
			p.topic.Status.Adoption = nil
		}
		if held != nil {
			p.topic.Status.Claim = claimOf(own.Identity, held)
		}
		return false, nil
	}
	if !p.topic.DeletionTimestamp.IsZero() {
		return false, nil
	}
	message := conflictMessage(p.topic, held)
	set.set(rocketmqv1alpha1.ConditionConflict, yes(rocketmqv1alpha1.ReasonConflict, message))
	p.topic.Status.Claim = claimOf(own.Identity, held)
	p.topic.Status.Adoption = nil
	since := meta.FindStatusCondition(p.topic.Status.Conditions, rocketmqv1alpha1.ConditionConflict).LastTransitionTime
	old := p.now.Sub(since.Time) >= conflictGrace
	if !old {
		p.again = conflictGrace - p.now.Sub(since.Time)
	}
	return p.block(blocked{Reason: rocketmqv1alpha1.ReasonConflict, Message: message, Edit: old}), nil
}

// conflictGrace is how long a conflict may last before it is called stalled:
// in a move from one namespace to another both objects live for a moment.
const conflictGrace = time.Minute

// admit refuses what the schema could not: access, reserved names of this
// cluster, brokers that do not exist.
func (p *topicPass) admit(ctx context.Context) (bool, error) {
	name := p.topic.EffectiveName()
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := p.r.Client.Get(ctx, client.ObjectKey{Name: p.topic.Namespace}, namespace); err != nil {
		return true, fmt.Errorf("reading namespace %s: %w", p.topic.Namespace, err)
	}
	if why := refusal(p.cluster, namespaceFacts{namespace.Name, namespace.Labels}, name); why != "" {
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonNotAllowed, Message: why}), nil
	}
	heartbeat, _ := p.cluster.Spec.Heartbeat()
	if whose := names.ReservedTopic(name, scopeOf(p.sweep, heartbeat)); whose != "" {
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonReservedName, Edit: true,
			Message: fmt.Sprintf("%s %s and is left alone; declare another name in a new Topic", name, whose)}), nil
	}
	if len(p.view.Undeclared) > 0 {
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonBrokerNotFound,
			Message: fmt.Sprintf("spec.placement names %s, which no name server shows in cluster %s; correct the name, or start the broker",
				strings.Join(p.view.Undeclared, ", "), p.cluster.Spec.ClusterName)}), nil
	}
	if p.view.Unknown != "" && p.note.empty() {
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonUnreachable, Unsure: true,
			Message: first(problemSentence(p.sweep.Problems), p.view.Unknown)}), nil
	}
	return false, nil
}

// adopt records how the topic was found when this object first saw it (rule
// K02).
func (p *topicPass) adopt(context.Context) (bool, error) {
	if p.topic.Status.Adoption != nil || p.view.Unknown != "" {
		return false, nil
	}
	found := p.view.Highest
	if !p.mem.HandedOver.IsZero() && !p.view.CountsDiffer {
		found = 0 // this process created it
	}
	p.topic.Status.Adoption = &rocketmqv1alpha1.Adoption{
		Generation: p.topic.Generation, Time: atSecond(p.now), ReadQueues: ptr.To(int32(found)),
	}
	return false, nil
}
