// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestDefaults(t *testing.T) {
	g := NewWithT(t)
	o, err := Options{}.withDefaults()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Version).To(Equal(DefaultVersion))
	g.Expect(o.NameServers).To(Equal(2))
	g.Expect(o.Masters).To(Equal(2))
	g.Expect(o.SlavesPerMaster).To(BeZero())
	g.Expect(o.Proxies).To(BeZero())
	g.Expect(o.ClusterName).To(Equal("DefaultCluster"))
}

func TestRefusedOptions(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"version":        {Options{Version: "5.x"}, `"5.x" is no RocketMQ version`},
		"path":           {Options{Version: "../5.5.0"}, "is no RocketMQ version"},
		"proxy of 4.9.7": {Options{Version: "4.9.7", Proxies: 1}, "version 4.9.7: RocketMQ 4.x has no proxy"},
		"masters":        {Options{Masters: 27}, "27 masters: at most 26 have a name"},
		"negative":       {Options{SlavesPerMaster: -1}, "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.options.withDefaults()
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestACLGeneration(t *testing.T) {
	for version, want := range map[string]bool{"4.9.7": false, "5.2.0": false, "5.3.0": true, "5.3.3": true, "5.5.0": true, "6.0.0": true} {
		NewWithT(t).Expect(Options{Version: version}.acl2()).To(Equal(want), version)
	}
}

// laidOut is a cluster whose servers have names, ports and files, and do not run.
func laidOut(t *testing.T, o Options) *Cluster {
	g := NewWithT(t)
	o, err := o.withDefaults()
	g.Expect(err).NotTo(HaveOccurred())
	c := &Cluster{Version: o.Version, Dir: t.TempDir(), options: o, lib: "/lib", archives: &archives{dir: t.TempDir(), jvm: "x"}}
	g.Expect(c.layout()).To(Succeed())
	t.Cleanup(c.releasePorts)
	return c
}

func names(servers []*Server) []string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Name)
	}
	return all
}

func TestLayout(t *testing.T) {
	g := NewWithT(t)
	c := laidOut(t, Options{Masters: 2, SlavesPerMaster: 1, Proxies: 1})
	g.Expect(names(c.Servers())).To(Equal([]string{
		"ns-1", "ns-2", "broker-a", "broker-b", "broker-a-slave-1", "broker-b-slave-1", "proxy-1",
	}))
	g.Expect(names(c.Masters())).To(Equal([]string{"broker-a", "broker-b"}))
	g.Expect(c.Server("broker-b").Dir).To(Equal(filepath.Join(c.Dir, "broker-b")))
	g.Expect(c.Server("broker-c")).To(BeNil())
	g.Expect(c.NameServerAddress()).To(Equal(strings.Join(c.NameServerAddresses(), ";")))
	g.Expect(c.Proxies[0].GRPCAddr).NotTo(Equal(c.Proxies[0].Addr))
	g.Expect(c.Server("ns-1").Running()).To(BeFalse())
	g.Expect(c.Server("ns-1").PID()).To(BeZero())
	g.Expect(c.Server("ns-1").Pause()).To(MatchError("ns-1 was never started"))
}

// readProperties reads what writeProperties wrote.
func readProperties(t *testing.T, path string) map[string]string {
	g := NewWithT(t)
	data, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	properties := map[string]string{}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		properties[key] = value
	}
	return properties
}

func TestBrokerConfiguration(t *testing.T) {
	g := NewWithT(t)
	c := laidOut(t, Options{SlavesPerMaster: 1, BrokerProperties: map[string]string{"fileReservedTime": "1", "autoCreateTopicEnable": "true"}})
	master := readProperties(t, c.Server("broker-b").config())
	g.Expect(master).To(And(
		HaveKeyWithValue("brokerName", "broker-b"), HaveKeyWithValue("brokerId", "0"),
		HaveKeyWithValue("brokerRole", "ASYNC_MASTER"), HaveKeyWithValue("brokerIP1", loopback),
		HaveKeyWithValue("namesrvAddr", c.NameServerAddress()),
		HaveKeyWithValue("fileReservedTime", "1"), HaveKeyWithValue("autoCreateTopicEnable", "true"),
		HaveKey("timerFlushIntervalMs"), Not(HaveKey("aclEnable")),
	))
	g.Expect(c.Server("broker-b").Addr).To(HaveSuffix(":" + master["listenPort"]))
	slave := readProperties(t, c.Server("broker-b-slave-1").config())
	g.Expect(slave).To(And(
		HaveKeyWithValue("brokerName", "broker-b"), HaveKeyWithValue("brokerId", "1"), HaveKeyWithValue("brokerRole", "SLAVE"),
	))
}

