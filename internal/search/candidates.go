package search

import (
	"context"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

const (
	// maxTerms bounds how many terms replace the substrings of a query, because of the memory that their posting
	// lists take.
	maxTerms = 6144
	// enoughTerms is the number of terms after which often decides whether collecting more is worthwhile.
	enoughTerms = 512
	// maxSeen bounds how many terms of the vocabulary are examined.
	maxSeen = 1 << 20
	// maxLiteral is how many bytes of a substring are used to find candidates; texts are checked for all of it.
	maxLiteral = 2 * term.MaxTerm
	// minCutTerm is the minimum length of a term that may be a piece of a longer word: a word is cut before the
	// character that does not fit, and few characters fold to more than 16 bytes.
	minCutTerm = term.MaxTerm - longestFold
	// longestFold is how many bytes a character folds to at most, and longestASCII the same if its fold begins with
	// an ASCII character.
	longestFold  = 16
	longestASCII = 5
)

// candidates finds conditions that the index can answer and that a pattern implies.
type candidates struct {
	index      Index
	memo       map[string]prefilter
	maxTerms   int // limit of terms for one pattern
	wantedHits int // how many hits are wanted; 0 means all
}

// prefilter is a condition that holds for every text that a pattern matches: exact OR inexact. Both are nil if no such
// condition is known.
type prefilter struct {
	exact   query.Node // the pattern matches every text that satisfies it; may be nil
	inexact query.Node // texts that satisfy it must be checked; may be nil
}

func (g prefilter) node() query.Node {
	switch {
	case g.exact == nil:
		return g.inexact
	case g.inexact == nil:
		return g.exact
	}
	return query.Or{Of: []query.Node{g.exact, g.inexact}}
}

// prefilter returns the prefilter for a pattern.
func (c *candidates) prefilter(ctx context.Context, n query.Node) (prefilter, error) {
	key := n.String()
	if g, ok := c.memo[key]; ok {
		return g, nil
	}
	var g prefilter
	var err error
	switch n := n.(type) {
	case query.Substring:
		g, err = c.literal(ctx, n.Text)
	case query.Regex:
		re, perr := syntax.Parse("(?im)"+n.Expr, syntax.Perl)
		if perr != nil {
			return g, fmt.Errorf("expression: %w", perr)
		}
		g.inexact, err = c.resolve(ctx, required(re.Simplify()))
	default:
		if terms := longPhrase(n); terms != nil { // the first word may be the end of an identifier; all others are whole words
			g.inexact = query.Phrase{Text: strings.Join(terms[:maxPhrase], " ")}
		}
	}
	if err == nil {
		c.memo[key] = g
	}
	return g, err
}

// resolve replaces the literals of a condition by their candidates.
func (c *candidates) resolve(ctx context.Context, n query.Node) (query.Node, error) {
	switch n := n.(type) {
	case query.Substring:
		g, err := c.prefilter(ctx, n)
		return g.node(), err
	case query.And:
		var of []query.Node
		for _, n := range n.Of {
			m, err := c.resolve(ctx, n)
			if err != nil {
				return nil, err
			}
			of = append(of, m)
		}
		return query.Conjunction(of...), nil
	case query.Or:
		var of []query.Node
		for _, n := range n.Of {
			m, err := c.resolve(ctx, n)
			if err != nil || m == nil {
				return nil, err
			}
			of = append(of, m)
		}
		return anyOf(of), nil
	}
	return nil, nil
}

// piece is a term of a literal.
type piece struct {
	text       string
	start, end int
	alone      bool // never part of a longer word, such as a CJK character
}

func piecesOf(text string) []piece {
	var s term.Splitter
	var out []piece
	s.Each(text, func(t []byte, start, end int, kind term.Kind) bool {
		if kind == term.Whole {
			p := piece{text: string(t), start: start, end: end}
			p.alone = len(term.Words("a"+p.text)) > 1
			out = append(out, p)
		}
		return true
	})
	return out
}

func texts(pieces []piece) []string {
	var out []string
	for _, p := range pieces {
		out = append(out, p.text)
	}
	return out
}

// literal returns the condition that texts with a substring satisfy. The first word of the substring may be the end
// of a word of the text, its last word the beginning of one; the words between are whole.
func (c *candidates) literal(ctx context.Context, lit string) (prefilter, error) {
	folded := string(term.Fold(nil, lit))
	if !slices.Equal(term.Words(lit), term.Words(folded)) {
		return prefilter{}, nil // signs that fold to letters: word boundaries cannot be determined any more
	}
	inside, end := term.InsideEscape(folded)
	if inside {
		return prefilter{}, nil // such as [31m: terminal sequences are not indexed
	}
	folded, open := folded[:end], false
	if len(folded) > maxLiteral {
		folded, open = folded[:boundary(folded, maxLiteral)], true
	}
	pieces := piecesOf(folded)
	if len(pieces) == 0 {
		return prefilter{}, nil
	}
	last := pieces[len(pieces)-1]
	open = open || last.end == len(folded) && !last.alone
	if pieces[0].start > 0 || pieces[0].alone {
		return prefilter{inexact: sequence(texts(pieces), open)}, nil
	}
	n := 1 // pieces of the first word
	for n < len(pieces) && pieces[n].start == pieces[n-1].end && !pieces[n].alone {
		n++
	}
	word, rest := folded[:pieces[n-1].end], texts(pieces[n:])
	return c.ending(ctx, word, rest, open)
}

// boundary returns the last rune boundary of s at or before n.
func boundary(s string, n int) int {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// longEnough is how many bytes of whole words make it unnecessary to look up words that end with the first one.
const longEnough = 8

// ending returns the condition for texts in which a word ends with word and rest follows; open means that the last
// term is a prefix. Without rest, word may also be inside of a longer word.
func (c *candidates) ending(ctx context.Context, word string, rest []string, open bool) (prefilter, error) {
	var after prefilter
	if len(rest) > 0 {
		after.inexact = sequence(rest, open)
		if len(strings.Join(rest, "")) >= longEnough {
			return after, nil
		}
	}
	e := endings{word: word, rest: rest, open: open, max: c.maxTerms}
	endings := prefixes(e.word)
	for t, err := range c.index.TermsOrCut(ctx, word, minCutTerm) {
		if err != nil {
			return after, fmt.Errorf("terms: %w", err)
		}
		if strings.Contains(t, word) {
			if e.whole(t); len(e.exact) == enoughTerms {
				if often, err := c.tooFrequent(ctx, e.exact); often || err != nil {
					return after, err
				}
			}
		}
		if len(t) >= minCutTerm {
			e.cut(t, endings)
		}
		if e.full() {
			return after, nil
		}
	}
	if often, err := c.tooFrequent(ctx, e.exact); often || err != nil {
		return after, err
	}
	return e.prefilter(), nil
}

// textCost is how many terms can be looked up in the time that checking one text takes.
const textCost = 6

// tooFrequent reports whether the terms are so frequent that checking the newest texts one by one yields the wanted number
// of hits sooner than looking up all the terms. It samples the shortest terms, presumably the most frequent ones, and
// some others to represent the rest.
func (c *candidates) tooFrequent(ctx context.Context, terms []query.Node) (bool, error) {
	const samples = 8
	if c.wantedHits == 0 || len(terms) < 8*samples {
		return false, nil
	}
	short := slices.Clone(terms)
	slices.SortStableFunc(short, func(a, b query.Node) int { return len(a.(query.Terms).Text) - len(b.(query.Terms).Text) })
	var asked []string
	for i := range samples {
		asked = append(asked, short[i].(query.Terms).Text, short[samples+i*(len(short)-samples)/samples].(query.Terms).Text)
	}
	having, err := c.index.Having(ctx, asked)
	if err != nil {
		return false, err
	}
	_, rows, _, err := c.index.Size(ctx, false)
	hits := int64(0)
	for i := 0; i < len(having); i += 2 {
		hits += having[i] + having[i+1]*int64(len(terms)/samples)
	}
	return textCost*int64(c.wantedHits)*rows < hits*int64(len(terms)), err
}

// prefixes returns the proper prefixes of word, up to MaxTerm bytes, with which a term may end.
func prefixes(word string) []string {
	var out []string
	for i := range word {
		if i > 0 && i <= term.MaxTerm {
			out = append(out, word[:i])
		}
	}
	return out
}

// endings collects the term sequences that texts with a substring may contain.
type endings struct {
	word  string
	rest  []string
	open  bool
	seen  int
	max   int          // limit of exact and nodes together
	exact []query.Node // terms that contain the whole substring
	nodes []query.Node
}

func (e *endings) full() bool { return len(e.exact)+len(e.nodes) > e.max || e.seen > maxSeen }

func (e *endings) add(terms []string, open bool) { e.nodes = append(e.nodes, sequence(terms, open)) }

// whole adds a term that contains the word.
func (e *endings) whole(t string) {
	e.seen++
	switch {
	case len(e.rest) > 0 || !e.open:
		if strings.HasSuffix(t, e.word) {
			e.add(append([]string{t}, e.rest...), e.open && len(e.rest) > 0)
		}
	default:
		e.exact = append(e.exact, sequence([]string{t}, false))
	}
}

// cut adds a term that may be the first piece of a word that was cut for its length.
func (e *endings) cut(t string, endings []string) {
	e.seen++
	for _, p := range endings {
		switch rest := e.word[len(p):]; {
		case !strings.HasSuffix(t, p) || !e.mayBeCut(len(p), len(t)):
			continue
		case minRest <= len(rest) && len(rest) <= maxRest:
			e.add(append([]string{t}, term.Words(rest)...), true)
		default: // the term is rare; the rest would be too short a prefix, or be cut again itself
			e.add([]string{t}, false)
			return
		}
	}
}

// The rest of a word that was cut is used as a condition if it has at least minRest and at most maxRest bytes.
const (
	minRest = 3
	maxRest = term.MaxTerm - longestFold
)

// mayBeCut reports whether a term of size bytes may have been cut after the first n bytes of the word because the
// next character did not fit.
func (e *endings) mayBeCut(n, size int) bool {
	longest := longestFold
	if e.word[n] < utf8.RuneSelf {
		longest = longestASCII
	}
	return size+longest > term.MaxTerm
}

// noRows is a condition that no row satisfies: no text of the archive contains the substring.
var noRows = query.Field{Name: "kind", Values: []query.Value{{Text: "none"}}}

// prefilter returns the collected conditions.
func (e *endings) prefilter() prefilter {
	g := prefilter{anyOf(e.exact), anyOf(e.nodes)}
	if g.exact == nil && g.inexact == nil {
		g.inexact = noRows
	}
	return g
}

// sequence returns the condition that terms occur in order; open means that the last one is a prefix.
func sequence(terms []string, open bool) query.Node {
	return query.Terms{Text: strings.Join(terms, " "), Open: open}
}

// anyOf returns the disjunction of nodes as a balanced tree, to keep it shallow.
func anyOf(of []query.Node) query.Node {
	switch n := len(of); n {
	case 0:
		return nil
	case 1:
		return of[0]
	default:
		return query.Or{Of: []query.Node{anyOf(of[:n/2]), anyOf(of[n/2:])}}
	}
}
