// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import "strings"

// kind is what a token of a SQL92 expression is: a reserved word in capitals,
// a symbol, or one of these.
type kind string

const (
	end      kind = ""
	decimal  kind = "decimal"
	floating kind = "floating"
	text     kind = "text"
	name     kind = "name"
	foreign  kind = "foreign" // no token begins so: a broker refuses it when it gets there
)

// token is one token and where it begins.
type token struct {
	kind  kind
	image string
	at    int
}

// word gives a name its kind: the reserved words of the grammar, in any case.
// The last three exist from 5.0 on and are names before.
func word(image string) kind {
	for _, r := range [...]kind{"NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS", "CONTAINS", "STARTSWITH", "ENDSWITH"} {
		if strings.EqualFold(image, string(r)) {
			return r
		}
	}
	return name
}

// tokens splits an expression as the brokers' own lexer does: the longest form
// that fits wins. A foreign character ends it: what follows is never looked at
// by a broker either.
func tokens(s string) []token {
	var out []token
	for at := 0; at < len(s); {
		rest := s[at:]
		if n := blank(rest); n > 0 {
			at += n
			continue
		}
		k, n := lex(rest)
		if k == foreign {
			return append(out, token{foreign, rest, at})
		}
		out = append(out, token{k, rest[:n], at})
		at += n
	}
	return out
}

// blank is the length of the blank or comment that s begins with. A comment
// that is not closed is none, and one by dashes must end with its line.
func blank(s string) int {
	switch {
	case strings.IndexByte(" \t\n\r\f", s[0]) >= 0:
		return 1
	case strings.HasPrefix(s, "--"):
		if i := strings.IndexAny(s, "\n\r"); i >= 0 {
			return i + 1
		}
	case strings.HasPrefix(s, "/*"):
		if i := strings.Index(s[2:], "*/"); i >= 0 {
			return i + 4
		}
	}
	return 0
}

// lex is the token that s begins with, and its length.
func lex(s string) (kind, int) {
	c := s[0]
	switch {
	case letter(c):
		n := count(s, func(c byte) bool { return letter(c) || digit(c) })
		return word(s[:n]), n
	case digit(c) || c == '.' && len(s) > 1 && digit(s[1]):
		return lexNumber(s)
	case c == '\'':
		return lexText(s)
	}
	for _, symbol := range [...]string{"<>", "<=", ">=", "=", "<", ">", "(", ")", ",", "+", "-"} {
		if strings.HasPrefix(s, symbol) {
			return kind(symbol), len(symbol)
		}
	}
	return foreign, 0
}

// lexNumber reads 12, 12L, 5.5, 5., .5, 5E10. A whole number has no leading
// zeros: 007 is three numbers.
func lexNumber(s string) (kind, int) {
	whole := count(s, digit)
	n := whole
	point := n < len(s) && s[n] == '.'
	if point {
		n++
		n += count(s[n:], digit)
	}
	if e := exponent(s[n:]); e > 0 {
		return floating, n + e
	}
	switch {
	case point:
		return floating, n
	case s[0] == '0':
		return decimal, 1
	case n < len(s) && (s[n] == 'l' || s[n] == 'L'):
		return decimal, n + 1
	}
	return decimal, n
}

func exponent(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	if digits := count(s[n:], digit); digits > 0 {
		return n + digits
	}
	return 0
}

// lexText reads 'it”s': the longest text that ends with a single quote.
func lexText(s string) (kind, int) {
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' && strings.IndexByte(s[i+2:], '\'') >= 0 {
			i++ // a doubled quote inside
			continue
		}
		return text, i + 1
	}
	return foreign, 0
}

func count(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}

// canonical is the same text for expressions that differ only in blanks,
// comments and the case of reserved words.
func canonical(sql string) string {
	var out []string
	for _, t := range tokens(sql) {
		switch t.kind {
		case decimal, floating, text, name, foreign:
			out = append(out, t.image)
		default:
			out = append(out, string(t.kind))
		}
	}
	return strings.Join(out, " ")
}
