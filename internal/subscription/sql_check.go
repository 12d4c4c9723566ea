// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SQLReport is what brokers make of a SQL92 expression. It repeats, token for
// token, what the parser of released brokers does, which testdata/sql92.tsv
// checks; whether the brokers allow SQL92 at all is their own setting
// (enablePropertyFilter, rocketmq.md 8), and whether a message matches is not
// decided here.
type SQLReport struct {
	// Refused says why every broker refuses it; empty when one would take it.
	Refused string
	// Ignored is the text after the point where brokers stop reading without
	// an error; empty when they read all of it.
	Ignored string
	// Since5 are the operators in it that 4.9 brokers do not have: there they
	// are refused, or end the expression.
	Since5 []string
}

// CheckSQL says what brokers would make of a SQL92 expression.
func CheckSQL(expression string) SQLReport {
	if strings.TrimFunc(expression, func(r rune) bool { return r <= ' ' }) == "" {
		return SQLReport{Refused: "it is empty"}
	}
	p := &sqlParser{sql: expression, tokens: tokens(expression)}
	v := p.or()
	p.boolean(v)
	p.peek() // the brokers' parser looks one token ahead
	r := SQLReport{Refused: p.bad, Since5: p.since5}
	if rest := p.next(); p.bad == "" && rest.kind != end {
		r.Ignored = expression[rest.at:]
	}
	return r
}

// deepest bounds nesting, far above what people write and below what exhausts
// a broker's stack.
const deepest = 200

// sqlParser is a recursive descent over the brokers' grammar. After the first
// error nothing is consumed any more.
type sqlParser struct {
	sql    string
	tokens []token
	i      int
	depth  int
	bad    string
	since5 []string
}

// operand is what a part of an expression is to the rules of its operators.
type operand struct {
	class class
	// integer and float are the value of a number.
	integer int64
	float   float64
}

type class int

const (
	property class = iota
	number         // of integer
	fraction       // of float
	quoted
	truth     // TRUE or FALSE
	nothing   // NULL
	condition // a comparison, AND, OR, NOT, IN ...
	negated   // a minus before anything
)

func (o operand) constant() bool { return o.class >= number && o.class <= nothing }

func (p *sqlParser) refuse(format string, args ...any) {
	if p.bad == "" {
		p.bad = fmt.Sprintf(format, args...)
	}
}

func (p *sqlParser) next() token {
	if p.i < len(p.tokens) {
		return p.tokens[p.i]
	}
	return token{at: len(p.sql)}
}

// peek is the kind of the next token; a foreign character is an error as soon
// as it is looked at.
func (p *sqlParser) peek() kind {
	t := p.next()
	if t.kind == foreign {
		p.refuse("at %q no token begins", shorten(t.image))
	}
	if p.bad != "" {
		return "stop"
	}
	return t.kind
}

func (p *sqlParser) take(k kind) bool {
	if p.peek() != k {
		return false
	}
	p.i++
	return true
}

func (p *sqlParser) need(k kind) {
	t := p.next()
	if !p.take(k) {
		at := t.image
		if t.kind == end {
			at = "the end"
		}
		p.refuse("%s is expected before %s", k, shorten(at))
	}
}

func (p *sqlParser) boolean(o operand) {
	switch o.class {
	case property, truth, nothing, condition:
	default:
		p.refuse("a part of it has no truth value, such as a number or a text beside AND, OR or NOT")
	}
}

func (p *sqlParser) or() operand {
	left := p.and()
	for p.take("OR") {
		right := p.and()
		p.boolean(left)
		p.boolean(right)
		left = operand{class: condition}
	}
	return left
}

func (p *sqlParser) and() operand {
	left := p.equality()
	for p.take("AND") {
		right := p.equality()
		p.boolean(left)
		p.boolean(right)
		left = operand{class: condition}
	}
	return left
}

