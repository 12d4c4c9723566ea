// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// ClusterInfo is every broker that one name server has registered, of every
// cluster (call 106). Brokers that are down are missing from it.
type ClusterInfo struct {
	// Brokers are all brokers, by broker name.
	Brokers map[string]BrokerEntry
	// Clusters are the broker names of each cluster, sorted. A name may be
	// listed here and have no entry in Brokers.
	Clusters map[string][]string
}

// BrokerEntry is one broker name as a name server shows it.
type BrokerEntry struct {
	Name, Cluster string
	// Replicas are the addresses by broker id; 0 is the master (case P02).
	Replicas map[int64]string
}

// Master returns the address of the master; false when none is registered, and
// then no staged write may go to this broker.
func (b BrokerEntry) Master() (string, bool) {
	addr, ok := b.Replicas[0]
	return addr, ok && addr != ""
}

// Of returns the brokers of one cluster by broker name, those without an entry
// included.
func (i ClusterInfo) Of(cluster string) map[string]BrokerEntry {
	brokers := map[string]BrokerEntry{}
	for _, name := range i.Clusters[cluster] {
		entry, ok := i.Brokers[name]
		if !ok {
			entry = BrokerEntry{Name: name, Cluster: cluster}
		}
		brokers[name] = entry
	}
	for name, entry := range i.Brokers {
		if entry.Cluster == cluster {
			brokers[name] = entry
		}
	}
	return brokers
}

// ClusterInfo asks a name server for all brokers it has registered, those of
// other clusters included (call 106, rocketmq.md 3.1).
func (c *Client) ClusterInfo(ctx context.Context, nameServer string) (ClusterInfo, error) {
	return readBody(ctx, c, nameServer, remoting.ReqGetBrokerClusterInfo, nil, decodeClusterInfo)
}

type brokerData struct {
	Addrs   map[string]*string `json:"brokerAddrs" fastjson:"required"`
	Name    *string            `json:"brokerName" fastjson:"required"`
	Cluster *string            `json:"cluster" fastjson:"required"`
}

func decodeClusterInfo(body []byte) (ClusterInfo, error) {
	var wire struct {
		Brokers  map[string]*brokerData `json:"brokerAddrTable" fastjson:"required"`
		Clusters map[string][]string    `json:"clusterAddrTable" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return ClusterInfo{}, err
	}
	info := ClusterInfo{Brokers: map[string]BrokerEntry{}, Clusters: map[string][]string{}}
	for name, data := range wire.Brokers {
		if data == nil || *data.Name != name {
			return ClusterInfo{}, errors.New("an entry of brokerAddrTable does not bear its broker's name")
		}
		replicas, err := data.replicas()
		if err != nil {
			return ClusterInfo{}, err
		}
		info.Brokers[name] = BrokerEntry{Name: name, Cluster: *data.Cluster, Replicas: replicas}
	}
	for cluster, brokers := range wire.Clusters {
		if brokers == nil || slices.Contains(brokers, "") {
			return ClusterInfo{}, errors.New("a list in clusterAddrTable holds nothing where a broker name was expected")
		}
		slices.Sort(brokers)
		info.Clusters[cluster] = brokers
	}
	return info, nil
}

// replicas reads the addresses by broker id, which are bare integers as keys in
// call 106 and text in call 105.
func (d brokerData) replicas() (map[int64]string, error) {
	replicas := make(map[int64]string, len(d.Addrs))
	for key, addr := range d.Addrs {
		id, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return nil, errors.New("a key of brokerAddrs is not a broker id")
		}
		if addr == nil || *addr == "" {
			return nil, fmt.Errorf("brokerAddrs has no address for broker id %d", id)
		}
		replicas[id] = *addr
	}
	return replicas, nil
}
