// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/brokertest/contract"
)

// shortDelays are delay levels from one second on, so that the contract can
// wait for one.
const shortDelays = "1s 2s 3s 4s 5s 10s 15s 20s 30s 40s 50s 60s 90s 2m 3m 4m 5m 10m"

func TestContractOfBrokertest(t *testing.T) {
	for _, v := range brokertest.Versions() {
		t.Run(v.String(), func(t *testing.T) {
			o := brokertest.Options{Version: v, Slaves: 1, Settings: map[string]string{
				"messageDelayLevel": shortDelays, "autoCreateTopicEnable": "false",
			}}
			if v > brokertest.V497 {
				o.Proxies = 1
			}
			c := brokertest.Start(t, o)
			target := contract.Target{
				Version: int(v), Cluster: c.Name(), NameServers: c.NameServerAddrs(), Proxies: c.ProxyAddrs(),
				Masters: map[string]string{}, Slaves: map[string]string{},
				Pass: c.Advance, Patience: 5 * time.Second, Poll: time.Millisecond, Stay: 20 * time.Millisecond,
				RestartNameServer: func(t *testing.T, i int) {
					NewWithT(t).Expect(c.NameServer(i).Restart()).To(Succeed())
				},
				HangNameServer: func(_ *testing.T, i int) func() {
					c.NameServer(i).Hang()
					return c.NameServer(i).Resume
				},
			}
			for _, name := range c.BrokerNames() {
				target.Masters[name] = c.Broker(name).Addr()
				target.Slaves[name] = c.Replica(name, 1).Addr()
			}
			contract.Run(t, target)
		})
	}
}
