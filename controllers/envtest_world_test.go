// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/controllers"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

// patience bounds what must happen; the machine may be busy.
const patience = 60 * time.Second

// world is one test's surroundings: a namespace, a RocketMQ, and an operator
// that sees only these.
type world struct {
	*WithT
	t         *testing.T
	ctx       context.Context
	client    client.Client
	namespace string
	mq        *brokertest.Cluster
	writes    *writeCounter
	metrics   *prometheus.Registry
	// stop ends the operator, restart runs another one.
	stop, restart func()
}

func newWorld(t *testing.T, mq brokertest.Options) *world {
	t.Helper()
	g := NewWithT(t)
	s, err := shared()
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	c, err := client.New(s.config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())

	if mq.Clock == nil {
		mq.Clock = clock.RealClock{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	w := &world{WithT: g, t: t, ctx: ctx, client: c, mq: brokertest.Start(t, mq), writes: &writeCounter{}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	g.Expect(c.Create(ctx, namespace)).To(Succeed())
	w.namespace = namespace.Name
	w.restart = func() { w.startOperator(s.config, scheme) }
	w.restart()
	return w
}

// startOperator runs an operator; stop ends it and waits, as a crash or a
// hand-over of leadership would.
func (w *world) startOperator(cfg *rest.Config, scheme *runtime.Scheme) {
	w.t.Helper()
	cacheOptions := controllers.CacheOptions(w.namespace)
	cacheOptions.DefaultNamespaces = map[string]cache.Config{w.namespace: {}}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Cache: cacheOptions, Client: controllers.ClientOptions(), NewClient: w.writes.newClient,
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Logger:     zap.New(zap.WriteTo(newTestWriter(w.t)), zap.UseDevMode(true)),
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.metrics = prometheus.NewRegistry()
	w.Expect(controllers.Setup(mgr, controllers.Options{Namespace: w.namespace, Concurrency: 4, Metrics: w.metrics})).To(Succeed())
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("the operator ended with an error: %v", err)
		}
	})
	w.stop = stop
	w.t.Cleanup(stop)
}

// cluster declares a BrokerCluster for the world's RocketMQ, with short waits.
func (w *world) cluster(edits ...func(*v1alpha1.BrokerCluster)) *v1alpha1.BrokerCluster {
	w.t.Helper()
	c := &v1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "shop"}}
	c.Spec.ClusterName = w.mq.Name()
	for _, a := range w.mq.NameServerAddrs() {
		c.Spec.NameServers = append(c.Spec.NameServers, v1alpha1.Endpoint(a))
	}
	c.Spec.Timings = &v1alpha1.Timings{
		LongestRouteAgeSeconds: ptr.To(int32(1)), SettleSeconds: ptr.To(int32(1)),
		SweepSeconds: ptr.To(int32(1)), CallTimeoutSeconds: ptr.To(int32(5)),
	}
	for _, edit := range edits {
		edit(c)
	}
	w.Expect(w.client.Create(w.ctx, c)).To(Succeed())
	return c
}

// topic declares a Topic named TOPIC_NAME for the object name.
func (w *world) topic(name string, queues int32, edits ...func(*v1alpha1.Topic)) *v1alpha1.Topic {
	w.t.Helper()
	topic := &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	topic.Spec.ClusterRef.Name = "shop"
	topic.Spec.TopicName = v1alpha1.TopicName("TOPIC_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	topic.Spec.Queues.PerBroker = queues
	for _, edit := range edits {
		edit(topic)
	}
	w.Expect(w.client.Create(w.ctx, topic)).To(Succeed())
	return topic
}

// is waits until an object's condition has a status and, unless empty, a reason.
func (w *world) is(object client.Object, kind string, status metav1.ConditionStatus, reason string) {
	w.t.Helper()
	w.Eventually(func() (string, error) {
		if err := w.client.Get(w.ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return "", err
		}
		return describe(conditionsOf(object), kind, object.GetGeneration(), reason != ""), nil
	}, patience, 100*time.Millisecond).Should(Equal(fmt.Sprintf("%s %s%s", kind, status, map[bool]string{true: " " + reason}[reason != ""])),
		func() string { return dump(object) })
}

// describe prints a condition; one that speaks about an older spec says so.
func describe(conditions []metav1.Condition, kind string, generation int64, withReason bool) string {
	c := meta.FindStatusCondition(conditions, kind)
	switch {
	case c == nil:
		return kind + " absent"
	case c.ObservedGeneration != generation:
		return kind + " of an older generation"
	case withReason:
		return fmt.Sprintf("%s %s %s", kind, c.Status, c.Reason)
	default:
		return fmt.Sprintf("%s %s", kind, c.Status)
	}
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *v1alpha1.Topic:
		return o.Status.Conditions
	case *v1alpha1.BrokerCluster:
		return o.Status.Conditions
	}
	return nil
}

func dump(object client.Object) string {
	var b strings.Builder
	for _, c := range conditionsOf(object) {
		fmt.Fprintf(&b, "%s %s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return b.String()
}

// testWriter sends the operator's log to the test's, until the test is over:
// event broadcasters outlive the manager.
type testWriter struct {
	mu   sync.Mutex
	t    *testing.T
	over bool
}

func newTestWriter(t *testing.T) *testWriter {
	w := &testWriter{t: t}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
	})
	return w
}

func (w *testWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.t.Logf("%s", strings.TrimRight(string(p), "\n"))
	}
	return len(p), nil
}

func clientMergeFrom(base client.Object) client.Patch { return client.MergeFrom(base) }
