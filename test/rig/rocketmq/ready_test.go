// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// serve answers every request on a listener of its own with what reply makes of
// it, after a request of the server's own, as brokers send them.
func serve(t *testing.T, reply func(*remoting.Command) *remoting.Command) string {
	listener, err := net.Listen("tcp", loopback+":0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn, reply)
		}
	}()
	return listener.Addr().String()
}

func answer(conn net.Conn, reply func(*remoting.Command) *remoting.Command) {
	defer func() { _ = conn.Close() }()
	for {
		request, err := remoting.ReadCommand(conn, 0)
		if err != nil {
			return
		}
		frames, err := remoting.AppendCommand(nil, &remoting.Command{Code: 40, Opaque: request.Opaque})
		if err != nil {
			return
		}
		if response := reply(request); response != nil {
			if frames, err = remoting.AppendCommand(frames, response); err != nil {
				return
			}
		}
		if _, err := conn.Write(frames); err != nil {
			return
		}
	}
}

func TestAsk(t *testing.T) {
	g := NewWithT(t)
	address := serve(t, func(r *remoting.Command) *remoting.Command {
		return remoting.NewResponse(r, r.Code+1, r.ExtFields["topic"])
	})
	response, err := ask(t.Context(), address, 17, map[string]string{"topic": "T"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Code).To(Equal(18))
	g.Expect(response.Remark).To(Equal("T"))
}

func TestAskGivesUp(t *testing.T) {
	g := NewWithT(t)
	address := serve(t, func(*remoting.Command) *remoting.Command { return nil })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ask(ctx, address, 17, nil)
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(err).To(MatchError(ContainSubstring(address)))
}

// TestProbeBroker: an answer of the broker is not enough, every serving name
// server must list it.
func TestProbeBroker(t *testing.T) {
	broker := serve(t, func(r *remoting.Command) *remoting.Command {
		return remoting.NewResponse(r, responseNoAccess, "username cannot be null.")
	})
	for name, test := range map[string]struct {
		code int
		body string
		want string
	}{
		"listed":       {0, `{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"` + broker + `"}}}}`, ""},
		"not listed":   {0, `{"brokerAddrTable":{}}`, "ns-1 does not list broker-a yet"},
		"longer port":  {0, `{0:"` + broker + `1"}`, "ns-1 does not list broker-a yet"},
		"another code": {1, "", "code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			nameServer := serve(t, func(r *remoting.Command) *remoting.Command {
				response := remoting.NewResponse(r, test.code, "")
				response.Body = []byte(test.body)
				return response
			})
			c := &Cluster{}
			ns := &Server{Kind: NameServer, Name: "ns-1", Addr: nameServer, cluster: c}
			c.NameServers = []*Server{ns}
			s := &Server{Kind: Broker, Name: "broker-a", Addr: broker, cluster: c}
			g.Expect(s.probe(t.Context())).To(Succeed(), "a name server that does not run is not asked")
			_, err := c.clusterInfo(t.Context(), nameServer)
			if test.code != 0 {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
			err = s.listed(t.Context(), ns)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestProbeHTTP2(t *testing.T) {
	for name, test := range map[string]struct {
		answer []byte
		want   string
	}{
		"settings": {[]byte{0, 0, 0, 4, 0, 0, 0, 0, 0}, ""},
		"HTTP/1.1": {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak HTTP/2"},
		"silence":  {nil, "reading from the gRPC port"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			listener, err := net.Listen("tcp", loopback+":0")
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = listener.Close() }()
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write(test.answer)
				_ = conn.(*net.TCPConn).CloseWrite()
			}()
			err = probeHTTP2(t.Context(), listener.Addr().String())
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestOutputOfTheLastStart(t *testing.T) {
	g := NewWithT(t)
	s := &Server{Dir: t.TempDir()}
	g.Expect(os.WriteFile(s.OutputFile(), []byte("Failed to bind to 0.0.0.0:1\n"), 0o600)).To(Succeed())
	g.Expect(bindFailed(s.outputTail())).To(BeTrue())
	s.outputFrom = int64(len("Failed to bind to 0.0.0.0:1\n"))
	g.Expect(bindFailed(s.outputTail())).To(BeFalse())
}

func TestCertificateIsMadeForLoopback(t *testing.T) {
	g := NewWithT(t)
	c := &Cluster{Dir: t.TempDir()}
	g.Expect(c.writeCertificate()).To(Succeed())
	data, err := os.ReadFile(c.CertificateFile())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.HasPrefix(data, []byte("-----BEGIN CERTIFICATE-----"))).To(BeTrue())
	g.Expect(filepath.Join(c.Dir, "tls.key")).To(BeARegularFile())
}

func TestRepository(t *testing.T) {
	g := NewWithT(t)
	dir, err := repository()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Join(dir, "hack", "rocketmq.sh")).To(BeARegularFile())
	t.Chdir(t.TempDir())
	_, err = repository()
	g.Expect(err).To(MatchError(ContainSubstring("is not inside the Lockstep repository")))
}
