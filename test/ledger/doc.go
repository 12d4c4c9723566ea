// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger reads what test clients noted about each message and turns it
// into exact counts: sent, consumed at least once, lost, duplicates.
//
// A ledger is a text file, one line an event, 14 columns separated by tabs:
//
//	time         milliseconds since 1970, on the client's clock, when it was noted
//	event        sent-ok, sent-fail, consumed or refused, see Event
//	key          the message's key; no two messages of any run share one
//	topic
//	group        the consumer group, or the producer's
//	broker       name of the broker, empty when the client was not told
//	queue        queue id, -1 when the client was not told
//	offset       offset in the queue, -1 when the client was not told
//	message id
//	tag
//	redelivered  how often the message had been delivered to the group before
//	order key    empty for messages that are not ordered
//	client       name of the client, such as its pod's
//	note         free text: a send status or an error
//
// Each line is written with one call that appends, so a client that is killed
// leaves at most one torn line, and the next client on the same file ends it.
package ledger
