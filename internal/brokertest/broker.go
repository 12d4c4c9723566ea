// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"time"
)

// registerPeriod is how often a broker sends its whole table to every name
// server (registerNameServerPeriod, rocketmq.md 3.4).
const registerPeriod = 30 * time.Second

// slaveSync is how often a slave copies its master: 10 s on 4.9, 60 s on 5.x
// (rocketmq.md 7, rocketmq-live.md 8).
func (v Version) slaveSync() time.Duration {
	if v.five() {
		return 60 * time.Second
	}
	return 10 * time.Second
}

// dataVersion marks a state of a table; two are the same state if equal.
type dataVersion struct {
	counter   int64
	timestamp int64 // ms
}

func (d *dataVersion) next(now time.Time) {
	d.counter++
	d.timestamp = now.UnixMilli()
}

// json is the version as brokers write it.
func (b *Broker) json(d dataVersion) jObject {
	o := jObject{"counter": d.counter, "timestamp": d.timestamp}
	if b.version.five() {
		o["stateVersion"] = int64(0)
	}
	return o
}

// Broker is one replica of a broker name.
type Broker struct {
	*node
	name    string // the broker name
	cluster string // the RocketMQ cluster it belongs to
	id      int64  // 0 is the master
	version Version

	up     bool
	booted time.Time
	// tables that survive a restart
	topics        map[string]*TopicConfig
	topicVersion  dataVersion
	groups        map[string]*GroupConfig
	groupVersion  dataVersion
	offsets       map[string]map[int]int64 // by "topic@group"
	pulled        map[string]map[int]int64
	offsetVersion dataVersion
	modes         map[string]map[string]RequestMode
	static        map[string]bool // topics with a logical queue mapping
	settings      map[string]string
	store         *store
	// tables that do not
	resets       map[string]map[int]int64
	consumers    map[string]*consumerGroup
	producers    map[string]map[string]*connection
	compensation map[string]map[string]Subscription

	registrations int
	nextRegister  time.Time
	nextSync      time.Time
}

func newBroker(c *Cluster, name, cluster string, id int64) (*Broker, error) {
	label := name
	if id > 0 {
		label = fmt.Sprintf("%s/%d", name, id)
	}
	n, err := newNode(c, label)
	if err != nil {
		return nil, err
	}
	b := &Broker{
		node: n, name: name, cluster: cluster, id: id, version: c.opts.Version,
		topics: map[string]*TopicConfig{}, groups: map[string]*GroupConfig{},
		offsets: map[string]map[int]int64{}, pulled: map[string]map[int]int64{},
		modes: map[string]map[string]RequestMode{}, static: map[string]bool{}, store: newStore(),
	}
	if v := c.opts.BrokerVersions[name]; v != 0 {
		b.version = v
	}
	b.settings = b.defaultSettings()
	maps.Copy(b.settings, c.opts.Settings)
	n.self, n.actor = b, b
	for _, t := range b.builtInTopics() {
		b.topics[t.Name] = &t
	}
	for _, g := range b.version.builtInGroups() {
		cfg := DefaultGroup(g)
		b.groups[g] = &cfg
	}
	b.topicVersion.next(c.now())
	b.groupVersion.next(c.now())
	b.offsetVersion.next(c.now())
	return b, nil
}

// boot starts the process: what is only in memory is empty, and the broker
// registers with every name server that it can reach.
func (b *Broker) boot() {
	b.resets = map[string]map[int]int64{}
	b.consumers = map[string]*consumerGroup{}
	b.producers = map[string]map[string]*connection{}
	b.compensation = map[string]map[string]Subscription{}
	b.booted, b.up = b.c.now(), true
	if err := b.listen(); err != nil {
		b.up = false
		b.c.violated = append(b.c.violated, err.Error())
		return
	}
	b.registerAll()
	b.nextRegister = b.booted.Add(registerPeriod)
	b.nextSync = b.booted.Add(b.version.slaveSync())
	b.syncFromMaster()
}

// BrokerName is the broker name, which replicas share.
func (b *Broker) BrokerName() string { return b.name }

// ID is the replica's id; 0 is the master.
func (b *Broker) ID() int64 { return b.id }

// Version is the release this replica imitates.
func (b *Broker) Version() Version { return b.version }

// Booted is when the running process started.
func (b *Broker) Booted() time.Time {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	return b.booted
}

// Stop ends the process. Name servers notice at once, for the connection
// closes; connections are refused until Start.
func (b *Broker) Stop() {
	b.c.enter()
	defer b.c.mu.Unlock()
	if !b.up {
		return
	}
	b.up = false
	b.shut()
	for _, s := range b.c.ns {
		if s.up && !s.hung {
			s.forget(b.addr)
		}
	}
}

// Start starts a stopped process with the state it stopped with.
func (b *Broker) Start() {
	b.c.enter()
	defer b.c.mu.Unlock()
	if !b.up {
		b.boot()
	}
}

// Restart stops and starts the process.
func (b *Broker) Restart() {
	b.Stop()
	b.Start()
}

// Impersonate lets another broker, of this or another cluster with the same
// clock, answer at this broker's address, as when a pod address is reused
// (rule R03). Nil ends it. Messages of two clusters never mix: only the calls
// are answered by the other.
func (b *Broker) Impersonate(other *Broker) {
	b.c.enter()
	defer b.c.mu.Unlock()
	if other == nil {
		b.actor = b.self
	} else {
		b.actor = foreignActor{by: other, at: b.c}
	}
	b.disconnect()
}

// foreignActor answers with the state of another broker, locking its cluster
// when that is not the one that is locked already.
type foreignActor struct {
	by *Broker
	at *Cluster
}

func (f foreignActor) handle(rq *request) *reply {
	if f.by.c != f.at {
		f.by.c.enter()
		defer f.by.c.mu.Unlock()
	}
	return f.by.handle(rq)
}
