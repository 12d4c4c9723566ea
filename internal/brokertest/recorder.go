// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Call is one request that reached a node.
type Call struct {
	// Seq counts calls from 1; it goes on over Reset.
	Seq int
	// At is when it arrived, on the cluster's clock.
	At time.Time
	// Node is where it was sent: "ns-0", "broker-a", "broker-a/1", "proxy-0".
	Node string
	Code int
	Kind Kind
	// Args are the header fields, Body the request's body.
	Args map[string]string
	Body string
	// Fault names the injected fault that met the call; empty if none did.
	Fault string
	// Applied says that the node carried the call out; Reply and Remark are
	// what it answered, whether or not the answer arrived.
	Applied bool
	Reply   int
	Remark  string
}

// String is the call in one line.
func (c Call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s %d %s", c.Seq, c.Node, c.Code, c.Kind)
	for _, k := range slices.Sorted(maps.Keys(c.Args)) {
		fmt.Fprintf(&b, " %s=%s", k, c.Args[k])
	}
	if c.Body != "" {
		fmt.Fprintf(&b, " body=%s", c.Body)
	}
	if c.Fault != "" {
		fmt.Fprintf(&b, " fault=%q", c.Fault)
	}
	return fmt.Sprintf("%s -> %d", b.String(), c.Reply)
}

// Recorder keeps every call since the last Reset, in the order of arrival.
type Recorder struct {
	c     *Cluster
	seq   int
	calls []*Call
}

// Recorder is the cluster's recorder.
func (c *Cluster) Recorder() *Recorder { return &c.rec }

func (r *Recorder) start(n *node, cmd *wireCommand) *Call {
	r.seq++
	call := &Call{
		Seq: r.seq, At: r.c.now(), Node: n.name, Code: cmd.Code, Kind: KindOf(cmd.Code),
		Args: maps.Clone(cmd.ExtFields), Body: string(cmd.Body),
	}
	r.calls = append(r.calls, call)
	return call
}

// Reset forgets the calls so far.
func (r *Recorder) Reset() {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.calls = nil
}

// Calls returns copies of the calls that match all conditions, in order.
func (r *Recorder) Calls(conditions ...func(Call) bool) []Call {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	var out []Call
next:
	for _, call := range r.calls {
		for _, cond := range conditions {
			if !cond(*call) {
				continue next
			}
		}
		out = append(out, *call)
	}
	return out
}

// To is the condition that a call was sent to the named node.
func To(node string) func(Call) bool { return func(c Call) bool { return c.Node == node } }

// WithCode is the condition that a call has one of the request codes.
func WithCode(codes ...int) func(Call) bool {
	return func(c Call) bool { return slices.Contains(codes, c.Code) }
}

// WithArg is the condition that a call has the header field with the value.
func WithArg(name, value string) func(Call) bool {
	return func(c Call) bool { return c.Args[name] == value }
}

// OfKind is the condition that a call is of the kind.
func OfKind(k Kind) func(Call) bool { return func(c Call) bool { return c.Kind == k } }

// Count is the number of calls that match all conditions.
func (r *Recorder) Count(conditions ...func(Call) bool) int { return len(r.Calls(conditions...)) }

// Changing returns the changing and forbidden calls, in order.
func (r *Recorder) Changing() []Call {
	return r.Calls(func(c Call) bool { return c.Kind == Changing || c.Kind == Forbidden })
}

// ByCode counts the calls by request code.
func (r *Recorder) ByCode() map[int]int {
	n := map[int]int{}
	for _, call := range r.Calls() {
		n[call.Code]++
	}
	return n
}

// ByNode counts the calls by node and request code.
func (r *Recorder) ByNode() map[string]map[int]int {
	n := map[string]map[int]int{}
	for _, call := range r.Calls() {
		if n[call.Node] == nil {
			n[call.Node] = map[int]int{}
		}
		n[call.Node][call.Code]++
	}
	return n
}

// RequireNoChangingCalls fails the test if anything was changed, or tried to be.
func (r *Recorder) RequireNoChangingCalls(t TB) {
	t.Helper()
	if calls := r.Changing(); len(calls) > 0 {
		t.Fatalf("%d changing calls were sent, none was expected:\n%s", len(calls), lines(calls))
	}
}

// RequireChangingCalls fails the test unless exactly n changing calls were sent.
func (r *Recorder) RequireChangingCalls(t TB, n int) {
	t.Helper()
	if calls := r.Changing(); len(calls) != n {
		t.Fatalf("%d changing calls were sent, not %d:\n%s", len(calls), n, lines(calls))
	}
}

// RequireNoCalls fails the test if anything was asked.
func (r *Recorder) RequireNoCalls(t TB) {
	t.Helper()
	if calls := r.Calls(); len(calls) > 0 {
		t.Fatalf("%d calls were sent, none was expected:\n%s", len(calls), lines(calls))
	}
}

// RequireNoForbiddenCalls fails the test if a call was sent that no operator
// may send.
func (r *Recorder) RequireNoForbiddenCalls(t TB) {
	t.Helper()
	if calls := r.Calls(OfKind(Forbidden)); len(calls) > 0 {
		t.Fatalf("forbidden calls were sent:\n%s", lines(calls))
	}
}

func lines(calls []Call) string {
	out := make([]string, 0, len(calls))
	for _, c := range calls {
		out = append(out, c.String())
	}
	return strings.Join(out, "\n")
}
