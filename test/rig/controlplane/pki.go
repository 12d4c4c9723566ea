// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

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
	"os"
	"path/filepath"
	"time"
)

// validity is how long certificates hold; the control plane never lives so long.
const validity = 365 * 24 * time.Hour

// pki is the one certificate authority of a control plane and the folder that
// holds what it issued.
type pki struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// keyPair is a certificate with its private key, both as PEM.
type keyPair struct{ cert, key []byte }

func newPKI(dir string) (*pki, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of the certificate authority: %w", err)
	}
	template, err := newTemplate("lockstep-rig-ca")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parsing the certificate authority: %w", err)
	}
	p := &pki{dir: dir, cert: cert, key: key}
	pair, err := encode(der, key)
	if err != nil {
		return nil, err
	}
	return p, p.write("ca", pair)
}

func newTemplate(commonName string, organizations ...string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName, Organization: organizations},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
	}, nil
}

// client issues a certificate that proves a user and its groups.
func (p *pki) client(user string, groups ...string) (keyPair, error) {
	template, err := newTemplate(user, groups...)
	if err != nil {
		return keyPair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return p.issue(template)
}

// server issues a certificate that proves the names and addresses given.
func (p *pki) server(names ...string) (keyPair, error) {
	template, err := newTemplate(names[0])
	if err != nil {
		return keyPair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return p.issue(template)
}

func (p *pki) issue(template *x509.Certificate) (keyPair, error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("making the key of %s: %w", template.Subject.CommonName, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.cert, key.Public(), p.key)
	if err != nil {
		return keyPair{}, fmt.Errorf("issuing the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return encode(der, key)
}

func encode(der []byte, key *ecdsa.PrivateKey) (keyPair, error) {
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return keyPair{}, fmt.Errorf("encoding a private key: %w", err)
	}
	return keyPair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

func (p *pki) certFile(name string) string { return filepath.Join(p.dir, name+".crt") }
func (p *pki) keyFile(name string) string  { return filepath.Join(p.dir, name+".key") }

func (p *pki) write(name string, pair keyPair) error {
	for file, content := range map[string][]byte{p.certFile(name): pair.cert, p.keyFile(name): pair.key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return fmt.Errorf("writing a certificate: %w", err)
		}
	}
	return nil
}

// Names of the files in the folder of certificates.
const (
	pairAPIServer       = "apiserver"
	pairKubeletClient   = "apiserver-kubelet-client"
	pairFrontProxy      = "front-proxy-client"
	serviceAccountsFile = "service-accounts.key"
)

// frontProxyName is the name by which aggregated API servers know ours.
const frontProxyName = "front-proxy-client"

// issueServers writes every file that the programs name in their flags.
func (p *pki) issueServers() error {
	apiServer, err := p.server("kubernetes.default.svc", "kubernetes.default", "kubernetes", "localhost", "127.0.0.1", kubernetesServiceIP)
	if err != nil {
		return err
	}
	kubelet, err := p.client("kube-apiserver-kubelet-client", "system:masters")
	if err != nil {
		return err
	}
	frontProxy, err := p.client(frontProxyName)
	if err != nil {
		return err
	}
	for name, pair := range map[string]keyPair{pairAPIServer: apiServer, pairKubeletClient: kubelet, pairFrontProxy: frontProxy} {
		if err := p.write(name, pair); err != nil {
			return err
		}
	}
	return p.writeServiceAccountKey()
}

// writeServiceAccountKey writes the key that signs service account tokens. The
// API server reads the public half from the same file.
func (p *pki) writeServiceAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the key of service accounts: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding the key of service accounts: %w", err)
	}
	content := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(p.serviceAccountKey(), content, 0o600); err != nil {
		return fmt.Errorf("writing the key of service accounts: %w", err)
	}
	return nil
}

func (p *pki) serviceAccountKey() string { return filepath.Join(p.dir, serviceAccountsFile) }
