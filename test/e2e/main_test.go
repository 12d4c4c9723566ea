// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// patience bounds what takes seconds on a free machine.
const patience = 5 * time.Minute

// versions are the released versions that are tested.
func versions() []string {
	if list := strings.Fields(os.Getenv("LOCKSTEP_E2E_VERSIONS")); len(list) > 0 {
		return list
	}
	return []string{"4.9.7", "5.3.3", "5.5.0"}
}

// TestE2E runs every case on every version. The versions run side by side: their
// worlds wait much more than they compute. The cases of a version share one
// world; those that break it for others run alone, after the others.
func TestE2E(t *testing.T) {
	dir, err := os.MkdirTemp("", "lockstep-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs, stores and ledgers stay in %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	manager := filepath.Join(dir, "manager")
	if err := world.BuildManager(t.Context(), manager, t.Output()); err != nil {
		t.Fatal(err)
	}
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			e := startEnv(t, version, filepath.Join(dir, version), manager)
			t.Run("together", func(t *testing.T) {
				for _, c := range cases() {
					if c.alone || !c.fits(e) {
						continue
					}
					t.Run(c.name, func(t *testing.T) {
						t.Parallel()
						c.run(newScene(t, e))
					})
				}
			})
			for _, c := range cases() {
				if c.alone && c.fits(e) {
					t.Run(c.name, func(t *testing.T) { c.run(newScene(t, e)) })
				}
			}
		})
	}
}

// testCase is one behaviour that is shown.
type testCase struct {
	name string
	// alone cases stop or kill what others need.
	alone bool
	// needs says what the version must have; nil means that every one has it.
	needs func(*env) bool
	run   func(*scene)
}

func (c testCase) fits(e *env) bool { return c.needs == nil || c.needs(e) }

func cases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{
		lifecycleCases(), driftCases(), shrinkCases(), growthCases(), offlineCases(), approveCases(), placementCases(), staleCases(),
		troubleCases(), lateCases(), arrivalCases(), crashCases(), silentCases(),
	} {
		all = append(all, group...)
	}
	return all
}

// startEnv starts the world of one version.
func startEnv(t *testing.T, version, dir, manager string) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	e := &env{version: version, five: !strings.HasPrefix(version, "4.")}
	kinds := []world.Kind{world.Classic(version), world.Go}
	if e.five {
		kinds = append(kinds, world.GRPC)
	}
	var err error
	if e.programs, err = world.BuildClients(ctx, t.Output(), kinds...); err != nil {
		t.Fatal(err)
	}
	options := e.options(dir, manager)
	options.Step = func(part string) func(error) {
		began := time.Now()
		return func(err error) {
			if err == nil {
				t.Logf("%s: up after %s", part, time.Since(began).Round(100*time.Millisecond))
			}
		}
	}
	if e.w, err = world.Start(ctx, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.end(t) })
	if err := e.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	return e
}

// end stops the world, and quotes its logs when a test failed.
func (e *env) end(t *testing.T) {
	if n := e.w.Operator.Restarts(); n > 0 {
		t.Logf("the operator ended by itself %d times and was started again", n)
	}
	if err := errorsOf(e.wire.Close(), e.w.Stop()); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		for _, path := range e.logs() {
			t.Logf("the end of %s:\n%s", path, tail(path))
		}
	}
}

// tail is the end of a log.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return world.LastLines(data, 20)
}
