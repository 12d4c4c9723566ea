// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// bare is what a bare loop took.
type bare struct {
	// took is the whole time for all topics.
	took time.Duration
	// done is how many it had created when it was stopped; where these are not
	// all, took counts the rest at the pace of the last ones, which is too little:
	// each creation costs more than the one before.
	done int
}

// pacers are the last creations whose pace counts for the rest.
const pacers = 100

// bareLoop creates topics as a script would: one create call per topic, one
// after the other, on both brokers at the same time. It reads nothing, checks
// nothing and waits for nothing but the reply. It is stopped after the limit.
func bareLoop(ctx context.Context, mq *rocketmq.Cluster, topics int, limit time.Duration) (bare, error) {
	wire := remoting.NewClient(remoting.Options{})
	defer wire.Close()
	began := time.Now()
	masters := mq.Masters()
	took, done := make([]time.Duration, len(masters)), make([]int, len(masters))
	group, ctx := errgroup.WithContext(ctx)
	for i, master := range masters {
		group.Go(func() (err error) {
			took[i], done[i], err = createOneByOne(ctx, wire, master.Addr, topics, began, limit)
			return err
		})
	}
	err := group.Wait()
	return bare{took: slices.Max(took), done: slices.Min(done)}, err
}

func createOneByOne(ctx context.Context, wire *remoting.Client, broker string, topics int, began time.Time, limit time.Duration) (time.Duration, int, error) {
	var at []time.Duration
	for i := range topics {
		if time.Since(began) > limit && i > pacers {
			pace := (at[i-1] - at[i-1-pacers]) / pacers
			return at[i-1] + time.Duration(topics-i)*pace, i, nil
		}
		reply, err := wire.Invoke(ctx, broker, &remoting.Command{
			Code: remoting.ReqUpdateAndCreateTopic,
			ExtFields: map[string]string{
				"topic": "BARE_" + topicName(i), "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4",
				"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
			},
		})
		if err != nil {
			return 0, i, err
		}
		if reply.Code != 0 {
			return 0, i, fmt.Errorf("%s answered %d: %s", broker, reply.Code, reply.Remark)
		}
		at = append(at, time.Since(began))
	}
	return time.Since(began), topics, nil
}
