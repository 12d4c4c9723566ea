// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"net"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
)

func TestPortBlocks(t *testing.T) {
	g := NewWithT(t)
	seen := map[int]bool{}
	for range 50 {
		block, err := reservePorts()
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(block.release)
		// A broker opens listen-2, listen and listen+1.
		for _, port := range []int{block.listen() - 2, block.listen() - 1, block.listen(), block.listen() + 1} {
			g.Expect(seen[port]).To(BeFalse(), "port %d twice", port)
			seen[port] = true
			g.Expect(port).To(And(BeNumerically(">=", firstPort), BeNumerically("<", lastPort)))
		}
		g.Expect([]int{block.grpc(), block.remoting()}).To(HaveEach(BeElementOf(block.first, block.first+1)))
	}
}

func TestPortLock(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	block, err := lockPorts(dir, 20000)
	g.Expect(err).NotTo(HaveOccurred())
	other, err := lockPorts(dir, 20000)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).To(BeNil(), "another rig has the block")
	block.release()
	other, err = lockPorts(dir, 20000)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).NotTo(BeNil())
	other.release()
}

func TestPortsInUseAreNotFree(t *testing.T) {
	g := NewWithT(t)
	listener, err := net.Listen("tcp", loopback+":0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	_, text, err := net.SplitHostPort(listener.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	port, err := strconv.Atoi(text)
	g.Expect(err).NotTo(HaveOccurred())
	for first := port - blockSize + 1; first <= port; first++ {
		g.Expect(allFree(first)).To(BeFalse())
	}
}
