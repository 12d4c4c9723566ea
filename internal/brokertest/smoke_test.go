// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// call sends one request on a connection of its own and returns the reply.
func call(t *testing.T, addr string, code int, ext map[string]string, body string) *remoting.Command {
	t.Helper()
	g := NewWithT(t)
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(conn.Close()).To(Succeed()) }()
	g.Expect(conn.SetDeadline(time.Now().Add(5 * time.Second))).To(Succeed())
	frame, err := remoting.AppendCommand(nil, &remoting.Command{
		Code: code, Opaque: 7, Version: 513, ExtFields: ext, Body: []byte(body),
	})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = conn.Write(frame)
	g.Expect(err).NotTo(HaveOccurred())
	reply, err := remoting.ReadCommand(bufio.NewReader(conn), 0)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reply.Opaque).To(Equal(int32(7)))
	return reply
}

// topicArgs are the fields of call 17.
func topicArgs(topic, read, write string, more ...string) map[string]string {
	args := map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": read, "writeQueueNums": write,
		"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	for _, kv := range more {
		k, v, _ := strings.Cut(kv, "=")
		if v == "" {
			delete(args, k)
		} else {
			args[k] = v
		}
	}
	return args
}

func forEachVersion(t *testing.T, f func(t *testing.T, v brokertest.Version)) {
	t.Helper()
	for _, v := range brokertest.Versions() {
		t.Run(v.String(), func(t *testing.T) { f(t, v) })
	}
}

func TestStartIsFastAndAnswers(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		began := time.Now()
		c := brokertest.Start(t, brokertest.Options{Version: v, Slaves: 1})
		t.Logf("started in %s", time.Since(began))
		c.CreateTopic("orders", 8, 8)
		info := call(t, c.NameServerAddrs()[1], 106, nil, "")
		g.Expect(string(info.Body)).To(ContainSubstring(`"brokerAddrs":{0:"127.0.0.1:`))
		route := call(t, c.NameServerAddrs()[0], 105, map[string]string{"topic": "orders"}, "")
		g.Expect(string(route.Body)).To(ContainSubstring(`"brokerAddrs":{"0":"127.0.0.1:`))
		r := call(t, c.Broker("broker-a").Addr(), 17, topicArgs("orders", "8", "4"), "")
		g.Expect(r.Code).To(BeZero())
		g.Expect(c.NameServer(1).Route("orders")["broker-a"].Write).To(Equal(4))
		g.Expect(c.Recorder().Changing()).To(HaveLen(1))
	})
}
