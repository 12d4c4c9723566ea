// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// fields are a request's header fields: every value is text (rocketmq.md 1.2).
type fields map[string]string

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

func btoa(b bool) string { return strconv.FormatBool(b) }

// number reads a number from a reply's header fields.
func number(reply *remoting.Command, key string) (int64, error) {
	text, ok := reply.ExtFields[key]
	if !ok {
		return 0, fmt.Errorf("the reply has no field %q", key)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("field %q of the reply is not a number: %w", key, errors.Unwrap(err))
	}
	return n, nil
}
