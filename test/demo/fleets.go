// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// The consumer groups of the story.
const (
	groupPoints = "CG_SHOP_POINTS"
	groupAudit  = "CG_SHOP_AUDIT"
	groupMail   = "CG_SHOP_MAIL"
)

func groups() []string { return []string{groupPoints, groupAudit, groupMail} }

// rate is how many messages are sent in a second.
const rate = 120

// role is one workload of the story.
type role struct {
	world.Workload
	about string
	fleet world.Fleet
}

// roles are the workloads by name, in the order of their start: consumers first.
type roles struct {
	points, audit, mail, producer *role
}

func (r roles) all() []*role { return []*role{r.points, r.audit, r.mail, r.producer} }

// cast makes the workloads.
func cast(namespace string, programs world.Programs) roles {
	classic := world.Classic(rocketmq.DefaultVersion)
	make := func(name, about string, kind world.Kind, replicas int32, args ...string) *role {
		return &role{about: about, Workload: world.Workload{
			Namespace: namespace, Name: name, Kind: kind, Program: programs[kind], Replicas: replicas, Args: args,
		}}
	}
	return roles{
		points: make("points", "group "+groupPoints+", Java classic SDK", classic, 3,
			"consume", "--topic="+topicName, "--group="+groupPoints),
		audit: make("audit", "group "+groupAudit+", rocketmq-client-go", world.Go, 1,
			"consume", "--topic="+topicName, "--group="+groupAudit, "--handle-ms=8"),
		mail: make("mail", "group "+groupMail+", Java gRPC SDK through the proxy", world.GRPC, 1,
			"consume", "--topic="+topicName, "--group="+groupMail),
		producer: make("producer", fmt.Sprintf("sends %d messages a second, Java classic SDK", rate), classic, 1,
			"produce", "--topic="+topicName, "--group=PG_SHOP_ORDER", fmt.Sprintf("--rate=%d", rate), "--threads=4"),
	}
}

// deploy starts all workloads and waits until they work.
func (d *demo) deploy(ctx context.Context) error {
	existing := d.options.kubeconfig != ""
	for _, r := range d.roles.all() {
		noun := "Deployment"
		if existing {
			noun = "local processes"
		}
		d.screen.line("   %s %s/%s × %d: %s", noun, r.Namespace, r.Name, r.Replicas, r.about)
		if !existing {
			if err := d.keepDeployment(r); err != nil {
				return err
			}
		}
		var err error
		if r.fleet, err = d.world.Deploy(ctx, r.Workload); err != nil {
			return err
		}
		if r != d.roles.mail { // the producer starts when every consumer works
			continue
		}
		for _, consumer := range []*role{d.roles.points, d.roles.audit, d.roles.mail} {
			if err := d.awaitFleet(ctx, consumer); err != nil {
				return err
			}
		}
	}
	return d.awaitFleet(ctx, d.roles.producer)
}

func (d *demo) keepDeployment(r *role) error {
	deployment, err := d.world.Deployment(r.Workload)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(deployment.Object)
	if err != nil {
		return fmt.Errorf("writing the manifest of %s: %w", r.Name, err)
	}
	_, err = keep(d.manifests, r.Name+".yaml", text)
	return err
}

func (d *demo) awaitFleet(ctx context.Context, r *role) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := world.WaitReady(ctx, r.fleet, r.Replicas); err != nil {
		return &world.PartError{Part: "the clients of " + r.Name, Err: err, Try: d.kubectl + " get pods -n " + r.Namespace + "; logs are in " + d.world.Dir + "/node/logs"}
	}
	return nil
}

// restarts is how often a client ended that nobody had asked to.
func (r roles) restarts(ctx context.Context) (int, error) {
	all := 0
	for _, each := range r.all() {
		n, err := each.fleet.Restarts(ctx)
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}
