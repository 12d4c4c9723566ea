// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command capture records frames of released RocketMQ servers as test data: the
// whole answer to each call, byte by byte. Run it from the root of the
// repository, as testdata/README.md says.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

func main() {
	version := flag.String("version", rocketmq.DefaultVersion, "RocketMQ version to run")
	dir := flag.String("dir", "internal/remoting/testdata/live", "where to write; one folder a version")
	flag.Parse()
	if err := run(*version, filepath.Join(*dir, *version)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(version, dir string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cluster, err := rocketmq.Start(ctx, rocketmq.Options{Version: version, NameServers: 1, Masters: 1, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	broker, err := dial(cluster.Masters()[0].Addr)
	if err != nil {
		return err
	}
	defer broker.Close()
	nameServer, err := dial(cluster.NameServerAddresses()[0])
	if err != nil {
		return err
	}
	defer nameServer.Close()

	for _, c := range setUp() {
		if _, err := ask(broker, &c.cmd); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, c := range calls(version) {
		conn := broker
		if c.nameServer {
			conn = nameServer
		}
		frame, err := ask(conn, &c.cmd)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.name+".frame"), frame, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func dial(addr string) (net.Conn, error) {
	return net.DialTimeout("tcp", addr, 5*time.Second)
}

// ask sends a request and returns the frame of its response. Requests of the
// server in between are passed over.
func ask(conn net.Conn, req *remoting.Command) ([]byte, error) {
	req.Version, req.Opaque = remoting.Version, int32(time.Now().UnixNano()&0x7fffffff)
	frame, err := remoting.AppendCommand(nil, req)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(40 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(frame); err != nil {
		return nil, err
	}
	for {
		var seen bytes.Buffer
		resp, err := remoting.ReadCommand(&teeReader{conn, &seen}, 0)
		if err != nil {
			return nil, err
		}
		if resp.IsResponse() && resp.Opaque == req.Opaque {
			fmt.Fprintf(os.Stderr, "%s: %d, %d bytes\n", remoting.RequestName(req.Code), resp.Code, seen.Len())
			return seen.Bytes(), nil
		}
	}
}

// teeReader keeps what is read.
type teeReader struct {
	conn net.Conn
	seen *bytes.Buffer
}

func (t *teeReader) Read(p []byte) (int, error) {
	n, err := t.conn.Read(p)
	t.seen.Write(p[:n])
	return n, err
}
