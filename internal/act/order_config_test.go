// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

const eight, four = "broker-a:8;broker-b:8", "broker-a:4;broker-b:4"

func (r *rig) orders(look snapshot.TopicLook, expect, value string) Order {
	o := Order{Topic: topic, Look: look, Step: resize.Step{Kind: resize.StepSetOrderConfig}}
	for _, server := range r.NameServerAddrs() {
		o.Step.Order = append(o.Step.Order, resize.OrderEntry{NameServer: server, Expect: expect, Value: value})
	}
	return o
}

func (r *rig) orderOn(i int) string {
	value, err := r.client.OrderConfig(r.t.Context(), r.NameServerAddrs()[i], topic)
	r.g.Expect(err).NotTo(HaveOccurred())
	return value
}

func TestQ10_OrderConfigIsWrittenOnEveryNameServer(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, look := withTopic(t, brokertest.Options{Version: v}, 8, 8)
		for i := range 2 {
			r.NameServer(i).SetKV(rocketmq.OrderNamespace, topic, eight)
		}
		out := r.do(r.orders(look, eight, four))
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		r.g.Expect(out.Order).To(HaveLen(2))
		for i := range 2 {
			r.g.Expect(r.orderOn(i)).To(Equal(four))
		}
		r.Recorder().RequireChangingCalls(t, 2)
		r.g.Expect(r.do(r.orders(look, eight, four)).Sent()).To(BeFalse(), "it is done already")

		r.g.Expect(r.do(r.orders(look, four, "")).Err()).NotTo(HaveOccurred())
		for i := range 2 {
			r.g.Expect(r.orderOn(i)).To(BeEmpty())
		}
	})
}

func TestQ10_AForeignOrderConfigIsLeftAlone(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 8, 8)
	r.NameServer(0).SetKV(rocketmq.OrderNamespace, topic, eight)
	r.NameServer(1).SetKV(rocketmq.OrderNamespace, topic, "broker-a:5")
	out := r.do(r.orders(look, eight, four))
	r.g.Expect(out.Order[r.NameServerAddrs()[0]]).NotTo(HaveOccurred())
	var foreign *ForeignChangeError
	r.g.Expect(errors.As(out.Order[r.NameServerAddrs()[1]], &foreign)).To(BeTrue())
	r.g.Expect(r.orderOn(0)).To(Equal(four))
	r.g.Expect(r.orderOn(1)).To(Equal("broker-a:5"))
	r.g.Expect(out.Err()).To(HaveOccurred())
}

func TestQ10_TheReadBackDecides(t *testing.T) {
	for name, fault := range broken() {
		t.Run(name, func(t *testing.T) {
			r, look := withTopic(t, brokertest.Options{NameServers: 1}, 8, 8)
			r.writeTimeout = 200 * time.Millisecond
			r.Inject(brokertest.Fault{Code: 100, Do: fault.do})
			err := r.do(r.orders(look, "", four)).Err()
			if fault.applied {
				r.g.Expect(err).NotTo(HaveOccurred())
			} else {
				var lost *NotStoredError
				r.g.Expect(errors.As(err, &lost)).To(BeTrue(), "%v", err)
			}
		})
	}
	t.Run("not known before", func(t *testing.T) {
		r, look := withTopic(t, brokertest.Options{NameServers: 1}, 8, 8)
		r.Inject(brokertest.Fault{Code: 101, Do: brokertest.Answer(1, "broken")})
		r.g.Expect(r.do(r.orders(look, "", four)).Err()).To(MatchError(ContainSubstring("nothing was sent")))
		r.Recorder().RequireNoChangingCalls(t)
	})
}
