// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxSentence is the longest Maximum.Sentence, in bytes (K05).
	MaxSentence = 1024
	// MaxShort bounds Verdict.Short, which is shorter: the API server may cut
	// admission warnings of more than 256 characters (K28).
	MaxShort = 256
	// MaxOdd is how many brokers a sentence names before it says how many more
	// there are (K05).
	MaxOdd = 8
)

// clean makes one line of foreign text (K21) and takes out the phrases for which
// deployment tools delete and create again what was refused (K01).
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	s = replaceFold(s, "is immutable", "is fixed")
	return replaceFold(s, "immutable field", "fixed field")
}

// replaceFold is strings.ReplaceAll without regard to the case of ASCII letters.
func replaceFold(s, old, instead string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if i+len(old) <= len(s) && strings.EqualFold(s[i:i+len(old)], old) {
			b.WriteString(instead)
			i += len(old)
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// clip cuts a text to less bytes than the limit, at a character, and shows that.
func clip(s string, limit int) string {
	if len(s) < limit {
		return s
	}
	const mark = "..."
	end := limit - 1 - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// fitting is the first text below the limit, else the last one cut to it.
func fitting(limit int, texts ...string) string {
	for _, t := range texts {
		if len(t) < limit {
			return t
		}
	}
	return clip(texts[len(texts)-1], limit)
}

// number groups digits by thousands.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted is such as "1 queue" or "8 queues".
func counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}

// asked begins the sentence of a verdict.
func asked(n int64) string { return counted(n, "replica") + " asked, " }
