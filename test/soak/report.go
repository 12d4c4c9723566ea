// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/test/ledger"
)

// What ten minutes have to hold at least; a shorter run has to hold its share. A
// run that did less has not shown what it is for.
const (
	leastTime     = 10 * time.Minute
	leastResizes  = 10
	leastMessages = 100_000
)

// least is the share of a number that a run of that length has to reach.
func least(number int, duration time.Duration) int {
	return int(float64(number) * float64(min(duration, leastTime)) / float64(leastTime))
}

// result is what a run is judged by.
type result struct {
	duration time.Duration
	// finished are resizes, sent messages, lost pairs of a message and a group,
	// broken moments at which the invariant did not hold.
	finished, sent, lost, broken int
	// looks are those of the guard, by broker.
	looks map[string]int
}

// judge says everything that is wrong with a run.
func (r result) judge() error {
	var errs []error
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	fail(r.lost > 0, "%s deliveries are missing: a group has not consumed a message that a broker had acknowledged", thousands(r.lost))
	fail(r.broken > 0, "a broker showed fewer readable than writable queues %d times", r.broken)
	for _, broker := range slices.Sorted(maps.Keys(r.looks)) {
		// The guard looks twenty times a second; less than one look a second proves
		// little about every moment.
		fail(r.looks[broker] < int(r.duration.Seconds()), "the guard looked at %s only %d times", broker, r.looks[broker])
	}
	fail(r.sent < least(leastMessages, r.duration), "%s messages were sent; a run of %s wants at least %s",
		thousands(r.sent), r.duration.Round(time.Second), thousands(least(leastMessages, r.duration)))
	fail(r.finished < least(leastResizes, r.duration), "%d resizes were finished; a run of %s wants at least %d",
		r.finished, r.duration.Round(time.Second), least(leastResizes, r.duration))
	return errors.Join(errs...)
}

// verdict fails unless the run shows what it is for.
func (s *soak) verdict() error {
	lost, _ := s.tally.lost()
	broken, _ := s.counts.violations()
	r := result{duration: s.chaos, finished: s.counts.get("resizes finished"), sent: s.tally.counts().sent, lost: lost, broken: broken, looks: map[string]int{}}
	for _, master := range s.world.RocketMQ.Masters() {
		r.looks[master.Name] = s.counts.get("looks at " + master.Name)
	}
	return r.judge()
}

// report is what the run ends with.
func (s *soak) report() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d   RocketMQ %s   faults for %s\n", s.options.seed, s.options.version, s.chaos.Round(time.Second))
	for _, name := range s.counts.names() {
		fmt.Fprintf(&text, "  %-42s %12s\n", name, thousands(s.counts.get(name)))
	}
	broken, quoted := s.counts.violations()
	fmt.Fprintf(&text, "  %-42s %12s\n", "moments with read below write", thousands(broken))
	for _, line := range quoted {
		fmt.Fprintf(&text, "    %s\n", line)
	}
	if s.tally == nil {
		return text.String()
	}
	sums := s.tally.counts()
	lost, by := s.tally.lost()
	missing := "lost (message and group)"
	if !s.counted {
		missing = "on the way when the run was ended"
	}
	for _, row := range []struct {
		name  string
		count int
	}{
		{"messages sent (acknowledged)", sums.sent}, {"sends failed", sums.failed}, {"consumed (message and group)", sums.consumed},
		{"duplicates", sums.duplicates}, {"torn ledger lines", sums.torn}, {missing, lost},
	} {
		fmt.Fprintf(&text, "  %-42s %12s\n", row.name, thousands(row.count))
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(&text, "    %-40s %12s\n", name, thousands(by[name]))
	}
	if lost > 0 && s.counted {
		text.WriteString(s.lostMessages())
	}
	return text.String()
}

// lostMessages quotes what producers noted of the first lost messages.
func (s *soak) lostMessages() string {
	var text strings.Builder
	files, err := filepath.Glob(filepath.Join(s.tally.dir, "*.ledger"))
	if err != nil {
		return err.Error()
	}
	quoted := 0
	for _, file := range files {
		all, err := ledger.ReadFiles(file)
		if err != nil {
			return err.Error()
		}
		for _, e := range all.Entries {
			if e.Event != ledger.SentOK || quoted == maxQuoted {
				continue
			}
			if groups := s.tally.missing(e.Key); len(groups) > 0 {
				quoted++
				fmt.Fprintf(&text, "    lost: %s %s sent %s to %s/%d offset %d, not consumed by %s\n", e.Key, e.Topic,
					e.Time.UTC().Format("15:04:05.000"), e.Broker, e.Queue, e.Offset, strings.Join(groups, ", "))
			}
		}
	}
	return text.String()
}

// thousands writes a count with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
