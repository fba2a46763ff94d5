package search

import (
	"bytes"
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

// alternative is one way to match a query: what the index is asked, and what must then be checked in the text. All of
// both must hold.
type alternative struct {
	ask   []query.Node
	check []pattern
	exact query.Node // the pattern, if the index is asked only for rows that surely match it
}

// pattern is a substring, a regular expression or a long phrase.
type pattern struct {
	node   query.Node
	not    bool
	expr   *regexp.Regexp
	part   []byte // folded
	phrase [][]string
}

// maxPhrase is how many words of a phrase the index is asked for: it opens a cursor for each of them in all of its
// segments at once. Texts are checked for the rest.
const maxPhrase = 32

// longPhrase returns the terms of a phrase that is too long for the index, as phraseOf does, or nil for any other node.
func longPhrase(n query.Node) []string {
	switch n.(type) {
	case query.Word, query.Phrase, query.Prefix:
		if len(n.String()) > maxPhrase {
			if terms := phraseOf(n); len(terms) > maxPhrase {
				return terms
			}
		}
	}
	return nil
}

// maxAlternatives bounds the size of a query in disjunctive normal form.
const maxAlternatives = 32

// plan converts a query to disjunctive normal form as far as its patterns require, so that each alternative is a
// query for the index and a check. A query without patterns is one alternative without checks.
func plan(n query.Node) ([]alternative, error) {
	if n == nil {
		return []alternative{{}}, nil
	}
	return expand(n, false)
}

// patterned reports whether part of a query can be answered only from texts.
func patterned(n query.Node) bool {
	for n := range query.Leaves(n) {
		switch n.(type) {
		case query.Substring, query.Regex:
			return true
		}
		if longPhrase(n) != nil {
			return true
		}
	}
	return false
}

func expand(n query.Node, not bool) ([]alternative, error) {
	if !patterned(n) {
		return []alternative{{ask: []query.Node{negated(n, not)}}}, nil
	}
	switch n := n.(type) {
	case query.Not:
		return expand(n.Of, !not)
	case query.And:
		if not {
			return either(n.Of, not)
		}
		return both(n.Of, not)
	case query.Or:
		if not {
			return both(n.Of, not)
		}
		return either(n.Of, not)
	case query.Regex:
		re, err := n.Compile()
		return []alternative{{check: []pattern{{node: n, not: not, expr: re}}}}, err
	case query.Substring:
		return []alternative{{check: []pattern{{node: n, not: not, part: term.Fold(nil, n.Text)}}}}, nil
	}
	if terms := longPhrase(n); terms != nil {
		return []alternative{{check: []pattern{{node: n, not: not, phrase: [][]string{terms}}}}}, nil
	}
	return nil, &index.UnsupportedError{What: n.String(), Why: "unknown kind of query"}
}

func negated(n query.Node, not bool) query.Node {
	if !not {
		return n
	}
	if n, ok := n.(query.Not); ok {
		return n.Of
	}
	return query.Not{Of: n}
}

// either expands a disjunction. Operands that the index can answer stay together in one alternative.
func either(of []query.Node, not bool) ([]alternative, error) {
	var alts []alternative
	var plain []query.Node
	for _, n := range of {
		if !patterned(n) {
			plain = append(plain, negated(n, not))
			continue
		}
		more, err := expand(n, not)
		if err != nil {
			return nil, err
		}
		alts = append(alts, more...)
	}
	switch len(plain) {
	case 0:
	case 1:
		alts = append(alts, alternative{ask: plain})
	default:
		alts = append(alts, alternative{ask: []query.Node{query.Or{Of: plain}}})
	}
	return bounded(alts)
}

// both expands a conjunction.
func both(of []query.Node, not bool) ([]alternative, error) {
	alts := []alternative{{}}
	for _, n := range of {
		more, err := expand(n, not)
		if err != nil {
			return nil, err
		}
		product := make([]alternative, 0, len(alts)*len(more))
		for _, a := range alts {
			for _, b := range more {
				product = append(product, alternative{
					ask:   slices.Concat(a.ask, b.ask),
					check: slices.Concat(a.check, b.check),
				})
			}
		}
		if alts, err = bounded(product); err != nil {
			return nil, err
		}
	}
	return alts, nil
}

func bounded(alts []alternative) ([]alternative, error) {
	if len(alts) > maxAlternatives {
		return nil, &index.UnsupportedError{What: "a query", Why: "too many alternatives with substrings or expressions; split the query"}
	}
	return alts, nil
}

// tree returns the query for the index, with additional conditions.
func (a *alternative) tree(more ...query.Node) *query.Tree {
	return &query.Tree{Root: query.Conjunction(append(slices.Clone(a.ask), more...)...)}
}

// matches checks a text and its folded form.
func (p *pattern) matches(text string, folded []byte) bool {
	switch {
	case p.expr != nil:
		return p.expr.MatchString(text) != p.not
	case p.phrase != nil:
		return (len(term.Highlight(text, p.phrase)) > 0) != p.not
	}
	return (len(p.part) > 0 && bytes.Contains(folded, p.part)) != p.not
}

func (a *alternative) String() string {
	var parts []string
	if ask := a.tree().String(); ask != "" {
		parts = append(parts, ask)
	}
	if a.exact != nil {
		parts = append(parts, "words with "+a.exact.String())
	}
	for _, p := range a.check {
		parts = append(parts, "check "+negated(p.node, p.not).String())
	}
	return strings.Join(parts, " and ")
}

// maxRequired bounds how many literals of an expression are looked up.
const maxRequired = 2

// required returns the substrings that every match of an expression contains, as a condition of And, Or and
// Substring; nil if none are known.
func required(re *syntax.Regexp) query.Node {
	switch re.Op {
	case syntax.OpLiteral:
		return literalOf(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpAlternate:
		var of []query.Node
		for _, sub := range re.Sub {
			n := required(sub)
			if n == nil {
				return nil
			}
			of = append(of, n)
		}
		return anyOf(of)
	case syntax.OpConcat:
		var of []query.Node
		for rest := re.Sub; len(rest) > 0; {
			var text []rune // of literals next to each other, such as those of x{3}y
			literals := 0
			for literals < len(rest) && appendLiteral(&text, rest[literals]) {
				literals++
			}
			n := literalOf(text)
			if literals == 0 {
				n = required(rest[0])
			}
			if rest = rest[max(literals, 1):]; n != nil {
				of = append(of, n)
			}
		}
		slices.SortStableFunc(of, func(a, b query.Node) int { return cmp.Compare(weight(b), weight(a)) })
		return query.Conjunction(of[:min(len(of), maxRequired)]...)
	}
	return nil
}

// appendLiteral appends what an expression matches to a text, and reports whether that is only one text.
func appendLiteral(text *[]rune, re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		*text = append(*text, re.Rune...)
		return true
	case syntax.OpCapture:
		return appendLiteral(text, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if before := len(*text); !appendLiteral(text, sub) {
				*text = (*text)[:before]
				return false
			}
		}
		return true
	}
	return false
}

// weight estimates the selectivity of a condition: the total length of its literals, of alternatives the least.
func weight(n query.Node) int {
	switch n := n.(type) {
	case query.Substring:
		return len(n.Text)
	case query.And:
		sum := 0
		for _, n := range n.Of {
			sum += weight(n)
		}
		return sum
	case query.Or:
		return min(weight(n.Of[0]), weight(n.Of[1]))
	}
	return 0
}

// literalOf returns a literal without the characters at its ends that may combine with their neighbours in the text
// and then fold differently: kana and Hangul.
func literalOf(runes []rune) query.Node {
	for len(runes) > 0 && combines(runes[0]) {
		runes = runes[1:]
	}
	for len(runes) > 0 && combines(runes[len(runes)-1]) {
		runes = runes[:len(runes)-1]
	}
	if len(runes) == 0 {
		return nil
	}
	return query.Substring{Text: string(runes)}
}

// combines reports whether r may combine with an adjacent character.
func combines(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 0x3099 || r == 0x309a || r == 0xff9e || r == 0xff9f)
}
