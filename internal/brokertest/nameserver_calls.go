// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (s *NameServer) handle(rq *request) *reply {
	switch rq.Code {
	case codeClusterInfo:
		return s.clusterInfo()
	case codeRoute:
		return s.route(rq)
	case codeTopicList:
		return ok(fastjson(jObject{"topicList": slices.Sorted(maps.Keys(s.topics))}))
	case codeTopicsByCluster:
		return s.topicsByCluster(rq.Args["cluster"])
	case codeSystemTopicsNS:
		return s.systemTopics()
	case codeDeleteTopicInNS:
		return s.deleteTopic(rq)
	case codePutKV:
		s.putKV(rq.Args["namespace"], rq.Args["key"], rq.Args["value"])
		return ok(nil)
	case codeGetKV:
		return s.getKV(rq)
	case codeDeleteKV:
		delete(s.kv[rq.Args["namespace"]], rq.Args["key"])
		return ok(nil)
	case codeKVList:
		return s.listKV(rq)
	default:
		if !s.c.opts.Version.five() {
			return nil // a 4.9 name server does not answer unknown codes at all
		}
		return unsupported(rq)
	}
}

func unsupported(rq *request) *reply {
	return answer(notSupported, fmt.Sprintf(" request type %d not supported", rq.Code))
}

// clusterInfo is call 106 (rocketmq.md 3.1).
func (s *NameServer) clusterInfo() *reply {
	addrs, clusters := jObject{}, map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.brokers)) {
		addrs[name] = s.brokerData(name)
		cluster := s.brokers[name].cluster
		clusters[cluster] = append(clusters[cluster], name)
	}
	table := jObject{}
	for cluster, names := range clusters {
		table[cluster] = names
	}
	return ok(fastjson(jObject{"brokerAddrTable": addrs, "clusterAddrTable": table}))
}

func (s *NameServer) brokerData(name string) jObject {
	d := s.brokers[name]
	addrs := jInts{}
	for id, addr := range d.addrs {
		addrs[id] = addr
	}
	o := jObject{"brokerAddrs": addrs, "brokerName": name, "cluster": d.cluster}
	if s.c.opts.Version.five() {
		o["enableActingMaster"] = false
	}
	return o
}

// route is call 105 (rocketmq.md 3.2).
func (s *NameServer) route(rq *request) *reply {
	topic := rq.Args["topic"]
	var data, queues jList
	for _, name := range slices.Sorted(maps.Keys(s.topics[topic])) {
		q := s.topics[topic][name]
		queues = append(queues, jObject{
			"brokerName": name, "perm": q.Perm, "readQueueNums": q.Read,
			"topicSysFlag": q.SysFlag, "writeQueueNums": q.Write,
		})
		if s.brokers[name] != nil {
			data = append(data, s.brokerData(name))
		}
	}
	if len(data) == 0 || len(queues) == 0 {
		return answer(topicNotExist, "No topic route info in name server for the topic: "+topic+
			"\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.")
	}
	body := jObject{"brokerDatas": data, "filterServerTable": jObject{}, "queueDatas": queues}
	if conf := s.kv[orderNamespace][topic]; conf != "" && s.c.opts.OrderMessageEnable {
		body["orderTopicConf"] = conf
	}
	if rq.cmd.Version >= 401 || strings.EqualFold(rq.Args["acceptStandardJsonOnly"], "true") {
		return ok(standardJSON(body))
	}
	return ok(fastjson(body))
}

// topicsByCluster is call 224.
func (s *NameServer) topicsByCluster(cluster string) *reply {
	topics := []string{}
	for topic, queues := range s.topics {
		for broker := range queues {
			if d := s.brokers[broker]; d != nil && d.cluster == cluster {
				topics = append(topics, topic)
				break
			}
		}
	}
	slices.Sort(topics)
	return ok(fastjson(jObject{"topicList": topics}))
}

// systemTopics is call 304: the names of clusters and brokers.
func (s *NameServer) systemTopics() *reply {
	names := map[string]bool{}
	body := jObject{}
	for name, d := range s.brokers {
		names[name], names[d.cluster] = true, true
		for _, addr := range d.addrs {
			body["brokerAddr"] = addr
		}
	}
	body["topicList"] = slices.Sorted(maps.Keys(names))
	return ok(fastjson(body))
}

// deleteTopic is call 216 (rocketmq.md 3.6).
func (s *NameServer) deleteTopic(rq *request) *reply {
	topic, cluster := rq.Args["topic"], rq.Args["clusterName"]
	if cluster == "" {
		delete(s.topics, topic)
		return ok(nil)
	}
	for name, d := range s.brokers {
		if d.cluster == cluster {
			s.removeQueues(topic, name)
		}
	}
	return ok(nil)
}

func (s *NameServer) getKV(rq *request) *reply {
	if v, has := s.kv[rq.Args["namespace"]][rq.Args["key"]]; has {
		return &reply{ext: map[string]string{"value": v}}
	}
	return answer(queryNotFound, fmt.Sprintf("No config item, Namespace: %s Key: %s", rq.Args["namespace"], rq.Args["key"]))
}

func (s *NameServer) listKV(rq *request) *reply {
	table, has := s.kv[rq.Args["namespace"]]
	if !has {
		return answer(queryNotFound, "No config item, Namespace: "+rq.Args["namespace"])
	}
	o := jObject{}
	for k, v := range table {
		o[k] = v
	}
	return ok(fastjson(jObject{"table": o}))
}
