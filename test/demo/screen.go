// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Signs in front of lines.
const (
	signDone = "✔"
	signNow  = "▸"
	signBad  = "✘"
)

// screen writes lines, in colour on a terminal. On a terminal it can also keep
// a block of lines at the bottom and draw it again.
type screen struct {
	mu  sync.Mutex
	out io.Writer
	// width is 0 when out is no terminal.
	width int
	color bool
	// drawn is the number of lines of the block.
	drawn int
}

// newScreen writes to a file, which may be a terminal.
func newScreen(file *os.File) *screen {
	s := &screen{out: file}
	if size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ); err == nil {
		s.width = int(size.Col)
		if s.width == 0 {
			s.width = 80
		}
		s.color = os.Getenv("NO_COLOR") == ""
	}
	return s
}

// live tells whether blocks can be drawn again.
func (s *screen) live() bool { return s.width > 0 }

// line writes one line above the block.
func (s *screen) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.write(fmt.Sprintf(format, args...) + "\n")
}

// text writes a text of several lines, each with the indent.
func (s *screen) text(indent, text string) {
	for line := range strings.Lines(text) {
		s.line("%s%s", indent, strings.TrimRight(line, "\n"))
	}
}

// block draws lines at the bottom in place of those drawn before.
func (s *screen) block(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	for _, line := range lines {
		s.write(clip(line, s.width) + "\n")
	}
	s.drawn = len(lines)
}

// keepBlock leaves the block as it is.
func (s *screen) keepBlock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = 0
}

func (s *screen) erase() {
	if s.drawn > 0 {
		s.write(fmt.Sprintf("\x1b[%dA\x1b[J", s.drawn))
		s.drawn = 0
	}
}

func (s *screen) write(text string) {
	// What cannot be shown changes nothing in what is done.
	_, _ = io.WriteString(s.out, text)
}

// Paints of a terminal.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
	bold   = "1"
	faint  = "2"
)

// paint colours a text where colour can be shown.
func (s *screen) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// clip cuts a line to the width of the terminal; colours take no room.
func clip(line string, width int) string {
	room := width - 1
	if room <= 0 {
		return line
	}
	var out strings.Builder
	colored := false
	for i := 0; i < len(line); {
		if line[i] == '\x1b' {
			end := strings.IndexByte(line[i:], 'm')
			if end < 0 {
				break
			}
			out.WriteString(line[i : i+end+1])
			colored = true
			i += end + 1
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if room == 1 && i+size < len(line) {
			r = '…'
			out.WriteRune(r)
			break
		}
		out.WriteRune(r)
		room--
		i += size
		if room == 0 {
			break
		}
	}
	if colored {
		out.WriteString("\x1b[0m")
	}
	return out.String()
}

// bar draws a share from 0 to 1.
func bar(share float64) string {
	const cells = 20
	full := int(share*cells + 0.5)
	full = min(max(full, 0), cells)
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}
