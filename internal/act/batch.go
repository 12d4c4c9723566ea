// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// singly is how many creations go out before they are read back where the
// broker has no call for many at once.
const singly = 16

// readSingly is up to how many topics are read back one by one; more are read
// back by one call for the whole table.
const readSingly = 4

// creating is one batch on its way.
type creating struct {
	*Actor
	master rocketmq.Master
	from   snapshot.Process
	can    rocketmq.Capability
	done   map[string]Created
}

// createBatch creates the topics of a batch and tells each what came of it.
func (a *Actor) createBatch(ctx context.Context, at rocketmq.Master, batch []Creation) {
	c := &creating{Actor: a, master: at, done: map[string]Created{}}
	wanted := make([]snapshot.TopicConfig, 0, len(batch))
	places := make([]place, 0, len(batch))
	for _, b := range batch {
		wanted = append(wanted, b.Config)
		places = append(places, place{at.Name, b.Config.Name})
	}
	leave, err := a.writers.enter(ctx, places...)
	if err == nil {
		err = c.begin(ctx)
		if err == nil {
			c.create(withCheck(ctx, ctx.Err), wanted)
		}
		leave()
	}
	if err != nil {
		c.fail(wanted, false, err)
	}
	a.cluster.Poke()
	for _, b := range batch {
		if b.Done != nil {
			b.Done(c.done[b.Config.Name])
		}
	}
}

// begin makes sure that no name server is warming up, and who the peer is.
func (c *creating) begin(ctx context.Context) (err error) {
	if err = c.cluster.NameServersComplete(ctx, []string{c.master.Name}); err != nil {
		return err
	}
	if c.from, err = c.meet(ctx, c.master, snapshot.Process{}); err != nil {
		return err
	}
	c.can, err = read(ctx, c.Actor, func(ctx context.Context) (rocketmq.Capability, error) { return c.client.Capability(ctx, c.master.Addr) })
	return err
}

func (c *creating) fail(wanted []snapshot.TopicConfig, sent bool, err error) {
	for _, w := range wanted {
		r := refused(err)
		r.Sent = sent
		c.done[w.Name] = Created{Broker: c.master.Name, Topic: w.Name, Result: r}
	}
}

// create sends the topics, in one request where the broker can take one, reads
// them back, and tries what is not there again in halves, down to single ones:
// one that the broker refuses, or that appeared in between, takes the rest of
// its request with it (case P11).
func (c *creating) create(ctx context.Context, wanted []snapshot.TopicConfig) {
	if len(wanted) > singly && !c.can.TopicBatch {
		c.create(ctx, wanted[:singly])
		c.create(ctx, wanted[singly:])
		return
	}
	var batch rocketmq.TopicBatch
	failed := c.send(ctx, func(ctx context.Context) (err error) {
		batch, err = c.client.CreateTopics(ctx, c.master, wanted)
		return err
	})
	left := c.settle(ctx, wanted, batch, failed)
	switch {
	case len(left) == 0:
	case ctx.Err() != nil:
		c.fail(left, len(batch.Sent) > 0, errors.Join(context.Cause(ctx), failed))
	case hopeless(failed):
		c.fail(left, len(batch.Sent) > 0, failed)
	case len(wanted) == 1:
		c.giveUp(left[0], batch, failed)
	case len(left) == 1:
		c.create(ctx, left)
	default:
		c.create(ctx, left[:len(left)/2])
		c.create(ctx, left[len(left)/2:])
	}
}

