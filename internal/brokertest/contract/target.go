// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
)

// Release ordinals at which the contract differs (rocketmq.md 1.5).
const (
	v500 = 413
	v540 = 493
	v550 = 513
	// v533 is the one release whose call 300 is wrong (rocketmq.md 3.18).
	v533 = 479
)

// Target is a RocketMQ to test: two name servers, two masters, topics not
// created by sending, groups created by asking, delay levels of one second and
// more from level 1 on.
type Target struct {
	// Version is the release's ordinal.
	Version int
	Cluster string
	// NameServers are all of them.
	NameServers []string
	// Masters and Slaves are addresses by broker name; Slaves may be empty.
	Masters, Slaves map[string]string
	// Proxies are remoting addresses; may be empty.
	Proxies []string
	// Pass lets time go by where the test owns the clock, and does nothing
	// where time goes by itself.
	Pass func(time.Duration)
	// Node does something to a server; nil if the target cannot.
	RestartNameServer func(t *testing.T, index int)
	HangNameServer    func(t *testing.T, index int) (resume func())
	// Patience bounds how long something that needs time may take; Poll is how
	// often it is looked at.
	Patience, Poll time.Duration
	// Stay is how long something is watched that must not change.
	Stay time.Duration
}

func (g Target) five() bool { return g.Version >= v500 }

// scene is one test at work.
type scene struct {
	*testing.T
	*gomega.WithT
	Target
	wire   *remoting.Client
	client *rocketmq.Client
	ns     string // a name server
	a      string // the master of broker-a
}

// serial makes names that no other test of the process uses.
type serial struct{ n atomic.Int64 }

// Run runs the contract against the target.
func Run(t *testing.T, target Target) {
	t.Helper()
	if target.Patience == 0 {
		target.Patience = 30 * time.Second
	}
	if target.Poll == 0 {
		target.Poll = 200 * time.Millisecond
	}
	if target.Stay == 0 {
		target.Stay = 25 * time.Second // two registrations of a broker
	}
	names := &serial{}
	for _, group := range [][]test{
		clusterTests(), topicTests(), replicaTests(), attributeTests(), batchTests(), groupTests(),
		offsetTests(), statsTests(), messageTests(), lateTests(), memberTests(), resetTests(),
		runtimeTests(), proxyTests(), disturbanceTests(),
	} {
		for _, tc := range group {
			t.Run(tc.name, func(t *testing.T) {
				s := &scene{T: t, WithT: gomega.NewWithT(t), Target: target, ns: target.NameServers[0], a: target.Masters["broker-a"]}
				s.wire = remoting.NewClient(remoting.Options{})
				t.Cleanup(func() { s.Expect(s.wire.Close()).To(gomega.Succeed()) })
				s.client = rocketmq.New(s.wire)
				tc.run(s, fmt.Sprintf("c%d-%d", names.n.Add(1), time.Now().UnixMilli()%1_000_000))
			})
		}
	}
}

// test is one behaviour. Its run gets a name that it may use for topics and
// groups.
type test struct {
	name string
	run  func(s *scene, name string)
}

// call sends any request and returns the answer, which must come.
func (s *scene) call(addr string, code int, ext map[string]string, body ...string) *remoting.Command {
	s.Helper()
	reply, err := s.try(addr, 40*time.Second, code, ext, body...)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return reply
}

// try sends any request and waits at most so long for the answer.
func (s *scene) try(addr string, within time.Duration, code int, ext map[string]string, body ...string) (*remoting.Command, error) {
	ctx, cancel := context.WithTimeout(s.Context(), within)
	defer cancel()
	reply, err := s.wire.Invoke(ctx, addr, &remoting.Command{
		Code: code, Version: remoting.Version, ExtFields: ext, Body: []byte(strings.Join(body, "")),
	})
	if reply != nil {
		return reply, nil // whatever its code
	}
	return nil, err
}

// ok sends a request that must succeed.
func (s *scene) ok(addr string, code int, ext map[string]string, body ...string) *remoting.Command {
	s.Helper()
	reply := s.call(addr, code, ext, body...)
	s.Expect(reply.Code).To(gomega.BeZero(), "%s: %s", remoting.RequestName(code), reply.Remark)
	return reply
}

// refused sends a request that must be answered with the code.
func (s *scene) refused(want int, addr string, code int, ext map[string]string, body ...string) string {
	s.Helper()
	reply := s.call(addr, code, ext, body...)
	s.Expect(reply.Code).To(gomega.Equal(want), "%s: %s", remoting.RequestName(code), reply.Remark)
	return reply.Remark
}

// invalid is the code of requests that break a rule of names or queue ids.
func (s *scene) invalid() int {
	if s.five() {
		return remoting.RespInvalidParameter
	}
	return remoting.RespSystemError
}

// soon waits until f succeeds, letting time pass.
func (s *scene) soon(f func(g gomega.Gomega)) {
	s.Helper()
	s.Eventually(func(g gomega.Gomega) {
		s.Pass(time.Second)
		f(g)
	}).WithTimeout(s.Patience).WithPolling(s.Poll).Should(gomega.Succeed())
}

// fields are header fields; later ones win, and an empty value removes one.
type fields map[string]string

func (f fields) with(kv ...string) fields {
	out := fields{}
	for k, v := range f {
		out[k] = v
	}
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] == "" {
			delete(out, kv[i])
		} else {
			out[kv[i]] = kv[i+1]
		}
	}
	return out
}

// topicFields are those of call 17.
func topicFields(topic string, read, write int) fields {
	return fields{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": fmt.Sprint(read), "writeQueueNums": fmt.Sprint(write),
		"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
}

// topic creates a topic on broker-a.
func (s *scene) topic(name string, read, write int) {
	s.Helper()
	s.ok(s.a, remoting.ReqUpdateAndCreateTopic, topicFields(name, read, write))
}

// group creates a group on broker-a.
func (s *scene) group(name string) {
	s.Helper()
	s.ok(s.a, remoting.ReqUpdateAndCreateSubscriptionGroup, nil, `{"groupName":"`+name+`"}`)
}
