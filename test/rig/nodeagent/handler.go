// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// quoteLimit is how much of an answer a message quotes.
const quoteLimit = 256

// handler carries out what probes and hooks ask of one container.
type handler struct {
	podIP     string
	container *corev1.Container
	// exec runs a command as the container would and returns its output.
	exec func(ctx context.Context, command []string) (string, error)
}

// probe makes one check. The error says what was asked and what came back.
func (h handler) probe(ctx context.Context, p corev1.ProbeHandler) error {
	switch {
	case p.Exec != nil:
		return h.run(ctx, p.Exec.Command)
	case p.HTTPGet != nil:
		return h.get(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		return h.dial(ctx, p.TCPSocket)
	}
	return errors.New("this kind of probe is not supported by the rig")
}

// hook carries out a lifecycle hook.
func (h handler) hook(ctx context.Context, l *corev1.LifecycleHandler) error {
	switch {
	case l.Exec != nil:
		return h.run(ctx, l.Exec.Command)
	case l.HTTPGet != nil:
		return h.get(ctx, l.HTTPGet)
	case l.Sleep != nil:
		timer := time.NewTimer(time.Duration(l.Sleep.Seconds) * time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("this kind of hook is not supported by the rig")
}

func (h handler) run(ctx context.Context, command []string) error {
	output, err := h.exec(ctx, command)
	if err != nil {
		return fmt.Errorf("command %q: %w: %s", command, err, quote(output))
	}
	return nil
}

func (h handler) get(ctx context.Context, action *corev1.HTTPGetAction) error {
	address, err := h.address(action.Host, action.Port)
	if err != nil {
		return err
	}
	scheme := strings.ToLower(string(action.Scheme))
	if scheme == "" {
		scheme = "http"
	}
	target, err := url.Parse(action.Path)
	if err != nil {
		return fmt.Errorf("the path of the probe: %w", err)
	}
	target.Scheme, target.Host = scheme, address
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "lockstep-rig-probe")
	for _, header := range action.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
		if strings.EqualFold(header.Name, "Host") {
			request.Host = header.Value
		}
	}
	client := http.Client{
		// A probe trusts any certificate, as that of the kubelet does.
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusOK && response.StatusCode < http.StatusBadRequest {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, quoteLimit)) // only for the message
	return fmt.Errorf("GET %s answered %s: %s", target, response.Status, quote(string(body)))
}

func (h handler) dial(ctx context.Context, action *corev1.TCPSocketAction) error {
	address, err := h.address(action.Host, action.Port)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// address resolves a port, which may be the name of a port of the container.
func (h handler) address(host string, port intstr.IntOrString) (string, error) {
	if host == "" {
		host = h.podIP
	}
	if port.Type == intstr.Int {
		return net.JoinHostPort(host, strconv.Itoa(port.IntValue())), nil
	}
	for _, p := range h.container.Ports {
		if p.Name == port.StrVal {
			return net.JoinHostPort(host, strconv.Itoa(int(p.ContainerPort))), nil
		}
	}
	if number, err := strconv.Atoi(port.StrVal); err == nil {
		return net.JoinHostPort(host, strconv.Itoa(number)), nil
	}
	return "", fmt.Errorf("container %s has no port named %q", h.container.Name, port.StrVal)
}

func quote(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > quoteLimit {
		text = text[:quoteLimit] + "…"
	}
	return text
}
