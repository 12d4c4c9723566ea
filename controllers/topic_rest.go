// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
)

// atRest ends the pass of a topic that the last sweep shows as declared and
// that has no change open. Nobody is asked, unless the routes were never
// proven for what is declared now, or the topic was not looked at since its
// adoption.
func (p *topicPass) atRest(ctx context.Context) (bool, error) {
	if !p.view.AtRest() || !p.note.empty() || p.topic.Status.Change != nil || p.lookDue() {
		return false, nil
	}
	name := p.topic.EffectiveName()
	p.actor().forget(name)
	routes := p.sweep.Routes[name]
	if p.routesUnproven() {
		routes = p.observer.Routes(ctx, name)
	}
	asked, agreeing, why := routesAgree(name, p.sweep, routes)
	if asked > 0 {
		p.topic.Status.NameServers = &rocketmqv1alpha1.NameServerAgreement{
			Asked: ptr.To(int32(asked)), Agreeing: ptr.To(int32(agreeing)),
		}
	}
	routed := p.topic.Status.NameServers != nil && *p.topic.Status.NameServers.Agreeing == *p.topic.Status.NameServers.Asked
	if !routed {
		p.again = 5 * time.Second
	}
	declared := int(p.topic.Spec.Queues.PerBroker)
	p.stand = standing{
		Decision: resize.Decision{
			InForce: true, AsDeclared: true,
			Proof: resize.Proof{Target: declared, Read: declared, Write: declared, Brokers: len(p.view.Expected)},
		},
		Routed: routed, RouteWhy: why, Brokers: len(p.view.Expected), NameServers: len(p.sweep.NameServers),
	}
	return true, nil
}

// routesUnproven says that no pass has seen all name servers route what this
// spec declares.
func (p *topicPass) routesUnproven() bool {
	n := p.topic.Status.NameServers
	return n == nil || *n.Asked == 0 || *n.Agreeing != *n.Asked || p.topic.Status.ObservedGeneration != p.topic.Generation
}

// lookDue says that a topic which was found on the brokers has to be looked at
// once: only offsets beyond the read count tell of stranded messages. A topic
// that this object created has none.
func (p *topicPass) lookDue() bool {
	adoption := p.topic.Status.Adoption
	found := adoption != nil && adoption.ReadQueues != nil && *adoption.ReadQueues > 0
	return found && !p.mem.Looked && p.topic.Status.ObservedGeneration < 0
}

// createFirst hands a topic that is nowhere to the batcher of its brokers (rule
// K41). It returns at once; the next sweep shows what became of it.
func (p *topicPass) createFirst(context.Context) (bool, error) {
	if !p.view.Nowhere() || !p.note.empty() {
		return false, nil
	}
	if reason, why := unsettledServers(p.sweep); why != "" {
		p.again = 5 * time.Second
		return p.block(blocked{Reason: reason, Message: why + "; no topic is created meanwhile"}), nil
	}
	if p.lost() && !p.recreationApproved() {
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonTopicLost, Message: p.lostMessage()}), nil
	}
	var masters []rocketmq.Master
	for _, broker := range p.view.Absent {
		address, known := p.sweep.Brokers[broker].Master.Get()
		if !known {
			return p.block(blocked{Reason: rocketmqv1alpha1.ReasonMasterMissing,
				Message: fmt.Sprintf("the master of %s is not known: %s", broker, p.sweep.Brokers[broker].Master.Why())}), nil
		}
		masters = append(masters, rocketmq.Master{Addr: address, Name: broker, Cluster: p.observer.ClusterName()})
	}
	failed := p.actor().create(newTopic(&p.topic.Spec, p.topic.EffectiveName()), masters)
	p.again = retryAfter
	if p.creationIsFresh(len(failed) > 0) {
		p.silent = true
		return true, nil
	}
	d := resize.Decision{Stage: resize.StageCreating, Proof: resize.Proof{Target: int(p.topic.Spec.Queues.PerBroker)}}
	p.stand = standing{Decision: d, Failed: strings.Join(failed, "; "), Brokers: len(p.view.Expected), NameServers: len(p.sweep.NameServers)}
	return true, nil
}

// creationIsFresh says that the first creation of a new object was handed over
// a moment ago and nothing is known to be wrong. The sweep that follows the
// batch is about to show the topic, so nothing is written before it: that halves
// the status writes of a thousand new topics. A new object without a status is
// in progress for whoever waits (docs/states.md, first row).
func (p *topicPass) creationIsFresh(failed bool) bool {
	if p.mem.HandedOver.IsZero() {
		p.mem.HandedOver = p.now
	}
	return !failed && p.topic.Status.ObservedGeneration < 0 && p.now.Sub(p.mem.HandedOver) < retryAfter
}

// lost says that the topic was on the brokers as declared and is gone from all
// of them without a deletion of ours (case O23).
func (p *topicPass) lost() bool {
	for _, b := range p.topic.Status.Brokers {
		if b.State == rocketmqv1alpha1.TopicBrokerInSync || b.State == rocketmqv1alpha1.TopicBrokerChanging {
			return true
		}
	}
	return false
}

// lostMessage says since when the topic is gone and how to have it back.
func (p *topicPass) lostMessage() string {
	return fmt.Sprintf("topic %s was on %s and is gone from all brokers without a deletion of ours (since %s); its messages may be gone with it; to create it again, empty, set the annotation %s to %s",
		p.topic.EffectiveName(), plural(len(p.topic.Status.Brokers), "broker"), p.lostSince().UTC().Format("2006-01-02 15:04:05 UTC"),
		rocketmqv1alpha1.AnnotationApprove, p.recreationID())
}

// lostSince is when the loss was first reported.
func (p *topicPass) lostSince() time.Time {
	c := meta.FindStatusCondition(p.was.Status.Conditions, rocketmqv1alpha1.ConditionReady)
	if c != nil && c.Status == metav1.ConditionFalse && c.Reason == rocketmqv1alpha1.ReasonTopicLost {
		return c.LastTransitionTime.Time
	}
	return p.now
}

// recreationID names this loss, so that an approval cannot outlive it.
func (p *topicPass) recreationID() string {
	return fmt.Sprintf("create-again-%d", p.lostSince().Unix())
}

func (p *topicPass) recreationApproved() bool {
	return p.topic.Annotations[rocketmqv1alpha1.AnnotationApprove] == p.recreationID()
}
