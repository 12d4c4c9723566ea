// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command rocketmq runs a RocketMQ cluster on this machine until it is
// interrupted or its standard input ends, for trying things by hand:
//
//	go run ./test/rig/cmd/rocketmq -version 5.5.0 -proxies 1
//
// It prints one address a line, as NAME=VALUE, then "ready".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// properties is a repeatable flag key=value.
type properties map[string]string

func (p properties) String() string { return "" }

func (p properties) Set(text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return errors.New("want key=value")
	}
	p[key] = value
	return nil
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("rocketmq", flag.ContinueOnError)
	o := rocketmq.Options{Log: os.Stderr, BrokerProperties: map[string]string{}}
	flags.StringVar(&o.Version, "version", rocketmq.DefaultVersion, "RocketMQ version")
	flags.StringVar(&o.ClusterName, "cluster", "DefaultCluster", "name of the brokers' cluster")
	flags.IntVar(&o.NameServers, "name-servers", 2, "number of name servers")
	flags.IntVar(&o.Masters, "masters", 2, "number of masters")
	flags.IntVar(&o.SlavesPerMaster, "slaves", 0, "slaves of each master")
	flags.IntVar(&o.Proxies, "proxies", 0, "number of CLUSTER proxies (5.x)")
	flags.StringVar(&o.Dir, "dir", "", "folder for stores and logs (default: a temporary one)")
	short := flags.Bool("short-delays", false, "shorten delay levels and transaction checks")
	acl := flags.String("acl", "", "switch access control on with these credentials, KEY:SECRET")
	extra := properties{}
	flags.Var(extra, "broker-property", "broker property key=value, may be repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *short {
		o.BrokerProperties = rocketmq.ShortDelays()
	}
	for key, value := range extra {
		o.BrokerProperties[key] = value
	}
	if key, secret, found := strings.Cut(*acl, ":"); found {
		o.ACL = &rocketmq.Credentials{AccessKey: key, SecretKey: secret}
	} else if *acl != "" {
		return errors.New("-acl wants KEY:SECRET")
	}
	cluster, err := rocketmq.Start(ctx, o)
	if err != nil {
		return err
	}
	print(cluster)
	inputEnded := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(inputEnded)
	}()
	select {
	case <-ctx.Done():
	case <-inputEnded:
	}
	return cluster.Stop()
}

func print(c *rocketmq.Cluster) {
	fmt.Printf("DIR=%s\nNAMESRV_ADDR=%s\n", c.Dir, c.NameServerAddress())
	for _, s := range c.Servers() {
		fmt.Printf("%s=%s\n", s.Name, s.Addr)
		if s.GRPCAddr != "" {
			fmt.Printf("%s-grpc=%s\n", s.Name, s.GRPCAddr)
		}
	}
	fmt.Println("ready")
}
