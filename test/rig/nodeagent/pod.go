// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// holdInterval is how often a Pod that waits for something looks again
	// without being told of a change.
	holdInterval = time.Second
	// refreshInterval is how often volumes are written anew without being told of
	// a change; it is for tokens.
	refreshInterval = time.Minute
	// forcedGrace is what containers get when their Pod is gone from the API.
	forcedGrace = time.Second
)

// podWorker runs one Pod from binding to deletion.
type podWorker struct {
	agent  *Agent
	uid    types.UID
	spec   *corev1.PodSpec
	state  *podState
	tokens *podTokens
	log    logr.Logger
	// dir is removed with the Pod.
	dir string
	// change tells that something a container or volume refers to has changed.
	change broadcast

	// stopCtx ends when the containers are to be stopped, killCtx when their time
	// is up.
	stopCtx, killCtx context.Context
	stop, kill       context.CancelFunc
	done             chan struct{}

	mu sync.Mutex
	// killTimer is set when the Pod is being deleted; it goes off at killAt.
	killTimer *time.Timer
	killAt    time.Time
}

func newPodWorker(a *Agent, pod *corev1.Pod) *podWorker {
	w := &podWorker{
		agent: a, uid: pod.UID, spec: &pod.Spec,
		log:    a.log.WithValues("pod", pod.Namespace+"/"+pod.Name),
		dir:    filepath.Join(a.options.Dir, "pods", string(pod.UID)),
		tokens: &podTokens{client: a.client, pod: pod},
		done:   make(chan struct{}),
	}
	w.state = newPodState(pod, facts{who: identity{hostIP: hostIP}, startTime: metav1.Now()})
	for _, old := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if old.ContainerID != "" { // run by an agent before this one
			w.state.facts.containers[old.Name] = corev1.ContainerStatus{RestartCount: old.RestartCount + 1,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}
		}
	}
	w.stopCtx, w.stop = context.WithCancel(a.ctx)
	w.killCtx, w.kill = context.WithCancel(a.killCtx)
	return w
}

// see takes a newer version of the Pod.
func (w *podWorker) see(pod *corev1.Pod) {
	old := w.state.newest()
	w.state.see(pod)
	if !maps.Equal(old.Labels, pod.Labels) || !maps.Equal(old.Annotations, pod.Annotations) {
		w.change.fire()
	}
	if pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil {
		w.deletion(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	}
}

// gone is called when the Pod is no longer in the API.
func (w *podWorker) gone() { w.deletion(forcedGrace) }

// deletion stops the Pod with the grace given. A later, shorter grace counts, a
// longer one does not.
func (w *podWorker) deletion(grace time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now().Add(grace)
	switch {
	case w.killTimer == nil:
		w.killTimer, w.killAt = time.AfterFunc(grace, w.kill), at
		w.stop()
	case at.Before(w.killAt):
		w.killTimer.Reset(grace)
		w.killAt = at
	}
}

func (w *podWorker) beingDeleted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.killTimer != nil
}

// run runs the Pod and returns when it is gone, or when the agent stops.
func (w *podWorker) run() {
	defer close(w.done)
	defer w.kill()
	defer w.stop()
	phase := w.state.newest().Status.Phase
	over := phase == corev1.PodSucceeded || phase == corev1.PodFailed // under an agent before this one
	if !over {
		ctx, cancel := context.WithCancel(w.agent.ctx)
		var writing sync.WaitGroup
		writing.Go(func() { statusWriter{w.client(), w.state, w.log}.run(ctx) })
		w.live()
		<-w.stopCtx.Done() // until then its conditions may change
		cancel()
		writing.Wait()
	}
	<-w.stopCtx.Done() // a Pod that is over waits for its deletion
	if w.beingDeleted() {
		w.finish(!over)
	}
}

