// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// Credentials sign requests. An empty AccessKey means that requests are not
// signed.
type Credentials struct {
	// AccessKey is the user name in ACL 2.0.
	AccessKey string
	// SecretKey is the password in ACL 2.0. It never travels.
	SecretKey string
	// SecurityToken is sent along and signed when it is not empty.
	SecurityToken string
}

// Options configure a Client. The zero value is a plain connection without
// signing, and the defaults named at each field.
type Options struct {
	// Credentials is asked before every request, so that a rotated Secret
	// counts from the next request on; nil means that requests are not signed.
	// Its error makes the call fail with kind Denied.
	Credentials func(ctx context.Context) (Credentials, error)
	// TLS is the client side of TLS; nil means plain. The host of the address
	// is the name to verify unless ServerName is set.
	TLS *tls.Config
	// Handler gets the requests that servers send. It runs on the goroutine
	// that reads the connection, so it must not wait. What it returns is sent
	// as the response; nil sends nothing. A nil Handler ignores all requests.
	Handler func(addr string, req *Command) *Command

	// Timeout bounds calls whose context has no deadline. Default 30 s: a
	// broker takes 24 s to answer a topic change while a name server hangs
	// (rocketmq.md 3.4).
	Timeout time.Duration
	// DialTimeout bounds resolving, connecting and the TLS handshake together.
	// Default 5 s.
	DialTimeout time.Duration
	// WriteTimeout bounds the writing of one frame; a connection on which it
	// passes is closed. Default 10 s.
	WriteTimeout time.Duration
	// IdleTimeout is after what time without calls a connection is closed.
	// Default 60 s; servers close at 120 s (rocketmq.md 1.8), and a call must
	// not meet that.
	IdleTimeout time.Duration
	// MaxInFlight bounds the calls at one time on one connection; further ones
	// wait. Default 64.
	MaxInFlight int
	// MaxFrame bounds the frames that are read, in bytes. Default
	// DefaultMaxFrame, at most MaxFrameCeiling.
	MaxFrame int

	// DialContext replaces net.Dialer. It must resolve names on every dial.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (o Options) withDefaults() Options {
	setDuration(&o.Timeout, 30*time.Second)
	setDuration(&o.DialTimeout, 5*time.Second)
	setDuration(&o.WriteTimeout, 10*time.Second)
	setDuration(&o.IdleTimeout, 60*time.Second)
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 64
	}
	if o.DialContext == nil {
		o.DialContext = (&net.Dialer{}).DialContext
	}
	return o
}

func setDuration(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}
