// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestReferences(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"member", `{"a":{"x":1},"b":{"$ref":"$.a"}}`, `{"a":{"x":1},"b":{"x":1}}`},
		{"forward", `{"b":{"$ref":"$.z"},"z":{"x":1}}`, `{"b":{"x":1},"z":{"x":1}}`},
		{"element", `{"a":[{"x":1},2],"b":[{"$ref":"$.a[0]"}]}`, `{"a":[{"x":1},2],"b":[{"x":1}]}`},
		{"element of the root", `[{"x":1},{"$ref":"$[0]"}]`, `[{"x":1},{"x":1}]`},
		{"integer key", `{"a":{0:{"x":1}},"b":{"$ref":"$.a[0]"}}`, `{"a":{"0":{"x":1}},"b":{"x":1}}`},
		{"escaped name", `{"a.b":{"x":1},"b":{"$ref":"$.a\\.b"}}`, `{"a.b":{"x":1},"b":{"x":1}}`},
		{"into what is referred to", `{"a":{"x":{"y":1}},"b":{"$ref":"$.a"},"c":{"$ref":"$.a.x"}}`, `{"a":{"x":{"y":1}},"b":{"x":{"y":1}},"c":{"y":1}}`},
		{"to a reference", `{"a":{"x":1},"b":{"$ref":"$.a"},"c":{"$ref":"$.b"}}`, `{"a":{"x":1},"b":{"x":1},"c":{"x":1}}`},
		{"to a scalar", `{"a":5,"b":{"$ref":"$.a"}}`, `{"a":5,"b":5}`},
		{"numbers stay as they are", `{"a":9223372036854775807,"b":{"$ref":"$.a"},"c":1.0}`, `{"a":9223372036854775807,"b":9223372036854775807,"c":1.0}`},
		{"with other members it is none", `{"a":1,"b":{"$ref":"$.a","c":2}}`, `{"a":1,"b":{"$ref":"$.a","c":2}}`},
		{"with other members nothing is reordered", `{"z":1,"b":{"$ref":"$.z","a":2},"a":3}`, `{"z":1,"b":{"$ref":"$.z","a":2},"a":3}`},
		{"as second member it is none", `{"a":1,"b":{"c":2,"$ref":"$.a"}}`, `{"a":1,"b":{"c":2,"$ref":"$.a"}}`},
		{"with another value it is none", `{"a":1,"b":{"$ref":5}}`, `{"a":1,"b":{"$ref":5}}`},
		{"the text alone is none", `{"a":"$ref"}`, `{"a":"$ref"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ToJSON([]byte(tc.in))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(got)).To(Equal(tc.want))
		})
	}
}

func TestReferencesThatLeadNowhere(t *testing.T) {
	for _, tc := range []struct{ name, in, text string }{
		{"self", `{"a":{"$ref":"@"}}`, "forms a loop"},
		{"parent", `{"a":{"b":{"$ref":".."}}}`, "forms a loop"},
		{"root", `{"a":{"$ref":"$"}}`, "forms a loop"},
		{"ancestor", `{"a":{"b":{"$ref":"$.a"}}}`, "form a loop"},
		{"each other", `{"a":{"$ref":"$.b"},"b":{"$ref":"$.a"}}`, "form a loop"},
		{"no such member", `{"a":{"$ref":"$.x"}}`, "leads nowhere"},
		{"no such element", `{"a":[1],"b":{"$ref":"$.a[1]"}}`, "leads nowhere"},
		{"huge index", `{"a":[1],"b":{"$ref":"$.a[99999999999999999999]"}}`, "leads nowhere"},
		{"through a scalar", `{"a":1,"b":{"$ref":"$.a.b"}}`, "leads nowhere"},
		{"element by name", `{"a":[1],"b":{"$ref":"$.a.0"}}`, "leads nowhere"},
		{"no such queue", `{"t":{{"topic":"T","brokerName":"b","queueId":0}:1},"b":{"$ref":"$.t.MessageQueue\\ \\[topic\\=T\\,\\ brokerName\\=b\\,\\ queueId\\=1\\]"}}`, "leads nowhere"},
		{"a key that is no queue", `{"t":{{"topic":"T"}:1},"b":{"$ref":"$.t.MessageQueue"}}`, "leads nowhere"},
		{"empty", `{"a":{"$ref":""}}`, "not understood"},
		{"another form", `{"a":{"$ref":"#/a"}}`, "not understood"},
		{"no separator", `{"a":{"$ref":"$a"}}`, "not understood"},
		{"empty name", `{"a":{"$ref":"$."}}`, "not understood"},
		{"two dots", `{"a":{"$ref":"$..a"}}`, "not understood"},
		{"open bracket", `{"a":{"$ref":"$.a[0"}}`, "not understood"},
		{"empty bracket", `{"a":{"$ref":"$.a[]"}}`, "not understood"},
		{"no number", `{"a":{"$ref":"$.a[-1]"}}`, "not understood"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ToJSON([]byte(tc.in))
			var own *Error
			g.Expect(err).To(BeAssignableToTypeOf(own))
			g.Expect(err.Error()).To(ContainSubstring(tc.text))
			g.Expect(got).To(BeNil())
		})
	}
}

// TestReferencesDoNotExplode has thirty lists, each of ten references to the
// one before.
func TestReferencesDoNotExplode(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	b.WriteString(`{"l0":["xxxxxxxxxx"]`)
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, `,"l%d":[%s{"$ref":"$.l%d"}]`, i, strings.Repeat(fmt.Sprintf(`{"$ref":"$.l%d"},`, i-1), 9), i-1)
	}
	b.WriteString("}")
	_, err := ToJSON([]byte(b.String()))
	g.Expect(err).To(MatchError(ContainSubstring("unfold to more than")))
}

// TestManyReferencesToQueues would take minutes if every reference looked
// through every queue.
func TestManyReferencesToQueues(t *testing.T) {
	g := NewWithT(t)
	const queues = 5000
	var b strings.Builder
	b.WriteString(`{"mqTable":{`)
	for i := range queues {
		fmt.Fprintf(&b, `{"brokerName":"b","queueId":%d,"topic":"T"}:{"cachedMsgCount":%d},`, i, i)
	}
	b.WriteString(`{"brokerName":"c","queueId":0,"topic":"T"}:{"cachedMsgCount":-1}},"all":[null`)
	for i := range queues {
		fmt.Fprintf(&b, `,{"$ref":"$.mqTable.MessageQueue\\ \\[topic\\=T\\,\\ brokerName\\=b\\,\\ queueId\\=%d\\]"}`, i)
	}
	b.WriteString("]}")
	var v struct {
		All []*struct{ CachedMsgCount int } `json:"all"`
	}
	g.Expect(Unmarshal([]byte(b.String()), &v)).To(Succeed())
	g.Expect(v.All).To(HaveLen(queues + 1))
	for i := range queues {
		g.Expect(v.All[i+1].CachedMsgCount).To(Equal(i))
	}
}

// TestManyReferencesUnfold stays below the bound with what a consumer of 1,000
// queues that share one object writes.
func TestManyReferencesUnfold(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	fmt.Fprintf(&b, `{"first":{"x":%q},"all":[`, strings.Repeat("x", 400))
	for i := range 1000 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"$ref":"$.first"}`)
	}
	b.WriteString("]}")
	var v struct {
		All []struct{ X string } `json:"all"`
	}
	g.Expect(Unmarshal([]byte(b.String()), &v)).To(Succeed())
	g.Expect(v.All).To(HaveLen(1000))
	g.Expect(v.All[999].X).To(HaveLen(400))
}
