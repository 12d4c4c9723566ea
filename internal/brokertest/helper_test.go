// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

const (
	orders  = "orders"
	brokerA = "broker-a"
	brokerB = "broker-b"
)

// caller is one connection to a node.
type caller struct {
	conn net.Conn
	r    *bufio.Reader
	next int32
}

func dial(t *testing.T, addr string) *caller {
	t.Helper()
	g := NewWithT(t)
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = conn.Close() })
	return &caller{conn: conn, r: bufio.NewReader(conn)}
}

// send writes a request and returns its opaque.
func (c *caller) send(code int, ext map[string]string, body string) (int32, error) {
	c.next++
	frame, err := remoting.AppendCommand(nil, &remoting.Command{
		Code: code, Opaque: c.next, Version: 513, ExtFields: ext, Body: []byte(body),
	})
	if err != nil {
		return 0, err
	}
	_, err = c.conn.Write(frame)
	return c.next, err
}

// receive reads the next frame.
func (c *caller) receive() (*remoting.Command, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return nil, err
	}
	return remoting.ReadCommand(c.r, 0)
}

func (c *caller) try(code int, ext map[string]string, body string) (*remoting.Command, error) {
	if _, err := c.send(code, ext, body); err != nil {
		return nil, err
	}
	return c.receive()
}

// call sends one request on a connection of its own and returns the reply.
func call(t *testing.T, addr string, code int, ext map[string]string, body ...string) *remoting.Command {
	t.Helper()
	text := ""
	if len(body) > 0 {
		text = body[0]
	}
	reply, err := dial(t, addr).try(code, ext, text)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return reply
}

// topicArgs are the fields of call 17.
func topicArgs(topic string, read, write int) map[string]string {
	return map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": strconv.Itoa(read),
		"writeQueueNums": strconv.Itoa(write), "perm": "6", "topicFilterType": "SINGLE_TAG",
		"topicSysFlag": "0", "order": "false",
	}
}

// narrow sends call 17 to a broker's master.
func narrow(t *testing.T, c *brokertest.Cluster, broker string, read, write int) {
	t.Helper()
	NewWithT(t).Expect(call(t, c.Broker(broker).Addr(), 17, topicArgs(orders, read, write)).Code).To(BeZero())
}

func queueArgs(topic string, id int) map[string]string {
	return map[string]string{"topic": topic, "queueId": strconv.Itoa(id)}
}

// maxOffset asks call 30.
func maxOffset(t *testing.T, b *brokertest.Broker, id int) string {
	t.Helper()
	return call(t, b.Addr(), 30, queueArgs(orders, id)).ExtFields["offset"]
}

func forEachVersion(t *testing.T, f func(t *testing.T, v brokertest.Version)) {
	t.Helper()
	for _, v := range brokertest.Versions() {
		t.Run(v.String(), func(t *testing.T) { f(t, v) })
	}
}

// start builds a cluster with the topic orders, 8 queues on every broker.
func start(t *testing.T, o brokertest.Options) *brokertest.Cluster {
	t.Helper()
	c := brokertest.Start(t, o)
	c.CreateTopic(orders, 8, 8)
	return c
}

// failures is a test that notes how it fails, for assertions that must fail.
type failures struct{ texts []string }

func (f *failures) Helper()        {}
func (f *failures) Cleanup(func()) {}
func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}
func (f *failures) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

// dialError connects and reports how that failed.
func dialError(addr string) (net.Conn, error) { return net.DialTimeout("tcp", addr, time.Second) }

// regexpFind is the first group of the first match.
func regexpFind(g Gomega, pattern string, in []byte) string {
	m := regexp.MustCompile(pattern).FindSubmatch(in)
	g.Expect(m).To(HaveLen(2))
	return string(m[1])
}
