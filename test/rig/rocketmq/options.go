// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
)

// DefaultVersion is the RocketMQ version that is run when none is named.
const DefaultVersion = "5.5.0"

// Credentials are an access key and its secret: the user and the password of an
// ACL 2.0 user, or an account of ACL 1.0.
type Credentials struct {
	AccessKey string
	SecretKey string
}

// Options say what to run. The zero value is two name servers and two masters
// of DefaultVersion.
type Options struct {
	// Version is a released version such as "4.9.7".
	Version string
	// ClusterName is the brokers' cluster, "DefaultCluster" when empty.
	ClusterName string
	// NameServers and Masters are counts; 0 means 2. Masters are named broker-a,
	// broker-b, …
	NameServers int
	Masters     int
	// SlavesPerMaster is the number of slaves that each master gets.
	SlavesPerMaster int
	// Proxies is the number of CLUSTER-mode proxies; 4.x has none.
	Proxies int
	// Dir holds configuration, stores and logs, one folder a server. When empty a
	// temporary one is used and removed by Cluster.Stop.
	Dir string
	// BrokerProperties and NameServerProperties are added to, and win over, the
	// configuration that the rig writes (rocketmq.md 9.4). See ShortDelays.
	BrokerProperties     map[string]string
	NameServerProperties map[string]string
	// ProxyConfig is added to, and wins over, the proxies' JSON configuration.
	ProxyConfig map[string]any
	// ACL, when set, switches access control on: ACL 2.0 from 5.3 on, ACL 1.0
	// before. These credentials may do everything (rocketmq-live.md 7).
	ACL *Credentials
	// JVMFlags are added to the rig's flags for all servers of a kind; Java takes
	// the last of contradicting flags.
	JVMFlags map[Kind][]string
	// Log takes progress, one line an event. Nil discards it.
	Log io.Writer
}

// ShortDelays returns broker properties that shorten what tests would otherwise
// wait for: the first delay levels are 1 to 5 seconds, open transactions are
// asked about after 2 seconds and again every 2, and brokers register every 10
// seconds, the shortest that a broker accepts.
func ShortDelays() map[string]string {
	return map[string]string{
		"messageDelayLevel":        "1s 2s 3s 4s 5s 10s 15s 20s 30s 40s 50s 60s 90s 2m 3m 4m 5m 10m",
		"transactionTimeOut":       "2000",
		"transactionCheckInterval": "2000",
		"registerNameServerPeriod": "10000",
	}
}

var (
	// errNoProxy is what asking a 4.x version for a proxy gives.
	errNoProxy = errors.New("RocketMQ 4.x has no proxy")

	versionPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
)

// withDefaults returns the options with every default filled in, or says which
// one makes no sense.
func (o Options) withDefaults() (Options, error) {
	if o.Version == "" {
		o.Version = DefaultVersion
	}
	if !versionPattern.MatchString(o.Version) {
		return o, fmt.Errorf("%q is no RocketMQ version such as %s", o.Version, DefaultVersion)
	}
	if o.ClusterName == "" {
		o.ClusterName = "DefaultCluster"
	}
	if o.NameServers == 0 {
		o.NameServers = 2
	}
	if o.Masters == 0 {
		o.Masters = 2
	}
	if o.Masters > maxMasters {
		return o, fmt.Errorf("%d masters: at most %d have a name", o.Masters, maxMasters)
	}
	if o.NameServers < 0 || o.Masters < 0 || o.SlavesPerMaster < 0 || o.Proxies < 0 {
		return o, errors.New("counts of servers must not be negative")
	}
	if o.Proxies > 0 && o.is4() {
		return o, fmt.Errorf("version %s: %w", o.Version, errNoProxy)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	o.BrokerProperties = maps.Clone(o.BrokerProperties)
	o.NameServerProperties = maps.Clone(o.NameServerProperties)
	return o, nil
}

const maxMasters = 26

// brokerName is broker-a for 0, broker-b for 1, …
func brokerName(i int) string { return "broker-" + string(rune('a'+i)) }

func (o Options) is4() bool { return strings.HasPrefix(o.Version, "4.") }

// acl2 tells whether the version has ACL 2.0, which came with 5.3.0.
func (o Options) acl2() bool {
	var major, minor int
	if _, err := fmt.Sscanf(o.Version, "%d.%d.", &major, &minor); err != nil {
		return false
	}
	return major > 5 || major == 5 && minor >= 3
}
