// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// Ordinals of the versions at which brokers differ (rocketmq.md 1.5, rocketmq-live.md 2).
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

// Capability returns what the broker at an address can do. The version is
// remembered for the connection on which it was told and asked for again on
// another one, so that an upgrade is noticed (call 28, case P08).
func (c *Client) Capability(ctx context.Context, addr string) (Capability, error) {
	met, err := c.version(ctx, addr)
	if err != nil {
		return Capability{}, err
	}
	return CapabilityOf(met.version), nil
}

// version is the version last told by the broker at an address, which is asked
// when none is remembered.
func (c *Client) version(ctx context.Context, addr string) (metVersion, error) {
	met, ok := c.versions.get(addr)
	if pinned := c.pin.generation != 0 && c.pin.addr == addr; ok && (!pinned || met.generation == c.pin.generation) {
		return met, nil
	}
	runtime, generation, err := c.runtime(ctx, addr)
	return metVersion{version: runtime.Version, generation: generation}, err
}

// unsupported is the error that a broker which lacks a call would have given.
func unsupported(addr string, code int, since string) error {
	return &remoting.Error{Addr: addr, Code: code, Kind: remoting.Unsupported, Err: &sinceError{since}}
}

type sinceError struct{ since string }

func (e *sinceError) Error() string { return "brokers have this call from version " + e.since + " on" }
