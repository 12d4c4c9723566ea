// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// longestGuess is the longest rest of a stage that is worth showing: what is
// measured over a few seconds says nothing about hours.
const longestGuess = 10 * time.Minute

// view is the display of one change.
type view struct {
	demo    *demo
	tracker *tracker
	book    *book
	topic   *v1alpha1.Topic
	// said is the last line about the present stage, and when it was written,
	// where nothing can be drawn again.
	said   string
	saidAt time.Time
}

// see takes the Topic as it is now.
func (v *view) see(topic *v1alpha1.Topic, now time.Time) {
	before := v.topic
	v.topic = topic
	left, back := v.tracker.see(topic, now)
	if back {
		v.said = ""
		v.demo.screen.line("   back to %q, for a proof was interrupted (%s); windows are lived through again", v.tracker.stages[v.tracker.at].title, waitsFor(before))
	}
	for _, i := range left {
		v.said = ""
		if !v.demo.screen.live() {
			v.demo.screen.line("%s", v.doneLine(i))
		}
	}
}

// draw shows where the change stands.
func (v *view) draw(now time.Time) error {
	if v.topic == nil || v.tracker.at < 0 || v.tracker.over() {
		return nil
	}
	if v.tracker.stages[v.tracker.at].name == v1alpha1.StageDraining {
		if err := v.book.update(); err != nil {
			return err
		}
	}
	if v.demo.screen.live() {
		v.demo.screen.block(v.lines(now))
		return nil
	}
	text := v.nowText(now)
	line := v.nowLine(v.tracker.at, text, now)
	if text == v.said || now.Sub(v.saidAt) < repeat && v.said != "" {
		return nil
	}
	v.said, v.saidAt = text, now
	v.demo.screen.line("%s", line)
	return nil
}

// end leaves the display with everything done.
func (v *view) end() {
	if v.demo.screen.live() {
		v.demo.screen.block(v.lines(time.Now()))
		v.demo.screen.keepBlock()
	}
}

func (v *view) lines(now time.Time) []string {
	var out []string
	for i, s := range v.tracker.stages {
		switch {
		case i < v.tracker.at:
			out = append(out, v.doneLine(i))
		case i == v.tracker.at:
			out = append(out, v.nowLine(i, v.nowText(now), now))
		default:
			out = append(out, v.demo.screen.paint(faint, "   "+s.title))
		}
	}
	return out
}

func (v *view) doneLine(i int) string {
	t := v.tracker
	took := short(t.spent[i])
	if t.spent[i] == 0 {
		took = "at once"
	}
	return fmt.Sprintf(" %s %-15s %-70s %10s", v.demo.screen.paint(green, signDone), t.stages[i].title, t.proof[i], took)
}

func (v *view) nowLine(i int, text string, now time.Time) string {
	t := v.tracker
	return fmt.Sprintf(" %s %-15s %-70s %10s", v.demo.screen.paint(yellow, signNow), t.stages[i].title, text, short(now.Sub(t.entered[i])))
}

// nowText is what the present stage waits for, with a bar where something is
// read.
func (v *view) nowText(now time.Time) string {
	text := waitsFor(v.topic)
	change := v.topic.Status.Change
	if change == nil {
		return text
	}
	if change.Stage == v1alpha1.StageNarrowingWrites || change.Stage == v1alpha1.StageNarrowingReads {
		return v.tracker.numbers()
	}
	left, of := v.book.left(groupAudit)
	if change.Stage == v1alpha1.StageDraining && of > 0 && left > 0 {
		share := 1 - float64(left)/float64(of)
		return fmt.Sprintf("%s %3.0f %%  %s: %d of %d left in retiring queues", bar(share), 100*share, groupAudit, left, of)
	}
	if end := change.ExpectedEnd; end != nil && end.After(now) && end.Sub(now) < longestGuess {
		text += fmt.Sprintf("; stage ends in about %d s", int(end.Sub(now).Seconds())+1)
	}
	return text
}
