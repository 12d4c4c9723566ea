// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// inbox collects woken keys in the order in which they came.
type inbox struct {
	mu   sync.Mutex
	keys []string
}

func (i *inbox) add(k Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, k.Name)
}

// take returns and forgets what has come, sorted.
func (i *inbox) take() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := slices.Sorted(slices.Values(i.keys))
	i.keys = nil
	return out
}

func key(name string) Key { return Key{Namespace: "ns", Name: name} }

func topicsChanged(names ...string) change {
	c := change{topics: map[string]struct{}{}}
	for _, n := range names {
		c.topics[n] = struct{}{}
	}
	return c
}

func TestK40_WakesOnlyWhatChanged(t *testing.T) {
	g := NewWithT(t)
	h := NewHub()
	in := &inbox{}
	s := h.Subscribe(in.add)
	shop, other := key("shop"), key("other")
	s.Watch(key("a"), shop, "A")
	s.Watch(key("ab"), shop, "A", "B")
	s.Watch(key("cluster"), shop)
	s.Watch(key("elsewhere"), other, "A")

	h.wake(shop, topicsChanged("A"))
	g.Expect(in.take()).To(Equal([]string{"a", "ab"}))
	h.wake(shop, topicsChanged("B"))
	g.Expect(in.take()).To(Equal([]string{"ab"}))
	h.wake(shop, topicsChanged("A", "B"))
	g.Expect(in.take()).To(Equal([]string{"a", "ab"}), "each key once")
	h.wake(shop, topicsChanged("C"))
	g.Expect(in.take()).To(BeEmpty())
	h.wake(shop, change{cluster: true})
	g.Expect(in.take()).To(Equal([]string{"a", "ab", "cluster"}))
	h.wake(other, change{cluster: true})
	g.Expect(in.take()).To(Equal([]string{"elsewhere"}))
	h.wake(shop, change{})
	g.Expect(in.take()).To(BeEmpty())
}

func TestK40_InterestsAreReplacedAndForgotten(t *testing.T) {
	g := NewWithT(t)
	h := NewHub()
	in := &inbox{}
	s := h.Subscribe(in.add)
	shop := key("shop")
	s.Watch(key("a"), shop, "A")
	s.Watch(key("a"), shop, "B")
	h.wake(shop, topicsChanged("A"))
	g.Expect(in.take()).To(BeEmpty())
	h.wake(shop, topicsChanged("B"))
	g.Expect(in.take()).To(Equal([]string{"a"}))

	s.Forget(key("a"))
	s.Forget(key("never"))
	h.wake(shop, topicsChanged("B"))
	h.wake(shop, change{cluster: true})
	g.Expect(in.take()).To(BeEmpty())
	g.Expect(s.byID).To(BeEmpty())
	g.Expect(s.byTopic).To(BeEmpty())
}

func TestP14_AForgottenTopicIsNotWatched(t *testing.T) {
	g := NewWithT(t)
	h := NewHub()
	s := h.Subscribe(func(Key) {})
	s.Watch(key("a"), key("shop"), "A")
	s.Watch(key("b"), key("shop"), "B")
	g.Expect(h.watched(key("shop"))).To(Equal([]string{"A", "B"}))
	s.Forget(key("a"))
	g.Expect(h.watched(key("shop"))).To(Equal([]string{"B"}))
	g.Expect(h.watched(key("other"))).To(BeEmpty())
}

func TestK40_TwoSubscribersAndClose(t *testing.T) {
	g := NewWithT(t)
	h := NewHub()
	topics, clusters := &inbox{}, &inbox{}
	a, b := h.Subscribe(topics.add), h.Subscribe(clusters.add)
	a.Watch(key("x"), key("shop"), "T")
	b.Watch(key("shop"), key("shop"))
	h.wake(key("shop"), topicsChanged("T"))
	g.Expect(topics.take()).To(Equal([]string{"x"}))
	g.Expect(clusters.take()).To(BeEmpty())

	a.Close()
	a.Watch(key("y"), key("shop"), "T")
	h.wake(key("shop"), change{cluster: true})
	g.Expect(topics.take()).To(BeEmpty(), "a closed subscription takes no new interest")
	g.Expect(clusters.take()).To(Equal([]string{"shop"}))
}

// A callback may change interests: a controller's queue handler might.
func TestK40_CallbacksMayCallBack(t *testing.T) {
	g := NewWithT(t)
	h := NewHub()
	var s *Subscription
	woken := 0
	s = h.Subscribe(func(k Key) {
		woken++
		s.Forget(k)
	})
	s.Watch(key("a"), key("shop"), "T")
	h.wake(key("shop"), topicsChanged("T"))
	h.wake(key("shop"), topicsChanged("T"))
	g.Expect(woken).To(Equal(1))
}

// Whatever is watched, replaced and forgotten, a wake reaches exactly those
// whose present interest it is.
func TestK40_HubMatchesItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHub()
		in := &inbox{}
		s := h.Subscribe(in.add)
		model := map[string]interest{}
		name := rapid.IntRange(0, 5)
		t.Repeat(map[string]func(*rapid.T){
			"watch": func(t *rapid.T) {
				k := fmt.Sprint("k", name.Draw(t, "key"))
				id := key(fmt.Sprint("c", rapid.IntRange(0, 1).Draw(t, "cluster")))
				topics := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C"}), 0, 3, rapid.ID[string]).Draw(t, "topics")
				s.Watch(key(k), id, topics...)
				model[k] = interest{id, topics}
			},
			"forget": func(t *rapid.T) {
				k := fmt.Sprint("k", name.Draw(t, "key"))
				s.Forget(key(k))
				delete(model, k)
			},
			"": func(t *rapid.T) {
				for _, id := range []ID{key("c0"), key("c1")} {
					for _, topic := range []string{"A", "B", "C"} {
						var want []string
						for k, i := range model {
							if i.id == id && slices.Contains(i.topics, topic) {
								want = append(want, k)
							}
						}
						slices.Sort(want)
						h.wake(id, topicsChanged(topic))
						if got := in.take(); !slices.Equal(got, want) {
							t.Fatalf("%v %s: woke %v, want %v", id, topic, got, want)
						}
					}
				}
			},
		})
	})
}
