// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "time"

// Protocol is what a consumer group's members were seen to speak.
type Protocol string

// Protocols. A classic member takes whole queues; a POP member (remoting in
// POP mode, or gRPC through a proxy) takes messages, and its committed offset
// means handed out, not finished (rocketmq.md 4.5).
const (
	ProtocolUnknown Protocol = "Unknown"
	ProtocolClassic Protocol = "Classic"
	ProtocolPOP     Protocol = "POP"
)

// GroupOnTopic is what one consumer group has to do with one topic.
type GroupOnTopic struct {
	Name string
	// Members is the number of connected members over all brokers and
	// proxies; unknown when one of them could not be asked.
	Members Fact[int]
	// Reads says whether a connected member subscribes to the topic now.
	Reads Fact[bool]
	// Broadcast says whether a connected member is in broadcast mode: its
	// offsets are on the clients and no broker can tell them.
	Broadcast Fact[bool]
	// Protocol is judged by request mode and running info as well as by how
	// members connect (rule R07); POP if any member may be.
	Protocol Fact[Protocol]
	// Positions are, for a broadcast group, the lowest position over all its
	// live members by broker and queue id, as the members themselves say (call
	// 307, rule R21). Unknown when one live member could not be asked.
	Positions Fact[map[string]map[int]int64]
	// Split says how the member lists of brokers differ; empty while they agree.
	// It passes by itself when a member joins or leaves; a partition keeps it
	// (case A14).
	Split string
	// LastCommit is when the group was last seen to move; zero if never seen.
	LastCommit time.Time
	// Declared says that a manifest names the topic for this group.
	Declared bool
	// DeclaredBroadcast says that the manifest declares the broadcast model, so
	// that absent members can be said to be unprovable.
	DeclaredBroadcast bool
}
