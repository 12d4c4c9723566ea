// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import "context"

// CreateTopicUnsigned is CreateTopic by somebody without credentials.
func CreateTopicUnsigned(ctx context.Context, c *Cluster, topic string) error {
	unsigned := *c
	unsigned.options.ACL = nil
	return unsigned.CreateTopic(ctx, topic, 1)
}
