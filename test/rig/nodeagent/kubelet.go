// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// followInterval is how often a followed log is looked at.
const followInterval = 200 * time.Millisecond

// startKubelet serves container logs to the API server, for kubectl logs. Of the
// API of a kubelet there is no more: no exec, attach or port-forward. Callers
// prove themselves by a certificate of the cluster's authority.
func (a *Agent) startKubelet() error {
	listener, err := net.Listen("tcp", net.JoinHostPort(hostIP, "0"))
	if err != nil {
		return fmt.Errorf("listening for requests for logs: %w", err)
	}
	a.kubelet = listener
	config, err := a.kubeletTLS()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", a.serveLog)
	server := &http.Server{Handler: mux, TLSConfig: config, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:    stdlog.New(io.Discard, "", 0), // callers get the errors
		BaseContext: func(net.Listener) context.Context { return a.ctx }}
	a.loops.Go(func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			a.log.Error(err, "serving logs")
		}
		_ = server.Close() // ends connections that are still open
	})
	return nil
}

func (a *Agent) kubeletTLS() (*tls.Config, error) {
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey(a.options.NodeName, []net.IP{net.ParseIP(hostIP)}, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for logs: %w", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("using the certificate for logs: %w", err)
	}
	config := rest.CopyConfig(a.config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("reading the cluster's authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData) // without one nobody may ask
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots}, nil
}

// logFile is the path of the log of one start of a container.
func (a *Agent) logFile(pod *corev1.Pod, container string, number int32) string {
	return filepath.Join(a.LogDir(pod), container, strconv.Itoa(int(number))+".log")
}

// LogDir is the folder with the logs of a Pod: a folder for each container, in
// which the file N.log is of the Nth start, counted from 0.
func (a *Agent) LogDir(pod *corev1.Pod) string {
	return filepath.Join(a.options.Dir, "logs", fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID))
}

func (a *Agent) serveLog(response http.ResponseWriter, request *http.Request) {
	path, err := a.findLog(request)
	if err != nil {
		http.Error(response, err.Error(), http.StatusNotFound)
		return
	}
	log, err := os.Open(path)
	if err != nil {
		http.Error(response, err.Error(), http.StatusNotFound)
		return
	}
	defer func() { _ = log.Close() }()
	query := request.URL.Query()
	for _, name := range []string{"timestamps", "sinceTime", "sinceSeconds"} {
		if value := query.Get(name); value != "" && value != "false" {
			http.Error(response, "the rig keeps logs without times: "+name+" is not supported", http.StatusBadRequest)
			return
		}
	}
	if err := seekTail(log, query.Get("tailLines")); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	var content io.Reader = log
	if limit, err := strconv.ParseInt(query.Get("limitBytes"), 10, 64); err == nil {
		content = io.LimitReader(log, limit)
	}
	if _, err := io.Copy(response, content); err != nil || query.Get("follow") != "true" {
		return
	}
	follow(request.Context(), response, log)
}

// findLog returns the newest log of the container, or the one before it.
func (a *Agent) findLog(request *http.Request) (string, error) {
	namespace, name, container := request.PathValue("namespace"), request.PathValue("pod"), request.PathValue("container")
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workers {
		pod, facts := w.state.snapshot()
		if pod.Namespace != namespace || pod.Name != name {
			continue
		}
		number := facts.containers[container].RestartCount
		if facts.containers[container].State.Waiting != nil && number > 0 {
			number-- // the next start has not begun
		}
		if request.URL.Query().Get("previous") == "true" {
			number--
		}
		if number < 0 {
			return "", fmt.Errorf("container %s of Pod %s/%s was started only once", container, namespace, name)
		}
		return a.logFile(pod, container, number), nil
	}
	return "", fmt.Errorf("there is no Pod %s/%s on this node", namespace, name)
}

// seekTail moves to the beginning of the last lines.
func seekTail(log io.ReadSeeker, lines string) error {
	if lines == "" {
		return nil
	}
	wanted, err := strconv.Atoi(lines)
	if err != nil {
		return fmt.Errorf("tailLines: %w", err)
	}
	content, err := io.ReadAll(log)
	if err != nil {
		return err
	}
	at := len(content)
	text := strings.TrimSuffix(string(content), "\n")
	for ; wanted > 0 && at > 0; wanted-- {
		at = strings.LastIndexByte(text, '\n') + 1
		text = text[:max(at-1, 0)]
	}
	_, err = log.Seek(int64(at), io.SeekStart)
	return err
}

// follow copies what is added to the log until the asker has gone.
func follow(ctx context.Context, response http.ResponseWriter, log io.Reader) {
	flusher := http.NewResponseController(response)
	for {
		if flusher.Flush() != nil || !wait(ctx, nil, followInterval) {
			return
		}
		if _, err := io.Copy(response, log); err != nil {
			return
		}
	}
}
