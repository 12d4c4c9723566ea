// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	reader "github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

func TestFastjsonShapes(t *testing.T) {
	g := NewWithT(t)
	doc := jObject{
		"b": jInts{1: "x", 0: 2}, "a": jPairs{{jObject{"t": "T", "q": 1}, int64(3)}}, "none": nil, "f": 0.0,
		"s": "\"\\\n\t\r\x01é", "l": []string{"p", "q"}, "e": jList{}, "t": true, "r": jRaw(`{"k":1}`), "h": 1.5,
	}
	g.Expect(string(fastjson(doc))).To(Equal(
		`{"a":{{"q":1,"t":"T"}:3},"b":{0:2,1:"x"},"e":[],"f":0.0,"h":1.5,"l":["p","q"],"r":{"k":1},"s":"\"\\\n\t\r\u0001é","t":true}`))
	g.Expect(string(standardJSON(jObject{"b": jInts{0: "é😀"}}))).To(Equal(`{"b":{"0":"\u00e9\ud83d\ude00"}}`))
	g.Expect(func() { fastjson(struct{}{}) }).To(Panic())
}

// Whatever the writer writes the project's tolerant reader reads as the same.
func TestPropertyWhatIsWrittenIsRead(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"broker-a", "%RETRY%g", "订单", "a\"b\\c", "\u2028", "😀"}))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.Map(text, func(s string) any { return s }),
			rapid.Map(rapid.Int64(), func(n int64) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		}
		if depth == 0 {
			return rapid.OneOf(leaves...)
		}
		inner := value(depth - 1)
		return rapid.OneOf(append(leaves,
			rapid.Map(rapid.MapOfN(text, inner, 0, 4), func(m map[string]any) any { return jObject(m) }),
			rapid.Map(rapid.MapOfN(rapid.Int64Range(-9, 9), inner, 0, 4), func(m map[int64]any) any { return jInts(m) }),
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return jList(l) }),
		)...)
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := value(3).Draw(t, "document")
		strict, err := reader.ToJSON(fastjson(doc))
		if err != nil {
			t.Fatalf("%s: %v", fastjson(doc), err)
		}
		for _, written := range [][]byte{strict, standardJSON(doc)} {
			var got any
			if err := json.Unmarshal(written, &got); err != nil {
				t.Fatalf("%s: %v", written, err)
			}
			if want := plain(doc); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s is read as %v, not %v", written, got, want)
			}
		}
	})
}

// plain is a document as encoding/json reads it.
func plain(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case jObject:
		out := map[string]any{}
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	case jInts:
		out := map[string]any{}
		for k, e := range v {
			out[strconv.FormatInt(k, 10)] = plain(e)
		}
		return out
	case jList:
		out := []any{}
		for _, e := range v {
			out = append(out, plain(e))
		}
		return out
	}
	return v
}

func TestAttributesAreAlteredAsBrokersDo(t *testing.T) {
	have := map[string]string{"message.type": "FIFO"}
	for _, tc := range []struct {
		text    string
		create  bool
		want    map[string]string
		problem string
	}{
		{"", false, have, ""},
		{"+message.type=DELAY", false, map[string]string{"message.type": "DELAY"}, ""},
		{"-message.type", false, map[string]string{}, ""},
		{"+queue.type=BatchCQ", true, map[string]string{"queue.type": "BatchCQ"}, ""},
		{"+queue.type=BatchCQ", false, nil, "unchangeable"},
		{"+reserve.time=5,+message.type=NORMAL", false, map[string]string{"message.type": "NORMAL", "reserve.time": "5"}, ""},
		{"message.type=FIFO", false, nil, "add/alter attribute format is wrong"},
		{"message.type", false, nil, "delete attribute format is wrong"},
		{"+a=1,+a=2", false, nil, "key duplication"},
		{"+none=1", false, nil, "unsupported key: none"},
		{"-reserve.time", false, nil, "nonexistent key: reserve.time"},
		{"-message.type", true, nil, "only add attribute is supported while creating"},
		{"+message.type=LITE", false, nil, "not in set"},
		{"+reserve.time=x", false, nil, "For input string"},
		{"+reserve.time=-2", false, nil, "not in range"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			g := NewWithT(t)
			current := have
			if tc.create {
				current = nil
			}
			signed, err := parseAttributes(tc.text)
			var got map[string]string
			if err == nil {
				got, err = V533.topicAttributes().alter(tc.create, current, signed)
			}
			if tc.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(maps.Equal(got, tc.want)).To(BeTrue(), fmt.Sprint(got))
			g.Expect(have).To(Equal(map[string]string{"message.type": "FIFO"}), "the stored ones are not touched")
		})
	}
}

func TestAverageAllocation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queues, n := rapid.IntRange(0, 40).Draw(t, "queues"), rapid.IntRange(1, 12).Draw(t, "members")
		var all, got []queuePlace
		for i := range queues {
			all = append(all, queuePlace{"t", "b", i})
		}
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprintf("c%02d", i))
		}
		for _, id := range ids {
			part := averagely(all, ids, id)
			if len(part) < queues/n || len(part) > queues/n+1 {
				t.Fatalf("%s got %d of %d", id, len(part), queues)
			}
			got = append(got, part...)
		}
		if !slices.Equal(got, all) || averagely(all, ids, "stranger") != nil {
			t.Fatalf("not a partition in order")
		}
	})
}
