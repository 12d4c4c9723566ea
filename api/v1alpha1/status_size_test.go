// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// statusLimit is what a status may weigh as JSON.
const statusLimit = 8 << 10

// Names as long as teams make them; RocketMQ allows 127 and 255 characters.
const (
	longBroker = "broker-shop-%02d"
	longGroup  = "CG_SHOP_POINTS_AND_VOUCHERS_%d"
	uid        = types.UID("0b7ff6a2-5a0e-4f43-9f10-6a1f5b2f9a51")
)

var when = metav1.NewTime(time.Date(2026, 11, 30, 14, 2, 11, 0, time.UTC))

// TestK05_TopicStatusStaysSmall fills every field and every list of a Topic's status to its maximum, in
// the middle of a change from 128 queues on ten brokers with everything going wrong at once.
func TestK05_TopicStatusStaysSmall(t *testing.T) {
	g := NewWithT(t)
	status := fullTopicStatus(10)
	g.Expect(status.Change.WaitsFor).To(HaveLen(v1alpha1.MaxHolds))
	g.Expect(weigh(t, status)).To(BeNumerically("<=", statusLimit))
}

// TestK05_BrokerClusterStatusStaysSmall does the same for a cluster of ten brokers of which none is well.
func TestK05_BrokerClusterStatusStaysSmall(t *testing.T) {
	g := NewWithT(t)
	g.Expect(weigh(t, fullClusterStatus(10, 3, 3))).To(BeNumerically("<=", statusLimit))
}

// TestK05_StatusGrowsWithBrokersOnly shows that queue numbers change nothing in the shape: the same
// status for one queue and for 1,024 has the same number of entries in every list.
func TestK05_StatusGrowsWithBrokersOnly(t *testing.T) {
	g := NewWithT(t)
	perBroker := weigh(t, fullTopicStatus(11)) - weigh(t, fullTopicStatus(10))
	g.Expect(perBroker).To(BeNumerically("<", 420), "bytes that one more broker adds")
}

func weigh(t *testing.T, status any) int {
	t.Helper()
	g := NewWithT(t)
	raw, err := json.Marshal(status)
	g.Expect(err).NotTo(HaveOccurred())
	parts := map[string]json.RawMessage{}
	g.Expect(json.Unmarshal(raw, &parts)).To(Succeed())
	for name, value := range parts {
		t.Logf("%6d bytes %s", len(value), name)
	}
	t.Logf("%6d bytes in all", len(raw))
	return len(raw)
}

func text(length int) string { return strings.Repeat("m", length) }

func conditions(long string, short ...string) []metav1.Condition {
	out := []metav1.Condition{condition(long, v1alpha1.MaxConditionMessage)}
	for _, kind := range short {
		out = append(out, condition(kind, 120))
	}
	return out
}

func condition(kind string, length int) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: metav1.ConditionUnknown, ObservedGeneration: 1000, LastTransitionTime: when,
		Reason: v1alpha1.ReasonNameServerUndeclared, Message: text(length),
	}
}

func claim() *v1alpha1.Claim {
	return &v1alpha1.Claim{Identity: "production-shop/7c1f4be09d22aa10", Namespace: "shop-production", Name: "orders-of-the-shop", UID: uid}
}

func fullTopicStatus(brokers int) v1alpha1.TopicStatus {
	status := v1alpha1.TopicStatus{
		Conditions: conditions(v1alpha1.ConditionDraining, v1alpha1.ConditionReady, v1alpha1.ConditionReconciling,
			v1alpha1.ConditionAsDeclared, v1alpha1.ConditionRetiredQueuesWatched, v1alpha1.ConditionStranded,
			v1alpha1.ConditionLateMessages, v1alpha1.ConditionPaused),
		ObservedGeneration:          1000,
		TopicName:                   "TOPIC_SHOP_FULFILMENT_ORDERS_AND_RETURNS",
		ReadQueues:                  ptr.To[int32](128),
		WriteQueues:                 ptr.To[int32](128),
		Claim:                       claim(),
		Adoption:                    &v1alpha1.Adoption{Generation: 1000, Time: when, ReadQueues: ptr.To[int32](128)},
		NameServers:                 &v1alpha1.NameServerAgreement{Asked: ptr.To[int32](16), Agreeing: ptr.To[int32](15)},
		Change:                      fullChange(brokers),
		Stranded:                    &v1alpha1.StrandedMessages{Messages: ptr.To[int64](math.MaxInt32), Omitted: 1000},
		LastHandledReconcileRequest: when.Format(time.RFC3339Nano),
	}
	for i := range brokers {
		status.Brokers = append(status.Brokers, v1alpha1.TopicBrokerStatus{
			Name: fmt.Sprintf(longBroker, i), State: v1alpha1.TopicBrokerUnreachable,
			Read: ptr.To[int32](128), Write: ptr.To[int32](128), Perm: ptr.To[int32](6),
		})
		if i < 2 {
			status.Brokers[i].Address = fmt.Sprintf("10.244.100.%d:10911", 100+i)
			status.Brokers[i].Message = text(v1alpha1.MaxBrokerMessage)
		}
	}
	for i := range v1alpha1.MaxStrandedQueues {
		status.Stranded.Worst = append(status.Stranded.Worst, v1alpha1.StrandedQueue{
			Broker: fmt.Sprintf(longBroker, i), Queue: ptr.To[int32](127), Group: fmt.Sprintf(longGroup, i), Messages: ptr.To[int64](math.MaxInt32),
		})
	}
	for i := range v1alpha1.MaxGivenUp {
		given := v1alpha1.GivenUp{Group: fmt.Sprintf(longGroup, i), ToQueues: 127, Time: when, Messages: ptr.To[int64](math.MaxInt32), Omitted: 1000}
		for j := range v1alpha1.MaxGivenUpQueues {
			given.Queues = append(given.Queues, fmt.Sprintf(longBroker+"/%d:%d", j, 127, math.MaxInt16))
		}
		status.GivenUp = append(status.GivenUp, given)
	}
	return status
}

