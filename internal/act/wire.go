// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
)

// mayStillKey is where a context carries what must still hold when a changing
// call is sent.
type mayStillKey struct{}

// withCheck makes every changing call with the returned context ask mayStill
// right before it is sent; its error is the call's, and nothing is sent.
func withCheck(ctx context.Context, mayStill func() error) context.Context {
	return context.WithValue(ctx, mayStillKey{}, mayStill)
}

// checked is a wire that asks. A changing call without a check is refused: it
// would be one that no rule of this package looked at.
type checked struct{ wire rocketmq.Invoker }

// InvokeInfo implements rocketmq.Invoker.
func (c checked) InvokeInfo(ctx context.Context, addr string, req *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	if err := mayStill(ctx, req.Code); err != nil {
		return nil, remoting.ReplyInfo{}, err
	}
	return c.wire.InvokeInfo(ctx, addr, req)
}

// InvokeOn implements rocketmq.Invoker.
func (c checked) InvokeOn(ctx context.Context, addr string, generation uint64, req *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	if err := mayStill(ctx, req.Code); err != nil {
		return nil, remoting.ReplyInfo{}, err
	}
	return c.wire.InvokeOn(ctx, addr, generation, req)
}

func mayStill(ctx context.Context, code int) error {
	if rocketmq.CallKind(code) == rocketmq.Reading {
		return nil
	}
	check, ok := ctx.Value(mayStillKey{}).(func() error)
	if !ok {
		return errUnchecked
	}
	return check()
}
