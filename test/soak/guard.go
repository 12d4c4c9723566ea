// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

const (
	// lookPeriod is how often the guard looks at a broker. The states of a staged
	// change are much further apart.
	lookPeriod = 50 * time.Millisecond
	// lookTimeout bounds one look: a broker may be down or hang.
	lookTimeout = 2 * time.Second
)

// guard looks at all topics of a broker all the time: none may ever have fewer
// readable than writable queues, or none that is writable.
func (s *soak) guard(ctx context.Context, master *rig.Server) {
	seen := map[string][2]int{}
	for pause(ctx, lookPeriod) {
		table, err := s.table(ctx, master.Addr)
		if err != nil {
			s.counts.add("looks without an answer", 1)
			continue
		}
		s.counts.add("looks at "+master.Name, 1)
		for _, t := range topics(s.five()) {
			config, there := table.Topics[t.name]
			now := [2]int{config.ReadQueues, config.WriteQueues}
			if !there || seen[t.name] == now {
				continue
			}
			seen[t.name] = now
			s.journal.event(master.Name, "%s shows read %d, write %d", t.name, now[0], now[1])
			if now[0] < now[1] || now[1] < 1 {
				text := fmt.Sprintf("%s %s on %s: read %d, write %d", time.Now().UTC().Format("15:04:05.000"), t.name, master.Name, now[0], now[1])
				s.journal.event("INVARIANT", "%s", text)
				s.counts.violate(text)
			}
		}
	}
}

func (s *soak) table(ctx context.Context, address string) (rocketmq.TopicTable, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return s.mq.AllTopicConfigs(ctx, address)
}
