// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"
)

// certificateLife is longer than any cluster of the rig runs.
const certificateLife = 30 * 24 * time.Hour

// CertificateFile is the PEM file of the certificate that every server shows to
// clients which choose TLS; it signs itself, so it is also what to trust. Plain
// connections are taken on the same ports, as by default (rocketmq.md 1.8).
func (c *Cluster) CertificateFile() string { return filepath.Join(c.Dir, "tls.crt") }

func (c *Cluster) keyFile() string { return filepath.Join(c.Dir, "tls.key") }

// writeCertificate makes one certificate for all servers. Left alone, each would
// make RSA keys for its test mode, which takes seconds of processor time.
func (c *Cluster) writeCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a TLS key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "Lockstep test rig"},
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.ParseIP(loopback)},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("making a TLS certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding a TLS key: %w", err)
	}
	err = writeFile(c.CertificateFile(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	if err != nil {
		return err
	}
	return writeFile(c.keyFile(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// tlsFlags make a JVM use the certificate of the cluster.
func (c *Cluster) tlsFlags() []string {
	return []string{
		"-Dtls.test.mode.enable=false",
		"-Dtls.server.keyPath=" + c.keyFile(),
		"-Dtls.server.certPath=" + c.CertificateFile(),
	}
}
