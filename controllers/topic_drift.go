// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/act"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// repairDrift puts back what differs beside queue counts (cases Q27, Q28), where
// no change is open: a change closes and opens brokers by permission, and what
// it needs first comes first (rule R14). The sweep says what each broker has;
// one that has something else by now is left alone and looked at again (rule
// R18).
func (p *topicPass) repairDrift(ctx context.Context) (bool, error) {
	v := p.view
	if len(v.Drift) == 0 || v.CountsDiffer || v.Unknown != "" || len(v.Absent) > 0 || !p.note.empty() {
		return false, nil
	}
	if reason, why := unsettledServers(p.sweep); why != "" {
		p.again = retryAfter
		return p.block(blocked{Reason: reason, Message: why + "; nothing is put back meanwhile"}), nil
	}
	var failed []error
	for _, broker := range v.driftingBrokers() {
		if err := p.amend(ctx, broker); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", broker, err))
		}
	}
	p.stand = standing{
		Decision: resize.Decision{Proof: resize.Proof{Target: int(p.topic.Spec.Queues.PerBroker)}},
		Drift:    v.driftSentence(), Routed: true,
		Brokers: len(v.Expected), NameServers: len(p.sweep.NameServers),
	}
	p.again = 2 * time.Second
	if err := errors.Join(failed...); err != nil {
		p.stand.Failed = oneLine(err)
		p.again = retryAfter
	}
	return true, nil
}

// amend puts back one broker's fields.
func (p *topicPass) amend(ctx context.Context, broker string) error {
	b := p.sweep.Brokers[broker]
	address, known := b.Master.Get()
	if !known {
		return &act.NoMasterError{Broker: broker, Why: b.Master.Why()}
	}
	topics, _ := b.Topics.Get()
	return p.actor().Amend(ctx, act.Amendment{
		Master:  rocketmq.Master{Addr: address, Name: broker, Cluster: p.observer.ClusterName()},
		Process: b.Topics.Origin().From, Expect: topics[p.topic.EffectiveName()],
		Amend: func(have snapshot.TopicConfig) snapshot.TopicConfig { return withDeclared(&p.topic.Spec, have) },
	}).Err
}
