// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestBrokerClusterEndpoints(t *testing.T) {
	const form = "write host:port without a scheme"
	servers := func(list string) string { return "spec: {nameServers: [" + list + "]}" }
	checkCreations(t, minimalCluster, []creation{
		{"short name", servers("namesrv:9876"), ""},
		{"service", servers("rocketmq-namesrv.rocketmq.svc.cluster.local:9876"), ""},
		{"address", servers("10.0.0.1:9876"), ""},
		{"IPv6", servers("'[2001:db8::1]:9876'"), ""},
		{"IPv4 in IPv6", servers("'[::ffff:10.0.0.1]:9876'"), ""},
		{"several", servers("a:9876, b:9876, c:1, d:65535"), ""},
		{"as RocketMQ writes a list", servers("'a:9876;b:9876'"), form},
		{"scheme", servers("'http://namesrv:9876'"), form},
		{"path", servers("'namesrv:9876/'"), form},
		{"no port", servers("namesrv"), form},
		{"empty port", servers("'namesrv:'"), form},
		{"port 0", servers("'namesrv:0'"), form},
		{"port 65536", servers("'namesrv:65536'"), form},
		{"port with a zero in front", servers("'namesrv:09876'"), form},
		{"no host", servers("':9876'"), "nameServers[0]"},
		{"IPv6 without brackets", servers("'2001:db8::1:9876'"), form},
		{"space", servers("'namesrv :9876'"), form},
		{"newline", servers(`"namesrv:9876\n"`), form},
		{"none", servers(""), "should have at least 1 items"},
		{"left out", "spec: {nameServers: null}", "spec.nameServers: Required value"},
		{"twice", servers("a:9876, a:9876"), "Duplicate value"},
		{"16", servers(numbered(16, "ns%d:9876")), ""},
		{"17", servers(numbered(17, "ns%d:9876")), "must have at most 16 items"},
		{"proxy", "spec: {proxies: ['proxy:8080']}", ""},
		{"proxy with a scheme", "spec: {proxies: ['grpc://proxy:8081']}", form},
		{"17 proxies", "spec: {proxies: [" + numbered(17, "p%d:8080") + "]}", "must have at most 16 items"},
	})
}

func numbered(n int, format string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = "'" + fmt.Sprintf(format, i) + "'"
	}
	return strings.Join(entries, ", ")
}

func TestBrokerClusterNameStays(t *testing.T) {
	const stays = "clusterName cannot change, because every Topic that refers to this BrokerCluster would move to other brokers"
	checkEdits(t, minimalCluster, []edit{
		{"same", "", "", ""},
		{"other", "", "spec: {clusterName: mall}", stays},
		{"other name servers", "", "spec: {nameServers: ['other:9876']}", ""},
		{"credentials added", "", "spec: {credentials: {secretRef: {name: acl}}}", ""},
	})
	checkCreations(t, minimalCluster, []creation{
		{"left out", "spec: {clusterName: null}", "spec.clusterName: Required value"},
		{"too long", "spec: {clusterName: " + strings.Repeat("c", 128) + "}", "may not be more than 127 bytes"},
	})
}

func TestBrokerClusterSecrets(t *testing.T) {
	const useless = "verification None accepts every certificate, so caSecretRef and serverName would do nothing"
	tls := func(fields string) string { return "spec: {tls: {" + fields + "}}" }
	checkCreations(t, minimalCluster, []creation{
		{"credentials", "spec: {credentials: {secretRef: {name: acl}}}", ""},
		{"credentials without a Secret", "spec: {credentials: {}}", "spec.credentials.secretRef: Required value"},
		{"Secret without a name", "spec: {credentials: {secretRef: {name: \"\"}}}", "should be at least 1 char"},
		{"TLS", tls(""), ""},
		{"TLS with everything", tls("verification: Full, serverName: rocketmq, caSecretRef: {name: ca}, clientSecretRef: {name: me}"), ""},
		{"no verification", tls("verification: None"), ""},
		{"no verification, client certificate", tls("verification: None, clientSecretRef: {name: me}"), ""},
		{"no verification with a CA", tls("verification: None, caSecretRef: {name: ca}"), useless},
		{"no verification with a name", tls("verification: None, serverName: rocketmq"), useless},
		{"verification as a bool", tls("verification: false"), "must be of type string"},
		{"unknown verification", tls("verification: Some"), `supported values: "Full", "None"`},
	})
}

