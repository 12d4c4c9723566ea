// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// resetOffset is call 222 (rocketmq.md 3.22, rocketmq-live.md 10).
func (b *Broker) resetOffset(rq *request) *reply {
	if b.version.five() && b.truth("useServerSideResetOffset") {
		return b.resetHere(rq)
	}
	return b.resetByClients(rq)
}

// resetHere keeps a pending reset for each queue: until a pull or pop takes it,
// it hides the committed offset and swallows commits.
func (b *Broker) resetHere(rq *request) *reply {
	topic, group := rq.Args["topic"], rq.Args["group"]
	t := b.topics[topic]
	switch {
	case b.id > 0:
		return answer(systemError, "Can not reset offset in slave broker")
	case t == nil:
		return answer(topicNotExist, "Topic "+topic+" does not exist")
	case b.groups[group] == nil:
		return answer(groupNotExist, "Group "+group+" does not exist")
	}
	id, err := strconv.Atoi(rq.Args["queueId"])
	if err != nil {
		id = -1
	}
	moment, err := strconv.ParseInt(rq.Args["timestamp"], 10, 64)
	if err != nil {
		return answer(systemError, "java.lang.NullPointerException: timestamp")
	}
	targets := map[int]int64{}
	offset, err := strconv.ParseInt(rq.Args["offset"], 10, 64)
	switch {
	case id >= 0 && err == nil && offset != -1:
		low, high := b.store.min(topic, id), b.store.max(topic, id)
		if offset < low || offset > high+1 {
			return answer(systemError, fmt.Sprintf("Target offset %d not in consume queue range [%d-%d]", offset, low, high))
		}
		targets[id] = offset
	case id >= 0:
		targets[id] = b.store.since(topic, id, moment)
	default:
		for q := range max(0, t.Read) {
			targets[q] = b.store.since(topic, q, moment)
		}
	}
	if len(targets) == 0 {
		return answer(systemError, "No queues to reset.")
	}
	return ok(b.assignReset(topic, group, targets))
}

func (b *Broker) assignReset(topic, group string, targets map[int]int64) []byte {
	key := offsetKey(topic, group)
	var table jPairs
	for id := range maxKey(targets) + 1 {
		offset, has := targets[id]
		if !has {
			continue
		}
		setOffset(b.resets, key, id, offset)
		if b.offsets[key] != nil {
			b.commit(group, topic, id, offset)
		}
		table = append(table, jPair{b.queueJSON(topic, id), offset})
	}
	return fastjson(jObject{"offsetTable": table})
}

func maxKey(m map[int]int64) int {
	top := -1
	for k := range m {
		top = max(top, k)
	}
	return top
}

// since is the first offset stored at or after a moment in milliseconds; a
// negative moment is the end.
func (s *store) since(topic string, id int, moment int64) int64 {
	q := s.get(topic, id)
	if q == nil {
		return 0
	}
	if moment < 0 {
		return q.max()
	}
	at := q.min
	for at < q.max() && q.at(at).Stored.UnixMilli() < moment {
		at++
	}
	return at
}

// resetByClients tells the members, who obey ten seconds later if they are
// still there; it covers the write queues.
func (b *Broker) resetByClients(rq *request) *reply {
	topic, group := rq.Args["topic"], rq.Args["group"]
	t := b.topics[topic]
	if t == nil {
		return answer(systemError, "[reset-offset] reset offset failed, no topic in this broker. topic="+topic)
	}
	moment, err := strconv.ParseInt(rq.Args["timestamp"], 10, 64)
	if err != nil {
		return answer(systemError, "java.lang.NullPointerException: timestamp")
	}
	targets := map[int]int64{}
	for id := range max(0, t.Write) {
		at := b.committed(group, topic, id)
		if at < 0 {
			return answer(systemError, "THe consumer group <"+group+"> not exist")
		}
		to := b.store.since(topic, id, moment)
		if !strings.EqualFold(rq.Args["isForce"], "true") {
			to = min(to, at)
		}
		targets[id] = to
	}
	g := b.consumers[group]
	if g == nil {
		return answer(consumerNotOnline, fmt.Sprintf("Consumer not online, so can not reset offset, Group: %s Topic: %s Timestamp: %d", group, topic, moment))
	}
	var table jPairs
	for id := range max(0, t.Write) {
		table = append(table, jPair{b.queueJSON(topic, id), targets[id]})
	}
	body := fastjson(jObject{"offsetTable": table})
	for _, k := range g.conns {
		switch {
		case k.member != nil:
			k.member.takeReset(b, topic, targets)
		case k.wire != nil:
			k.wire.tell(remoting.ReqResetConsumerClientOffset, map[string]string{
				"topic": topic, "group": group, "timestamp": strconv.FormatInt(moment, 10), "isForce": "true",
			}, body)
		}
	}
	return ok(body)
}

// clientReset is a reset that a member carries out after its ten seconds.
type clientReset struct {
	at      time.Time
	broker  string
	topic   string
	targets map[int]int64
}

// takeReset queues a reset behind those of other brokers, for a client handles
// them one after the other.
func (m *Member) takeReset(b *Broker, topic string, targets map[int]int64) {
	at := b.c.now()
	if n := len(m.resets); n > 0 {
		at = m.resets[n-1].at
	}
	m.resets = append(m.resets, clientReset{at.Add(10 * time.Second), b.name, topic, targets})
}

// doReset sets the member's own queues back.
func (m *Member) doReset() {
	r := m.resets[0]
	m.resets = m.resets[1:]
	b := m.c.replica(r.broker, 0)
	for _, p := range m.owned() {
		if to, has := r.targets[p.id]; has && p.broker == r.broker && p.topic == r.topic {
			delete(m.positions, p)
			b.commit(m.spec.Group, p.topic, p.id, to)
		}
	}
}
