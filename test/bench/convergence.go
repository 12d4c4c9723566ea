// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// convergence is the first convergence of many topics, beside a bare loop.
type convergence struct {
	version string
	topics  int
	// bare is a loop of one create call per topic and broker on the same brokers
	// just before; ours is from the first apply to the last Ready.
	bare bare
	ours time.Duration
	// apply is the part of ours in which the manifests were sent.
	apply time.Duration
	// requests are the writing requests that the API server answered meanwhile,
	// the load's own included.
	requests float64
	// writes are API writes in a full second pass, changing the changes of the
	// brokers' tables in it.
	writes, changing int
	// memory is the operator's resident memory afterwards, in MiB.
	memory float64
}

// bareLimit is how long a bare loop runs at most: at ten thousand topics it would
// take most of an hour.
const bareLimit = 4 * time.Minute

// bareText says how long the bare loop took; "more than" where it was stopped.
func (c convergence) bareText() string {
	text := fmt.Sprintf("%.1f s (%.0f/s)", c.bare.took.Seconds(), c.rate(c.bare.took))
	if c.bare.done < c.topics {
		text = fmt.Sprintf("more than %s; stopped after %d", text, c.bare.done)
	}
	return text
}

func (c convergence) ratio() float64 { return c.bare.took.Seconds() / c.ours.Seconds() }

func (c convergence) rate(d time.Duration) float64 { return float64(c.topics) / d.Seconds() }

func (c convergence) line() string {
	return fmt.Sprintf("%s: %d topics: bare loop %s, Lockstep %.1f s (%.0f/s), ratio %.2f, %.1f API writes per topic, second pass %d API writes and %d changes on brokers, %.0f MiB resident",
		c.version, c.topics, c.bareText(), c.ours.Seconds(), c.rate(c.ours), c.ratio(), c.requests/float64(c.topics), c.writes, c.changing, c.memory)
}

const (
	namespace   = "bench"
	clusterName = "bench-cluster"
)

func measureConvergence(ctx context.Context, version string, topics int) (out convergence, err error) {
	out = convergence{version: version, topics: topics}
	dir, err := os.MkdirTemp("", "lockstep-bench-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	w, err := world.Start(ctx, world.Options{
		Dir: dir, RocketMQ: rocketmq.Options{Version: version, ClusterName: clusterName}, Log: os.Stderr,
	})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	if out.bare, err = bareLoop(ctx, w.RocketMQ, topics, bareLimit); err != nil {
		return out, fmt.Errorf("the bare loop: %w", err)
	}
	if err := w.Namespace(ctx, namespace, nil); err != nil {
		return out, err
	}
	if err := declareCluster(ctx, w); err != nil {
		return out, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ready, err := watchReadiness(watching, w.Config, w.Client.Scheme(), topics)
	if err != nil {
		return out, err
	}
	before, err := apiRequests(ctx, w.Config)
	if err != nil {
		return out, err
	}
	began := time.Now()
	if err := applyTopics(ctx, w.Client, topics); err != nil {
		return out, err
	}
	out.apply = time.Since(began)
	if err := ready.wait(ctx); err != nil {
		return out, err
	}
	out.ours = time.Since(began)
	stop()
	after, err := apiRequests(ctx, w.Config)
	if err != nil {
		return out, err
	}
	out.requests = changingRequests(before, after)
	if out.memory, err = residentMiB(w.Operator.PID()); err != nil {
		return out, err
	}
	out.writes, out.changing, err = secondPass(ctx, w, topics+out.bare.done)
	return out, err
}

func declareCluster(ctx context.Context, w *world.World) error {
	c := &v1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bench"}}
	c.Spec.ClusterName = clusterName
	for _, a := range w.RocketMQ.NameServerAddresses() {
		c.Spec.NameServers = append(c.Spec.NameServers, v1alpha1.Endpoint(a))
	}
	if err := w.Client.Create(ctx, c); err != nil {
		return fmt.Errorf("declaring the BrokerCluster: %w", err)
	}
	return poll(ctx, 5*time.Minute, func() (bool, error) {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return false, err
		}
		return meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionReady), nil
	})
}

// appliers is how many manifests are sent at a time.
const appliers = 16

func applyTopics(ctx context.Context, c client.Client, n int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(appliers)
	for i := range n {
		group.Go(func() error {
			t := &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("bench-%05d", i)}}
			t.Spec.ClusterRef.Name = "bench"
			t.Spec.TopicName = v1alpha1.TopicName(topicName(i))
			t.Spec.Queues.PerBroker = 4
			return c.Create(ctx, t)
		})
	}
	return group.Wait()
}

// readiness counts the topics that are Ready by one watch. Listing them again
// and again would load the API server more than the operator does.
type readiness struct {
	want int
	done chan struct{}

	mu    sync.Mutex
	ready map[string]struct{}
}

// watchReadiness begins to watch before the first topic is applied.
func watchReadiness(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, want int) (*readiness, error) {
	c, err := cache.New(config, cache.Options{
		Scheme: scheme, DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, err
	}
	informer, err := c.GetInformer(ctx, &v1alpha1.Topic{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	r := &readiness{want: want, done: make(chan struct{}), ready: map[string]struct{}{}}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    r.see,
		UpdateFunc: func(_, is any) { r.see(is) },
	}); err != nil {
		return nil, err
	}
	go func() { _ = c.Start(ctx) }() // ends with ctx
	if !c.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("watching topics: %w", ctx.Err())
	}
	return r, nil
}

func (r *readiness) see(o any) {
	t, ok := o.(*v1alpha1.Topic)
	if !ok || !meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionReady) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.ready)
	r.ready[t.Name] = struct{}{}
	if len(r.ready) == r.want && before < r.want {
		close(r.done)
	}
}

// wait waits until every topic was seen Ready.
func (r *readiness) wait(ctx context.Context) error {
	const limit = 30 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not all topics became Ready within %s", limit))
	defer cancel()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func poll(ctx context.Context, limit time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// residentMiB reads the resident memory of a process.
func residentMiB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmRSS", pid)
}
