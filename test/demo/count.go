// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// quietTime is how long consumers get for the rest after the producer stopped.
const quietTime = 2 * time.Minute

// result is what the ledgers tell at the end.
type result struct {
	groups []ledger.Counts
	// sent is the number of confirmed messages; everywhere of them were consumed
	// by every group.
	sent, everywhere, lost, duplicates, restarts int
}

// count stops the producer, lets every group finish, and prints the ledger. It
// fails when a message was lost or an application restarted.
func (d *demo) count(ctx context.Context) error {
	if !d.audited { // it had nothing to read in the queues that went
		d.audited = true
		if err := d.roles.audit.fleet.Scale(ctx, 1); err != nil {
			return err
		}
	}
	restarts, err := d.roles.restarts(ctx)
	if err != nil {
		return err
	}
	d.title("The producer stops, the groups finish, and the ledgers are counted")
	ending, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := world.End(ending, d.roles.producer.fleet); err != nil {
		return err
	}
	var r result
	// Counted until nothing is missing, else until the time is over: what is
	// missing then is lost.
	err = wait.PollUntilContextTimeout(ctx, 2*time.Second, quietTime, true, func(context.Context) (bool, error) {
		var err error
		r, err = tally(d.world.LedgerDir(d.places.Shop))
		return err == nil && r.lost == 0, err
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	r.restarts = restarts
	for i, group := range groups() {
		d.screen.line("   %-16s %s", group, r.groups[i])
	}
	d.screen.line("\n%s", d.screen.paint(bold, r.String()))
	d.screen.line("%s   ledgers: %s", "whole run "+short(time.Since(d.began)), d.world.LedgerDir(d.places.Shop))
	return r.verdict()
}

// tally counts the ledgers of a folder.
func tally(dir string) (result, error) {
	all, err := ledger.ReadDir(dir)
	if err != nil {
		return result{}, err
	}
	var r result
	missing := map[string]bool{}
	for _, group := range groups() {
		c := all.Count(ledger.Query{Topic: topicName, Group: group})
		r.groups = append(r.groups, c)
		r.sent = c.Sent
		r.lost += len(c.Lost)
		r.duplicates += c.Duplicates
		for _, entry := range c.Lost {
			missing[entry.Key] = true
		}
	}
	r.everywhere = r.sent - len(missing)
	return r, nil
}

// String is the line that the demo ends with.
func (r result) String() string {
	line := fmt.Sprintf("sent %s   consumed at least once by each of %d groups %s   lost %s   duplicates %s",
		thousands(r.sent), len(r.groups), thousands(r.everywhere), thousands(r.lost), thousands(r.duplicates))
	if r.duplicates > 0 {
		line += " (redeliveries during rebalance)"
	}
	return line + fmt.Sprintf("   restarts of your pods %d", r.restarts)
}

// verdict fails unless everything arrived and nothing was restarted.
func (r result) verdict() error {
	switch {
	case r.sent == 0:
		return errors.New("no message was sent, so nothing was shown")
	case r.lost > 0:
		return fmt.Errorf("%s messages were lost; the ledgers name them", thousands(r.lost))
	case r.restarts > 0:
		return fmt.Errorf("applications were restarted %d times", r.restarts)
	}
	return nil
}

// thousands groups digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// announce tells hack/demo.sh that all is up.
func (d *demo) announce() error {
	if d.options.readyFile == "" {
		return nil
	}
	if err := os.WriteFile(d.options.readyFile, []byte(d.world.Kubeconfig+"\n"), 0o644); err != nil {
		return fmt.Errorf("saying that all is up: %w", err)
	}
	return nil
}
