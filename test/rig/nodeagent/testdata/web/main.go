// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command web is what the Pods of the node agent's tests run: an HTTP server on
// the address of its Pod.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	file := flag.String("file", "", "file that /file serves")
	flag.Parse()
	if err := serve(*file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("bye")
}

func serve(file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, _ *http.Request) {
		env := map[string]string{}
		for _, entry := range os.Environ() {
			name, value, _ := strings.Cut(entry, "=")
			env[name] = value
		}
		env["os.Hostname"], _ = os.Hostname()
		_ = json.NewEncoder(w).Encode(env)
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	// /sick makes /alive fail from then on.
	sick := make(chan struct{}, 1)
	mux.HandleFunc("POST /sick", func(http.ResponseWriter, *http.Request) { sick <- struct{}{} })
	mux.HandleFunc("GET /alive", func(w http.ResponseWriter, _ *http.Request) {
		if len(sick) > 0 {
			http.Error(w, "sick", http.StatusInternalServerError)
		}
	})
	server := &http.Server{Addr: os.Getenv("POD_IP") + ":8080", Handler: mux}
	context.AfterFunc(ctx, func() {
		fmt.Println("stopping")
		_ = server.Shutdown(context.Background())
	})
	fmt.Println("listening on", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
