// Package query is the query language: text to tree and tree to text. It owns the grammar, the list of fields
// and the meaning of dates, ages and units. It does no I/O, knows no engine and no tokeniser, and promises that
// any text gives either a tree or a *SyntaxError, that a tree printed and parsed again is the same tree (as long as
// the text, which quotes and absolute times make longer, stays below MaxLength), and that
// a tree is never deeper than MaxDepth.
//
// docs/query-language.md describes the language for its users.
package query

import (
	"fmt"
	"iter"
	"regexp"
	"time"
)

// Limits of a query: bytes of text, how deep brackets and negations nest, and how many texts and values it asks for.
const (
	MaxLength     = 64 << 10
	MaxDepth      = 64
	MaxConditions = 1024
)

// Tree is a parsed query. A nil Root asks for everything.
type Tree struct{ Root Node }

// Node is And, Or, Not, Word, Phrase, Prefix, Terms, Substring, Regex, Field, Range or Compare, always by value.
type Node interface {
	fmt.Stringer
	node()
}

// And matches what all of its two or more nodes match; none of them is an And.
type And struct{ Of []Node }

// Conjunction matches what all of some nodes match, of which nil ones say nothing; nil where none does.
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

// Conditions are what must all hold for a node, which may be nil, to match.
func Conditions(n Node) []Node {
	switch n := n.(type) {
	case nil:
		return nil
	case And:
		return n.Of
	}
	return []Node{n}
}

// Or matches what any of its two or more nodes matches; none of them is an Or.
type Or struct{ Of []Node }

// Alternatives takes alternatives of alternatives apart. Anything else is its only one.
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

// Not matches what its node, which is no Not, does not match.
type Not struct{ Of Node }

// Word is text without spaces as it was typed. The tokeniser may cut it into several terms, which must then
// stand as a phrase, or find none (punctuation only): then it says nothing, and whoever runs the query tells so.
type Word struct{ Text string }

// Phrase is quoted text: its terms must stand one after another. Like a Word it may have no terms.
type Phrase struct{ Text string }

// Prefix is a Phrase whose last term may go on.
type Prefix struct{ Text string }

// Terms is a Phrase, or with Open a Prefix, of whole words: parts of identifiers will not do. No text of a query gives
// one; search asks an index so for where a Substring may stand. Text is terms with spaces between them.
type Terms struct {
	Text string
	Open bool
}

// Substring is text that stands anywhere, also inside words. Case and accents are folded.
type Substring struct{ Text string }

// Regex is a regular expression in RE2 syntax that has been checked to compile.
type Regex struct{ Expr string }

// Compile returns the expression as it is matched: case folded and ^ and $ at lines, unless it says otherwise
// itself, as in (?-i).
func (r Regex) Compile() (*regexp.Regexp, error) { return regexp.Compile("(?im)" + r.Expr) }

// Field matches events of which a field has one of the values. No Values at all (attr only) asks that the key
// is there.
type Field struct {
	Name   string
	Key    string // of an attribute; "" for all other fields
	Values []Value
}

// Value is what a field is compared with; case does not matter. An empty Text that is Whole asks for events
// without a value, one that Starts for events with any.
type Value struct {
	Text  string
	Match Match
}

// Match says how much of a field a Value must be.
type Match uint8

// The ways to match.
const (
	Whole Match = iota
	Starts
	Contains
)

// Range matches events of a time: from From on, and before To. A zero time is an open end; not both are. Both
// are in UTC.
type Range struct{ From, To time.Time }

// Compare matches by a number of the event's usage, call or conversation: cost in nano-USD, duration in
// microseconds, everything else a count. Op is one of > >= < <= =. An unknown number matches no Compare.
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
func (Terms) node()     {}
func (Substring) node() {}
func (Regex) node()     {}
func (Field) node()     {}
func (Range) node()     {}
func (Compare) node()   {}

// SyntaxError says what is wrong with a query. Column counts characters from 1.
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

// Parse reads a query. Ages and words such as yesterday are counted from now; dates without a zone, days and
// weeks are those of loc (nil is UTC). Every error is a *SyntaxError.
func Parse(text string, now time.Time, loc *time.Location) (*Tree, error) {
	root, err := parse(text, now, loc)
	if err != nil {
		return nil, err
	}
	return &Tree{Root: root}, nil
}

// Texts returns the nodes that ask for text (Word, Phrase, Prefix, Substring, Regex) and are not negated: what
// a view should mark.
func (t *Tree) Texts() (all []Node) {
	for n, negated := range Leaves(t.Root) {
		if !negated && IsText(n) {
			all = append(all, n)
		}
	}
	return all
}

// IsText says whether a node asks for text.
func IsText(n Node) bool {
	switch n.(type) {
	case Word, Phrase, Prefix, Substring, Regex:
		return true
	}
	return false
}

// Leaves yields the nodes in a node, which may be nil, that hold no others, and whether each is negated.
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
