// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// appendFastjson writes v as fastjson does: integer keys bare, keys that are
// the text of an object as objects, members in any order.
func appendFastjson(dst []byte, v any, r *rand.Rand) []byte {
	switch v := v.(type) {
	case map[string]any:
		dst = append(dst, '{')
		keys := slices.Sorted(maps.Keys(v))
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendKey(dst, k, r), ':')
			dst = appendFastjson(dst, v[k], r)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendFastjson(dst, e, r)
		}
		return append(dst, ']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return append(dst, text...)
	}
}

func appendKey(dst []byte, k string, r *rand.Rand) []byte {
	if n, err := strconv.ParseInt(k, 10, 64); err == nil && strconv.FormatInt(n, 10) == k {
		return append(dst, k...)
	}
	if dec := json.NewDecoder(bytes.NewReader([]byte(k))); len(k) > 0 && k[0] == '{' {
		dec.UseNumber()
		var object map[string]any
		if dec.Decode(&object) == nil {
			return appendFastjson(dst, object, r)
		}
	}
	text, err := json.Marshal(k)
	if err != nil {
		panic(err)
	}
	return append(dst, text...)
}

func drawValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 7
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return json.Number(strconv.FormatInt(rapid.Int64().Draw(t, "int"), 10))
		case 3:
			return json.Number(fmt.Sprint(rapid.Float32().Draw(t, "float")))
		case 4:
			return rapid.String().Draw(t, "string")
		case 5:
			return rapid.SliceOfN(drawValue(depth-1), 0, 4).Draw(t, "list")
		default:
			return rapid.MapOfN(drawKey(), drawValue(depth-1), 0, 4).Draw(t, "object")
		}
	})
}

func drawKey() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.Int32(), func(n int32) string { return strconv.Itoa(int(n)) }),
		rapid.Custom(func(t *rapid.T) string {
			text, err := appendValue(nil, map[string]any{
				"brokerName": rapid.String().Draw(t, "broker"), "queueId": rapid.IntRange(0, 9).Draw(t, "queue"), "topic": rapid.String().Draw(t, "topic"),
			})
			if err != nil {
				panic(err)
			}
			return string(text)
		}),
	)
}

func decodeAny(t TB, text []byte) any {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TB is what testing.T and rapid.T have in common here.
type TB interface{ Fatalf(string, ...any) }

func TestWhatFastjsonWritesIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		v := drawValue(3).Draw(t, "value")
		text := appendFastjson(nil, v, rand.New(rand.NewSource(rapid.Int64().Draw(t, "order"))))
		got, err := ToJSON(text)
		g.Expect(err).NotTo(HaveOccurred(), "%s", text)
		g.Expect(reflect.DeepEqual(decodeAny(t, got), v)).To(BeTrue(), "%s became %s", text, got)
	})
}

func TestObjectMapRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		table, want := map[string]any{}, ObjectMap[queue, topicOffset]{}
		for range rapid.IntRange(0, 6).Draw(t, "queues") {
			q := queue{rapid.String().Draw(t, "topic"), rapid.String().Draw(t, "broker"), rapid.IntRange(0, 200).Draw(t, "queue")}
			o := topicOffset{rapid.Int64().Draw(t, "min"), rapid.Int64().Draw(t, "max")}
			key, err := json.Marshal(map[string]any{"topic": q.Topic, "brokerName": q.BrokerName, "queueId": q.QueueID})
			g.Expect(err).NotTo(HaveOccurred())
			table[string(key)] = map[string]any{"minOffset": o.MinOffset, "maxOffset": o.MaxOffset}
			want[q] = o
		}
		var stats topicStats
		text := appendFastjson(nil, map[string]any{"offsetTable": table}, rand.New(rand.NewSource(1)))
		g.Expect(Unmarshal(text, &stats)).To(Succeed())
		g.Expect(stats.OffsetTable).To(Equal(want))
	})
}

// FuzzFastjson checks that any bytes end in an error or in standard JSON that
// passes unchanged, that standard JSON is read as what it says, and that no
// table comes out of a body that has none.
func FuzzFastjson(f *testing.F) {
	for _, body := range javaBodies(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := ToJSON(data)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok || text != nil {
				t.Fatalf("error %T with %q", err, text)
			}
		} else {
			if !json.Valid(text) {
				t.Fatalf("%q is no JSON", text)
			}
			again, err := ToJSON(text)
			if err != nil || !bytes.Equal(again, text) {
				t.Fatalf("%q became %q, %v", text, again, err)
			}
			if json.Valid(data) && !bytes.Contains(data, []byte("ref")) && !reflect.DeepEqual(decodeAny(t, data), decodeAny(t, text)) {
				t.Fatalf("%q became %q", data, text)
			}
		}
		var stats topicStats
		if Unmarshal(data, &stats) == nil && (err != nil || stats.OffsetTable == nil) {
			t.Fatalf("no table from %q", data)
		}
	})
}
