// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "time"

// Timings are the waiting times and intervals for one cluster, in seconds. The schema has no defaults,
// so that a better default of a later version reaches objects that exist already.
type Timings struct {
	// longestRouteAgeSeconds is how old the route can be by which a producer or a proxy still sends:
	// after writes are narrowed, this long passes before a queue is expected to be still. Classic
	// clients ask for the route every 30 seconds, a proxy that has been idle can use one that is 300
	// seconds old. Raise it if your producers set a longer pollNameServerInterval. Absent means 303 if
	// spec.proxies lists any, else 33.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	LongestRouteAgeSeconds *int32 `json:"longestRouteAgeSeconds,omitempty"`

	// settleSeconds is how long no message may arrive in any retiring queue before the drain is
	// judged. Absent means 60.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	SettleSeconds *int32 `json:"settleSeconds,omitempty"`

	// longestInvisibleSeconds is the longest time for which a message that was handed to a gRPC (POP)
	// consumer can stay invisible before it is handed out again. A drain of such a group waits this
	// long, so that nothing that was handed out comes back to a retired queue. Absent means 60.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=43200
	LongestInvisibleSeconds *int32 `json:"longestInvisibleSeconds,omitempty"`

	// sweepSeconds is the interval at which all brokers and name servers are asked for their present
	// state. A change on a broker that did not come from Lockstep is seen after at most this time.
	// Absent means 30.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	SweepSeconds *int32 `json:"sweepSeconds,omitempty"`

	// auditSeconds is the interval at which the members of consumer groups are asked what they read.
	// Absent means 300.
	//
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	AuditSeconds *int32 `json:"auditSeconds,omitempty"`

	// callTimeoutSeconds is how long one request to a name server, broker or proxy may take. A broker
	// registers a new topic with every name server before it answers, which takes up to 24 seconds if
	// one of them hangs. Absent means 30.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	CallTimeoutSeconds *int32 `json:"callTimeoutSeconds,omitempty"`
}

// The values that hold where spec.timings is silent.
const (
	// DefaultRouteAge is the 30 seconds in which classic clients ask for a route again, and 3 for a send
	// that is under way.
	DefaultRouteAge = 33 * time.Second
	// DefaultRouteAgeWithProxies is the 300 seconds for which an idle proxy keeps a route, and 3 for a
	// send that is under way.
	DefaultRouteAgeWithProxies = 303 * time.Second
	// DefaultSettle is the window in which a retiring queue must be still.
	DefaultSettle = 60 * time.Second
	// DefaultLongestInvisible is the proxies' default invisible time.
	DefaultLongestInvisible = 60 * time.Second
	// DefaultSweep is the interval of sweeps.
	DefaultSweep = 30 * time.Second
	// DefaultAudit is the interval of member audits.
	DefaultAudit = 300 * time.Second
	// DefaultCallTimeout is longer than the 24 seconds a broker waits for a name server.
	DefaultCallTimeout = 30 * time.Second
)

// LongestRouteAge is spec.timings.longestRouteAgeSeconds or its default.
func (s *BrokerClusterSpec) LongestRouteAge() time.Duration {
	fallback := DefaultRouteAge
	if len(s.Proxies) > 0 {
		fallback = DefaultRouteAgeWithProxies
	}
	return seconds(s.timings().LongestRouteAgeSeconds, fallback)
}

// Settle is spec.timings.settleSeconds or its default.
func (s *BrokerClusterSpec) Settle() time.Duration {
	return seconds(s.timings().SettleSeconds, DefaultSettle)
}

// LongestInvisible is spec.timings.longestInvisibleSeconds or its default.
func (s *BrokerClusterSpec) LongestInvisible() time.Duration {
	return seconds(s.timings().LongestInvisibleSeconds, DefaultLongestInvisible)
}

// Sweep is spec.timings.sweepSeconds or its default.
func (s *BrokerClusterSpec) Sweep() time.Duration {
	return seconds(s.timings().SweepSeconds, DefaultSweep)
}

// Audit is spec.timings.auditSeconds or its default.
func (s *BrokerClusterSpec) Audit() time.Duration {
	return seconds(s.timings().AuditSeconds, DefaultAudit)
}

// CallTimeout is spec.timings.callTimeoutSeconds or its default.
func (s *BrokerClusterSpec) CallTimeout() time.Duration {
	return seconds(s.timings().CallTimeoutSeconds, DefaultCallTimeout)
}

func (s *BrokerClusterSpec) timings() Timings {
	if s.Timings == nil {
		return Timings{}
	}
	return *s.Timings
}

func seconds(value *int32, fallback time.Duration) time.Duration {
	if value == nil {
		return fallback
	}
	return time.Duration(*value) * time.Second
}
