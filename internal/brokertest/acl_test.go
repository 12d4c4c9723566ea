// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// signedCall sends a call signed with a secret.
func signedCall(t *testing.T, addr string, code int, ext map[string]string, body, key, secret string) *remoting.Command {
	t.Helper()
	c := &remoting.Command{ExtFields: ext, Body: []byte(body)}
	remoting.Sign(c, remoting.Credentials{AccessKey: key, SecretKey: secret})
	return call(t, addr, code, c.ExtFields, body)
}

func TestAccessControl(t *testing.T) {
	accounts := map[string]brokertest.Account{"root": {Secret: "12345678", Admin: true}, "op": {Secret: "abc"}}
	ask := topicArgs(orders, 8, 4)
	for v, want := range map[brokertest.Version]struct {
		code                              int
		unsigned, unknown, wrong, noAdmin string
	}{
		brokertest.V497: {1, "No accessKey is configured", "No acl config for x", "Check signature failed for accessKey=root", "Need admin permission for request code=17"},
		brokertest.V550: {16, "username cannot be null.", "User:x is not found.", "check signature failed.", "User:op has no permission to access Topic:orders"},
	} {
		t.Run(v.String(), func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{Version: v, Accounts: accounts})
			addr := c.Broker(brokerA).Addr()
			for _, tc := range []struct{ key, secret, remark string }{
				{"", "", want.unsigned}, {"x", "y", want.unknown}, {"root", "y", want.wrong}, {"op", "abc", want.noAdmin},
			} {
				r := signedCall(t, addr, 17, ask, "", tc.key, tc.secret)
				g.Expect(r.Code).To(Equal(want.code))
				g.Expect(r.Remark).To(ContainSubstring(tc.remark))
			}
			g.Expect(writes(c)).To(Equal(8))
			g.Expect(signedCall(t, addr, 17, ask, "", "root", "12345678").Code).To(BeZero())
			g.Expect(writes(c)).To(Equal(4))
			g.Expect(signedCall(t, addr, 21, nil, "", "op", "abc").Code).To(BeZero(), "reading tables is not checked further")
			g.Expect(call(t, c.NameServerAddrs()[0], 106, nil).Code).To(BeZero(), "name servers are open")

			c.SetAccounts(map[string]brokertest.Account{"root": {Secret: "rotated", Admin: true}})
			g.Expect(signedCall(t, addr, 28, nil, "", "root", "12345678").Code).To(Equal(want.code))
			g.Expect(signedCall(t, addr, 28, nil, "", "root", "rotated").Code).To(BeZero())
		})
	}
}

// Vectors that a real 4.9.8 broker accepted (rocketmq.md 2.1).
func TestSignaturesThatARealBrokerAccepted(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Version: brokertest.V497, Accounts: map[string]brokertest.Account{"rocketmq2": {Secret: "12345678", Admin: true}}})
	args := topicArgs("T", 8, 8)
	args["AccessKey"], args["Signature"] = "rocketmq2", "lXBPFRbnKlXBaWppirmXnvasKGg="
	g.Expect(call(t, c.Broker(brokerA).Addr(), 17, args).Code).To(BeZero())
	body := `{"groupName": "GX", "consumeEnable": true}`
	key := map[string]string{"AccessKey": "rocketmq2", "Signature": "isNtLQ9ntmpnqP/NYjcJOC/04AA="}
	g.Expect(call(t, c.Broker(brokerA).Addr(), 200, key, body).Code).To(BeZero())
	g.Expect(call(t, c.Broker(brokerA).Addr(), 200, key, body+" ").Code).To(Equal(1))
}

// serverTLS is a server configuration with a certificate of its own for
// 127.0.0.1, and the pool that trusts it.
func serverTLS(g Gomega) (*tls.Config, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(HaveOccurred())
	cert, err := x509.ParseCertificate(der)
	g.Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, pool
}

func TestTLSOnlyServersCloseOnPlainCallers(t *testing.T) {
	g := NewWithT(t)
	server, pool := serverTLS(g)
	c := start(t, brokertest.Options{TLS: server})
	_, err := dial(t, c.NameServerAddrs()[0]).try(106, nil, "")
	g.Expect(err).To(HaveOccurred())
	client := remoting.NewClient(remoting.Options{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
	defer func() { g.Expect(client.Close()).To(Succeed()) }()
	for _, addr := range []string{c.NameServerAddrs()[0], c.Broker(brokerA).Addr()} {
		code := 106
		if addr == c.Broker(brokerA).Addr() {
			code = 28
		}
		reply, err := client.Invoke(t.Context(), addr, &remoting.Command{Code: code})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(reply.Body).NotTo(BeEmpty())
	}
}
