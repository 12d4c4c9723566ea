// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// Agent is one node. Its methods may be called from any goroutine.
type Agent struct {
	options    Options
	config     *rest.Config
	client     kubernetes.Interface
	log        logr.Logger
	supervisor *process.Supervisor
	addresses  *addressPool
	objects    objects
	nodes      corelisters.NodeLister
	events     record.EventBroadcaster
	recorder   record.EventRecorder
	// hostnames is true when Pods can have a host name of their own.
	hostnames bool
	kubelet   net.Listener

	// ctx ends when the agent stops, killCtx when its Pods' time is up.
	ctx, killCtx context.Context
	cancel, kill context.CancelFunc
	// loops are the goroutines of the agent, pods those of its Pods.
	loops, pods sync.WaitGroup

	mu      sync.Mutex
	workers map[types.UID]*podWorker
	stopped bool
}

// Start registers the node and returns when it is ready to run Pods. The context
// bounds the start only; the agent runs until Stop, or until the calling program
// ends.
func Start(ctx context.Context, options Options) (*Agent, error) {
	options, err := options.completed()
	if err != nil {
		return nil, err
	}
	a := &Agent{options: options, config: rest.CopyConfig(options.Config),
		log: options.Log.WithValues("node", options.NodeName), hostnames: process.CanSetHostname(),
		workers: map[types.UID]*podWorker{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.killCtx, a.kill = context.WithCancel(context.Background())
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting node agent %s: %w", options.NodeName, err), a.Stop(0))
	}
	return a, nil
}

func (a *Agent) start(ctx context.Context) error {
	var err error
	if a.client, err = kubernetes.NewForConfig(a.config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if a.supervisor, err = process.NewSupervisor(); err != nil {
		return err
	}
	if a.addresses, err = claimAddresses(); err != nil {
		return err
	}
	a.events = record.NewBroadcaster()
	a.events.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: a.client.CoreV1().Events("")})
	a.recorder = a.events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "lockstep-nodeagent", Host: a.options.NodeName})
	if err := a.startKubelet(); err != nil {
		return err
	}
	if err := a.startNode(ctx); err != nil {
		return err
	}
	return a.startWatching(ctx)
}

// pod takes a Pod of this node as it is now.
func (a *Agent) pod(pod *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return
	}
	w, known := a.workers[pod.UID]
	if !known {
		w = newPodWorker(a, pod)
		a.workers[pod.UID] = w
		a.pods.Go(w.run)
	}
	w.see(pod)
}

// podGone forgets a Pod. Its worker ends what still runs.
func (a *Agent) podGone(uid types.UID) {
	a.mu.Lock()
	w, known := a.workers[uid]
	delete(a.workers, uid)
	a.mu.Unlock()
	if known {
		w.gone()
	}
}

// objectChanged makes the Pods of a namespace look at their references again.
func (a *Agent) objectChanged(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workers {
		if w.state.newest().Namespace == namespace {
			w.change.fire()
		}
	}
}

func (a *Agent) backoff() backoff { return backoff{base: a.options.RestartBackoff} }

// baseEnv is the environment of a container before its own variables.
func (a *Agent) baseEnv(home string) map[string]string {
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": home}
	if host, port, err := apiAddress(a.config.Host); err == nil {
		env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] = host, port
	}
	for _, entry := range a.options.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

// PIDs are the process ids of all containers that run.
func (a *Agent) PIDs() []int {
	var pids []int
	for _, p := range a.supervisor.Running() {
		pids = append(pids, p.PID())
	}
	return pids
}

// NodeName is the name of the Node.
func (a *Agent) NodeName() string { return a.options.NodeName }

// Stop ends every Pod's processes, with SIGTERM and, when they still run after
// the grace, SIGKILL, and returns when they are gone. Nothing is written to the
// API: the Pods stay as they were, as when a node is lost, and an agent of the
// same name that starts later starts their containers again. A grace of 0 is a
// crash of the node. Logs stay.
func (a *Agent) Stop(grace time.Duration) error {
	a.mu.Lock()
	again := a.stopped
	a.stopped = true
	a.mu.Unlock()
	if again {
		return nil
	}
	if grace <= 0 {
		a.kill()
	}
	a.cancel()
	timer := time.AfterFunc(grace, a.kill)
	a.pods.Wait()
	timer.Stop()
	a.kill()
	var errs []error
	if a.kubelet != nil {
		errs = append(errs, ignoreClosed(a.kubelet.Close()))
	}
	a.loops.Wait()
	if a.events != nil {
		a.events.Shutdown()
	}
	if a.supervisor != nil {
		errs = append(errs, a.supervisor.Close(0))
	}
	if a.addresses != nil {
		errs = append(errs, a.addresses.close())
	}
	return errors.Join(errs...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
