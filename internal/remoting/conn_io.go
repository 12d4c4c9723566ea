// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// read takes frames off the connection until it ends.
func (c *conn) read() {
	r := bufio.NewReaderSize(c.nc, 32<<10)
	for {
		cmd, err := ReadCommand(r, c.opts.MaxFrame)
		now := time.Now()
		if err == nil {
			c.received(now)
			c.dispatch(cmd, now)
			continue
		}
		if !c.skip(r, err, now) {
			c.fail(c.readError(err))
			return
		}
	}
}

func (c *conn) received(now time.Time) {
	c.mu.Lock()
	c.lastRead = now
	c.mu.Unlock()
}

// skip passes over a frame that is too large but whose header could be read, so
// that it fails only the call that it answers.
func (c *conn) skip(r io.Reader, err error, now time.Time) bool {
	large, ok := errors.AsType[*FrameTooLargeError](err)
	if !ok || large.header == nil || large.Length > MaxFrameCeiling {
		return false
	}
	if large.header.IsResponse() {
		if p := c.take(large.header.Opaque); p != nil {
			p.result <- callResult{received: now, err: &Error{Kind: TooLarge, Err: large}}
		}
	}
	_, err = io.CopyN(io.Discard, r, int64(large.rest))
	return err == nil
}

func (c *conn) dispatch(cmd *Command, now time.Time) {
	if cmd.IsResponse() {
		// Nobody waits when the call has timed out meanwhile.
		if p := c.take(cmd.Opaque); p != nil {
			p.result <- callResult{reply: cmd, received: now}
		}
		return
	}
	if c.opts.Handler == nil {
		return
	}
	resp := c.opts.Handler(c.addr, cmd)
	if resp == nil || cmd.IsOneway() {
		return
	}
	out := *resp
	out.Opaque, out.Flag = cmd.Opaque, out.Flag|flagResponse
	frame, err := AppendCommand(nil, &out)
	if err != nil {
		return
	}
	select {
	case c.out <- outgoing{frame: frame}:
	case <-c.done:
	}
}

// write puts frames on the connection until it ends.
func (c *conn) write() {
	for {
		select {
		case o := <-c.out:
			if !c.beginWrite(o.call) {
				continue
			}
			if err := c.writeFrame(o.frame); err != nil {
				c.stopWriting(err)
				return
			}
		case <-c.done:
			return
		}
	}
}

// lastWords is how long a connection that takes no more bytes is still read. A
// peer that hangs up has often said why, and the reader may be about to see it.
const lastWords = time.Second

func (c *conn) stopWriting(err error) {
	if isTimeout(err) {
		c.fail(&Error{Kind: Closed, Err: saying("the peer did not take the request in time", err)})
		return
	}
	c.mu.Lock()
	c.writeErr = err
	c.mu.Unlock()
	if c.nc.SetReadDeadline(time.Now().Add(lastWords)) != nil {
		c.fail(c.readError(err))
	}
}

func (c *conn) writeFrame(frame []byte) error {
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.opts.WriteTimeout)); err != nil {
		return err
	}
	_, err := c.nc.Write(frame)
	return err
}
