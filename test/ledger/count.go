// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Query chooses what to count. An empty field chooses everything.
type Query struct {
	// Topic of the messages.
	Topic string
	// Group is the consumer group that was to get the messages. Without it a
	// message counts as consumed when any group consumed it, and as a duplicate
	// when two did.
	Group string
	// Tags are those that the group filters for: messages with other tags, sent or
	// consumed, are left out.
	Tags []string
}

func (q Query) wants(e Entry) bool {
	if q.Topic != "" && e.Topic != q.Topic {
		return false
	}
	if len(q.Tags) > 0 && !slices.Contains(q.Tags, e.Tag) {
		return false
	}
	if e.Event == Consumed || e.Event == Refused {
		return q.Group == "" || e.Group == q.Group
	}
	return true
}

// QueueKey names a queue of a topic. Queue is Unknown, and Broker empty, for
// messages whose client was not told.
type QueueKey struct {
	Topic  string
	Broker string
	Queue  int
}

// QueueCounts are the counts of one queue.
type QueueCounts struct {
	// Sent messages by the queue that the producer was told.
	Sent int
	// Consumed counts first deliveries by the queue that the consumer was told; a
	// message that came again after a refusal comes from a retry topic's queue.
	Consumed int
	// Lost messages by the queue that the producer was told.
	Lost int
}

// Counts are the result of a run. Sent = the consumed among them + len(Lost).
type Counts struct {
	// Sent is the number of messages that the servers confirmed.
	Sent int
	// ConsumedOnce is the number of confirmed messages that were consumed at least
	// once.
	ConsumedOnce int
	// Duplicates is the number of times that a message was consumed again.
	Duplicates int
	// Lost are the confirmed messages that nobody consumed, in the order of sending.
	Lost []Entry
	// SendFailures is the number of messages whose send failed or ended unknown;
	// Unconfirmed of them, or of messages that no ledger knows as sent, were
	// consumed all the same.
	SendFailures int
	Unconfirmed  int
	// Refusals is the number of times that a handler refused a message.
	Refusals int
	// Torn is the ledger's number of lines that are not whole.
	Torn int
	// Queues has the counts of every queue that a client named.
	Queues map[QueueKey]QueueCounts
}

// Count counts the entries that the query chooses.
func (l *Ledger) Count(q Query) Counts {
	c := Counts{Torn: l.Torn, Queues: map[QueueKey]QueueCounts{}}
	sent := map[string]Entry{}
	consumed := map[string]bool{}
	for _, e := range l.Entries {
		if !q.wants(e) {
			continue
		}
		switch e.Event {
		case SentOK:
			if _, again := sent[e.Key]; !again {
				sent[e.Key] = e
				c.queue(e, QueueCounts{Sent: 1})
			}
		case SentFail:
			c.SendFailures++
		case Refused:
			c.Refusals++
		case Consumed:
			if consumed[e.Key] {
				c.Duplicates++
				continue
			}
			consumed[e.Key] = true
			c.queue(e, QueueCounts{Consumed: 1})
		}
	}
	c.Sent = len(sent)
	for key, e := range sent {
		if consumed[key] {
			c.ConsumedOnce++
			continue
		}
		c.Lost = append(c.Lost, e)
		c.queue(e, QueueCounts{Lost: 1})
	}
	c.Unconfirmed = len(consumed) - c.ConsumedOnce
	slices.SortFunc(c.Lost, func(a, b Entry) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Key, b.Key))
	})
	return c
}

func (c *Counts) queue(e Entry, add QueueCounts) {
	key := QueueKey{Topic: e.Topic, Broker: e.Broker, Queue: e.Queue}
	sum := c.Queues[key]
	sum.Sent += add.Sent
	sum.Consumed += add.Consumed
	sum.Lost += add.Lost
	c.Queues[key] = sum
}

// String is the line that a run ends with, such as
// "sent 61,204   consumed at least once 61,204   lost 0   duplicates 38". What is
// out of the ordinary follows only when there is any.
func (c Counts) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "sent %s   consumed at least once %s   lost %s   duplicates %s",
		thousands(c.Sent), thousands(c.ConsumedOnce), thousands(len(c.Lost)), thousands(c.Duplicates))
	for _, more := range []struct {
		count int
		name  string
	}{
		{c.SendFailures, "sends failed"},
		{c.Unconfirmed, "consumed without a confirmed send"},
		{c.Refusals, "refused"},
		{c.Torn, "torn lines"},
	} {
		if more.count > 0 {
			fmt.Fprintf(&text, "   %s %s", more.name, thousands(more.count))
		}
	}
	return text.String()
}

// thousands writes a count with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