func fullChange(brokers int) *v1alpha1.QueueChange {
	change := &v1alpha1.QueueChange{
		ID: "c-1000-7c1f4be0", Generation: 1000, Kind: v1alpha1.ChangePlacement,
		From: ptr.To[int32](128), To: ptr.To[int32](127), Started: when,
		Stage: v1alpha1.StageLookingForPending, StageSince: when,
		Drain: &v1alpha1.DrainProgress{
			Queues: ptr.To[int32](1280), Drained: ptr.To[int32](1279), Unread: ptr.To[int64](math.MaxInt32), UnreadAtStart: ptr.To[int64](math.MaxInt32),
		},
		Approval: "narrow-reads/c-1000-7c1f4be0", History: &v1alpha1.ReadableHistory{Messages: ptr.To[int64](math.MaxInt32), Until: &when},
		SettleUntil: &when, WatchUntil: &when, ExpectedEnd: &when, Omitted: 1000,
	}
	for i := range brokers {
		change.Brokers = append(change.Brokers, v1alpha1.BrokerChange{
			Name: fmt.Sprintf(longBroker, i), From: ptr.To[int32](128), To: ptr.To[int32](127), Cut: &when,
		})
	}
	for i := range v1alpha1.MaxHolds {
		change.WaitsFor = append(change.WaitsFor, v1alpha1.Hold{
			Reason: v1alpha1.ReasonGroupUnsubscribed, Broker: fmt.Sprintf(longBroker, i), Queue: ptr.To[int32](127),
			Group: fmt.Sprintf(longGroup, i), Count: ptr.To[int64](math.MaxInt32), Message: text(v1alpha1.MaxHoldMessage),
		})
	}
	return change
}

func fullClusterStatus(brokers, servers, proxies int) v1alpha1.BrokerClusterStatus {
	many := ptr.To[int32](100_000)
	status := v1alpha1.BrokerClusterStatus{
		Conditions: conditions(v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionNameServersAgree,
			v1alpha1.ConditionBrokersReachable, v1alpha1.ConditionRoutesAgree, v1alpha1.ConditionAuthenticated, v1alpha1.ConditionPaused),
		ObservedGeneration: 1000, Claim: claim(),
		Counts: &v1alpha1.BrokerClusterCounts{
			Brokers: many, BrokersAnswering: many, NameServers: many, NameServersAgreeing: many, Topics: many, Groups: many,
		},
		LastHandledReconcileRequest: when.Format(time.RFC3339Nano),
	}
	for i := range brokers {
		status.Brokers = append(status.Brokers, v1alpha1.BrokerStatus{
			Name: fmt.Sprintf(longBroker, i), Address: fmt.Sprintf("10.244.100.%d:10911", 100+i), Version: "5.5.0-SNAPSHOT",
			State: v1alpha1.PeerWrongEndpoint, Message: text(v1alpha1.MaxBrokerMessage),
		})
	}
	for i := range servers {
		status.NameServers = append(status.NameServers, v1alpha1.NameServerStatus{
			Address: fmt.Sprintf("10.244.100.%d:9876", 100+i), Endpoint: "rocketmq-namesrv.rocketmq.svc.cluster.local:9876",
			State: v1alpha1.PeerDisagreeing, Message: text(v1alpha1.MaxBrokerMessage),
		})
	}
	for i := range proxies {
		status.Proxies = append(status.Proxies, v1alpha1.ProxyStatus{
			Address: fmt.Sprintf("10.244.100.%d:8080", 100+i), State: v1alpha1.PeerUnresolvable, Message: text(v1alpha1.MaxBrokerMessage),
		})
	}
	return status
}