// hopeless reports whether a failure would meet every other topic as well, so
// that trying them one by one is no use and would hammer the broker (case O30).
func hopeless(err error) bool {
	var identity *rocketmq.IdentityError
	if errors.As(err, &identity) {
		return true
	}
	for _, kind := range []remoting.Kind{
		remoting.Denied, remoting.Unreachable, remoting.WrongEndpoint, remoting.Untrusted,
		remoting.Timeout, remoting.Busy, remoting.Closed, remoting.Canceled,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// settle notes what is certain after a request and returns what is not there.
func (c *creating) settle(ctx context.Context, wanted []snapshot.TopicConfig, batch rocketmq.TopicBatch, failed error) []snapshot.TopicConfig {
	origin := snapshot.Origin{Sent: c.clock.Now(), From: c.from}
	sent := map[string]bool{}
	for _, name := range batch.Sent {
		sent[name] = true
	}
	var ask, left []snapshot.TopicConfig
	for _, w := range wanted {
		config, existed := batch.Existing[w.Name]
		switch {
		case existed:
			c.done[w.Name] = Created{Broker: c.master.Name, Topic: w.Name, Existed: true,
				Result: Result{Shown: snapshot.Known(snapshot.StoredTopic{Present: true, Config: config}, origin)}}
		case sent[w.Name]:
			ask = append(ask, w)
		default:
			left = append(left, w)
		}
	}
	found, err := c.shown(ctx, ask)
	for _, w := range ask {
		stored := found[w.Name]
		r := Result{Sent: true, Shown: snapshot.Known(stored, origin)}
		switch {
		case err != nil:
			r.Err = &UnconfirmedError{Broker: c.master.Name, Topic: w.Name, Sent: failed, Read: err}
			r.Shown = snapshot.Unknown[snapshot.StoredTopic](r.Err.Error())
		case !stored.Present:
			left = append(left, w)
			continue
		case !stored.Config.Equal(c.storable(w)):
			r.Err = &NotStoredError{Broker: c.master.Name, Topic: w.Name, Err: failed,
				Sent: describe(snapshot.StoredTopic{Present: true, Config: c.storable(w)}), Found: describe(stored)}
		}
		c.done[w.Name] = Created{Broker: c.master.Name, Topic: w.Name, Result: r}
	}
	return left
}

// giveUp notes that a single topic is not there after all.
func (c *creating) giveUp(w snapshot.TopicConfig, batch rocketmq.TopicBatch, failed error) {
	err := failed
	if len(batch.Sent) > 0 || failed == nil {
		err = &NotStoredError{Broker: c.master.Name, Topic: w.Name, Err: failed, Found: "absent",
			Sent: describe(snapshot.StoredTopic{Present: true, Config: c.storable(w)})}
	}
	c.fail([]snapshot.TopicConfig{w}, len(batch.Sent) > 0, err)
}

// shown reads topics back: a few one by one, more by the whole table.
func (c *creating) shown(ctx context.Context, topics []snapshot.TopicConfig) (map[string]snapshot.StoredTopic, error) {
	out := map[string]snapshot.StoredTopic{}
	if len(topics) == 0 {
		return out, nil
	}
	if len(topics) <= readSingly && c.can.SingleTopicRead {
		for _, t := range topics {
			stored, err := read(ctx, c.Actor, func(ctx context.Context) (snapshot.StoredTopic, error) {
				return c.client.TopicConfig(ctx, c.master.Addr, t.Name)
			})
			if err != nil {
				return nil, fmt.Errorf("reading topics back: %w", err)
			}
			out[t.Name] = stored
		}
		return out, nil
	}
	table, err := read(ctx, c.Actor, func(ctx context.Context) (rocketmq.TopicTable, error) {
		return c.client.AllTopicConfigs(ctx, c.master.Addr)
	})
	if err != nil {
		return nil, fmt.Errorf("reading topics back: %w", err)
	}
	for _, t := range topics {
		config, present := table.Topics[t.Name]
		out[t.Name] = snapshot.StoredTopic{Present: present, Config: config}
	}
	return out, nil
}

// storable is what a broker of this version stores of a new topic: 4.9 has
// neither attributes nor, at creation, the order flag (rocketmq.md 3.4).
func (c *creating) storable(want snapshot.TopicConfig) snapshot.TopicConfig {
	want = want.Clone()
	if !c.can.Attributes {
		want.Attributes = nil
	}
	if !c.can.OrderFlag {
		want.Order = false
	}
	return want
}
