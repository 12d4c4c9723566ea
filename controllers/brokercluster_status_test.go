// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestBrokersReachable(t *testing.T) {
	brokers := map[string]snapshot.Broker{"broker-a": {}, "broker-b": {}}
	for _, tc := range []struct {
		name   string
		sweep  snapshot.Cluster
		status metav1.ConditionStatus
		reason string
	}{
		{"all answer", snapshot.Cluster{Brokers: brokers}, metav1.ConditionTrue, rocketmqv1alpha1.ReasonReachable},
		{"one does not", snapshot.Cluster{Brokers: brokers, Problems: []snapshot.Problem{{Trouble: snapshot.BrokerUnreachable, Sentence: "no answer"}}},
			metav1.ConditionFalse, rocketmqv1alpha1.ReasonUnreachable},
		{"nobody could say which there are", snapshot.Cluster{Problems: []snapshot.Problem{{Trouble: snapshot.Unresolvable}}},
			metav1.ConditionUnknown, rocketmqv1alpha1.ReasonUnresolvable},
		{"none, and nothing is wrong", snapshot.Cluster{}, metav1.ConditionUnknown, rocketmqv1alpha1.ReasonNoBrokers},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			v := brokersReachable(&tc.sweep)
			g.Expect(v.Status).To(Equal(tc.status))
			g.Expect(v.Reason).To(Equal(tc.reason))
			g.Expect(v.Message).NotTo(BeEmpty())
		})
	}
}
