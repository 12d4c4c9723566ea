// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// These tests run random worlds through the clients' own code and compare who
// gets what: go test -tags e2e ./internal/allocation. They need a JDK and what
// hack/clients.sh builds.
package allocation_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// worldsForEach is how many worlds each client is asked about.
const worldsForEach = "4000"

func clientVersions() []string {
	if chosen := strings.Fields(os.Getenv("LOCKSTEP_E2E_VERSIONS")); len(chosen) > 0 {
		return chosen
	}
	return []string{"4.9.7", "5.3.3", "5.5.0"}
}

// Equal queue for queue to the classes of every Java client.
func TestE2E_JavaClasses(t *testing.T) {
	source, err := filepath.Abs("../../test/clients/java/allocation/Worlds.java")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range clientVersions() {
		t.Run(version, func(t *testing.T) {
			lib := filepath.Join(filepath.Dir(program(t, rig.ClassicClient(version))), "lib", "*")
			// 4.9 hashes the bytes of a name in the JVM's own charset.
			compareAll(t, javaWorld, "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8",
				"-Duser.home="+t.TempDir(), "-cp", lib, source)
		})
	}
}

// Equal queue for queue to the functions of rocketmq-client-go.
func TestE2E_GoClient(t *testing.T) {
	compareAll(t, goWorld, program(t, rig.GoClient), "allocate")
}

func program(t *testing.T, kind string) string {
	t.Helper()
	programs, err := rig.BuildClients(t.Context(), t.Output(), kind)
	if err != nil {
		t.Fatal(err)
	}
	return programs[kind]
}

// compareAll starts the client once and asks it about one world after the other.
func compareAll(t *testing.T, draw func(*rapid.T) world, command string, args ...string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := exec.CommandContext(ctx, command, args...)
	client.Stderr = t.Output()
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	before := flag.Lookup("rapid.checks").Value.String()
	if err := flag.Set("rapid.checks", worldsForEach); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flag.Set("rapid.checks", before) }()
	wire := newWire(out)
	seen := tally{}
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		if _, err := in.Write(w.encode()); err != nil {
			t.Fatalf("asking the client: %v", err)
		}
		answer, err := wire.answer(len(w.selves))
		if err != nil {
			t.Fatalf("the client's answer: %v", err)
		}
		w.compare(t, answer, seen)
	})
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Fatalf("%d bytes after the last answer, %v", len(rest), err)
	}
	if err := client.Wait(); err != nil {
		t.Fatal(err)
	}
	seen.report(t)
}

// tally counts what the worlds were about, so that a test in which nothing
// happens does not pass.
type tally map[string]int

func (s tally) report(t *testing.T) {
	var lines []string
	for what, n := range s {
		lines = append(lines, fmt.Sprintf("%6d %s", n, what))
	}
	slices.Sort(lines)
	t.Logf("compared, with equal results:\n%s", strings.Join(lines, "\n"))
	for _, what := range []string{"shares with queues", "shares without", "throws", "worlds", "worlds with an id twice"} {
		if s[what] < 100 {
			t.Errorf("only %d %s were compared", s[what], what)
		}
	}
}

// compare holds what the client did against what this package says.
func (w world) compare(t *rapid.T, theirs answer, seen tally) {
	queues, clients := slices.Clone(w.queues), slices.Clone(w.clients)
	if w.sort {
		allocation.SortQueues(queues)
		allocation.SortClients(clients)
	}
	if !slices.Equal(queues, theirs.queues) || !slices.Equal(clients, theirs.clients) {
		t.Fatalf("the orders differ:\nours   %v %q\ntheirs %v %q", queues, clients, theirs.queues, theirs.clients)
	}
	if w.strategy.Name() != theirs.name {
		t.Fatalf("we say %s, they say %s", w.strategy.Name(), theirs.name)
	}
	var failed error
	ours := map[string][]allocation.Queue{}
	for i, self := range w.selves {
		share, err := w.strategy.Allocate(self, queues, clients)
		their := theirs.shares[i]
		switch {
		case (err != nil) != (their.thrown != "") || err != nil && !sameFault(err, their.thrown):
			t.Fatalf("client %q by %s: we say %v, they threw %q\nqueues %v\nclients %q", self, theirs.name, err, their.thrown, queues, clients)
		case !slices.Equal(share, their.queues):
			t.Fatalf("client %q by %s:\nours   %v\ntheirs %v\nof     %v\namong  %q", self, theirs.name, share, their.queues, queues, clients)
		}
		ours[self] = share
		switch {
		case err != nil:
			seen["throws"]++
			if slices.Contains(clients, self) {
				failed = errors.Join(failed, err)
			}
		case len(share) > 0:
			seen["shares with queues"]++
		default:
			seen["shares without"]++
		}
	}
	// The selves hold every client, so the shares of all at once are theirs too.
	all, err := allocation.Share(w.strategy, queues, clients)
	if (err != nil) != (failed != nil) && len(clients) > 0 {
		t.Fatalf("all at once: %v; one by one: %v", err, failed)
	}
	for i := range all {
		if !slices.Equal(all[i], ours[clients[i]]) {
			t.Fatalf("client %q by %s: all at once %v, by itself %v", clients[i], theirs.name, all[i], ours[clients[i]])
		}
	}
	seen["worlds"]++
	seen["worlds by "+theirs.name]++
	slices.Sort(clients)
	if len(slices.Compact(clients)) < len(w.clients) {
		seen["worlds with an id twice"]++
	}
}

// sameFault tells whether an error of ours is the exception of theirs.
func sameFault(ours error, theirs string) bool {
	var room *allocation.RoomError
	switch {
	case errors.As(ours, &room) && room.Kind == "queue":
		return strings.Contains(theirs, "Machine room is null for mq "+room.Name)
	case errors.As(ours, &room):
		return strings.Contains(theirs, "Machine room is null for consumer id "+room.Name)
	case errors.Is(ours, allocation.ErrNoClientID):
		return strings.Contains(theirs, "currentCID is empty")
	case errors.Is(ours, allocation.ErrNoQueues):
		return strings.Contains(theirs, "mqAll is null or mqAll empty")
	case errors.Is(ours, allocation.ErrNoClients):
		return strings.Contains(theirs, "cidAll is null or cidAll empty")
	case errors.Is(ours, allocation.ErrNoRooms):
		return strings.Contains(theirs, "NullPointerException")
	case errors.Is(ours, allocation.ErrGoClientPanics):
		return strings.Contains(theirs, "runtime error")
	}
	return false
}
