// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// readingCodes and changingCodes are all codes that the client may ever send.
func readingCodes() []int {
	return []int{11, 14, 21, 26, 28, 30, 31, 38, 43, 61, 101, 105, 106, 201, 203, 206, 219, 305, 307, 321, 345, 351, 402}
}

func changingCodes() []int { return []int{15, 17, 18, 100, 102, 200, 207, 215, 216, 222, 225} }

// dangerousCodes are never sent (design, rules of truth, 5).
func dangerousCodes() []int { return []int{25, 41, 42, 306, 308, 316, 352} }

func TestCallKind(t *testing.T) {
	g := NewWithT(t)
	for _, code := range readingCodes() {
		g.Expect(CallKind(code)).To(Equal(Reading), strconv.Itoa(code))
	}
	for _, code := range slices.Concat(changingCodes(), dangerousCodes(), []int{0, 10, 34, 9999, -1}) {
		g.Expect(CallKind(code)).To(Equal(Changing), strconv.Itoa(code))
	}
}

// values gives one value of each kind that the client's methods take.
type values struct {
	text   func(label string) string
	number func(label string) int
	flag   func(label string) bool
}

// goodValues are not refused by any method.
func goodValues() values {
	return values{
		text:   func(string) string { return "orders" },
		number: func(string) int { return 1 },
		flag:   func(string) bool { return true },
	}
}

// anyValues include those that must be refused.
func anyValues(t *rapid.T) values {
	return values{
		text: func(label string) string {
			return rapid.SampledFrom([]string{fakeAddr, "orders", "payments", "10.0.0.9@1#2", "TBW102", "a b", "", "G@x@y@z"}).Draw(t, label)
		},
		number: func(label string) int { return rapid.IntRange(-2, 12).Draw(t, label) },
		flag:   func(label string) bool { return rapid.Bool().Draw(t, label) },
	}
}

// arguments are a value for every parameter of a method behind ctx.
func arguments(t fatalf, method reflect.Type, of values) []reflect.Value {
	var args []reflect.Value
	for i := 2; i < method.NumIn(); i++ {
		label := fmt.Sprint("argument ", i)
		var v any
		switch in := method.In(i); in {
		case reflect.TypeFor[Master]():
			v = fakeMaster()
		case reflect.TypeFor[string]():
			v = of.text(label)
		case reflect.TypeFor[int]():
			v = of.number(label)
		case reflect.TypeFor[int64]():
			v = int64(of.number(label))
		case reflect.TypeFor[bool]():
			v = of.flag(label)
		case reflect.TypeFor[[]int]():
			v = []int{of.number(label), of.number(label + " more")}
		case reflect.TypeFor[time.Time]():
			v = time.UnixMilli(int64(of.number(label)))
		case reflect.TypeFor[[]snapshot.TopicConfig]():
			v = plainTopics(max(0, of.number(label)))
		case reflect.TypeFor[[]snapshot.GroupConfig]():
			v = []snapshot.GroupConfig{snapshot.DefaultGroup("G")}
		default:
			if in.Kind() != reflect.Func {
				t.Fatalf("the test does not know how to draw a %s", in)
			}
			// A change returns what it was given, a little different.
			v = reflect.MakeFunc(in, func(given []reflect.Value) []reflect.Value {
				switch current := given[0].Interface().(type) {
				case snapshot.StoredTopic:
					want := plainTopic("orders")
					want.ReadQueues, want.WriteQueues = 12, 12
					return []reflect.Value{reflect.ValueOf(want), reflect.Zero(in.Out(1))}
				case snapshot.GroupConfig:
					current.RetryMax++
					return []reflect.Value{reflect.ValueOf(current), reflect.Zero(in.Out(1))}
				}
				t.Fatalf("the test does not know the change %s", in)
				return nil
			}).Interface()
		}
		args = append(args, reflect.ValueOf(v))
	}
	return args
}

type fatalf interface{ Fatalf(string, ...any) }

