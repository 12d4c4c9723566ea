// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"

	"github.com/lockstep-dev/lockstep/test/rig/assets"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// patience bounds each wait for something that takes seconds on a free machine.
const patience = 5 * time.Minute

// demo is one run.
type demo struct {
	options options
	screen  *screen

	world     *world.World
	places    places
	roles     roles
	manifests string
	// kubectl is how the reader calls it.
	kubectl string
	began   time.Time
	// audited is set when the stopped group was started again.
	audited bool
}

// inWorld starts the world, acts in it, and ends it, whatever happens. The act
// is broken off when a part of the world ends by itself.
func (d *demo) inWorld(ctx context.Context, act func(context.Context) error) (err error) {
	d.began = time.Now()
	d.manifests = filepath.Join(d.options.dir, "manifests")
	log, err := d.quiet()
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	d.title("Starting on this machine, everything on loopback; files and logs in %s", d.options.dir)
	programs, err := world.BuildClients(ctx, log, world.Classic(rocketmq.DefaultVersion), world.Go, world.GRPC)
	if err != nil {
		return err
	}
	d.world, err = world.Start(ctx, world.Options{
		Dir: d.options.dir, Kubeconfig: d.options.kubeconfig, Manager: d.options.manager, Log: log, Step: d.step,
		RocketMQ: rocketmq.Options{ClusterName: clusterName, Proxies: 1},
	})
	if err != nil {
		return err
	}
	defer func() {
		d.screen.keepBlock()
		d.screen.line("\nstopping everything that was started")
		err = errors.Join(err, d.world.Stop())
	}()
	d.places = placesOf(d.world, d.options.kubeconfig != "")
	d.roles = cast(d.places.Shop, programs)
	d.kubectl = kubectl()
	return d.guarded(ctx, act)
}

// guarded acts until the end, or until a part of the world ends by itself.
func (d *demo) guarded(ctx context.Context, act func(context.Context) error) error {
	acting, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if err := d.world.Watch(acting); err != nil {
			cancel(err)
		}
	}()
	err := act(acting)
	var broken *world.PartError
	if errors.As(context.Cause(acting), &broken) {
		err = broken
	}
	cancel(nil)
	<-watched
	return err
}

// quiet sends what libraries and builds say to a file.
func (d *demo) quiet() (*os.File, error) {
	path := filepath.Join(d.options.dir, "logs", "demo.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for logs: %w", err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the demo's log: %w", err)
	}
	klog.LogToStderr(false)
	klog.SetOutput(log)
	return log, nil
}

// step prints the beginning and the end of a part of the start.
func (d *demo) step(part string) func(error) {
	began := time.Now()
	d.screen.line(" %s %s", d.screen.paint(yellow, signNow), part)
	return func(err error) {
		if err != nil {
			d.screen.line(" %s %s failed after %s", d.screen.paint(red, signBad), part, short(time.Since(began)))
			return
		}
		d.screen.line(" %s %-40s %s", d.screen.paint(green, signDone), part, short(time.Since(began)))
	}
}

func (d *demo) title(format string, args ...any) {
	d.screen.line("\n%s", d.screen.paint(bold, fmt.Sprintf(format, args...)))
}

// kubectl is how the reader calls it: as in PATH, else the one that was built.
func kubectl() string {
	if _, err := exec.LookPath("kubectl"); err == nil {
		return "kubectl"
	}
	if bin, err := assets.Dir(assets.Kubectl); err == nil {
		return filepath.Join(bin, "kubectl")
	}
	return "kubectl"
}

// short prints a duration as a person would.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	default:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}
