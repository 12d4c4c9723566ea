// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "fmt"

// Proxy is a CLUSTER mode proxy's remoting port. It answers 203 and 38 from all
// proxies' members and passes offsets on to brokers; it implements no admin
// call (rocketmq.md 5.6).
type Proxy struct {
	*node
	consumers map[string]*consumerGroup
}

func (c *Cluster) addProxy(i int) error {
	n, err := newNode(c, fmt.Sprintf("proxy-%d", i))
	if err != nil {
		return err
	}
	p := &Proxy{node: n, consumers: map[string]*consumerGroup{}}
	n.self, n.actor = p, p
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proxies = append(c.proxies, p)
	return p.listen()
}

func (p *Proxy) who() string { return p.name }

func (p *Proxy) handle(rq *request) *reply {
	switch rq.Code {
	case codeConnections:
		g := p.consumers[rq.Args["consumerGroup"]]
		if g == nil {
			return answer(consumerNotOnline, "the consumer group["+rq.Args["consumerGroup"]+"] not online")
		}
		return ok(fastjson(g.json()))
	case codeConsumerList:
		g := p.consumers[rq.Args["consumerGroup"]]
		if g == nil {
			return answer(systemError, "no consumer for this group, "+rq.Args["consumerGroup"])
		}
		return ok(fastjson(jObject{"consumerIdList": g.clientIDs()}))
	case codeRoute:
		return p.c.ns[0].route(rq)
	default:
		return unsupported(rq)
	}
}
