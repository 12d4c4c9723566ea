// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func queues(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// offsetBroker answers 30 with 100 + queue and 31 with queue.
func offsetBroker() *fakeWire {
	f := newFake(513)
	f.on(remoting.ReqGetMaxOffset, func(r *remoting.Command) *remoting.Command {
		queue, err := strconv.Atoi(r.ExtFields["queueId"])
		if err != nil {
			panic(err)
		}
		return &remoting.Command{ExtFields: map[string]string{"offset": strconv.Itoa(100 + queue)}}
	})
	f.on(remoting.ReqGetMinOffset, func(r *remoting.Command) *remoting.Command {
		return &remoting.Command{ExtFields: map[string]string{"offset": r.ExtFields["queueId"]}}
	})
	return f
}

func TestMaxAndMinOffset(t *testing.T) {
	g := NewWithT(t)
	f := offsetBroker()
	c := f.client()
	g.Expect(c.MaxOffset(t.Context(), fakeAddr, "T", 7)).To(BeEquivalentTo(107))
	g.Expect(c.MinOffset(t.Context(), fakeAddr, "T", 7)).To(BeEquivalentTo(7))
	g.Expect(f.calls).To(Equal([]sent{
		{addr: fakeAddr, code: 30, ext: map[string]string{"topic": "T", "queueId": "7"}},
		{addr: fakeAddr, code: 31, ext: map[string]string{"topic": "T", "queueId": "7"}},
	}))
	_, err := c.MaxOffset(t.Context(), fakeAddr, "T", -1)
	g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}))
}

func TestR06_OffsetsOfAllQueuesOrNone(t *testing.T) {
	g := NewWithT(t)
	f := offsetBroker()
	c := f.client()
	ends, err := c.MaxOffsets(t.Context(), fakeAddr, "T", queues(50))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ends).To(HaveLen(50))
	g.Expect(ends).To(HaveKeyWithValue(49, int64(149)))
	bounds, err := c.QueueOffsets(t.Context(), fakeAddr, "T", queues(50))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bounds).To(HaveLen(50))
	g.Expect(bounds).To(HaveKeyWithValue(49, snapshot.QueueOffsets{Min: 49, Max: 149}))
	none, err := c.MaxOffsets(t.Context(), fakeAddr, "T", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none).To(BeEmpty())

	for name, answer := range map[string]*remoting.Command{
		"no offset":     {},
		"not a number":  {ExtFields: map[string]string{"offset": "many"}},
		"empty":         {ExtFields: map[string]string{"offset": ""}},
		"over an int64": {ExtFields: map[string]string{"offset": "9223372036854775808"}},
		"busy":          {Code: remoting.RespSystemBusy},
	} {
		f := offsetBroker()
		whole := f.answers[remoting.ReqGetMaxOffset]
		f.on(remoting.ReqGetMaxOffset, func(r *remoting.Command) *remoting.Command {
			if r.ExtFields["queueId"] == "33" {
				return answer
			}
			return whole(r)
		})
		ends, err := f.client().MaxOffsets(t.Context(), fakeAddr, "T", queues(50))
		g.Expect(err).To(HaveOccurred(), name)
		g.Expect(ends).To(BeNil(), name)
		bounds, err := f.client().QueueOffsets(t.Context(), fakeAddr, "T", queues(50))
		g.Expect(err).To(HaveOccurred(), name)
		g.Expect(bounds).To(BeNil(), name)
	}
}

// TestG06_AProxyIsNoSourceOfOffsets has a peer that knows none of the calls: an
// error, never zeros.
func TestG06_AProxyIsNoSourceOfOffsets(t *testing.T) {
	g := NewWithT(t)
	f := &fakeWire{generation: 1, version: 513}
	c := f.client()
	_, err := c.MaxOffset(t.Context(), "proxy:8080", "T", 0)
	g.Expect(err).To(MatchError(remoting.Unsupported))
	_, err = c.MaxOffsets(t.Context(), "proxy:8080", "T", queues(3))
	g.Expect(err).To(MatchError(remoting.Unsupported))
	_, err = c.AllCommittedOffsets(t.Context(), "proxy:8080")
	g.Expect(err).To(MatchError(remoting.Unsupported))
	_, _, err = c.CommittedOffset(t.Context(), "proxy:8080", "T", "G", 0)
	g.Expect(err).To(MatchError(remoting.Unsupported))
	_, err = c.Identify(t.Context(), "proxy:8080")
	g.Expect(err).To(MatchError(remoting.Unsupported))
	_, err = c.TopicConfig(t.Context(), "proxy:8080", "T")
	g.Expect(err).To(MatchError(remoting.Unsupported))
}

func TestQueuesAreAskedInBoundedParallel(t *testing.T) {
	for _, limit := range []int{1, 3, 8} {
		g := NewWithT(t)
		f := offsetBroker()
		var now, most atomic.Int32
		reached := make(chan struct{})
		f.before = func(ctx context.Context, _ *remoting.Command) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			if int(n) == limit && most.Load() == int32(limit) {
				select {
				case <-reached:
				default:
					close(reached)
				}
			}
			// The first calls wait for each other: they are under way together.
			select {
			case <-reached:
			case <-ctx.Done():
			}
			now.Add(-1)
		}
		_, err := f.client(WithParallel(limit)).MaxOffsets(t.Context(), fakeAddr, "T", queues(40))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(most.Load()).To(BeEquivalentTo(limit))
	}
}

func TestQueues_FirstFailureEndsTheRest(t *testing.T) {
	g := NewWithT(t)
	f := offsetBroker()
	f.fail(remoting.ReqGetMaxOffset, &remoting.Error{Addr: fakeAddr, Code: 30, Kind: remoting.Timeout, Sent: true})
	_, err := f.client(WithParallel(2)).MaxOffsets(t.Context(), fakeAddr, "T", queues(1000))
	g.Expect(err).To(MatchError(remoting.Timeout))
	g.Expect(len(f.codes())).To(BeNumerically("<", 10))
}

func TestQueues_CallerGivesUp(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the look was given up")
	f := offsetBroker()
	var asked atomic.Int32
	f.before = func(context.Context, *remoting.Command) {
		if asked.Add(1) == 5 {
			cancel(gone)
		}
	}
	ends, err := f.client(WithParallel(1)).MaxOffsets(ctx, fakeAddr, "T", queues(100))
	g.Expect(err).To(MatchError(gone))
	g.Expect(ends).To(BeNil())
	g.Expect(asked.Load()).To(BeNumerically("<", 100))
}

func TestEach_AllOrAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "keys")
		bad := rapid.SliceOfN(rapid.IntRange(0, 80), 0, 3).Draw(t, "failing")
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		failing := false
		for _, b := range bad {
			failing = failing || b < n
		}
		got, err := each(t.Context(), limit, queues(n), func(_ context.Context, key int) (int, error) {
			for _, b := range bad {
				if b == key {
					return 0, errors.New("no")
				}
			}
			return key * 2, nil
		})
		if (err != nil) != failing {
			t.Fatalf("error %v, failing %t", err, failing)
		}
		if err != nil && got != nil || err == nil && len(got) != n {
			t.Fatalf("%d answers of %d, error %v", len(got), n, err)
		}
		for key, value := range got {
			if value != key*2 {
				t.Fatalf("answer of %d is %d", key, value)
			}
		}
	})
}