func TestConfigurationOf4(t *testing.T) {
	g := NewWithT(t)
	c := laidOut(t, Options{Version: "4.9.7", ACL: &Credentials{AccessKey: "admin-key", SecretKey: `sec"ret\1`}})
	broker := c.Server("broker-a")
	g.Expect(readProperties(t, broker.config())).To(And(HaveKeyWithValue("aclEnable", "true"), Not(HaveKey("timerFlushIntervalMs"))))
	for _, name := range []string{"logback_broker.xml", "logback_namesrv.xml", "plain_acl.yml", "tools.yml"} {
		g.Expect(filepath.Join(broker.Dir, "conf", name)).To(BeARegularFile())
	}
}

func TestACL2Configuration(t *testing.T) {
	g := NewWithT(t)
	c := laidOut(t, Options{Proxies: 1, ACL: &Credentials{AccessKey: "admin-key", SecretKey: "secret-1"}})
	broker := readProperties(t, c.Server("broker-a").config())
	g.Expect(broker).To(HaveKeyWithValue("initAuthenticationUser", `{"username":"admin-key","password":"secret-1"}`))
	data, err := os.ReadFile(c.Server("proxy-1").config())
	g.Expect(err).NotTo(HaveOccurred())
	proxy := map[string]any{}
	g.Expect(json.Unmarshal(data, &proxy)).To(Succeed())
	g.Expect(proxy).To(And(
		HaveKeyWithValue("authenticationEnabled", true), Not(HaveKey("initAuthenticationUser")),
		HaveKeyWithValue("rocketMQClusterName", "DefaultCluster"), HaveKeyWithValue("namesrvAddr", c.NameServerAddress()),
	))
}

// TestSign pins a signature that mqadmin 4.9.7 would make: HMAC-SHA1 with key
// "12345678" over the values of AccessKey, a, b and the body.
func TestSign(t *testing.T) {
	g := NewWithT(t)
	ext := map[string]string{"b": "2", "a": "1"}
	signed := (&Credentials{AccessKey: "RocketMQ", SecretKey: "12345678"}).sign(ext, []byte("body"))
	g.Expect(ext).To(HaveLen(2), "the caller's map is left alone")
	g.Expect(signed).To(HaveKeyWithValue("AccessKey", "RocketMQ"))
	g.Expect(signed).To(HaveKeyWithValue("Signature", "ovtiERlqVsqHPObqitk6NVqn23k="))
}

func TestJavaArguments(t *testing.T) {
	g := NewWithT(t)
	c := laidOut(t, Options{Proxies: 1, JVMFlags: map[Kind][]string{Broker: {"-Xmx1g"}}})
	broker := strings.Join(c.javaArgs(c.Server("broker-a")), " ")
	g.Expect(broker).To(HaveSuffix("-Xmx1g -cp /lib/* org.apache.rocketmq.broker.BrokerStartup -c " + c.Server("broker-a").config()))
	g.Expect(broker).To(ContainSubstring("-XX:MaxDirectMemorySize=512m"))
	g.Expect(broker).To(ContainSubstring("-Duser.home=" + c.Server("broker-a").Dir + " "))
	g.Expect(strings.Join(c.javaArgs(c.Server("ns-1")), " ")).NotTo(ContainSubstring("-Xmx1g"))
	g.Expect(strings.Join(c.javaArgs(c.Server("proxy-1")), " ")).To(HaveSuffix("-pm cluster -n " + c.NameServerAddress()))
}
