// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

// sentence waits until a condition's message contains all the parts.
func (w *world) sentence(object client.Object, kind string, parts ...string) {
	w.t.Helper()
	matchers := make([]any, 0, len(parts))
	for _, p := range parts {
		matchers = append(matchers, p)
	}
	w.Eventually(func() string {
		_ = w.client.Get(w.ctx, client.ObjectKeyFromObject(object), object)
		for _, c := range conditionsOf(object) {
			if c.Type == kind {
				return c.Message
			}
		}
		return ""
	}, patience, 100*time.Millisecond).Should(containAll(matchers), func() string { return dump(object) })
}

func containAll(parts []any) OmegaMatcher {
	all := make([]OmegaMatcher, 0, len(parts))
	for _, p := range parts {
		all = append(all, ContainSubstring(p.(string)))
	}
	return SatisfyAll(all...)
}

func TestP07_WrongEndpointsAreToldApart(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	for name, tc := range map[string]struct {
		address string
		reason  string
		parts   []string
	}{
		"nobody listens":   {closed, v1alpha1.ReasonUnreachable, []string{closed, "refused"}},
		"no such name":     {"no-such-host.invalid:9876", v1alpha1.ReasonUnresolvable, []string{"no-such-host.invalid"}},
		"a gRPC or HTTP/2": {"http2", v1alpha1.ReasonWrongEndpoint, []string{"gRPC"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokertest.Options{})
			address := tc.address
			if address == "http2" {
				address = http2Server(t)
			}
			cluster := w.cluster(func(c *v1alpha1.BrokerCluster) { c.Spec.NameServers = []v1alpha1.Endpoint{v1alpha1.Endpoint(address)} })
			w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionFalse, tc.reason)
			w.sentence(cluster, v1alpha1.ConditionReady, tc.parts...)
			topic := w.topic("orders", 4)
			w.Eventually(func() string {
				_ = w.client.Get(w.ctx, client.ObjectKeyFromObject(topic), topic)
				return dump(topic)
			}, patience).Should(ContainSubstring("Ready"))
			w.Expect(w.mq.Recorder().Changing()).To(BeEmpty())
		})
	}
}

// http2Server answers whatever comes with an HTTP/2 settings frame, as a gRPC
// port does.
func http2Server(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Write([]byte{0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0x7f, 0xff, 0xff, 0xff})
				_, _ = conn.Read(make([]byte, 1024))
			}()
		}
	}()
	return listener.Addr().String()
}

func TestO30_WrongCredentialsAndTheirCorrection(t *testing.T) {
	for _, version := range []brokertest.Version{brokertest.V497, brokertest.V550} {
		t.Run(version.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokertest.Options{Version: version})
			w.mq.SetAccounts(map[string]brokertest.Account{"root": {Secret: "right", Admin: true}})
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mq"}, StringData: map[string]string{"accessKey": "root", "secretKey": "wrong"}}
			cluster := w.cluster(func(c *v1alpha1.BrokerCluster) {
				c.Spec.Credentials = &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "mq"}}
			})
			w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound)
			w.sentence(cluster, v1alpha1.ConditionReady, w.namespace+"/mq", "spec.credentials.secretRef", "create it")

			w.Expect(w.client.Create(w.ctx, secret)).To(Succeed())
			annotate(w, cluster, v1alpha1.AnnotationReconcileRequest, "1")
			w.is(cluster, v1alpha1.ConditionAuthenticated, metav1.ConditionFalse, v1alpha1.ReasonAuthFailed)
			topic := w.topic("orders", 4)
			w.is(topic, v1alpha1.ConditionReady, metav1.ConditionUnknown, "")
			w.Expect(w.mq.Recorder().Changing()).To(BeEmpty())

			edit(w, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte("right") })
			annotate(w, cluster, v1alpha1.AnnotationReconcileRequest, "2")
			w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReachable)
			w.ready(topic)
		})
	}
}

func TestO26_OnlyWhatFailedIsRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{Version: brokertest.V497})
	fault := w.mq.Inject(brokertest.Fault{Node: "broker-b", Code: 17, Do: brokertest.Answer(1, "disk full")})
	w.cluster()
	topic := w.topic("orders", 4)
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionFalse, "")
	w.sentence(topic, v1alpha1.ConditionReady, "broker-b", "disk full")
	before := w.mq.Recorder().Count(brokertest.To("broker-a"), brokertest.WithCode(17))
	fault.Remove()
	w.ready(topic)
	w.Expect(w.mq.Recorder().Count(brokertest.To("broker-a"), brokertest.WithCode(17))).To(Equal(before), "broker-a has it and is left alone")
}

func TestDriftIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 4, func(t *v1alpha1.Topic) { t.Spec.MessageType = v1alpha1.MessageTypeFIFO })
	w.ready(topic)
	config, _ := w.mq.Broker("broker-a").Topic(orders)
	config.Perm, config.Attributes = 4, nil
	w.mq.Broker("broker-a").PutTopic(config)
	w.Eventually(func() brokertest.TopicConfig {
		c, _ := w.mq.Broker("broker-a").Topic(orders)
		return c
	}, patience).Should(And(HaveField("Perm", 6), HaveField("Attributes", HaveKeyWithValue("message.type", "FIFO"))), "cases Q27, Q28")
	w.ready(topic)
}

func TestQ03_WriteAboveReadIsRepairedByRaisingReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 8)
	w.ready(topic)
	w.mq.Watch(orders)
	config, _ := w.mq.Broker("broker-b").Topic(orders)
	config.Read = 2
	w.mq.Broker("broker-b").PutTopic(config)
	w.Eventually(func() brokertest.TopicConfig {
		c, _ := w.mq.Broker("broker-b").Topic(orders)
		return c
	}, patience).Should(And(HaveField("Read", 8), HaveField("Write", 8)))
	w.is(topic, v1alpha1.ConditionAsDeclared, metav1.ConditionTrue, "")
}

func TestO25_NoTopicIsWrittenWhileANameServerWarmsUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.mq.CreateTopic("OTHER", 4, 4)
	w.mq.NameServer(1).MissRegistrations(true)
	w.Expect(w.mq.NameServer(1).Restart()).To(Succeed())
	cluster := w.cluster()
	w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionFalse, "")
	topic := w.topic("orders", 4)
	w.Consistently(func() []brokertest.Call { return w.mq.Recorder().Changing() }, 3*time.Second).Should(BeEmpty())
	w.mq.NameServer(1).MissRegistrations(false)
	for _, b := range w.mq.BrokerNames() {
		w.mq.Broker(b).Restart()
	}
	w.ready(topic)
}

func TestK40_O10_SecondPassWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	cluster := w.cluster()
	topics := []*v1alpha1.Topic{w.topic("orders", 4), w.topic("audit", 8), w.topic("pay", 2, withPolicyDelete)}
	for _, topic := range topics {
		w.ready(topic)
	}
	w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	w.is(cluster, v1alpha1.ConditionRoutesAgree, metav1.ConditionTrue, "")
	writes := w.writes.count()
	w.mq.Recorder().Reset()
	// A second pass over everything, asked for, and several sweeps.
	for _, topic := range topics {
		edit(w, topic, func(t *v1alpha1.Topic) { t.Annotations = map[string]string{"somebody": "else"} })
	}
	w.Consistently(func() int64 { return w.writes.count() - writes }, 4*time.Second).Should(BeZero(), "case O10")
	w.mq.Recorder().RequireNoChangingCalls(t)
	w.mq.Recorder().RequireNoForbiddenCalls(t)

	// A new process at rest writes nothing either, and exports what is there.
	w.stop()
	w.restart()
	w.Eventually(func() (int, error) {
		return testutil.GatherAndCount(w.metrics, "lockstep_topic_queues")
	}, patience).Should(Equal(3 * len(topics)))
}

func TestNotAllowedAndReservedNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster(func(c *v1alpha1.BrokerCluster) {
		c.Spec.Access = []v1alpha1.AccessRule{{Namespaces: v1alpha1.AccessNamespaces{From: v1alpha1.NamespacesFromSame}, Topics: []v1alpha1.NamePattern{"TOPIC_SHOP_*", "lockstep", "broker-*"}}}
	})
	denied := w.topic("denied", 4)
	w.is(denied, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed)
	for _, name := range []v1alpha1.TopicName{"lockstep", "broker-a"} {
		reserved := w.topic("reserved-"+string(name), 4, func(t *v1alpha1.Topic) { t.Spec.TopicName = name })
		w.is(reserved, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonReservedName)
	}
	allowed := w.topic("allowed", 4, func(t *v1alpha1.Topic) { t.Spec.TopicName = "TOPIC_SHOP_X" })
	w.ready(allowed)
}

func TestO23_LostTopicIsNotCreatedAgainInSilence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 4)
	w.ready(topic)
	for _, b := range w.mq.BrokerNames() {
		w.mq.Broker(b).DropTopic(orders)
	}
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTopicLost)
	w.Consistently(func() bool { return w.onBrokers(orders) }, 2*time.Second).Should(BeFalse())
	w.sentence(topic, v1alpha1.ConditionReady, "gone from all brokers", v1alpha1.AnnotationApprove)
	var id string
	for _, c := range topic.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady {
			id = c.Message[len(c.Message)-len("create-again-0000000000"):]
		}
	}
	annotate(w, topic, v1alpha1.AnnotationApprove, id)
	w.ready(topic)
	w.Expect(w.onBrokers(orders)).To(BeTrue())
}
