// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestUnmarshalNeedsAPointer(t *testing.T) {
	g := NewWithT(t)
	var p *topicStats
	for _, v := range []any{nil, topicStats{}, p, "x"} {
		g.Expect(Unmarshal([]byte(`{}`), v)).To(MatchError(ContainSubstring("no pointer")))
	}
}

func TestUnmarshalKeepsWhatIsLeftOut(t *testing.T) {
	g := NewWithT(t)
	v := struct {
		A int     `json:"a"`
		B string  `json:"b"`
		C *string `json:"c"`
	}{A: 7, B: "kept"}
	g.Expect(Unmarshal([]byte(`{"a":8,"unknown":{0:1}}`), &v)).To(Succeed())
	g.Expect(v.A).To(Equal(8))
	g.Expect(v.B).To(Equal("kept"))
	g.Expect(v.C).To(BeNil())
}

func TestUnmarshalIntoMapsWithIntegerKeys(t *testing.T) {
	g := NewWithT(t)
	var ints map[int]string
	g.Expect(Unmarshal([]byte(`{0:"a",10:"b",-1:"c"}`), &ints)).To(Succeed())
	g.Expect(ints).To(Equal(map[int]string{0: "a", 10: "b", -1: "c"}))
	var texts map[string]string
	g.Expect(Unmarshal([]byte(`{0:"a"}`), &texts)).To(Succeed())
	g.Expect(texts).To(Equal(map[string]string{"0": "a"}))
	var bytes map[uint8]string
	g.Expect(Unmarshal([]byte(`{300:"a"}`), &bytes)).NotTo(Succeed())
}

// TestErrorsShowNothingOfTheBody would show a secret if they did (K43).
func TestK43_ErrorsShowNothingOfTheBody(t *testing.T) {
	var v struct {
		A int8                            `json:"a"`
		M ObjectMap[queue, topicOffset]   `json:"m"`
		N map[string]map[int]*topicOffset `json:"n"`
	}
	for _, in := range []string{
		`hunter2`, `{"hunter2"}`, `{"a":"hunter2"}`, `{"a":hunter2}`, `{"a":7777777777777}`, `{"a":7777777777777.5}`,
		`{"m":{"hunter2":1}}`, `{"m":{{"hunter2":1}:1}}`, `{"m":{{"topic":"hunter2","brokerName":7777777777777,"queueId":"hunter2"}:1}}`,
		`{"m":{{"topic":"T","brokerName":"b","queueId":0}:"hunter2"}}`, `{"n":{"hunter2":{"hunter2":{}}}}`, `{"n":{"hunter2":7777777777777}}`,
	} {
		t.Run(in, func(t *testing.T) {
			g := NewWithT(t)
			err := Unmarshal([]byte(in), &v)
			var own *Error
			g.Expect(err).To(BeAssignableToTypeOf(own))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
			g.Expect(err.Error()).NotTo(ContainSubstring("7777777777777"))
		})
	}
}

func TestErrorsSayWhere(t *testing.T) {
	g := NewWithT(t)
	_, err := ToJSON([]byte(`{"a":[1,2,x]}`))
	g.Expect(err).To(MatchError("body cannot be decoded at byte 10: a value was expected"))
	_, err = ToJSON([]byte(`{"a":1} 7`))
	g.Expect(err).To(MatchError("body cannot be decoded at byte 8: something follows the document"))
	var v struct {
		A int `json:"a"`
	}
	g.Expect(Unmarshal([]byte(`{"a":"x"}`), &v)).To(MatchError(`body cannot be decoded: member "a" is not of the form expected (int)`))
	g.Expect(Unmarshal([]byte(`null`), &v)).To(MatchError("body cannot be decoded: it is null"))
	g.Expect(Unmarshal(nil, &v)).To(MatchError("body cannot be decoded at byte 0: it is empty"))
}

type required struct {
	Table   map[string]inner        `json:"table" fastjson:"required"`
	List    []*inner                `json:"list"`
	Pointer *inner                  `json:"pointer"`
	Keyed   ObjectMap[queue, inner] `json:"keyed"`
	Self    *required               `json:"self"`
	Array   [1]inner                `json:"array"`
	hidden  map[string]inner        `fastjson:"required"`
}

type inner struct {
	Names []string `json:"names" fastjson:"required"`
}

