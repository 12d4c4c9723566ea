// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	probePeriod  = 100 * time.Millisecond
	probeTimeout = 15 * time.Second
	// startTimeout bounds the start of a server that neither serves nor ends. A
	// machine whose two processors fifty programs share needed two minutes for a
	// broker.
	startTimeout = 10 * time.Minute
)

var (
	// errPortTaken says that another program has a port; other ports may do.
	errPortTaken = errors.New("a port is taken")
	// errEnded says that a server ended by itself.
	errEnded = errors.New("ended")
)

// waitReady asks the server until it serves, it ends, or the context does.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	ended := s.current().Done()
	for {
		err := s.probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			output := s.outputTail()
			if bindFailed(output) {
				return fmt.Errorf("%s: %w: %s", s.Name, errPortTaken, output)
			}
			return fmt.Errorf("%s %w with exit status %d before it served; the end of %s says:\n%s",
				s.Name, errEnded, s.current().State().ExitCode, s.OutputFile(), output)
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve (%w); last: %w; see %s", s.Name, ctx.Err(), err, s.OutputFile())
		case <-ticker.C:
		}
	}
}

// probe returns nil when the server does what its clients need.
func (s *Server) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	switch s.Kind {
	case NameServer:
		_, err := s.cluster.clusterInfo(ctx, s.Addr)
		return err
	case Broker:
		return s.probeBroker(ctx)
	default:
		if _, err := ask(ctx, s.Addr, codeRuntimeInfo, nil); err != nil {
			return err
		}
		return probeHTTP2(ctx, s.GRPCAddr)
	}
}

// probeBroker wants an answer from the broker, refusals by access control
// included, and its address in the cluster info of every running name server.
func (s *Server) probeBroker(ctx context.Context) error {
	if _, err := ask(ctx, s.Addr, codeRuntimeInfo, nil); err != nil {
		return err
	}
	for _, nameServer := range s.cluster.NameServers {
		if !nameServer.Serving() {
			continue
		}
		if err := s.listed(ctx, nameServer); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) listed(ctx context.Context, nameServer *Server) error {
	body, err := s.cluster.clusterInfo(ctx, nameServer.Addr)
	if err != nil {
		return err
	}
	// The body is not JSON (rocketmq.md 1.7); the quoted address is unambiguous.
	if !bytes.Contains(body, []byte(`"`+s.Addr+`"`)) {
		return fmt.Errorf("%s does not list %s yet", nameServer.Name, s.Name)
	}
	return nil
}

func (c *Cluster) clusterInfo(ctx context.Context, address string) ([]byte, error) {
	response, err := ask(ctx, address, codeClusterInfo, nil)
	if err != nil {
		return nil, err
	}
	if response.Code != responseOK {
		return nil, fmt.Errorf("%s answered call %d with code %d: %s", address, codeClusterInfo, response.Code, response.Remark)
	}
	return response.Body, nil
}

// probeHTTP2 opens an HTTP/2 connection as gRPC does: preface and empty
// SETTINGS, answered by the server's own SETTINGS.
func probeHTTP2(ctx context.Context, address string) error {
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	const frameHeader, typeSettings = 9, 4
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("opening the gRPC port: %w", err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, preface); err != nil {
		return fmt.Errorf("greeting the gRPC port %s: %w", address, err)
	}
	var header [frameHeader]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return fmt.Errorf("reading from the gRPC port %s: %w", address, err)
	}
	if header[3] != typeSettings {
		return fmt.Errorf("the gRPC port %s does not speak HTTP/2", address)
	}
	return nil
}
