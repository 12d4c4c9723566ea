// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// authority is a certificate authority for tests.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	g := NewWithT(a.t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	g.Expect(err).NotTo(HaveOccurred())
	cert, err := x509.ParseCertificate(der)
	g.Expect(err).NotTo(HaveOccurred())
	return cert, key
}

func (a *authority) issue(host string) tls.Certificate {
	template := &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	cert, key := a.sign(template)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func TestTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	byIP := &tls.Config{Certificates: []tls.Certificate{ca.issue("127.0.0.1")}}
	byName := &tls.Config{Certificates: []tls.Certificate{ca.issue("broker-a")}}
	mutual := &tls.Config{Certificates: byIP.Certificates, ClientCAs: ca.pool(), ClientAuth: tls.RequireAndVerifyClientCert}
	old := mutual.Clone()
	old.MaxVersion = tls.VersionTLS12
	for _, tc := range []struct {
		name   string
		server *tls.Config
		client *tls.Config
		kind   Kind // Refused, the zero, means success here
		text   string
	}{
		{"trusted", byIP, &tls.Config{RootCAs: ca.pool()}, 0, ""},
		{"trusted by the name that is set", byName, &tls.Config{RootCAs: ca.pool(), ServerName: "broker-a"}, 0, ""},
		{"not verified", byName, &tls.Config{InsecureSkipVerify: true}, 0, ""},
		{"client certificate", mutual, &tls.Config{RootCAs: ca.pool(), Certificates: []tls.Certificate{ca.issue("op")}}, 0, ""},
		{"unknown authority", byIP, &tls.Config{RootCAs: other.pool()}, Untrusted, "certificate signed by unknown authority"},
		{"another host", byName, &tls.Config{RootCAs: ca.pool()}, Untrusted, "certificate"},
		{"no client certificate", mutual, &tls.Config{RootCAs: ca.pool()}, Untrusted, "client certificate"},
		{"no client certificate, TLS 1.2", old, &tls.Config{RootCAs: ca.pool()}, Untrusted, "tls"},
		{"no common version", old, &tls.Config{RootCAs: ca.pool(), MinVersion: tls.VersionTLS13}, Untrusted, "protocol version"},
		{"server without TLS", nil, &tls.Config{RootCAs: ca.pool()}, Closed, "is TLS switched off there?"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s := startServer(t, tc.server, nil)
			c := newTestClient(t, Options{TLS: tc.client})
			resp, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: ReqGetBrokerClusterInfo})
			if tc.kind == 0 {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(resp.Code).To(Equal(RespSuccess))
				g.Expect(tc.client.ServerName).To(Or(BeEmpty(), Equal("broker-a")), "the config of the caller is not changed")
				return
			}
			g.Expect(err).To(MatchError(tc.kind))
			g.Expect(err.Error()).To(ContainSubstring(tc.text))
		})
	}
}

func TestTLSAgainstHTTP(t *testing.T) {
	g := NewWithT(t)
	addr := startRaw(t, func(nc net.Conn) { _, _ = nc.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
	_, err := newTestClient(t, Options{TLS: &tls.Config{InsecureSkipVerify: true}}).Invoke(withTimeout(t, 10*time.Second), addr, &Command{Code: 106})
	g.Expect(err).To(MatchError(WrongEndpoint))
	g.Expect(err.Error()).To(ContainSubstring("the peer does not speak TLS on this port"))
}

func TestTLSPeerThatDoesNotAnswer(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, &tls.Config{Certificates: []tls.Certificate{newAuthority(t).issue("a")}}, func(c *serverConn, _ *Command) { c.nc.Close() })
	_, err := newTestClient(t, Options{TLS: &tls.Config{InsecureSkipVerify: true}}).Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: 106})
	g.Expect(err).To(MatchError(Closed))
	g.Expect(err.Error()).To(ContainSubstring("is this a gRPC port"))
	g.Expect(err).NotTo(MatchError(ErrTLSRequired))
}

func TestTLSHandshakeThatNeverEnds(t *testing.T) {
	g := NewWithT(t)
	release := make(chan struct{})
	addr := startRaw(t, func(net.Conn) { <-release })
	defer close(release)
	c := newTestClient(t, Options{TLS: &tls.Config{InsecureSkipVerify: true}, DialTimeout: 50 * time.Millisecond})
	_, err := c.Invoke(withTimeout(t, 10*time.Second), addr, &Command{Code: 106})
	g.Expect(err).To(MatchError(Unreachable))
	g.Expect(err.Error()).To(ContainSubstring("the TLS handshake did not end in time"))
}

func TestCloseDuringTLSHandshake(t *testing.T) {
	g := NewWithT(t)
	release := make(chan struct{})
	begun := make(chan struct{})
	addr := startRaw(t, func(nc net.Conn) {
		var b [1]byte
		_, _ = nc.Read(b[:])
		close(begun)
		<-release
	})
	defer close(release)
	c := newTestClient(t, Options{TLS: &tls.Config{InsecureSkipVerify: true}})
	failed := make(chan error)
	go func() {
		_, err := c.Invoke(t.Context(), addr, &Command{Code: 106})
		failed <- err
	}()
	<-begun
	g.Expect(c.Close()).To(Succeed())
	g.Expect(<-failed).To(MatchError(ErrClientClosed))
}