// whole is a broker of a version that answers everything the client asks.
func whole(version int) *fakeWire {
	s := newTopicStore(version, plainTopic("orders"))
	groups := newGroupStore(version)
	maps.Copy(groups.answers, s.answers)
	for _, code := range slices.Concat(readingCodes(), changingCodes()) {
		if _, ok := groups.answers[code]; ok {
			continue
		}
		groups.on(code, func(*remoting.Command) *remoting.Command {
			return &remoting.Command{ExtFields: map[string]string{"offset": "1", "value": "v"}}
		})
	}
	return groups.fakeWire
}

// TestNothingDangerousCanBeExpressed calls every method of the client, with good
// arguments and with any, and looks at all that was sent.
func TestNothingDangerousCanBeExpressed(t *testing.T) {
	client := reflect.TypeFor[*Client]()
	seen := map[int]bool{}
	for i := range client.NumMethod() {
		method := client.Method(i)
		if method.Name == "On" {
			continue // it sends nothing
		}
		if method.Type.NumIn() < 2 || method.Type.In(1) != reflect.TypeFor[context.Context]() {
			t.Fatalf("%s is no call: it takes no context", method.Name)
		}
		try := func(t contexterFatalf, version int, of values) {
			f := whole(version)
			args := []reflect.Value{reflect.ValueOf(New(f)), reflect.ValueOf(t.Context())}
			method.Func.Call(append(args, arguments(t, method.Type, of)...))
			for _, call := range f.calls {
				seen[call.code] = true
				checkCall(t, method, call)
			}
		}
		for _, version := range []int{407, 513} {
			try(t, version, goodValues())
		}
		rapid.Check(t, func(t *rapid.T) {
			try(t, rapid.SampledFrom([]int{407, 413, 453, 479, 513}).Draw(t, "version"), anyValues(t))
		})
	}
	NewWithT(t).Expect(slices.Sorted(maps.Keys(seen))).To(
		Equal(slices.Sorted(slices.Values(slices.Concat(readingCodes(), changingCodes())))), "exactly these codes are sent")
}

type contexterFatalf interface {
	contexter
	fatalf
}

// nameServerWrites are the changing methods that go to a name server, which
// cannot prove who it is.
func nameServerWrites() []string {
	return []string{"SetOrderConfig", "DeleteOrderConfig", "DeleteTopicRoute"}
}

func checkCall(t fatalf, m reflect.Method, call sent) {
	method, changes := m.Name, m.Type.NumIn() > 2 && m.Type.In(2) == reflect.TypeFor[Master]()
	if slices.Contains(dangerousCodes(), call.code) {
		t.Fatalf("%s sends %d", method, call.code)
	}
	if CallKind(call.code) == Changing && !changes && !slices.Contains(nameServerWrites(), method) {
		t.Fatalf("%s takes an address and sends the changing code %d", method, call.code)
	}
	if _, ok := call.ext["filterGroups"]; ok {
		t.Fatalf("%s sends filterGroups", method)
	}
	number := func(key string) int64 {
		n, err := strconv.ParseInt(call.ext[key], 10, 64)
		if err != nil {
			t.Fatalf("%s sends %d with %s=%q", method, call.code, key, call.ext[key])
		}
		return n
	}
	switch call.code {
	case remoting.ReqInvokeBrokerToResetOffset:
		if _, exact := call.ext["queueId"]; exact {
			// The topic of the fake has 8 read queues.
			if number("offset") < 0 || number("queueId") < 0 || number("queueId") >= 8 {
				t.Fatalf("%s resets %v", method, call.ext)
			}
		} else if number("timestamp") <= 0 {
			t.Fatalf("%s resets %v", method, call.ext)
		}
	case remoting.ReqUpdateAndCreateTopic:
		if number("writeQueueNums") < 1 || number("readQueueNums") < number("writeQueueNums") {
			t.Fatalf("%s writes %v", method, call.ext)
		}
	case remoting.ReqUpdateConsumerOffset:
		if number("commitOffset") < 0 || number("queueId") < 0 {
			t.Fatalf("%s commits %v", method, call.ext)
		}
	case remoting.ReqPullMessage:
		if call.ext["consumerGroup"] != "TOOLS_CONSUMER" || number("sysFlag") != 4 {
			t.Fatalf("%s pulls %v", method, call.ext)
		}
	case remoting.ReqGetConsumerRunningInfo:
		if IsGRPC(call.ext["clientId"]) {
			t.Fatalf("%s asks %v", method, call.ext)
		}
	}
}
