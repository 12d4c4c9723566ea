// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
)

// producerList is call 204.
func (b *Broker) producerList(rq *request) *reply {
	conns := b.producers[rq.Args["producerGroup"]]
	if len(conns) == 0 {
		return answer(systemError, "the producer group["+rq.Args["producerGroup"]+"] not exist")
	}
	set := jList{}
	for _, addr := range slices.Sorted(maps.Keys(conns)) {
		set = append(set, conns[addr].json())
	}
	return ok(fastjson(jObject{"connectionSet": set}))
}

// allProducers is call 328.
func (b *Broker) allProducers() *reply {
	data := jObject{}
	for group, conns := range b.producers {
		list := jList{}
		for _, addr := range slices.Sorted(maps.Keys(conns)) {
			k := conns[addr]
			list = append(list, jObject{
				"clientId": k.clientID, "language": k.language, "remoteIP": k.addr,
				"lastUpdateTimestamp": k.seen.UnixMilli(), "version": k.version,
			})
		}
		data[group] = list
	}
	return ok(fastjson(jObject{"data": data}))
}