func TestBrokerClusterAccess(t *testing.T) {
	const (
		both    = "selector goes with from: Selector, and from: Selector needs one; set both or neither"
		nothing = "this rule allows nothing; list topics, groups or both"
		pattern = "regular expressions are not understood"
		empty   = "an empty selector would match every namespace"
		values  = "values goes with the operators In and NotIn"
	)
	rule := func(namespaces, rest string) string {
		return "spec: {access: [{namespaces: {" + namespaces + "}, " + rest + "}]}"
	}
	const topics = `topics: ["TOPIC_SHOP_*"]`
	selector := func(expression string) string {
		return rule("from: Selector, selector: {matchExpressions: ["+expression+"]}", topics)
	}
	checkCreations(t, minimalCluster, []creation{
		{"all", rule("from: All", topics), ""},
		{"same", rule("from: Same", topics), ""},
		{"labels", rule("from: Selector, selector: {matchLabels: {rocketmq: shop}}", topics), ""},
		{"groups only", rule("from: All", `groups: ["CG_*"]`), ""},
		{"every name", rule("from: All", `topics: ["*"], groups: ["*"]`), ""},
		{"neither topics nor groups", "spec: {access: [{namespaces: {from: All}}]}", nothing},
		{"no topic", rule("from: All", "topics: []"), "should have at least 1 items"},
		{"no namespaces", "spec: {access: [{" + topics + "}]}", "namespaces: Required value"},
		{"from left out", rule("selector: {matchLabels: {rocketmq: shop}}", topics), "from: Required value"},
		{"unknown from", rule("from: Some", topics), `supported values: "All", "Same", "Selector"`},
		{"Selector without selector", rule("from: Selector", topics), both},
		{"All with selector", rule("from: All, selector: {matchLabels: {rocketmq: shop}}", topics), both},
		{"empty selector", rule("from: Selector, selector: {}", topics), empty},
		{"a regular expression", rule("from: All", `topics: ["TOPIC_.*"]`), pattern},
		{"a regular expression for groups", rule("from: All", `groups: ["CG_.*"]`), pattern},
		{"65 groups", rule("from: All", "groups: ["+numbered(65, "G%d_*")+"]"), "must have at most 64 items"},
		{"a question mark", rule("from: All", `topics: ["TOPIC_?"]`), pattern},
		{"a bad label value", rule("from: Selector, selector: {matchLabels: {rocketmq: \"a b\"}}", topics), "should match"},
		{"one of", selector("{key: team, operator: In, values: [shop, mall]}"), ""},
		{"exists", selector("{key: team, operator: Exists}"), ""},
		{"one of none", selector("{key: team, operator: In}"), values},
		{"exists with a value", selector("{key: team, operator: Exists, values: [shop]}"), values},
		{"unknown operator", selector("{key: team, operator: Like, values: [shop]}"), "supported values"},
		{"64 rules", "spec: {access: [" + strings.Repeat("{namespaces: {from: All}, "+topics+"}, ", 64) + "]}", ""},
		{"65 rules", "spec: {access: [" + strings.Repeat("{namespaces: {from: All}, "+topics+"}, ", 65) + "]}", "must have at most 64 items"},
		{"64 patterns", rule("from: All", "topics: ["+numbered(64, "T%d_*")+"]"), ""},
		{"65 patterns", rule("from: All", "topics: ["+numbered(65, "T%d_*")+"]"), "must have at most 64 items"},
	})
}

func TestBrokerClusterTimingsAndGuard(t *testing.T) {
	timing := func(field string, value int) string { return fmt.Sprintf("spec: {timings: {%s: %d}}", field, value) }
	rows := []creation{
		{"a duration", "spec: {timings: {settleSeconds: 1m}}", "must be of type integer"},
		{"a fraction", "spec: {timings: {settleSeconds: 0.5}}", "must be of type integer"},
		{"guard enforces", "spec: {scaleGuard: {mode: Enforce}}", ""},
		{"guard warns", "spec: {scaleGuard: {mode: Warn}}", ""},
		{"guard off", "spec: {scaleGuard: {mode: \"Off\"}}", ""},
		{"guard off as YAML reads it", "spec: {scaleGuard: {mode: off}}", "must be of type string"},
		{"guard unknown", "spec: {scaleGuard: {mode: Deny}}", `supported values: "Enforce", "Warn", "Off"`},
		{"heartbeat topic", "spec: {heartbeatTopic: {name: MyHeartbeats, cluster: shop}}", ""},
		{"heartbeat topic with a dot", "spec: {heartbeatTopic: {name: My.Heartbeats}}", "RocketMQ allows letters, digits, _ - | %"},
	}
	for field, limits := range map[string][2]int{
		"longestRouteAgeSeconds":  {1, 86400},
		"settleSeconds":           {1, 86400},
		"longestInvisibleSeconds": {1, 43200},
		"sweepSeconds":            {1, 3600},
		"auditSeconds":            {10, 86400},
		"callTimeoutSeconds":      {1, 300},
	} {
		rows = append(rows,
			creation{field + " least", timing(field, limits[0]), ""},
			creation{field + " below", timing(field, limits[0]-1), fmt.Sprintf("greater than or equal to %d", limits[0])},
			creation{field + " most", timing(field, limits[1]), ""},
			creation{field + " above", timing(field, limits[1]+1), fmt.Sprintf("less than or equal to %d", limits[1])},
		)
	}
	checkCreations(t, minimalCluster, rows)
}
