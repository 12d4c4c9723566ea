// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"fmt"
	"sync"
)

// Fault is a disturbance of calls. Empty fields match everything.
type Fault struct {
	// Node is the node's name, such as "broker-a" or "ns-1".
	Node string
	// Code is the request code.
	Code int
	// Match narrows further. It must not call methods of the Cluster.
	Match func(Call) bool
	// Skip lets that many matching calls pass first.
	Skip int
	// Times is how many calls are disturbed; 0 means all until Remove.
	Times int
	// Do is what happens to them.
	Do Effect
}

// Effect is what a fault does to a call. Make one with Answer, Drop, Delay …
type Effect struct {
	name    string
	instead *reply // answer this, carry nothing out
	before  bool   // wait for Release before the call is carried out
	after   bool   // carry out, then wait for Release before answering
	drop    bool
	hangUp  bool
	cut     bool
	body    func([]byte) []byte
}

// String names the effect.
func (e Effect) String() string { return e.name }

// Answer answers a code and a remark; nothing is carried out.
func Answer(code int, remark string) Effect {
	return Effect{name: fmt.Sprintf("answer %d", code), instead: answer(code, remark)}
}

// ForeignRemark answers code 1 with a remark that is hostile to logs, status
// fields and terminals: control bytes, invalid UTF-8, bidi overrides, and far
// too long.
func ForeignRemark() Effect {
	return Effect{name: "foreign remark", instead: answer(systemError, foreignRemark())}
}

func foreignRemark() string {
	s := "\x00\x1b[31mred\x1b[0m\r\nReady=True\u202egnp.exe\u2066 \xff\xfe\xc3( \u0000 \u2028"
	for range 2000 {
		s += "<script>\u4e2d\u6587\t"
	}
	return s
}

// Drop loses the call: nothing is carried out and nothing answered.
func Drop() Effect { return Effect{name: "drop", instead: &reply{}, drop: true} }

// DropReply carries the call out and loses the answer.
func DropReply() Effect { return Effect{name: "drop the reply", drop: true} }

// Lose answers success and carries nothing out: a write that is lost.
func Lose() Effect { return Effect{name: "lose the write", instead: &reply{}} }

// Delay holds the call until Release, then carries it out and answers.
func Delay() Effect { return Effect{name: "delay", before: true} }

// DelayReply carries the call out and holds the answer until Release.
func DelayReply() Effect { return Effect{name: "delay the reply", after: true} }

// Cut carries the call out and closes the connection in the middle of the
// reply's frame.
func Cut() Effect { return Effect{name: "cut the frame", cut: true} }

// HangUp closes the connection instead of answering; nothing is carried out.
func HangUp() Effect { return Effect{name: "hang up", instead: &reply{}, hangUp: true} }

// HangUpAfter carries the call out and closes the connection without an answer.
func HangUpAfter() Effect { return Effect{name: "hang up after", hangUp: true} }

// HalfBody answers in a whole frame of which the body ends in the middle.
func HalfBody() Effect {
	return Effect{name: "half body", body: func(b []byte) []byte { return b[:len(b)/2] }}
}

// NoBody answers success without the body that belongs to it.
func NoBody() Effect { return Effect{name: "no body", body: func([]byte) []byte { return nil }} }

// Body answers success with another body; it may use the true one.
func Body(change func(body []byte) []byte) Effect { return Effect{name: "other body", body: change} }

// Injected is a fault at work.
type Injected struct {
	c     *Cluster
	fault Fault

	seen    int // matching calls, guarded by the cluster's mu
	hits    int
	removed bool

	once    sync.Once
	release chan struct{}
	hit     chan struct{} // receives once per disturbed call
}

// Inject puts a fault to work. Faults are tried in the order of injection; the
// first that matches and is not used up disturbs the call.
func (c *Cluster) Inject(f Fault) *Injected {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := &Injected{c: c, fault: f, release: make(chan struct{}), hit: make(chan struct{}, 1<<16)}
	c.faults = append(c.faults, in)
	return in
}

// ClearFaults removes and releases every fault.
func (c *Cluster) ClearFaults() {
	c.mu.Lock()
	all := c.faults
	c.mu.Unlock()
	for _, f := range all {
		f.Remove()
	}
}

// match finds the fault for a call. The cluster is locked.
func (c *Cluster) match(call *Call) *Injected {
	for _, in := range c.faults {
		f := in.fault
		if in.removed || f.Node != "" && f.Node != call.Node || f.Code != 0 && f.Code != call.Code ||
			f.Match != nil && !f.Match(*call) {
			continue
		}
		in.seen++
		if in.seen <= f.Skip || f.Times > 0 && in.hits >= f.Times {
			continue
		}
		in.hits++
		select {
		case in.hit <- struct{}{}:
		default:
		}
		return in
	}
	return nil
}

// wait blocks until Release; false means the cluster stops.
func (in *Injected) wait(done <-chan struct{}) bool {
	select {
	case <-in.release:
		return true
	case <-done:
		return false
	}
}

// Release lets the calls go on that Delay and DelayReply hold, now and later.
func (in *Injected) Release() { in.once.Do(func() { close(in.release) }) }

// Remove ends the fault and releases what it holds.
func (in *Injected) Remove() {
	in.c.mu.Lock()
	in.removed = true
	in.c.mu.Unlock()
	in.Release()
}

// Hits is the number of calls disturbed so far.
func (in *Injected) Hits() int {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	return in.hits
}

// Await returns when one more call has been disturbed since the last Await, or
// with the context's error.
func (in *Injected) Await(ctx context.Context) error {
	select {
	case <-in.hit:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no call met the fault %q: %w", in.fault.Do.name, ctx.Err())
	}
}
