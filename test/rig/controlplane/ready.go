// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// askTimeout bounds one question to a starting program.
const askTimeout = 5 * time.Second

// ask returns nil when the URL answers 200. The connection is not kept.
func ask(ctx context.Context, trust *tls.Config, url string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, tailBytes))
	if err != nil {
		return fmt.Errorf("%s answered %s and then %w", url, response.Status, err)
	}
	return fmt.Errorf("%s answered %s: %s", url, response.Status, strings.TrimSpace(string(body)))
}

func etcdReady(ctx context.Context, ports []int) error {
	return ask(ctx, nil, httpURL(ports[0])+"/readyz")
}

// apiServerReady asks as nobody in particular, which the API server allows once
// its own roles are there.
func apiServerReady(ctx context.Context, authority *x509.Certificate, ports []int) error {
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	return ask(ctx, &tls.Config{RootCAs: roots}, httpsURL(ports[0])+"/readyz")
}

// controllerManagerReady is true when the controllers have begun to work: the
// namespace "default" has its service account, without which no Pod can be made.
func controllerManagerReady(ctx context.Context, client kubernetes.Interface, ports []int) error {
	// The certificate is one that the program made for itself.
	if err := ask(ctx, &tls.Config{InsecureSkipVerify: true}, httpsURL(ports[0])+"/healthz"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}
