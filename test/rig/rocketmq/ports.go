// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	// Ports are taken below the range that Linux hands out by itself (from 32768)
	// and below Kubernetes' node ports, so that nothing takes the port of a broker
	// that a test has just stopped.
	firstPort = 10000
	lastPort  = 30000
	// blockSize is what one broker needs: with listenPort L it opens L-2, L and
	// L+1 (rocketmq.md 9.2).
	blockSize = 4
	// portTries bounds the search for a free block.
	portTries = 1000
)

// portBlock is four neighbouring ports that no other rig on this machine takes
// until release is called or the process ends.
type portBlock struct {
	first int
	lock  *os.File
}

// reservePorts finds a free block. A file lock keeps other rigs away from it;
// that no other program has the ports is tested by opening them, so a server may
// still, rarely, fail to bind.
func reservePorts() (*portBlock, error) {
	dir := filepath.Join(os.TempDir(), "lockstep-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for port locks: %w", err)
	}
	for range portTries {
		first := firstPort + blockSize*rand.IntN((lastPort-firstPort)/blockSize)
		block, err := lockPorts(dir, first)
		if err != nil {
			return nil, err
		}
		if block == nil {
			continue
		}
		if allFree(first) {
			return block, nil
		}
		block.release()
	}
	return nil, fmt.Errorf("no %d neighbouring free ports between %d and %d after %d tries", blockSize, firstPort, lastPort, portTries)
}

// lockPorts returns nil without an error when another rig has the block.
func lockPorts(dir string, first int) (*portBlock, error) {
	file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(first)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a port lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &portBlock{first: first, lock: file}, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("locking port %d: %w", first, err)
}

// allFree opens the ports on every address, as the servers do.
func allFree(first int) bool {
	for port := first; port < first+blockSize; port++ {
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}

func (b *portBlock) release() { _ = b.lock.Close() }

// listen is the listenPort of a broker or name server in this block: the one
// with two ports below and one above it.
func (b *portBlock) listen() int { return b.first + 2 }

// grpc and remoting are the two ports of a proxy in this block.
func (b *portBlock) grpc() int     { return b.first }
func (b *portBlock) remoting() int { return b.first + 1 }
