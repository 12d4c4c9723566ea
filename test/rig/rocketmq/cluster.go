// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// bootTries is how often a start is tried when other programs take its ports.
const bootTries = 3

// Cluster is a running set of servers.
type Cluster struct {
	// NameServers, Brokers and Proxies are in the order of their names; masters
	// come before slaves.
	NameServers []*Server
	Brokers     []*Server
	Proxies     []*Server
	// Version and Name are the RocketMQ version and the brokers' cluster.
	Version string
	Name    string
	// Dir holds one folder a server.
	Dir string

	options   Options
	lib       string
	java      string
	ownDir    bool
	processes *process.Supervisor
	archives  *archives
}

// Start installs the version when needed, starts every server and waits until
// all of them serve. The context bounds the start, not the life of the cluster:
// call Stop. The working directory must be inside this repository.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	lib, err := Install(ctx, o.Version, o.Log)
	if err != nil {
		return nil, err
	}
	java, err := javaPath()
	if err != nil {
		return nil, err
	}
	c := &Cluster{Version: o.Version, Name: o.ClusterName, Dir: o.Dir, options: o, lib: lib, java: java}
	if c.archives, err = newArchives(lib, java); err != nil {
		return nil, err
	}
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "lockstep-rocketmq-"); err != nil {
			return nil, fmt.Errorf("making a folder for RocketMQ: %w", err)
		}
		c.ownDir = true
	} else if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, fmt.Errorf("folder for RocketMQ: %w", err)
	}
	if c.processes, err = process.NewSupervisor(); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		err = c.boot(ctx)
		if err == nil {
			return c, nil
		}
		c.killAll()
		if try == bootTries || !errors.Is(err, errPortTaken) {
			// The message names log files: they stay, unless the caller gave up.
			c.ownDir = c.ownDir && ctx.Err() != nil
			return nil, errors.Join(fmt.Errorf("starting RocketMQ %s: %w", o.Version, err), c.Stop())
		}
		c.logf("another program took a port; trying other ports")
	}
}

// boot lays out all servers and starts them: name servers, then brokers, which
// would otherwise wait 10 s for their second try to register, then proxies,
// which end when no broker of their cluster is registered.
func (c *Cluster) boot(ctx context.Context) error {
	if err := c.layout(); err != nil {
		return err
	}
	for _, group := range [][]*Server{c.NameServers, c.Brokers, c.Proxies} {
		if err := startAll(ctx, group); err != nil {
			return err
		}
		for _, s := range group {
			c.logf("%s serves on %s", s.Name, s.Addr)
		}
	}
	return nil
}

func startAll(ctx context.Context, servers []*Server) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = s.Start(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// layout names every server, gives it ports and writes its configuration.
func (c *Cluster) layout() error {
	c.releasePorts()
	if err := c.writeCertificate(); err != nil {
		return err
	}
	c.NameServers, c.Brokers, c.Proxies = nil, nil, nil
	o := c.options
	for i := range o.NameServers {
		c.NameServers = append(c.NameServers, &Server{Kind: NameServer, Name: "ns-" + strconv.Itoa(i+1)})
	}
	for i := range o.Masters {
		c.Brokers = append(c.Brokers, &Server{Kind: Broker, Name: brokerName(i), BrokerName: brokerName(i)})
	}
	for i := range o.Masters {
		for id := 1; id <= o.SlavesPerMaster; id++ {
			name := brokerName(i) + "-slave-" + strconv.Itoa(id)
			c.Brokers = append(c.Brokers, &Server{Kind: Broker, Name: name, BrokerName: brokerName(i), BrokerID: id})
		}
	}
	for i := range o.Proxies {
		c.Proxies = append(c.Proxies, &Server{Kind: Proxy, Name: "proxy-" + strconv.Itoa(i+1)})
	}
	for _, s := range c.Servers() {
		if err := c.place(s); err != nil {
			return err
		}
	}
	for _, s := range c.Servers() {
		if err := o.writeConfig(s, c.NameServerAddress()); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) place(s *Server) error {
	ports, err := reservePorts()
	if err != nil {
		return err
	}
	s.cluster, s.ports = c, ports
	s.Dir = filepath.Join(c.Dir, s.Name)
	if s.Kind == Proxy {
		s.Addr = address(ports.remoting())
		s.GRPCAddr = address(ports.grpc())
		return nil
	}
	s.Addr = address(ports.listen())
	return nil
}

func address(port int) string { return loopback + ":" + strconv.Itoa(port) }

// Servers returns all servers: name servers, brokers, proxies.
func (c *Cluster) Servers() []*Server {
	all := append([]*Server{}, c.NameServers...)
	all = append(all, c.Brokers...)
	return append(all, c.Proxies...)
}

// Server returns the server of that name, such as "ns-1" or "broker-b", or nil.
func (c *Cluster) Server(name string) *Server {
	for _, s := range c.Servers() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Masters returns the brokers with id 0.
func (c *Cluster) Masters() []*Server {
	var masters []*Server
	for _, s := range c.Brokers {
		if s.BrokerID == 0 {
			masters = append(masters, s)
		}
	}
	return masters
}

// NameServerAddresses returns host:port of each name server.
func (c *Cluster) NameServerAddresses() []string {
	var addresses []string
	for _, s := range c.NameServers {
		addresses = append(addresses, s.Addr)
	}
	return addresses
}

// NameServerAddress is all name servers in the form that RocketMQ's programs
// take: host:port;host:port.
func (c *Cluster) NameServerAddress() string {
	return strings.Join(c.NameServerAddresses(), ";")
}

// Stop kills every server, all at once, and removes the folder that Start made.
// Stores are not kept for a later cluster, so no server is asked to end in good
// order. Stop may be called again.
func (c *Cluster) Stop() error {
	c.archives.save(c)
	c.killAll()
	err := c.processes.Close(0)
	c.releasePorts()
	if c.ownDir {
		err = errors.Join(err, os.RemoveAll(c.Dir))
	}
	return err
}

func (c *Cluster) killAll() {
	var wg sync.WaitGroup
	for _, s := range c.Servers() {
		wg.Go(s.Kill)
	}
	wg.Wait()
}

func (c *Cluster) releasePorts() {
	for _, s := range c.Servers() {
		if s.ports != nil {
			s.ports.release()
			s.ports = nil
		}
	}
}

func (c *Cluster) logf(format string, args ...any) {
	// Progress is for people; a failed write changes nothing.
	_, _ = fmt.Fprintf(c.options.Log, format+"\n", args...)
}
