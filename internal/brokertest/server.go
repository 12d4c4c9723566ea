// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"bufio"
	"net"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

type wireCommand = remoting.Command

// request is a call that is being answered.
type request struct {
	*Call
	cmd  *wireCommand
	conn *clientConn
}

// reply is what an actor answers.
type reply struct {
	code   int
	remark string
	ext    map[string]string
	body   []byte
	// wait, if set, is run without the lock before the reply is sent; it may
	// return another reply in its place.
	wait func() *reply
}

func answer(code int, remark string) *reply { return &reply{code: code, remark: remark} }

func ok(body []byte) *reply { return &reply{body: body} }

// clientConn is one accepted connection.
type clientConn struct {
	n    *node
	conn net.Conn
	addr string
	life int // the node's, when it was accepted

	wmu sync.Mutex // orders writes

	mu      sync.Mutex
	opaque  int32
	waiting map[int32]chan *wireCommand // answers to our own requests
}

func (cc *clientConn) serve() {
	defer cc.gone()
	r := bufio.NewReader(cc.conn)
	for {
		cmd, err := remoting.ReadCommand(r, 0)
		if err != nil {
			return // closed, or not remoting: servers close the connection
		}
		if cmd.IsResponse() {
			cc.deliver(cmd)
			continue
		}
		cc.n.spawn(func() { cc.process(cmd) })
	}
}

// gone forgets the connection and the members that came over it.
func (cc *clientConn) gone() {
	_ = cc.conn.Close()
	cc.n.mu.Lock()
	delete(cc.n.conns, cc)
	cc.n.mu.Unlock()
	cc.n.c.mu.Lock()
	defer cc.n.c.mu.Unlock()
	cc.n.c.connectionLost(cc)
}

// process answers one request.
func (cc *clientConn) process(cmd *wireCommand) {
	n, c := cc.n, cc.n.c
	c.enter()
	for n.hung {
		resume := n.resume
		c.mu.Unlock()
		select {
		case <-resume:
		case <-c.done:
			return
		}
		c.enter()
	}
	if !n.current(cc) {
		c.mu.Unlock()
		return
	}
	rq := &request{Call: c.rec.start(n, cmd), cmd: cmd, conn: cc}
	f := c.match(rq.Call)
	if f != nil {
		rq.Fault = f.fault.Do.String()
		if f.fault.Do.before {
			c.mu.Unlock()
			if !f.wait(c.done) {
				return
			}
			c.enter()
			if !n.current(cc) {
				c.mu.Unlock()
				return
			}
		}
	}
	rep := c.execute(rq, f)
	c.mu.Unlock()
	if rep != nil && rep.wait != nil {
		rep = rep.wait()
	}
	if rep == nil || cmd.IsOneway() {
		return
	}
	cc.send(rq, rep, f)
}

// execute runs the call, unless the fault says otherwise. The cluster is locked.
func (c *Cluster) execute(rq *request, f *Injected) *reply {
	var rep *reply
	switch {
	case f != nil && f.fault.Do.instead != nil:
		r := *f.fault.Do.instead
		rep = &r
	default:
		rep = rq.conn.n.actor.handle(rq)
		rq.Applied = true
	}
	if rep != nil {
		rq.Reply, rq.Remark = rep.code, rep.remark
	}
	return rep
}

// send writes the reply, spoiled as the fault says.
func (cc *clientConn) send(rq *request, rep *reply, f *Injected) {
	var do Effect
	if f != nil {
		do = f.fault.Do
	}
	if do.after && !f.wait(cc.n.c.done) {
		return
	}
	if do.body != nil {
		rep.body = do.body(rep.body)
	}
	if do.drop {
		return
	}
	if do.hangUp {
		_ = cc.conn.Close()
		return
	}
	resp := remoting.NewResponse(rq.cmd, rep.code, rep.remark)
	resp.Language, resp.Version = "JAVA", int(cc.n.c.opts.Version)
	resp.ExtFields, resp.Body = rep.ext, rep.body
	frame, err := remoting.AppendCommand(nil, resp)
	if err != nil {
		_ = cc.conn.Close()
		return
	}
	if do.cut {
		frame = frame[:len(frame)/2]
	}
	cc.write(frame)
	if do.cut {
		_ = cc.conn.Close()
	}
}

func (cc *clientConn) write(frame []byte) {
	cc.wmu.Lock()
	defer cc.wmu.Unlock()
	_, _ = cc.conn.Write(frame) // a client that left needs no answer
}

// deliver hands the client's answer to whoever asked it.
func (cc *clientConn) deliver(cmd *wireCommand) {
	cc.mu.Lock()
	ch := cc.waiting[cmd.Opaque]
	delete(cc.waiting, cmd.Opaque)
	cc.mu.Unlock()
	if ch != nil {
		ch <- cmd
	}
}

// tell sends a one-way request of the server to the client, without waiting for
// a client that does not read.
func (cc *clientConn) tell(code int, ext map[string]string, body []byte) {
	const oneway = 2
	cmd := &wireCommand{
		Code: code, Language: "JAVA", Version: int(cc.n.c.opts.Version), Flag: oneway, ExtFields: ext, Body: body,
	}
	if frame, err := remoting.AppendCommand(nil, cmd); err == nil {
		cc.n.spawn(func() { cc.write(frame) })
	}
}

// ask sends a request of the server to the client; the answer arrives on the
// channel, if it ever does.
func (cc *clientConn) ask(code int, ext map[string]string) (answer chan *wireCommand, forget func()) {
	ch := make(chan *wireCommand, 1)
	cc.mu.Lock()
	cc.opaque++
	id := cc.opaque
	cc.waiting[id] = ch
	cc.mu.Unlock()
	cmd := &wireCommand{Code: code, Language: "JAVA", Version: int(cc.n.c.opts.Version), Opaque: id, ExtFields: ext}
	if frame, err := remoting.AppendCommand(nil, cmd); err == nil {
		cc.write(frame)
	}
	return ch, func() {
		cc.mu.Lock()
		delete(cc.waiting, id)
		cc.mu.Unlock()
	}
}
