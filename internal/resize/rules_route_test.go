// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"maps"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// TestO35_R14_ARouteIsMaskedWithTheBrokersPermission hides a topic on a leaving
// broker: whether its route then shows the permission of the topic or what the
// broker's own leaves of it, the broker is routed as it is.
func TestO35_R14_ARouteIsMaskedWithTheBrokersPermission(t *testing.T) {
	for name, tc := range map[string]struct {
		routed snapshot.Perm
		agrees bool
	}{
		"as the topic has it":     {permHidden, true},
		"masked":                  {0, true},
		"as before it was hidden": {4, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := leavingScene(t)
			s.untilStep(StepDeleteFromBroker, 0)
			d := s.with(func(l *snapshot.TopicLook) {
				onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
					settings, _ := b.Settings.Get()
					settings.Permission = snapshot.PermReadWrite
					b.Settings = same(b.Settings, settings)
				})(l)
				l.Routes = maps.Clone(l.Routes)
				for server, fact := range l.Routes {
					route, _ := fact.Get()
					route.Queues = maps.Clone(route.Queues)
					q := route.Queues["broker-b"]
					q.Perm = tc.routed
					route.Queues["broker-b"] = q
					l.Routes[server] = same(fact, route)
				}
			})
			if tc.agrees {
				s.Expect(reasons(d.Holds)).NotTo(ContainElement(ReasonRouteBehind))
			} else {
				s.Expect(reasons(d.Holds)).To(ContainElement(ReasonRouteBehind))
			}
		})
	}
}
