// Package query implements the query language: text to tree and tree to text. It owns the grammar, the list of fields
// and the meaning of dates, ages and units. It does no I/O and knows neither index engine nor tokeniser. It promises
// that any text gives either a tree or a *SyntaxError; that a tree printed and parsed again is the same tree, as long
// as the printed text (quotes and absolute times make it longer) stays below MaxLength; and that a tree is never
// deeper than MaxDepth.
//
// docs/query-language.md describes the language for its users.
package query

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"
)

// Limits of a query: its length in bytes, the nesting depth of brackets and negations, and the number of texts and values.
const (
	MaxLength     = 64 << 10
	MaxDepth      = 64
	MaxConditions = 1024
)

// Tree is a parsed query. A nil Root matches everything.
type Tree struct{ Root Node }

// Node is one of And, Or, Not, Word, Phrase, Prefix, Near, Terms, Substring, Regex, Field, Range and Compare, always by
// value.
type Node interface {
	fmt.Stringer
	node()
}

// And matches what all of its nodes match. It has at least two nodes, none of which is an And.
type And struct{ Of []Node }

// Conjunction returns the conjunction of nodes, flattened. Nil nodes are ignored; the result is nil if all of them
// are nil.
func Conjunction(of ...Node) Node {
	var flat []Node
	for _, n := range of {
		flat = append(flat, Conditions(n)...)
	}
	switch len(flat) {
	case 0:
		return nil
	case 1:
		return flat[0]
	}
	return And{flat}
}

// Conditions returns the nodes that must all match for n to match: the operands of an And, n itself otherwise, none
// if n is nil.
func Conditions(n Node) []Node {
	switch n := n.(type) {
	case nil:
		return nil
	case And:
		return n.Of
	}
	return []Node{n}
}

// Or matches what any of its nodes matches. It has at least two nodes, none of which is an Or.
type Or struct{ Of []Node }

// Alternatives returns the operands of an Or, nested ones flattened. Any other node is its own only alternative.
func Alternatives(n Node) []Node { return alternatives(nil, n) }

func alternatives(to []Node, n Node) []Node {
	or, ok := n.(Or)
	if !ok {
		return append(to, n)
	}
	for _, n := range or.Of {
		to = alternatives(to, n)
	}
	return to
}

// Not matches what its node does not match. The node is never itself a Not.
type Not struct{ Of Node }

// Word is text without spaces, as typed. The tokeniser may cut it into several terms, which must then match as a
// phrase. It may also find no term in it (punctuation only); the word then restricts nothing, and whoever runs the
// query says so.
type Word struct{ Text string }

// Phrase is quoted text whose terms must be adjacent and in this order. Like a Word it may have no terms.
type Phrase struct{ Text string }

// Prefix is a Phrase whose last term matches as a prefix.
type Prefix struct{ Text string }

// Near is a Phrase whose words, as white space separates them, may be in any order, with at most Within other words between
// the first and the last of them.
type Near struct {
	Text   string
	Within int
}

// Words returns the words, each of which may be several terms.
func (n Near) Words() []string { return strings.Fields(n.Text) }

// Limits of a Near: how many words it has, two at least, and how far apart they may be.
const (
	MaxNearWords = 4
	MaxWithin    = 1000
)

// Terms is a Phrase (with Open: a Prefix) of whole words, which parts of identifiers do not match. The parser never
// returns one; search uses it to ask an index where a Substring may occur. Text is terms separated by spaces.
type Terms struct {
	Text string
	Open bool
}

// Substring is text that matches anywhere, also inside words. Case and accents are folded.
type Substring struct{ Text string }

// Regex is a regular expression in RE2 syntax that is known to compile.
type Regex struct{ Expr string }

// Compile returns the expression with the flags it is matched with: case-insensitive, and with ^ and $ matching at
// line boundaries, unless the expression says otherwise, as in (?-i).
func (r Regex) Compile() (*regexp.Regexp, error) { return regexp.Compile("(?im)" + r.Expr) }

// Field matches events of which a field has one of the values. Without Values (attr only), the key must exist.
type Field struct {
	Name   string
	Key    string // name of the attribute; "" for all other fields
	Values []Value
}

// Value is a value to compare a field with, case-insensitively. An empty Text with Whole matches events without a
// value; an empty Text with Starts matches events with any value.
type Value struct {
	Text  string
	Match Match
}

// Match says how a Value is compared with a field.
type Match uint8

// The ways to match: equality, prefix and substring.
const (
	Whole Match = iota
	Starts
	Contains
)

// Range matches events by time: at or after From, and before To. A zero time means unbounded; at most one of them is
// zero. Both are in UTC.
type Range struct{ From, To time.Time }

// Compare matches by a number of the event's usage, call or conversation: cost in nano-USD, duration in microseconds,
// everything else a count. Op is one of > >= < <= =. An unknown number matches no Compare.
type Compare struct {
	Field string
	Op    string
	Value int64
}

func (And) node()       {}
func (Or) node()        {}
func (Not) node()       {}
func (Word) node()      {}
func (Phrase) node()    {}
func (Prefix) node()    {}
func (Near) node()      {}
func (Terms) node()     {}
func (Substring) node() {}
func (Regex) node()     {}
func (Field) node()     {}
func (Range) node()     {}
func (Compare) node()   {}

// SyntaxError describes what is wrong with a query. Column counts characters from 1.
type SyntaxError struct {
	Column  int
	Message string
	Hint    string // what to write instead; may be ""
}

func (e *SyntaxError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("column %d: %s", e.Column, e.Message)
	}
	return fmt.Sprintf("column %d: %s (%s)", e.Column, e.Message, e.Hint)
}

// Parse parses a query. Ages and words such as yesterday are relative to now; dates without a zone, days and weeks
// are those of loc (nil is UTC). Every error is a *SyntaxError.
func Parse(text string, now time.Time, loc *time.Location) (*Tree, error) {
	return Calendar{Now: now, Location: loc}.Parse(text)
}

// Calendar is what dates in a query are relative to.
type Calendar struct {
	Now       time.Time
	Location  *time.Location // of dates without a zone, days and weeks; nil is UTC
	WeekShift int            // weeks begin so many days after Monday, 0 to 6
}

// Parse parses a query. Every error is a *SyntaxError.
func (c Calendar) Parse(text string) (*Tree, error) {
	root, err := parse(text, c)
	if err != nil {
		return nil, err
	}
	return &Tree{Root: root}, nil
}

// Texts returns the text nodes (Word, Phrase, Prefix, Near, Substring, Regex) that are not negated: what a view should
// highlight.
func (t *Tree) Texts() (all []Node) {
	for n, negated := range Leaves(t.Root) {
		if !negated && IsText(n) {
			all = append(all, n)
		}
	}
	return all
}

// IsText reports whether a node matches text.
func IsText(n Node) bool {
	switch n.(type) {
	case Word, Phrase, Prefix, Near, Substring, Regex:
		return true
	}
	return false
}

// Leaves yields the leaves below n, which may be nil, and whether each is negated.
func Leaves(n Node) iter.Seq2[Node, bool] {
	return func(yield func(Node, bool) bool) { leaves(n, false, yield) }
}

func leaves(n Node, negated bool, yield func(Node, bool) bool) bool {
	var of []Node
	switch n := n.(type) {
	case nil:
		return true
	case And:
		of = n.Of
	case Or:
		of = n.Of
	case Not:
		return leaves(n.Of, !negated, yield)
	default:
		return yield(n, negated)
	}
	for _, n := range of {
		if !leaves(n, negated, yield) {
			return false
		}
	}
	return true
}
