// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// sweepCalls are the calls of one sweep over two brokers and two name servers.
type sweepCalls struct {
	topics   int
	calls    float64
	changing int
}

// measureSweeps counts the calls of a sweep for numbers of watched topics.
func measureSweeps(ctx context.Context, numbers []int) ([]sweepCalls, error) {
	var out []sweepCalls
	for _, n := range numbers {
		s, err := measureSweep(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func measureSweep(ctx context.Context, topics int) (sweepCalls, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	mq, err := brokertest.New(brokertest.Options{Clock: clock.RealClock{}})
	if err != nil {
		return sweepCalls{}, err
	}
	defer mq.Stop()
	manager := observe.NewManager(observe.Options{})
	id := observe.ID{Namespace: "bench", Name: "bench"}
	wakes := manager.Hub().Subscribe(func(observe.Key) {})
	defer wakes.Close()
	for i := range topics {
		name := topicName(i)
		mq.CreateTopic(name, 4, 4)
		wakes.Watch(observe.Key{Namespace: "bench", Name: name}, id, name)
	}
	observer, err := manager.Ensure(id, observe.Config{
		ClusterName: mq.Name(), NameServers: mq.NameServerAddrs(), Timings: observe.Timings{Sweep: time.Second},
		Connect: func() (observe.Wire, error) { return remoting.NewClient(remoting.Options{}), nil },
	})
	if err != nil {
		return sweepCalls{}, err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- manager.Start(running) }()
	defer func() {
		stop()
		<-done
	}()
	// The first sweeps connect and identify; they are not counted.
	if err := untilSweep(ctx, observer, 3); err != nil {
		return sweepCalls{}, err
	}
	const counted = 5
	mq.Recorder().Reset()
	from := observer.Cluster().Seq
	if err := untilSweep(ctx, observer, from+counted); err != nil {
		return sweepCalls{}, err
	}
	calls := len(mq.Recorder().Calls())
	return sweepCalls{topics: topics, calls: float64(calls) / counted, changing: len(mq.Recorder().Changing())}, nil
}

// untilSweep waits for the end of a sweep.
func untilSweep(ctx context.Context, o *observe.Observer, seq uint64) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for o.Cluster().Seq < seq {
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("sweep %d did not come", seq), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

func topicName(i int) string { return fmt.Sprintf("BENCH_%05d", i) }
