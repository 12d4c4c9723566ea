// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package contract_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/brokertest/contract"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// startTime bounds the start of the servers on a loaded machine.
const startTime = 6 * time.Minute

func TestE2EContractOfReleasedServers(t *testing.T) {
	for _, v := range brokertest.Versions() {
		t.Run(v.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), startTime)
			defer cancel()
			o := rig.Options{Version: v.String(), SlavesPerMaster: 1, BrokerProperties: rig.ShortDelays()}
			if v > brokertest.V497 {
				o.Proxies = 1
			}
			servers, err := rig.Start(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = servers.Stop() })
			target := contract.Target{
				Version: int(v), Cluster: "DefaultCluster", NameServers: servers.NameServerAddresses(),
				Masters: map[string]string{}, Slaves: map[string]string{},
				Pass: func(time.Duration) {}, Patience: time.Minute,
			}
			for _, m := range servers.Masters() {
				target.Masters[m.Name] = m.Addr
				target.Slaves[m.Name] = servers.Server(m.Name + "-slave-1").Addr
			}
			for _, p := range servers.Proxies {
				target.Proxies = append(target.Proxies, p.Addr)
			}
			nameServer := func(i int) *rig.Server {
				for _, s := range servers.Servers() {
					if s.Addr == target.NameServers[i] {
						return s
					}
				}
				t.Fatalf("no name server %d", i)
				return nil
			}
			target.RestartNameServer = func(t *testing.T, i int) {
				ctx, cancel := context.WithTimeout(t.Context(), startTime)
				defer cancel()
				nameServer(i).Kill()
				if err := nameServer(i).Start(ctx); err != nil {
					t.Fatal(err)
				}
			}
			target.HangNameServer = func(t *testing.T, i int) func() {
				if err := nameServer(i).Pause(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = nameServer(i).Resume() })
				return func() {
					if err := nameServer(i).Resume(); err != nil {
						t.Fatal(err)
					}
				}
			}
			contract.Run(t, target)
		})
	}
}
