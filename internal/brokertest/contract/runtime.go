// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func runtimeTests() []test {
	return []test{
		{"26 and 28 say which process answers (R03)", func(s *scene, _ string) {
			for name, addr := range s.Masters {
				s.soon(func(g gomega.Gomega) {
					id, err := s.client.Identify(s.Context(), addr)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					g.Expect(id.Process.Name).To(gomega.Equal(name))
					g.Expect(id.Process.Cluster).To(gomega.Equal(s.Cluster))
					g.Expect(id.Process.BrokerID).To(gomega.BeZero())
					g.Expect(id.Process.Booted.IsZero()).To(gomega.BeFalse())
					g.Expect(id.Runtime.Version).To(gomega.Equal(s.Version))
					g.Expect(id.Settings.Retention.Hours()).To(gomega.Equal(72.0))
					g.Expect(id.Settings.DelayLevels).To(gomega.HaveLen(18))
					g.Expect(id.Settings.AutoCreateTopic).To(gomega.BeFalse())
					g.Expect(id.Settings.AutoCreateGroup).To(gomega.BeTrue())
				})
			}
		}},
		{"28 says how far dispatch is behind (R04)", func(s *scene, _ string) {
			s.soon(func(g gomega.Gomega) {
				runtime, err := s.client.Runtime(s.Context(), s.a)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(runtime.DispatchBehind).To(gomega.BeZero())
			})
		}},
		{"26 has the timer's longest delay on 5.x", func(s *scene, _ string) {
			settings, err := s.client.Settings(s.Context(), s.a)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(settings.TimerMaxDelay > 0).To(gomega.Equal(s.five()))
		}},
		{"45 has the delivered offset of each level that was used", func(s *scene, name string) {
			s.topic(name, 1, 1)
			s.send(name, 0, map[string]string{"DELAY": "1"})
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 0)).To(gomega.Equal(int64(1))) })
			s.soon(func(g gomega.Gomega) {
				body := string(s.ok(s.a, remoting.ReqGetAllDelayOffset, nil).Body)
				g.Expect(body).To(gomega.MatchRegexp(`"offsetTable":\{1:[1-9]`))
			})
		}},
	}
}
