// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"net"
	"time"
)

// Proxy is a CLUSTER mode proxy: its remoting port, and a gRPC port that does
// nothing but speak HTTP/2. It answers 203 and 38 from all proxies' members and
// passes offsets on to brokers; it implements no admin call (rocketmq.md 5.6).
type Proxy struct {
	*node
	index     int
	up        bool
	turn      int // of the masters, for heartbeat records
	consumers map[string]*consumerGroup
	grpc      foreignPort
}

func (c *Cluster) addProxy(i int) error {
	n, err := newNode(c, fmt.Sprintf("proxy-%d", i))
	if err != nil {
		return err
	}
	p := &Proxy{node: n, index: i}
	n.self, n.actor = p, p
	if err := p.grpc.open(); err != nil {
		n.close()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proxies = append(c.proxies, p)
	return p.boot()
}

// boot starts the proxy, which knows no member and creates the heartbeat topic
// on every master that lacks it.
func (p *Proxy) boot() error {
	p.up, p.consumers = true, map[string]*consumerGroup{}
	for _, b := range p.c.masters() {
		if b.up {
			b.ensureTopic(topicHeartbeat, 1)
			b.findGroup(syncerGroup)
		}
	}
	return p.listen()
}

// Stop ends the proxy.
func (p *Proxy) Stop() {
	p.c.enter()
	defer p.c.mu.Unlock()
	p.up = false
	p.shut()
}

// Start starts a stopped proxy: it is blind until the next heartbeats.
func (p *Proxy) Start() error {
	p.c.enter()
	defer p.c.mu.Unlock()
	if p.up {
		return fmt.Errorf("%s runs already", p.name)
	}
	return p.boot()
}

// GRPCAddr is the proxy's gRPC port, which does not speak remoting.
func (p *Proxy) GRPCAddr() string { return p.grpc.addr }

func (p *Proxy) id() string {
	_, remoting, _ := net.SplitHostPort(p.addr)
	_, grpc, _ := net.SplitHostPort(p.grpc.addr)
	return "127.0.0.1%" + remoting + "%" + grpc
}

// register takes a member's heartbeat; its settings decide the table.
func (p *Proxy) register(m *GRPCMember) {
	g := p.consumers[m.spec.Group]
	if g == nil {
		g = newConsumerGroup()
		p.consumers[m.spec.Group] = g
	}
	k := &connection{
		clientID: m.spec.ClientID, addr: m.spec.Addr, language: "JAVA",
		version: int(m.c.opts.Version), seen: m.c.now(),
	}
	g.take(k, heartbeat{
		group: m.spec.Group, consumeType: m.consumeType(), model: "CLUSTERING",
		from: "CONSUME_FROM_LAST_OFFSET", subs: m.subscriptions(),
	})
}

func (p *Proxy) drop(group, addr string) {
	if g := p.consumers[group]; g != nil {
		delete(g.conns, addr)
		if len(g.conns) == 0 {
			delete(p.consumers, group)
		}
	}
}

// expire forgets members that were silent too long.
func (p *Proxy) expire(now time.Time) {
	for name, g := range p.consumers {
		for addr, k := range g.conns {
			if now.Sub(k.seen) > memberExpiry {
				p.drop(name, addr)
			}
		}
	}
}

func (p *Proxy) handle(rq *request) *reply {
	switch rq.Code {
	case codeConnections, codeConsumerList:
		return p.members(rq)
	case codeRoute:
		for _, s := range p.c.ns {
			if s.up && !s.hung {
				return s.route(rq)
			}
		}
		return answer(systemError, "connect to name servers failed")
	case codeMaxOffset, codeMinOffset, codeSearchOffset, codeQueryOffset, codeUpdateOffset:
		b := p.c.replica(rq.Args["bname"], 0)
		if b == nil || !b.up || b.hung {
			return answer(systemError, "the broker ["+rq.Args["bname"]+"] not exist")
		}
		return b.handle(rq)
	default:
		return unsupported(rq)
	}
}

func (p *Proxy) members(rq *request) *reply {
	group := rq.Args["consumerGroup"]
	g := p.consumers[group]
	switch {
	case g == nil && rq.Code == codeConsumerList:
		return answer(systemError, "no consumer for this group, "+group)
	case g == nil:
		return answer(consumerNotOnline, "the consumer group["+group+"] not online")
	case rq.Code == codeConsumerList:
		return ok(fastjson(jObject{"consumerIdList": g.clientIDs()}))
	}
	return ok(fastjson(g.json()))
}
