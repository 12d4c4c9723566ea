// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/lockstep-dev/lockstep/test/rig/assets"
	"github.com/lockstep-dev/lockstep/test/rig/process"
)

const (
	// stopGrace is how long a program may take to end. Nothing is lost when it
	// is killed then: its data do not outlive the rig.
	stopGrace = 5 * time.Second
	// apiServerGrace is shorter: the API server waits for clients that watch.
	apiServerGrace = 2 * time.Second
)

// ControlPlane is a control plane that runs. Its methods may be called from any
// goroutine.
type ControlPlane struct {
	layout     layout
	access     access
	admin      *rest.Config
	supervisor *process.Supervisor
	// running is in the order of the start.
	running []running

	stop     sync.Once
	stopErr  error
	stopping chan struct{}
	done     chan struct{}
	mu       sync.Mutex
	err      error
}

// Start starts a control plane and returns when it is ready: when its
// controllers work. The context bounds the start only; what was started runs
// until Stop, or until the calling program ends. The error of a program that
// did not start quotes the end of its log.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	options, err := options.completed()
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{layout: layout{options.Dir}, access: access{layout: layout{options.Dir}},
		stopping: make(chan struct{}), done: make(chan struct{})}
	if err := c.layout.make(); err != nil {
		return nil, err
	}
	if c.access.pki, err = newPKI(c.layout.pki()); err != nil {
		return nil, err
	}
	if err := c.access.pki.issueServers(); err != nil {
		return nil, err
	}
	if c.supervisor, err = process.NewSupervisor(); err != nil {
		return nil, err
	}
	if err := c.startAll(ctx, options); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	go c.watch()
	return c, nil
}

func (c *ControlPlane) startAll(ctx context.Context, options Options) error {
	l := launcher{bin: options.BinDir, layout: c.layout, supervisor: c.supervisor}
	etcd, err := l.launch(ctx, component{
		name: string(assets.Etcd), ports: 2, grace: stopGrace, ready: etcdReady,
		args: func(ports []int) []string { return etcdArgs(c.layout, ports) },
	})
	if err != nil {
		return err
	}
	c.running = append(c.running, etcd)

	server, err := l.launch(ctx, component{
		name: string(assets.APIServer), ports: 1, grace: apiServerGrace,
		args: func(ports []int) []string {
			return apiServerArgs(options, c.access.pki, httpURL(etcd.ports[0]), ports)
		},
		ready: func(ctx context.Context, ports []int) error {
			return apiServerReady(ctx, c.access.pki.cert, ports)
		},
	})
	if err != nil {
		return err
	}
	c.running = append(c.running, server)
	c.access.server = httpsURL(server.ports[0])
	return c.startControllers(ctx, l, options)
}

func (c *ControlPlane) startControllers(ctx context.Context, l launcher, options Options) error {
	if _, err := c.access.write(adminIdentity()); err != nil {
		return err
	}
	kubeconfig, err := c.access.write(controllerManagerIdentity())
	if err != nil {
		return err
	}
	if c.admin, err = c.access.rest(adminIdentity()); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	manager, err := l.launch(ctx, component{
		name: string(assets.ControllerManager), ports: 1, grace: stopGrace,
		args: func(ports []int) []string {
			return controllerManagerArgs(options, c.access.pki, kubeconfig, ports)
		},
		ready: func(ctx context.Context, ports []int) error {
			return controllerManagerReady(ctx, client, ports)
		},
	})
	if err != nil {
		return err
	}
	c.running = append(c.running, manager)
	return nil
}

// watch closes done when a program ends, wanted or not.
func (c *ControlPlane) watch() {
	var wg sync.WaitGroup
	var first sync.Once
	for _, r := range c.running {
		wg.Go(func() {
			select {
			case <-c.stopping:
			case <-r.proc.Done():
				first.Do(func() {
					c.fail(fmt.Errorf("%s ended by itself with exit code %d; its log %s ends with:\n%s", r.name,
						r.proc.State().ExitCode, c.layout.log(r.name), logTail(c.layout.log(r.name))))
				})
			}
		})
	}
	wg.Wait()
}

func (c *ControlPlane) fail(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.done)
}

// Done is closed when a program of the control plane ended by itself. Err then
// says which one and why.
func (c *ControlPlane) Done() <-chan struct{} { return c.done }

// Err is nil as long as every program runs, and after Stop.
func (c *ControlPlane) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Config returns a new client configuration with all rights and without
// throttling.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Kubeconfig is the path of a kubeconfig file with all rights.
func (c *ControlPlane) Kubeconfig() string { return c.layout.kubeconfig(adminIdentity().file) }

// KubeconfigFor makes a user that the API server knows by a certificate, writes
// its kubeconfig file and returns the path. Rights come from RBAC alone.
func (c *ControlPlane) KubeconfigFor(user string, groups ...string) (string, error) {
	return c.access.write(identity{file: "user-" + fileName(user), user: user, groups: groups})
}

// ConfigFor is KubeconfigFor without the file.
func (c *ControlPlane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	return c.access.rest(identity{user: user, groups: groups})
}

// LogDir is the folder with one log file per program.
func (c *ControlPlane) LogDir() string { return c.layout.logs() }

// PIDs are the process ids of the programs by name.
func (c *ControlPlane) PIDs() map[string]int {
	pids := map[string]int{}
	for _, r := range c.running {
		pids[r.name] = r.proc.PID()
	}
	return pids
}

// ServerCertificate issues a certificate, signed by the authority of this
// control plane, for a webhook or an aggregated API server: names holds DNS
// names and addresses. All three results are PEM; ca is the caBundle.
func (c *ControlPlane) ServerCertificate(names ...string) (cert, key, ca []byte, err error) {
	if len(names) == 0 {
		return nil, nil, nil, errors.New("a server certificate needs at least one name")
	}
	pair, err := c.access.pki.server(names...)
	if err != nil {
		return nil, nil, nil, err
	}
	authority, err := encode(c.access.pki.cert.Raw, c.access.pki.key)
	if err != nil {
		return nil, nil, nil, err
	}
	return pair.cert, pair.key, authority.cert, nil
}

// Stop ends the programs in the reverse order of their start and returns when
// they are gone. Files stay. It may be called again.
func (c *ControlPlane) Stop() error {
	c.stop.Do(func() {
		close(c.stopping)
		for _, r := range slices.Backward(c.running) {
			r.proc.Stop(r.grace)
		}
		c.stopErr = c.supervisor.Close(0)
	})
	return c.stopErr
}
