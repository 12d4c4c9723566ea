// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestTheRecorderKeepsWhatArrived(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	rec := c.Recorder()
	rec.RequireNoCalls(t)
	call(t, c.Broker(brokerA).Addr(), 30, queueArgs(orders, 3))
	call(t, c.Broker(brokerB).Addr(), 30, queueArgs(orders, 4))
	call(t, c.NameServerAddrs()[1], 105, map[string]string{"topic": orders})
	rec.RequireNoChangingCalls(t)
	g.Expect(rec.ByCode()).To(Equal(map[int]int{30: 2, 105: 1}))
	g.Expect(rec.ByNode()).To(Equal(map[string]map[int]int{brokerA: {30: 1}, brokerB: {30: 1}, "ns-1": {105: 1}}))
	g.Expect(rec.Count(brokertest.To(brokerB), brokertest.WithCode(30, 31), brokertest.WithArg("queueId", "4"))).To(Equal(1))
	g.Expect(rec.Count(brokertest.OfKind(brokertest.Reading))).To(Equal(3))

	narrow(t, c, brokerB, 8, 4)
	narrow(t, c, brokerA, 8, 4)
	changes := rec.Changing()
	g.Expect(changes).To(HaveLen(2))
	g.Expect([]string{changes[0].Node, changes[1].Node}).To(Equal([]string{brokerB, brokerA}))
	g.Expect(changes[0].Args).To(HaveKeyWithValue("writeQueueNums", "4"))
	g.Expect(changes[0].At).To(Equal(brokertest.Epoch()))
	rec.RequireChangingCalls(t, 2)

	rec.Reset()
	rec.RequireNoCalls(t)
	call(t, c.Broker(brokerA).Addr(), 28, nil)
	g.Expect(rec.Calls()[0].Seq).To(Equal(6), "numbers go on")
}

func TestTheRecordersAssertionsFail(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	rec := c.Recorder()
	call(t, c.Broker(brokerA).Addr(), 41, nil, `{}`)
	narrow(t, c, brokerA, 8, 4)
	for name, assertion := range map[string]func(brokertest.TB){
		"no changing":  rec.RequireNoChangingCalls,
		"no calls":     rec.RequireNoCalls,
		"no forbidden": rec.RequireNoForbiddenCalls,
		"one changing": func(t brokertest.TB) { rec.RequireChangingCalls(t, 1) },
	} {
		f := &failures{}
		assertion(f)
		g.Expect(f.texts).To(HaveLen(1), name)
	}
}

func TestKindsOfCalls(t *testing.T) {
	g := NewWithT(t)
	for kind, codes := range map[brokertest.Kind][]int{
		brokertest.Reading:   {105, 106, 206, 21, 351, 202, 201, 352, 203, 38, 307, 208, 300, 345, 343, 30, 31, 14, 43, 204, 26, 28, 61, 45, 402, 11, 321},
		brokertest.Changing:  {17, 18, 215, 216, 200, 225, 207, 15, 25, 100, 102, 222, 401, 205},
		brokertest.Forbidden: {41, 42, 306, 308, 316},
		brokertest.Client:    {10, 310, 34, 35, 36, 37},
	} {
		for _, code := range codes {
			g.Expect(brokertest.KindOf(code)).To(Equal(kind), "code %d", code)
		}
	}
}

func TestReadingAGroupThatIsNotThereIsAChange(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(call(t, c.Broker(brokerA).Addr(), 352, map[string]string{"group": "nobody"}).Code).To(BeZero())
	g.Expect(c.Recorder().Changing()).To(HaveLen(1))
	_, has := c.Broker(brokerA).Group("nobody")
	g.Expect(has).To(BeTrue())
	call(t, c.Broker(brokerA).Addr(), 352, map[string]string{"group": "nobody"})
	g.Expect(c.Recorder().Changing()).To(HaveLen(1))
}
