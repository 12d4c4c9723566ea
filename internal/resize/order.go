// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"strconv"
	"strings"
)

// orderConfig keeps the order configuration of name servers equal to the
// write counts (case Q10): producers take the number of queues from it, so a
// stale one would fill retiring queues for ever. It follows the write counts,
// down as well as up.
func (p *pass) orderConfig() bool {
	s := Step{Kind: StepSetOrderConfig}
	for _, server := range p.servers {
		value, known := p.look.OrderConfig[server].Get()
		if !known || value == "" {
			continue // unknown is held by mayMove where a change is wanted
		}
		want, err := p.orderWant(value)
		if err != nil {
			return p.hold(p.lastStage(), Hold{Reason: ReasonOrderConfig, Broker: server, Queue: NoQueue,
				Why: fmt.Sprintf("holds an order configuration that cannot be read (%v); correct it by hand", err)})
		}
		if want != value && !p.skip.orderConf {
			s.Order = append(s.Order, OrderEntry{NameServer: server, Expect: value, Value: want})
		}
	}
	if len(s.Order) == 0 {
		return false
	}
	if !p.mayMove(StageRoutes) {
		return true
	}
	return p.step(StageRoutes, s)
}

// orderWant is the value with the numbers of the topic's own brokers replaced
// by their write counts; brokers of others stay as they are.
func (p *pass) orderWant(value string) (string, error) {
	parts := strings.Split(value, ";")
	for i, part := range parts {
		name, number, found := strings.Cut(part, ":")
		if _, err := strconv.Atoi(number); !found || err != nil {
			return "", fmt.Errorf("part %d of %d is not broker:number", i+1, len(parts))
		}
		if b := p.named(name); b != nil && b.role == declared && b.shown.Present {
			parts[i] = name + ":" + strconv.Itoa(b.shown.Write)
		}
	}
	return strings.Join(parts, ";"), nil
}