func TestP01_RequiredMembers(t *testing.T) {
	good := `"array":[{"names":[]}]`
	for _, tc := range []struct{ name, in, missing string }{
		{"all there", `{"table":{"a":{"names":["x"]}},"list":[{"names":[]},null],"pointer":{"names":[]},` + good + `}`, ""},
		{"empty is there", `{"table":{},` + good + `}`, ""},
		{"missing", `{` + good + `}`, "Table"},
		{"null", `{"table":null,` + good + `}`, "Table"},
		{"missing in a map", `{"table":{"a":{"names":[]},"secret":{}},` + good + `}`, "Table[].Names"},
		{"missing in a list", `{"table":{},"list":[{"names":[]},{}],` + good + `}`, "List[].Names"},
		{"missing behind a pointer", `{"table":{},"pointer":{},` + good + `}`, "Pointer.Names"},
		{"missing behind an object key", `{"table":{},"keyed":{{"topic":"T","brokerName":"b","queueId":1}:{}},` + good + `}`, "Keyed[].Names"},
		{"missing in an array", `{"table":{}}`, "Array[].Names"},
		{"missing far down", `{"table":{},"self":{"table":{},"self":{` + good + `},` + good + `},` + good + `}`, "Self.Self.Table"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			var v required
			err := Unmarshal([]byte(tc.in), &v)
			g.Expect(v.hidden).To(BeNil())
			if tc.missing == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError("body cannot be decoded: member " + tc.missing + " is missing"))
			}
		})
	}
}

func TestRequiredNeedsATypeThatCanBeNil(t *testing.T) {
	g := NewWithT(t)
	var v struct {
		N int `json:"n" fastjson:"required"`
	}
	g.Expect(Unmarshal([]byte(`{"n":1}`), &v)).To(MatchError(ContainSubstring("member N cannot be required")))
}

func TestParseKey(t *testing.T) {
	g := NewWithT(t)
	key, err := ParseKey[queue](`{"queueId":3,"topic":"T","brokerName":"b","extra":1}`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(key).To(Equal(queue{"T", "b", 3}))
	for text, missing := range map[string]string{
		`{}`: `no member "topic"`, `null`: "is not an object", `[]`: "is not an object", `x`: "is not an object", `""`: "is not an object", ``: "is not an object",
		`{"topic":"T","brokerName":"b","QUEUEID":3}`: `no member "queueId"`,
	} {
		_, err := ParseKey[queue](text)
		g.Expect(err).To(MatchError(ContainSubstring(missing)), text)
	}
	_, err = ParseKey[int](`{}`)
	g.Expect(err).To(MatchError(ContainSubstring("int cannot hold")))
	partly, err := ParseKey[struct {
		Topic  string `json:"topic"`
		Own    int    `json:"-"`
		Plain  int
		Option string `json:"option,omitempty"`
	}](`{"topic":"T","option":""}`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(partly.Topic).To(Equal("T"))
}

func TestObjectMapKeepsNullApartFromEmpty(t *testing.T) {
	g := NewWithT(t)
	var m ObjectMap[queue, int]
	g.Expect(json.Unmarshal([]byte(`null`), &m)).To(Succeed())
	g.Expect(m).To(BeNil())
	g.Expect(json.Unmarshal([]byte(`{}`), &m)).To(Succeed())
	g.Expect(m).NotTo(BeNil())
	g.Expect(m).To(BeEmpty())
}

func TestDepthIsBounded(t *testing.T) {
	g := NewWithT(t)
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	_, err := ToJSON(nest(maxDepth + 1))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = ToJSON(nest(maxDepth + 2))
	g.Expect(err).To(MatchError(ContainSubstring("nests deeper")))
	_, err = ToJSON([]byte(strings.Repeat("{[", 1000)))
	g.Expect(err).To(HaveOccurred())
}

// TestKeysInKeysDoNotExplode has a hundred objects as keys of one another; as
// text each would be about twice as long as the one inside it.
func TestKeysInKeysDoNotExplode(t *testing.T) {
	g := NewWithT(t)
	_, err := ToJSON([]byte(strings.Repeat("{", 100) + `"a":1` + strings.Repeat("}:1", 99) + "}"))
	g.Expect(err).To(MatchError(ContainSubstring("has such a key itself")))
	text, err := ToJSON([]byte(`{{"a":{"b":{"c":[{}]}}}:1,{"a":2}:{{"a":3}:4}}`))
	g.Expect(err).NotTo(HaveOccurred(), "one after another, or below a value, they may be")
	g.Expect(string(text)).To(Equal(`{"{\"a\":{\"b\":{\"c\":[{}]}}}":1,"{\"a\":2}":{"{\"a\":3}":4}}`))
}