// live runs the containers, and returns when all have ended for good.
func (w *podWorker) live() {
	release, ok := w.setUp(w.stopCtx)
	defer release()
	if !ok {
		return
	}
	for i := range w.spec.InitContainers {
		c := &container{pod: w, spec: &w.spec.InitContainers[i], init: true, backoff: w.agent.backoff()}
		if !c.run(w.stopCtx) {
			return
		}
	}
	w.state.update(func(f *facts) { f.initialized = true })

	ctx, cancel := context.WithCancel(w.stopCtx)
	var refreshing, containers sync.WaitGroup
	refreshing.Go(func() { w.refresh(ctx) })
	for i := range w.spec.Containers {
		c := &container{pod: w, spec: &w.spec.Containers[i], backoff: w.agent.backoff()}
		containers.Go(func() { c.run(w.stopCtx) })
	}
	containers.Wait()
	cancel()
	refreshing.Wait()
}

// refresh keeps the volumes of the running Pod up to date.
func (w *podWorker) refresh(ctx context.Context) {
	for {
		changed := w.change.next() // taken before the look, so that no change is missed
		if err := w.volumes().sync(ctx); err != nil && ctx.Err() == nil {
			w.event(corev1.EventTypeWarning, "FailedMount", "%v", err)
		}
		if !wait(ctx, changed, refreshInterval) {
			return
		}
	}
}

// waitForChange returns true when it is time to try again what has failed.
func (w *podWorker) waitForChange(ctx context.Context) bool {
	return wait(ctx, w.change.next(), holdInterval)
}

// wait returns false when the context ended, and true on a change or after atMost.
func wait(ctx context.Context, changed <-chan struct{}, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-timer.C:
	}
	return true
}

// volumes returns the volumes as they are to be for the newest version of the Pod.
func (w *podWorker) volumes() volumes {
	pod, f := w.state.snapshot()
	return volumes{
		dir:    filepath.Join(w.dir, "volumes"),
		env:    environment{pod: pod, who: f.who, objects: w.agent.objects, base: w.agent.baseEnv(w.workDir())},
		tokens: w.tokens,
	}
}

func (w *podWorker) workDir() string   { return filepath.Join(w.dir, "work") }
func (w *podWorker) hostsFile() string { return filepath.Join(w.dir, "hosts") }

// restarts is how often the container was started before.
func (w *podWorker) restarts(name string) int32 {
	_, f := w.state.snapshot()
	return f.containers[name].RestartCount
}

// event tells users what happened, unless the agent is being stopped: then
// nothing is written any more.
func (w *podWorker) event(kind, reason, format string, args ...any) {
	if w.agent.ctx.Err() != nil {
		return
	}
	w.agent.recorder.Event(w.state.newest(), kind, reason, fmt.Sprintf(format, args...))
}

// setUp gives the Pod its address and folders. The function it returns takes
// them back.
func (w *podWorker) setUp(ctx context.Context) (release func(), ok bool) {
	address := hostIP
	for !w.spec.HostNetwork {
		taken, err := w.agent.addresses.take()
		if err == nil {
			address = taken
			break
		}
		if !w.hold(ctx, err) {
			return func() {}, false
		}
	}
	release = func() {
		if address != hostIP {
			w.agent.addresses.give(address)
		}
		if err := os.RemoveAll(w.dir); err != nil {
			w.log.Error(err, "removing the folder of a Pod")
		}
	}
	w.state.update(func(f *facts) { f.who.podIP = address })
	for {
		err := w.makeFolders(address)
		if err == nil {
			return release, true
		}
		if !w.hold(ctx, err) {
			return release, false
		}
	}
}

// hold shows why no container can be started and waits before the next try.
func (w *podWorker) hold(ctx context.Context, cause error) bool {
	w.event(corev1.EventTypeWarning, "FailedCreatePodSandBox", "%v", cause)
	w.state.update(func(f *facts) {
		for _, c := range slices.Concat(w.spec.InitContainers, w.spec.Containers) {
			status := f.containers[c.Name]
			status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ContainerCreating", Message: cause.Error()}}
			f.containers[c.Name] = status
		}
	})
	return w.waitForChange(ctx)
}

func (w *podWorker) makeFolders(address string) error {
	if err := unsupported(w.spec); err != nil {
		return err
	}
	if err := os.MkdirAll(w.workDir(), 0o755); err != nil {
		return fmt.Errorf("making the folder of the Pod: %w", err)
	}
	if err := os.WriteFile(w.hostsFile(), []byte(hostsFile(w.state.newest(), address)), 0o644); err != nil {
		return fmt.Errorf("writing the hosts file: %w", err)
	}
	return nil
}
