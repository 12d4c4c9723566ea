// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestR03_MeetAsksForTheSettingsOnly(t *testing.T) {
	g := NewWithT(t)
	f := newFake(479)
	process, settings, err := f.client().Meet(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(process).To(Equal(snapshot.Process{Address: fakeAddr, Name: "broker-a", Cluster: "DefaultCluster", Connection: 1}))
	g.Expect(settings.Name).To(Equal("broker-a"))
	g.Expect(f.calls).To(HaveLen(1))
	g.Expect(f.calls[0].code).To(Equal(remoting.ReqGetBrokerConfig))

	f.body(remoting.ReqGetBrokerConfig, "brokerName=broker-a\n")
	_, _, err = f.client().Meet(t.Context(), fakeAddr)
	g.Expect(err).To(MatchError(remoting.Malformed))
}
