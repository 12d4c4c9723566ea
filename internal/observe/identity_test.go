// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestR19_SameIsClusterNameAndASharedMaster(t *testing.T) {
	masters := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	for name, tc := range map[string]struct {
		a, b Identity
		want bool
	}{
		"equal": {
			Identity{"shop", masters("a", "10.0.0.1:10911")}, Identity{"shop", masters("a", "10.0.0.1:10911")}, true},
		"one of two moved": {
			Identity{"shop", masters("a", "10.0.0.1:10911", "b", "10.0.0.2:10911")},
			Identity{"shop", masters("a", "10.0.0.9:10911", "b", "10.0.0.2:10911")}, true},
		"one view is partial": {
			Identity{"shop", masters("a", "10.0.0.1:10911", "b", "10.0.0.2:10911")}, Identity{"shop", masters("b", "10.0.0.2:10911")}, true},
		"other cluster name": {
			Identity{"shop", masters("a", "10.0.0.1:10911")}, Identity{"mall", masters("a", "10.0.0.1:10911")}, false},
		"same names elsewhere": {
			Identity{"DefaultCluster", masters("broker-a", "10.0.0.1:10911")}, Identity{"DefaultCluster", masters("broker-a", "10.9.0.1:10911")}, false},
		"same address, other broker": {
			Identity{"shop", masters("a", "10.0.0.1:10911")}, Identity{"shop", masters("b", "10.0.0.1:10911")}, false},
		"nothing known": {Identity{"shop", nil}, Identity{"shop", nil}, false},
		"no address":    {Identity{"shop", masters("a", "")}, Identity{"shop", masters("a", "")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.a.Same(tc.b)).To(Equal(tc.want))
			g.Expect(tc.b.Same(tc.a)).To(Equal(tc.want), "symmetric")
		})
	}
}

func TestK13_IdentityComesFromWhatNameServersShow(t *testing.T) {
	g := NewWithT(t)
	c := &snapshot.Cluster{Name: "shop", Brokers: map[string]snapshot.Broker{
		"a": {Name: "a", Master: snapshot.Known("10.0.0.1:10911", snapshot.Origin{})},
		"b": {Name: "b", Master: snapshot.Unknown[string]("name servers differ")},
	}}
	id, known := IdentityOf(c)
	g.Expect(known).To(BeTrue())
	g.Expect(id).To(Equal(Identity{Cluster: "shop", Masters: map[string]string{"a": "10.0.0.1:10911"}}))

	delete(c.Brokers, "a")
	_, known = IdentityOf(c)
	g.Expect(known).To(BeFalse(), "an identity without a master claims nothing")
}

func TestR19_TextOfAnIdentityIsStableAndBounded(t *testing.T) {
	g := NewWithT(t)
	id := Identity{Cluster: "shop", Masters: map[string]string{"b": "2:2", "a": "1:1"}}
	g.Expect(id.String()).To(Equal("shop/a@1:1,b@2:2"))

	many := Identity{Cluster: "shop", Masters: map[string]string{}}
	for i := range 40 {
		many.Masters[fmt.Sprintf("broker-%02d", i)] = fmt.Sprintf("10.0.0.%d:10911", i)
	}
	long := many.String()
	g.Expect(len(long)).To(BeNumerically("<=", maxIdentity))
	g.Expect(many.String()).To(Equal(long))
	many.Masters["broker-39"] = "10.0.0.200:10911"
	g.Expect(many.String()).NotTo(Equal(long), "the part that was cut still counts")
}
