// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// ErrTLSRequired is the cause when a plain connection was closed without one
// byte in answer: a server that insists on TLS does that (rocketmq.md 1.8), and
// so do some servers of other protocols.
var ErrTLSRequired = errors.New("the peer closed the plain connection without an answer; does it require TLS, or is this no port of RocketMQ remoting?")

// saidError gives an error other words and keeps it for errors.Is. Texts of
// package net name local ports, which differ each time; a status that repeats
// them would never rest.
type saidError struct {
	text string
	err  error
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.err }

func saying(text string, err error) error { return &saidError{text, err} }

// waitEnded is the error of a wait that ended with its context.
func waitEnded(ctx context.Context, kind Kind, text string) *Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{Kind: Canceled, Err: saying("the caller gave up", context.Cause(ctx))}
	}
	return &Error{Kind: kind, Err: saying(text, ctx.Err())}
}

func dialEnded(ctx context.Context) *Error {
	return waitEnded(ctx, Unreachable, "no connection in time")
}

// dialError says why no connection came about. life is the context of the dial.
func dialError(life context.Context, host string, err error) *Error {
	if errors.Is(context.Cause(life), ErrClientClosed) {
		return &Error{Kind: Canceled, Err: ErrClientClosed}
	}
	e := &Error{Kind: Unreachable}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Err = saying(fmt.Sprintf("the name %q does not resolve", host), err)
	case errors.As(err, &dns):
		e.Err = saying(fmt.Sprintf("the name %q cannot be resolved now: %s", host, dns.Err), err)
	case isTimeout(err):
		e.Err = saying("no connection in time", err)
	default:
		e.Err = saying(plainText(err), err)
	}
	return e
}

// handshake wraps nc in TLS. It closes nc when that fails.
func handshake(ctx context.Context, nc net.Conn, host string, config *tls.Config) (net.Conn, error) {
	config = config.Clone()
	if config.ServerName == "" {
		config.ServerName = host
	}
	tc := tls.Client(nc, config)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, handshakeError(ctx, err)
	}
	return tc, nil
}

func handshakeError(life context.Context, err error) *Error {
	if errors.Is(context.Cause(life), ErrClientClosed) {
		return &Error{Kind: Canceled, Err: ErrClientClosed}
	}
	switch {
	case isRecordError(err):
		return &Error{Kind: WrongEndpoint, Err: saying("the peer does not speak TLS on this port", err)}
	case isTimeout(err):
		return &Error{Kind: Unreachable, Err: saying("the TLS handshake did not end in time", err)}
	case isHangup(err):
		return &Error{Kind: Closed, Err: saying("the peer closed the connection during the TLS handshake; is TLS switched off there?", err)}
	default:
		return &Error{Kind: Untrusted, Err: err}
	}
}

// readError says why the connection cannot be read further.
func (c *conn) readError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if isAlert(err) {
		return &Error{Kind: Untrusted, Err: saying("the peer refused the TLS connection, probably for want of a client certificate", err)}
	}
	c.mu.Lock()
	unanswered := c.wrote && c.lastRead.IsZero()
	if c.writeErr != nil && isTimeout(err) {
		err = c.writeErr
	}
	c.mu.Unlock()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Kind: Closed, Err: saying("the peer closed the connection in the middle of a frame", err)}
	case isHangup(err) && unanswered && c.secure:
		return &Error{Kind: Closed, Err: saying("the peer closed the TLS connection without an answer; is this a gRPC port, or does it want a client certificate?", err)}
	case isHangup(err) && unanswered:
		return &Error{Kind: Closed, Err: fmt.Errorf("%w (%w)", ErrTLSRequired, saying(plainText(err), err))}
	case errors.Is(err, io.EOF):
		return &Error{Kind: Closed, Err: saying("the peer closed the connection", err)}
	default:
		return &Error{Kind: Closed, Err: saying(plainText(err), err)}
	}
}

func isHangup(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

// isAlert reports whether the peer ended TLS with an alert; the type that says
// so is not exported.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func isRecordError(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record)
}

// plainText is the text of err without the addresses that package net adds.
func plainText(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}
