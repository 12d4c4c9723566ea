// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// Keys of the Secrets that a BrokerCluster names.
const (
	secretAccessKey     = "accessKey"
	secretSecretKey     = "secretKey"
	secretSecurityToken = "securityToken"
	secretCA            = "ca.crt"
)

// secretError says that a Secret is missing or cannot be used. It never quotes
// what the Secret holds.
type secretError struct {
	reason  string
	message string
}

func (e *secretError) Error() string { return e.message }

// credentialBox holds the credentials that signing asks for before every
// request, so that a rotated Secret counts from the next request on and no
// connection is dropped for it (case O30).
type credentialBox struct {
	current atomic.Pointer[remoting.Credentials]
}

func (b *credentialBox) set(c remoting.Credentials) { b.current.Store(&c) }

func (b *credentialBox) get(context.Context) (remoting.Credentials, error) {
	if c := b.current.Load(); c != nil {
		return *c, nil
	}
	return remoting.Credentials{}, errors.New("the credentials have not been read yet")
}

// secretReader reads Secrets of one namespace, past any cache: the operator
// needs no right to list or watch Secrets (rules K40, K43).
type secretReader struct {
	reader    client.Reader
	namespace string
}

func (r secretReader) get(ctx context.Context, ref rocketmqv1alpha1.SecretReference, field string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.reader.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &secretError{rocketmqv1alpha1.ReasonSecretNotFound,
			fmt.Sprintf("Secret %s/%s, which %s names, does not exist; create it", r.namespace, ref.Name, field)}
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s/%s, which %s names: %w", r.namespace, ref.Name, field, err)
	}
	return secret, nil
}

func (r secretReader) credentials(ctx context.Context, spec *rocketmqv1alpha1.Credentials) (remoting.Credentials, error) {
	if spec == nil {
		return remoting.Credentials{}, nil
	}
	const field = "spec.credentials.secretRef"
	secret, err := r.get(ctx, spec.SecretRef, field)
	if err != nil {
		return remoting.Credentials{}, err
	}
	c := remoting.Credentials{
		AccessKey:     string(secret.Data[secretAccessKey]),
		SecretKey:     string(secret.Data[secretSecretKey]),
		SecurityToken: string(secret.Data[secretSecurityToken]),
	}
	for key, value := range map[string]string{secretAccessKey: c.AccessKey, secretSecretKey: c.SecretKey} {
		if value == "" {
			return remoting.Credentials{}, &secretError{rocketmqv1alpha1.ReasonSecretInvalid,
				fmt.Sprintf("Secret %s/%s, which %s names, has no value for the key %s; add it", r.namespace, spec.SecretRef.Name, field, key)}
		}
	}
	return c, nil
}

// tls makes the TLS settings and a text that stands for what is in them.
func (r secretReader) tls(ctx context.Context, spec *rocketmqv1alpha1.TLS) (*tls.Config, string, error) {
	if spec == nil {
		return nil, "", nil
	}
	sum := sha256.New()
	// Verification None is the user's explicit choice, for the self-signed
	// certificates that RocketMQ makes by default (rocketmq.md 1.8).
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: spec.ServerName,
		InsecureSkipVerify: spec.Verification == rocketmqv1alpha1.TLSVerificationNone,
	}
	fmt.Fprintln(sum, spec.Verification, spec.ServerName)
	if spec.CASecretRef != nil {
		const field = "spec.tls.caSecretRef"
		secret, err := r.get(ctx, *spec.CASecretRef, field)
		if err != nil {
			return nil, "", err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(secret.Data[secretCA]) {
			return nil, "", &secretError{rocketmqv1alpha1.ReasonSecretInvalid,
				fmt.Sprintf("Secret %s/%s, which %s names, has no certificate in PEM under the key %s", r.namespace, secret.Name, field, secretCA)}
		}
		sum.Write(secret.Data[secretCA])
	}
	if spec.ClientSecretRef != nil {
		const field = "spec.tls.clientSecretRef"
		secret, err := r.get(ctx, *spec.ClientSecretRef, field)
		if err != nil {
			return nil, "", err
		}
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			return nil, "", &secretError{rocketmqv1alpha1.ReasonSecretInvalid,
				fmt.Sprintf("Secret %s/%s, which %s names, has no usable pair under the keys %s and %s (type kubernetes.io/tls)",
					r.namespace, secret.Name, field, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)}
		}
		config.Certificates = []tls.Certificate{pair}
		sum.Write(secret.Data[corev1.TLSCertKey])
		sum.Write(secret.Data[corev1.TLSPrivateKeyKey])
	}
	return config, hex.EncodeToString(sum.Sum(nil)), nil
}

// observerConfig is how the cluster is observed. The credentials go to the box;
// an error is a *secretError where the user has to do something.
func observerConfig(ctx context.Context, reader client.Reader, cluster *rocketmqv1alpha1.BrokerCluster, box *credentialBox) (observe.Config, error) {
	secrets := secretReader{reader, cluster.Namespace}
	credentials, err := secrets.credentials(ctx, cluster.Spec.Credentials)
	if err != nil {
		return observe.Config{}, err
	}
	tlsConfig, revision, err := secrets.tls(ctx, cluster.Spec.TLS)
	if err != nil {
		return observe.Config{}, err
	}
	box.set(credentials)
	spec := &cluster.Spec
	topic, in := spec.Heartbeat()
	config := observe.Config{
		ClusterName:      spec.ClusterName,
		NameServers:      endpoints(spec.NameServers),
		Proxies:          endpoints(spec.Proxies),
		HeartbeatTopic:   topic,
		HeartbeatCluster: in,
		Revision:         revision,
		Timings:          observe.Timings{Sweep: spec.Sweep(), CallTimeout: spec.CallTimeout()},
		Connect: func() (observe.Wire, error) {
			return remoting.NewClient(remoting.Options{Credentials: box.get, TLS: tlsConfig}), nil
		},
	}
	for _, b := range cluster.Status.Brokers {
		config.KnownBrokers = append(config.KnownBrokers, b.Name)
	}
	return config, nil
}

func endpoints(list []rocketmqv1alpha1.Endpoint) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, string(e))
	}
	return out
}
