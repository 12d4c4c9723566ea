// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// fakeAddr is where the fake broker of most tests is.
const fakeAddr = "10.0.0.1:10911"

// fakeMaster is the broker that call 26 of the fake describes.
func fakeMaster() Master { return Master{Addr: fakeAddr, Name: "broker-a", Cluster: "DefaultCluster"} }

// sent is one request that reached the fake.
type sent struct {
	addr string
	code int
	ext  map[string]string
	body string
}

// fakeWire is an Invoker that answers by request code and keeps what was sent.
type fakeWire struct {
	mu         sync.Mutex
	calls      []sent
	generation uint64
	version    int
	answers    map[int]func(*remoting.Command) *remoting.Command
	failures   map[int]error
	// before runs before a request is answered, without the lock.
	before func(ctx context.Context, request *remoting.Command)
}

// newFake is a broker of a version that says who it is and answers code 3 to
// everything else.
func newFake(version int) *fakeWire {
	f := &fakeWire{
		generation: 1, version: version,
		answers:  map[int]func(*remoting.Command) *remoting.Command{},
		failures: map[int]error{},
	}
	f.body(remoting.ReqGetBrokerConfig, settingsBody)
	f.body(remoting.ReqGetBrokerRuntimeInfo, `{"table":{"brokerVersionDesc":"V5_3_3","bootTimestamp":"1796062259352","dispatchBehindBytes":"0"}}`)
	return f
}

const settingsBody = `brokerClusterName=DefaultCluster
brokerName=broker-a
brokerId=0
fileReservedTime=72
messageDelayLevel=1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h
autoCreateTopicEnable=true
autoCreateSubscriptionGroup=true
brokerPermission=6
initAuthenticationUser={"username":"root","password":"secret"}
`

func (f *fakeWire) client(options ...Option) *Client { return New(f, options...) }

// on sets the answer to a code.
func (f *fakeWire) on(code int, answer func(*remoting.Command) *remoting.Command) *fakeWire {
	f.answers[code] = answer
	return f
}

// body makes a code succeed with a body.
func (f *fakeWire) body(code int, body string) *fakeWire {
	return f.on(code, func(*remoting.Command) *remoting.Command { return &remoting.Command{Body: []byte(body)} })
}

// refuse makes a code be answered with a response code and a remark.
func (f *fakeWire) refuse(code, response int, remark string) *fakeWire {
	return f.on(code, func(*remoting.Command) *remoting.Command { return &remoting.Command{Code: response, Remark: remark} })
}

// ext makes a code succeed with one header field.
func (f *fakeWire) ext(code int, key, value string) *fakeWire {
	return f.on(code, func(*remoting.Command) *remoting.Command {
		return &remoting.Command{ExtFields: map[string]string{key: value}}
	})
}

// fail makes a code fail without an answer.
func (f *fakeWire) fail(code int, err error) *fakeWire {
	f.failures[code] = err
	return f
}

func (f *fakeWire) InvokeInfo(ctx context.Context, addr string, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	if f.before != nil {
		f.before(ctx, request)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, sent{addr: addr, code: request.Code, ext: maps.Clone(request.ExtFields), body: string(request.Body)})
	info := remoting.ReplyInfo{Generation: f.generation}
	if err := f.failures[request.Code]; err != nil {
		return nil, info, err
	}
	reply := &remoting.Command{Code: remoting.RespRequestCodeNotSupported, Remark: " request type " + strconv.Itoa(request.Code) + " not supported"}
	if answer, ok := f.answers[request.Code]; ok {
		reply = answer(request)
	}
	reply.Version = f.version
	return reply, info, remoting.ErrorFromResponse(addr, request.Code, reply)
}

func (f *fakeWire) InvokeOn(ctx context.Context, addr string, generation uint64, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	f.mu.Lock()
	current := f.generation
	f.mu.Unlock()
	if generation != current {
		return nil, remoting.ReplyInfo{}, &remoting.Error{Addr: addr, Code: request.Code, Kind: remoting.Closed, Err: remoting.ErrOtherConnection}
	}
	return f.InvokeInfo(ctx, addr, request)
}

// reconnect is another process at the same address from now on.
func (f *fakeWire) reconnect(version int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.generation++
	f.version = version
}

// codes are the request codes that were sent, in order.
func (f *fakeWire) codes() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var codes []int
	for _, c := range f.calls {
		codes = append(codes, c.code)
	}
	return codes
}

// of are the requests of one code.
func (f *fakeWire) of(code int) []sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls []sent
	for _, c := range f.calls {
		if c.code == code {
			calls = append(calls, c)
		}
	}
	return calls
}

func (f *fakeWire) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// changing are the changing codes that were sent.
func (f *fakeWire) changing() []int {
	var codes []int
	for _, code := range f.codes() {
		if CallKind(code) == Changing {
			codes = append(codes, code)
		}
	}
	return codes
}

// versionsCaptured are the released versions of testdata/captured.
func versionsCaptured() []string { return []string{"4.9.7", "5.3.3", "5.5.0"} }

// captured is what a released server answered to a request code; false when
// that version does not have the call.
func captured(t testing.TB, version string, code int) ([]byte, bool) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "captured", version, strconv.Itoa(code)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return body, true
}

// byAddr is an Invoker of several servers.
type byAddr map[string]*fakeWire

func (b byAddr) InvokeInfo(ctx context.Context, addr string, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	f, ok := b[addr]
	if !ok {
		return nil, remoting.ReplyInfo{}, &remoting.Error{Addr: addr, Code: request.Code, Kind: remoting.Unreachable}
	}
	return f.InvokeInfo(ctx, addr, request)
}

func (b byAddr) InvokeOn(ctx context.Context, addr string, generation uint64, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	f, ok := b[addr]
	if !ok {
		return nil, remoting.ReplyInfo{}, &remoting.Error{Addr: addr, Code: request.Code, Kind: remoting.Unreachable}
	}
	return f.InvokeOn(ctx, addr, generation, request)
}

// contexter is a test or one case of a property.
type contexter interface{ Context() context.Context }
