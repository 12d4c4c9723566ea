// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/test/ledger"
)

// tally follows the ledgers of clients while they write, in a bit a message and
// group, so that a run may be as long as its stores have room. Its methods may
// be called from any goroutine.
type tally struct {
	dir string
	// groups are those that are to consume each topic.
	groups map[string][]string

	mu sync.Mutex
	// read is how far each file was read.
	read map[string]int64
	// series are the messages of one start of a producer: its keys are one
	// prefix with the numbers 0, 1, 2, …
	series map[string]*series
	sums   sums
}

// series is what is known of messages with one prefix.
type series struct {
	topic    string
	sent     bitset
	consumed map[string]*bitset
}

// sums are counts over all messages.
type sums struct {
	sent, consumed, duplicates, failed, refused, torn int
}

func newTally(dir string, groups map[string][]string) *tally {
	return &tally{dir: dir, groups: groups, read: map[string]int64{}, series: map[string]*series{}}
}

// update reads what was written since.
func (t *tally) update() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	files, err := filepath.Glob(filepath.Join(t.dir, "*.ledger"))
	if err != nil {
		return fmt.Errorf("finding ledgers: %w", err)
	}
	for _, file := range files {
		if err := t.follow(file); err != nil {
			return fmt.Errorf("reading ledger %s: %w", file, err)
		}
	}
	return nil
}

// chunk is how much of a ledger is held in memory at a time.
const chunk = 4 << 20

// follow reads the whole lines that were added to a file.
func (t *tally) follow(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	buffer := make([]byte, chunk)
	for {
		n, err := file.ReadAt(buffer, t.read[path])
		if err != nil && err != io.EOF {
			return err
		}
		whole := bytes.LastIndexByte(buffer[:n], '\n') + 1
		if whole == 0 {
			return nil // a line that is being written waits for the next time
		}
		var news ledger.Ledger
		if err := news.Add(bytes.NewReader(buffer[:whole])); err != nil {
			return err
		}
		t.read[path] += int64(whole)
		t.sums.torn += news.Torn
		for _, entry := range news.Entries {
			if err := t.note(entry); err != nil {
				return err
			}
		}
	}
}

// note counts one event.
func (t *tally) note(e ledger.Entry) error {
	switch e.Event {
	case ledger.SentFail:
		t.sums.failed++
		return nil
	case ledger.Refused:
		t.sums.refused++
		return nil
	}
	s, n, err := t.place(e)
	if err != nil {
		return err
	}
	if e.Event == ledger.SentOK {
		if flushed(e) && !s.sent.set(n) {
			t.sums.sent++
		}
		return nil
	}
	seen := s.consumed[e.Group]
	if seen == nil {
		seen = &bitset{}
		s.consumed[e.Group] = seen
	}
	if seen.set(n) {
		t.sums.duplicates++
	} else {
		t.sums.consumed++
	}
	return nil
}

// flushed tells whether the broker promised to keep the message: any status
// other than SEND_OK promises less.
func flushed(e ledger.Entry) bool { return e.Note == "" || e.Note == "SEND_OK" }

// place is the series of a message and its number there. A message that comes
// from a retry topic is known by its key as well.
func (t *tally) place(e ledger.Entry) (*series, int, error) {
	dot := strings.LastIndexByte(e.Key, '.')
	n, err := strconv.Atoi(e.Key[dot+1:])
	if dot < 0 || err != nil || n < 0 {
		return nil, 0, fmt.Errorf("key %q is none of a test client's: want PREFIX.NUMBER", e.Key)
	}
	prefix := e.Key[:dot]
	s := t.series[prefix]
	if s == nil {
		s = &series{topic: e.Topic, consumed: map[string]*bitset{}}
		t.series[prefix] = s
	}
	if e.Event == ledger.SentOK {
		s.topic = e.Topic
	}
	return s, n, nil
}

// counts are the sums so far.
func (t *tally) counts() sums {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sums
}

// lost is how many messages a group of their topic has not consumed, by topic
// and group.
func (t *tally) lost() (total int, by map[string]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	by = map[string]int{}
	for _, s := range t.series {
		for _, group := range t.groups[s.topic] {
			if n := s.sent.without(s.consumed[group]); n > 0 {
				by[s.topic+" "+group] += n
				total += n
			}
		}
	}
	return total, by
}

// missing tells whether a group of its topic has not consumed a message.
func (t *tally) missing(key string) (groups []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dot := strings.LastIndexByte(key, '.')
	s := t.series[key[:max(dot, 0)]]
	n, err := strconv.Atoi(key[dot+1:])
	if s == nil || err != nil || !s.sent.has(n) {
		return nil
	}
	for _, group := range t.groups[s.topic] {
		if !s.consumed[group].has(n) {
			groups = append(groups, group)
		}
	}
	return groups
}

// bitset is a set of small numbers.
type bitset struct{ words []uint64 }

// set adds n and tells whether it was there.
func (b *bitset) set(n int) bool {
	for len(b.words) <= n/64 {
		b.words = append(b.words, 0)
	}
	bit := uint64(1) << (n % 64)
	had := b.words[n/64]&bit != 0
	b.words[n/64] |= bit
	return had
}

func (b *bitset) has(n int) bool {
	return b != nil && n/64 < len(b.words) && b.words[n/64]&(1<<(n%64)) != 0
}

// without is how many numbers of b are not in other, which may be nil.
func (b *bitset) without(other *bitset) int {
	count := 0
	for i, word := range b.words {
		if other != nil && i < len(other.words) {
			word &^= other.words[i]
		}
		count += bits.OnesCount64(word)
	}
	return count
}
