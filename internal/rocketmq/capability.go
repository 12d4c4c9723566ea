// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// Ordinals of the versions at which brokers differ (rocketmq.md 1.5, live 2).
const (
	v500 = 413
	v520 = 453
	v530 = 473
	v531 = 475
	v540 = 493
)

// Capability is what a broker's version can do.
type Capability struct {
	// Version is the ordinal of rocketmq.md 1.5.
	Version int
	// SingleTopicRead is call 351; without it a topic is read with all others.
	SingleTopicRead bool
	// Attributes says that topics have attributes; 4.9 ignores them silently.
	Attributes bool
	// OrderFlag says that a topic's order flag is stored; 4.9 resets it at
	// every change.
	OrderFlag bool
	// POP covers POP consumers, message request modes and the timer wheel.
	POP bool
	// SubscriptionRead is call 345.
	SubscriptionRead bool
	// ExactMissingOffset says that call 14 can tell a missing offset from zero.
	ExactMissingOffset bool
	// ExactReset is call 222 for one queue and offset, kept by the broker; before
	// it is by time only and needs connected members.
	ExactReset bool
	// TopicBatch is call 18, GroupBatch call 225.
	TopicBatch, GroupBatch bool
	// GroupAttributes says that groups have attributes.
	GroupAttributes bool
}

// CapabilityOf returns what a broker of a version can do (rocketmq.md 10).
func CapabilityOf(version int) Capability {
	five := version >= v500
	return Capability{
		Version:            version,
		SingleTopicRead:    five,
		Attributes:         five,
		OrderFlag:          five,
		POP:                five,
		SubscriptionRead:   five,
		ExactMissingOffset: five,
		ExactReset:         version >= v520,
		TopicBatch:         version >= v530,
		GroupBatch:         version >= v531,
		GroupAttributes:    version >= v540,
	}
}

// Capability returns what the broker at an address can do. It is remembered for
// the process: asked by call 28 when the broker is not known yet, and again
// when an answer shows another version (case P08).
func (c *Client) Capability(ctx context.Context, addr string) (Capability, error) {
	c.mu.Lock()
	version, ok := c.versions[addr]
	c.mu.Unlock()
	if !ok {
		runtime, err := c.Runtime(ctx, addr)
		if err != nil {
			return Capability{}, err
		}
		version = runtime.Version
	}
	return CapabilityOf(version), nil
}

// learn remembers the version of the broker at an address.
func (c *Client) learn(addr string, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.versions[addr] = version
}

// forget drops what is remembered of the broker at an address.
func (c *Client) forget(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.versions, addr)
}

// supports returns nil when have is true, and else an error of kind Unsupported
// that the broker would have given.
func unsupported(addr string, code int, since string) error {
	return &remoting.Error{Addr: addr, Code: code, Kind: remoting.Unsupported, Err: &sinceError{since}}
}

type sinceError struct{ since string }

func (e *sinceError) Error() string { return "brokers have this call from version " + e.since + " on" }
