// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/act"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// actorClock is what actors and batchers need of a clock.
type actorClock interface {
	clock.WithTicker
	clock.WithDelayedExecution
}

// actors keeps one actor per observed cluster. One that belongs to an observer
// which was replaced is replaced with it: its connections are closed.
type actors struct {
	clock actorClock

	mu     sync.Mutex
	all    map[observe.ID]*clusterActor
	closed bool
}

// clusterActor is what changes one cluster.
type clusterActor struct {
	*act.Actor
	of      *observe.Observer
	batcher *act.Batcher

	mu sync.Mutex
	// creating are the brokers on which a first creation is under way, by topic;
	// failed is what the last attempt failed with, by topic and broker.
	creating map[string]map[string]struct{}
	failed   map[string]map[string]string
}

func newActors(c actorClock) *actors {
	return &actors{clock: c, all: map[observe.ID]*clusterActor{}}
}

// of returns the actor of an observer.
func (a *actors) of(id observe.ID, observer *observe.Observer) *clusterActor {
	a.mu.Lock()
	defer a.mu.Unlock()
	got, ok := a.all[id]
	if ok && got.of == observer {
		return got
	}
	if ok {
		// Its connections are closed already, so this waits for nobody.
		got.batcher.Close()
	}
	actor := act.New(observer, observer.Wire(), a.clock)
	fresh := &clusterActor{
		Actor: actor, of: observer, batcher: act.NewBatcher(actor, a.clock),
		creating: map[string]map[string]struct{}{}, failed: map[string]map[string]string{},
	}
	if a.closed {
		fresh.batcher.Close()
	}
	a.all[id] = fresh
	return fresh
}

// close ends all batches; the process no longer leads.
func (a *actors) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, c := range a.all {
		c.batcher.Close()
	}
}

// create hands first creations to the batchers of the masters and returns at
// once (rule K41). What is under way already is not handed over again. It
// returns what the last attempts for this topic failed with, a sentence per
// broker.
func (c *clusterActor) create(topic snapshot.TopicConfig, masters []rocketmq.Master) []string {
	for _, master := range masters {
		if !c.take(topic.Name, master.Name) {
			continue
		}
		err := c.batcher.Create(act.Creation{Master: master, Config: topic, Done: c.created})
		if err != nil {
			c.created(act.Created{Broker: master.Name, Topic: topic.Name, Result: act.Result{Err: err}})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var failed []string
	for _, broker := range slices.Sorted(maps.Keys(c.failed[topic.Name])) {
		failed = append(failed, fmt.Sprintf("%s: %s", broker, c.failed[topic.Name][broker]))
	}
	return failed
}

// take says that a creation is not under way yet, and that it is from now on.
func (c *clusterActor) take(topic, broker string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, busy := c.creating[topic][broker]; busy {
		return false
	}
	if c.creating[topic] == nil {
		c.creating[topic] = map[string]struct{}{}
	}
	c.creating[topic][broker] = struct{}{}
	return true
}

// created remembers what came of a creation until the topic is seen.
func (c *clusterActor) created(done act.Created) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.creating[done.Topic], done.Broker)
	if len(c.creating[done.Topic]) == 0 {
		delete(c.creating, done.Topic)
	}
	if done.Err == nil {
		delete(c.failed[done.Topic], done.Broker)
		if len(c.failed[done.Topic]) == 0 {
			delete(c.failed, done.Topic)
		}
		return
	}
	if c.failed[done.Topic] == nil {
		c.failed[done.Topic] = map[string]string{}
	}
	c.failed[done.Topic][done.Broker] = oneLine(done.Err)
}

// forget drops what is remembered of a topic's creation.
func (c *clusterActor) forget(topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.failed, topic)
}
