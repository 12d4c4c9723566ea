// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func peerState(t snapshot.Trouble) rocketmqv1alpha1.PeerState {
	switch t {
	case snapshot.AuthFailed:
		return rocketmqv1alpha1.PeerDenied
	case snapshot.WrongEndpoint:
		return rocketmqv1alpha1.PeerWrongEndpoint
	case snapshot.Unresolvable, snapshot.AddressesMissing:
		return rocketmqv1alpha1.PeerUnresolvable
	case snapshot.NameServerWarmUp:
		return rocketmqv1alpha1.PeerWarmingUp
	case snapshot.NameServersDisagree:
		return rocketmqv1alpha1.PeerDisagreeing
	case snapshot.WrongIdentity:
		return rocketmqv1alpha1.PeerWrongBroker
	case snapshot.BrokerGone:
		return rocketmqv1alpha1.PeerGone
	case snapshot.Undecodable:
		return rocketmqv1alpha1.PeerUnknown
	default:
		return rocketmqv1alpha1.PeerUnreachable
	}
}

// problemWith finds the first problem with a subject.
func problemWith(sweep *snapshot.Cluster, subjects ...string) (snapshot.Problem, bool) {
	for _, p := range sweep.Problems {
		if slices.Contains(subjects, p.Subject) {
			return p, true
		}
	}
	return snapshot.Problem{}, false
}

// A state that was there before keeps its time.
func brokerStatuses(was []rocketmqv1alpha1.BrokerStatus, sweep *snapshot.Cluster, now time.Time) []rocketmqv1alpha1.BrokerStatus {
	var out []rocketmqv1alpha1.BrokerStatus
	for _, name := range slices.Sorted(maps.Keys(sweep.Brokers)) {
		b := sweep.Brokers[name]
		address, _ := b.Master.Get()
		s := rocketmqv1alpha1.BrokerStatus{Name: name, Address: address, State: rocketmqv1alpha1.PeerAnswering}
		if runtime, known := b.Runtime.Get(); known {
			s.Version = versionText(runtime.VersionText)
		}
		if p, wrong := problemWith(sweep, name, address); wrong {
			s.State, s.Message = peerState(p.Trouble), rocketmqv1alpha1.Cut(p.Sentence, rocketmqv1alpha1.MaxBrokerMessage)
		} else if !b.Topics.IsKnown() {
			s.State, s.Message = rocketmqv1alpha1.PeerUnknown, rocketmqv1alpha1.Cut(b.Topics.Why(), rocketmqv1alpha1.MaxBrokerMessage)
		}
		s.Since = ptr.To(atSecond(now))
		for _, before := range was {
			if before.Name == name && before.State == s.State && before.Since != nil {
				s.Since = before.Since
			}
		}
		if value := rocketmqv1alpha1.ForgetBrokerValue(s); value != "" {
			s.Message = rocketmqv1alpha1.Cut("registered with no name server; if it is gone for good, set the annotation forget-broker to "+value, rocketmqv1alpha1.MaxBrokerMessage)
		}
		out = append(out, s)
		if len(out) == rocketmqv1alpha1.MaxBrokers {
			break
		}
	}
	return out
}

// versionText turns V5_3_3 into 5.3.3.
func versionText(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "V"), "_", ".")
}

func nameServerStatuses(sweep *snapshot.Cluster) []rocketmqv1alpha1.NameServerStatus {
	var out []rocketmqv1alpha1.NameServerStatus
	for _, ns := range sweep.NameServers[:min(len(sweep.NameServers), rocketmqv1alpha1.MaxServers)] {
		s := rocketmqv1alpha1.NameServerStatus{Address: ns.Address, Endpoint: ns.Entry, State: rocketmqv1alpha1.PeerAnswering}
		if p, wrong := problemWith(sweep, ns.Address, ns.Entry); wrong {
			s.State, s.Message = peerState(p.Trouble), rocketmqv1alpha1.Cut(p.Sentence, rocketmqv1alpha1.MaxBrokerMessage)
		} else if ns.WarmUp != "" {
			s.State, s.Message = rocketmqv1alpha1.PeerWarmingUp, rocketmqv1alpha1.Cut(ns.WarmUp, rocketmqv1alpha1.MaxBrokerMessage)
		} else if !ns.Masters.IsKnown() {
			s.State, s.Message = rocketmqv1alpha1.PeerUnknown, rocketmqv1alpha1.Cut(ns.Masters.Why(), rocketmqv1alpha1.MaxBrokerMessage)
		}
		out = append(out, s)
	}
	return out
}

func proxyStatuses(sweep *snapshot.Cluster) []rocketmqv1alpha1.ProxyStatus {
	var out []rocketmqv1alpha1.ProxyStatus
	for _, proxy := range sweep.Proxies[:min(len(sweep.Proxies), rocketmqv1alpha1.MaxServers)] {
		s := rocketmqv1alpha1.ProxyStatus{Address: proxy.Address, State: rocketmqv1alpha1.PeerAnswering}
		if p, wrong := problemWith(sweep, proxy.Address); wrong {
			s.State, s.Message = peerState(p.Trouble), rocketmqv1alpha1.Cut(p.Sentence, rocketmqv1alpha1.MaxBrokerMessage)
		} else if !proxy.Reachable.IsKnown() {
			s.State, s.Message = rocketmqv1alpha1.PeerUnknown, rocketmqv1alpha1.Cut(proxy.Reachable.Why(), rocketmqv1alpha1.MaxBrokerMessage)
		}
		out = append(out, s)
	}
	return out
}

// scopeOf is what makes a name reserved on this cluster (rocketmq.md 11.1).
func scopeOf(sweep *snapshot.Cluster, heartbeat string) names.Scope {
	return names.Scope{Cluster: sweep.Name, Brokers: slices.Sorted(maps.Keys(sweep.Brokers)), HeartbeatTopic: heartbeat}
}

func clusterCounts(sweep *snapshot.Cluster, heartbeat string) *rocketmqv1alpha1.BrokerClusterCounts {
	c := &rocketmqv1alpha1.BrokerClusterCounts{
		Brokers: ptr.To(int32(len(sweep.Brokers))), NameServers: ptr.To(int32(len(sweep.NameServers))),
	}
	answering, agreeing := 0, 0
	topics := map[string]struct{}{}
	complete := true
	scope := scopeOf(sweep, heartbeat)
	for _, b := range sweep.Brokers {
		all, known := b.Topics.Get()
		if !known {
			complete = false
			continue
		}
		answering++
		for name := range all {
			if names.ReservedTopic(name, scope) == "" {
				topics[name] = struct{}{}
			}
		}
	}
	for _, ns := range sweep.NameServers {
		if _, wrong := problemWith(sweep, ns.Address, ns.Entry); !wrong && ns.Masters.IsKnown() {
			agreeing++
		}
	}
	c.BrokersAnswering, c.NameServersAgreeing = ptr.To(int32(answering)), ptr.To(int32(agreeing))
	if complete && len(sweep.Brokers) > 0 {
		c.Topics = ptr.To(int32(len(topics)))
	}
	return c
}

func answering(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " answers"
	}
	return fmt.Sprintf("%d %ss answer", n, noun)
}