func (p *sqlParser) equality() operand {
	left := p.comparison()
	for {
		switch {
		case p.take("="), p.take("<>"):
			right := p.comparison()
			if left.class == nothing || right.class == nothing {
				p.refuse("NULL cannot be compared by = or <>; use IS NULL")
			}
			if left.class == truth && right.constant() && right.class != truth {
				p.refuse("TRUE and FALSE cannot be compared with a number or a text")
			}
		case p.take("IS"):
			p.take("NOT")
			p.need("NULL")
		default:
			return left
		}
		left = operand{class: condition}
	}
}

func (p *sqlParser) comparison() operand {
	left := p.unary()
	for {
		k, not := p.peek(), false
		if k == "NOT" {
			p.i++
			k, not = p.peek(), true
			if !slices.Contains([]kind{"CONTAINS", "STARTSWITH", "ENDSWITH", "BETWEEN", "IN"}, k) {
				p.refuse("after an operand, NOT needs BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH")
				return left
			}
		}
		switch k {
		case ">", ">=", "<", "<=":
			p.i++
			p.ordered(left)
			p.ordered(p.unary())
		case "CONTAINS", "STARTSWITH", "ENDSWITH":
			p.i++
			p.need(text)
			if !slices.Contains(p.since5, string(k)) {
				p.since5 = append(p.since5, string(k))
			}
		case "BETWEEN":
			p.i++
			low := p.unary()
			p.need("AND")
			high := p.unary()
			p.between(left, low, high, not)
		case "IN":
			p.i++
			p.in(left)
		default:
			return left
		}
		left = operand{class: condition}
	}
}

// ordered refuses what cannot be compared by order.
func (p *sqlParser) ordered(o operand) {
	switch o.class {
	case quoted, truth, nothing, condition:
		p.refuse("only numbers and properties can be compared by <, <=, >, >= and BETWEEN")
	}
}

func (p *sqlParser) between(value, low, high operand, not bool) {
	for _, o := range []operand{value, low, high} {
		p.ordered(o)
	}
	if !not && low.constant() && high.constant() && less(high, low) {
		p.refuse("BETWEEN has a lower end above its upper end")
	}
}

func less(a, b operand) bool {
	if a.class == number && b.class == number {
		return a.integer < b.integer
	}
	return a.value() < b.value()
}

func (o operand) value() float64 {
	if o.class == number {
		return float64(o.integer)
	}
	return o.float
}

func (p *sqlParser) in(left operand) {
	p.need("(")
	p.need(text)
	for p.take(",") {
		p.need(text)
	}
	p.need(")")
	if left.class != property {
		p.refuse("IN needs a property on its left")
	}
}

func (p *sqlParser) unary() operand {
	if p.depth++; p.depth > deepest {
		p.refuse("it is nested more than %d deep", deepest)
	}
	defer func() { p.depth-- }()
	switch {
	case p.take("+"):
		return p.unary()
	case p.take("-"):
		p.unary()
		return operand{class: negated}
	case p.take("NOT"):
		p.boolean(p.unary())
		return operand{class: condition}
	}
	return p.primary()
}

func (p *sqlParser) primary() operand {
	t := p.next()
	switch {
	case p.take(text):
		return operand{class: quoted}
	case p.take(decimal):
		n, err := strconv.ParseInt(strings.TrimRight(t.image, "lL"), 10, 64)
		if err != nil {
			p.refuse("%s does not fit into 64 bits", shorten(t.image))
		}
		return operand{class: number, integer: n}
	case p.take(floating):
		f, err := strconv.ParseFloat(t.image, 64)
		if err != nil || f == 0 {
			p.refuse("%s is not a fraction that brokers take: they refuse zero written as a fraction, and what is too large or too small", shorten(t.image))
		}
		return operand{class: fraction, float: f}
	case p.take("TRUE"), p.take("FALSE"):
		return operand{class: truth}
	case p.take("NULL"):
		return operand{class: nothing}
	case p.take(name):
		return operand{class: property}
	case p.take("("):
		v := p.or()
		p.need(")")
		return v
	}
	at := t.image
	if t.kind == end {
		at = "the end"
	}
	p.refuse("a property, a number, a text or ( is expected before %s", shorten(at))
	return operand{}
}
