// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// bareLoop creates topics as a script would: one create call per topic, one
// after the other, on both brokers at the same time. It reads nothing, checks
// nothing and waits for nothing but the reply.
func bareLoop(ctx context.Context, mq *rocketmq.Cluster, topics int) (time.Duration, error) {
	wire := remoting.NewClient(remoting.Options{})
	defer wire.Close()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, master := range mq.Masters() {
		group.Go(func() error {
			for i := range topics {
				reply, err := wire.Invoke(ctx, master.Addr, &remoting.Command{
					Code: remoting.ReqUpdateAndCreateTopic,
					ExtFields: map[string]string{
						"topic": "BARE_" + topicName(i), "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4",
						"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
					},
				})
				if err != nil {
					return err
				}
				if reply.Code != 0 {
					return fmt.Errorf("%s answered %d: %s", master.Addr, reply.Code, reply.Remark)
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return time.Since(began), err
}
