// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"reflect"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// change is what differs between two sweeps, by value: when something was
// asked and how a reason is worded is no change, or every object would be woken
// by every sweep.
type change struct {
	// cluster says that brokers, their reachability or the name servers'
	// agreement changed, which concerns everybody.
	cluster bool
	// topics are those whose config or route changed.
	topics map[string]struct{}
}

// diff compares two sweeps. A nil was is a first sweep, which concerns all.
func diff(was, is *snapshot.Cluster) change {
	if was == nil || clusterChanged(was, is) {
		return change{cluster: true}
	}
	topics := map[string]struct{}{}
	for name, b := range is.Brokers {
		before, _ := was.Brokers[name].Topics.Get()
		now, _ := b.Topics.Get()
		differing(topics, before, now, snapshot.TopicConfig.Equal)
	}
	for i, ns := range is.NameServers {
		before, _ := was.NameServers[i].Topics.Get()
		now, _ := ns.Topics.Get()
		differing(topics, before, now, func(struct{}, struct{}) bool { return true })
	}
	differing(topics, was.Routes, is.Routes, sameRoutes)
	return change{topics: topics}
}

func clusterChanged(was, is *snapshot.Cluster) bool {
	return !slices.EqualFunc(was.NameServers, is.NameServers, sameNameServer) ||
		!maps.EqualFunc(was.Brokers, is.Brokers, sameBroker) ||
		!slices.EqualFunc(was.Proxies, is.Proxies, func(a, b snapshot.Proxy) bool {
			return a.Address == b.Address && sameFact(a.Reachable, b.Reachable, func(x, y bool) bool { return x == y })
		}) ||
		!slices.EqualFunc(was.Problems, is.Problems, func(a, b snapshot.Problem) bool {
			return a.Trouble == b.Trouble && a.Subject == b.Subject
		})
}

func sameNameServer(a, b snapshot.NameServer) bool {
	return a.Address == b.Address && a.Entry == b.Entry && (a.WarmUp == "") == (b.WarmUp == "") &&
		a.Topics.IsKnown() == b.Topics.IsKnown() &&
		sameFact(a.Masters, b.Masters, maps.Equal[map[string]string, map[string]string])
}

// sameBroker compares what a broker is, not how far it got: offsets and
// progress change all the time and are read by looks.
func sameBroker(a, b snapshot.Broker) bool {
	return sameFact(a.Master, b.Master, func(x, y string) bool { return x == y }) &&
		maps.Equal(a.Replicas, b.Replicas) &&
		a.Topics.IsKnown() == b.Topics.IsKnown() &&
		sameFact(a.Runtime, b.Runtime, func(x, y snapshot.Runtime) bool {
			return x.Version == y.Version && x.Booted.Equal(y.Booted)
		}) &&
		sameFact(a.Settings, b.Settings, func(x, y snapshot.Settings) bool { return reflect.DeepEqual(x, y) })
}

func sameRoutes(a, b map[string]snapshot.Fact[snapshot.Route]) bool {
	return maps.EqualFunc(a, b, func(x, y snapshot.Fact[snapshot.Route]) bool {
		return sameFact(x, y, func(r, s snapshot.Route) bool { return reflect.DeepEqual(r, s) })
	})
}

func sameFact[T any](a, b snapshot.Fact[T], same func(x, y T) bool) bool {
	x, known := a.Get()
	y, too := b.Get()
	return known == too && (!known || same(x, y))
}

// differing adds to names the keys that only one map has or whose values
// differ.
func differing[V any](names map[string]struct{}, a, b map[string]V, same func(x, y V) bool) {
	for k, x := range a {
		if y, ok := b[k]; !ok || !same(x, y) {
			names[k] = struct{}{}
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			names[k] = struct{}{}
		}
	}
}
