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
	// maxTerms bounds how many terms stand in for the substrings of a query, for the memory that their lists take.
	maxTerms = 6144
	// enoughTerms is how many of them tell whether looking for them is worth it.
	enoughTerms = 512
	// maxSeen bounds how many terms of the vocabulary are looked at.
	maxSeen = 1 << 20
	// maxLiteral is how many bytes of a substring look for candidates; texts are checked for all of it.
	maxLiteral = 2 * term.MaxTerm
	// cutTerm is the least length of a term that may be a piece of a longer word: a word is cut before the
	// character that does not fit, and few fold to more than 16 bytes.
	cutTerm = term.MaxTerm - longestFold
	// longestFold is how many bytes a character folds to, and longestASCII how many where the first is of ASCII.
	longestFold  = 16
	longestASCII = 5
)

// candidates finds what the index can be asked in place of a pattern.
type candidates struct {
	index Index
	memo  map[string]guess
	most  int // terms for one pattern
	want  int // hits; 0: all of them
}

// guess is a condition that every text meets that a pattern matches: one of both parts, nil where nothing is known.
type guess struct {
	sure  query.Node // every text that meets it is matched; nil: no such part
	doubt query.Node
}

func (g guess) node() query.Node {
	switch {
	case g.sure == nil:
		return g.doubt
	case g.doubt == nil:
		return g.sure
	}
	return query.Or{Of: []query.Node{g.sure, g.doubt}}
}

func (c *candidates) of(ctx context.Context, n query.Node) (guess, error) {
	key := n.String()
	if g, ok := c.memo[key]; ok {
		return g, nil
	}
	var g guess
	var err error
	switch n := n.(type) {
	case query.Substring:
		g, err = c.literal(ctx, n.Text)
	case query.Regex:
		re, perr := syntax.Parse("(?im)"+n.Expr, syntax.Perl)
		if perr != nil {
			return g, fmt.Errorf("expression: %w", perr)
		}
		g.doubt, err = c.resolve(ctx, required(re.Simplify()))
	default:
		if terms := long(n); terms != nil { // the first word may be the end of an identifier, all others are whole
			g.doubt = query.Phrase{Text: strings.Join(terms[:maxPhrase], " ")}
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
		g, err := c.of(ctx, n)
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
	alone      bool // never a part of a longer word
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

// literal returns what texts with a substring have in common. Its first word may be the end of a word, its last
// one the beginning; what stands between is whole.
func (c *candidates) literal(ctx context.Context, lit string) (guess, error) {
	folded := string(term.Fold(nil, lit))
	if !slices.Equal(term.Words(lit), term.Words(folded)) {
		return guess{}, nil // signs that fold to letters: where words end is not seen any more
	}
	inside, end := term.Inside(folded)
	if inside {
		return guess{}, nil // such as [31m: the index has no colors
	}
	folded, open := folded[:end], false
	if len(folded) > maxLiteral {
		folded, open = folded[:boundary(folded, maxLiteral)], true
	}
	pieces := piecesOf(folded)
	if len(pieces) == 0 {
		return guess{}, nil
	}
	last := pieces[len(pieces)-1]
	open = open || last.end == len(folded) && !last.alone
	if pieces[0].start > 0 || pieces[0].alone {
		return guess{doubt: sequence(texts(pieces), open)}, nil
	}
	n := 1 // pieces of the first word
	for n < len(pieces) && pieces[n].start == pieces[n-1].end && !pieces[n].alone {
		n++
	}
	word, rest := folded[:pieces[n-1].end], texts(pieces[n:])
	return c.ending(ctx, word, rest, open)
}

// boundary returns the last rune boundary of s up to n.
func boundary(s string, n int) int {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// enough is how many bytes of whole words make it needless to look for those that end in the first one.
const enough = 8

// ending returns the condition for text in which a word ends in word and rest follows; open says that the last
// term may go on. Without rest, word may stand inside of one.
func (c *candidates) ending(ctx context.Context, word string, rest []string, open bool) (guess, error) {
	var after guess
	if len(rest) > 0 {
		after.doubt = sequence(rest, open)
		if len(strings.Join(rest, "")) >= enough {
			return after, nil
		}
	}
	e := ends{word: word, rest: rest, open: open, most: c.most}
	endings := prefixes(e.word)
	for t, err := range c.index.TermsOrCut(ctx, word, cutTerm) {
		if err != nil {
			return after, fmt.Errorf("terms: %w", err)
		}
		if strings.Contains(t, word) {
			if e.whole(t); len(e.sure) == enoughTerms {
				if often, err := c.often(ctx, e.sure); often || err != nil {
					return after, err
				}
			}
		}
		if len(t) >= cutTerm {
			e.cut(t, endings)
		}
		if e.full() {
			return after, nil
		}
	}
	if often, err := c.often(ctx, e.sure); often || err != nil {
		return after, err
	}
	return e.guess(), nil
}

// textCost is how many terms are looked up in the time that a look at a text takes.
const textCost = 6

// often says whether texts have one of many terms so often that a look at the newest texts finds as many as are wanted
// sooner than a look at all the terms. The shortest terms are taken for the most frequent, and some others for the rest.
func (c *candidates) often(ctx context.Context, terms []query.Node) (bool, error) {
	const some = 8
	if c.want == 0 || len(terms) < 8*some {
		return false, nil
	}
	short := slices.Clone(terms)
	slices.SortStableFunc(short, func(a, b query.Node) int { return len(a.(query.Terms).Text) - len(b.(query.Terms).Text) })
	var asked []string
	for i := range some {
		asked = append(asked, short[i].(query.Terms).Text, short[some+i*(len(short)-some)/some].(query.Terms).Text)
	}
	having, err := c.index.Having(ctx, asked)
	if err != nil {
		return false, err
	}
	_, rows, _, err := c.index.Size(ctx)
	hits := int64(0)
	for i := 0; i < len(having); i += 2 {
		hits += having[i] + having[i+1]*int64(len(terms)/some)
	}
	return textCost*int64(c.want)*rows < hits*int64(len(terms)), err
}

// prefixes returns the beginnings of a word that can end a term, shorter than the word.
func prefixes(word string) []string {
	var out []string
	for i := range word {
		if i > 0 && i <= term.MaxTerm {
			out = append(out, word[:i])
		}
	}
	return out
}

// ends gathers the sequences of terms that a text with a substring may have.
type ends struct {
	word  string
	rest  []string
	open  bool
	seen  int
	most  int          // nodes
	sure  []query.Node // terms that have all of what is looked for in them
	nodes []query.Node
}

func (e *ends) full() bool { return len(e.sure)+len(e.nodes) > e.most || e.seen > maxSeen }

func (e *ends) add(terms []string, open bool) { e.nodes = append(e.nodes, sequence(terms, open)) }

// whole takes a term that has the word in it.
func (e *ends) whole(t string) {
	e.seen++
	switch {
	case len(e.rest) > 0 || !e.open:
		if strings.HasSuffix(t, e.word) {
			e.add(append([]string{t}, e.rest...), e.open && len(e.rest) > 0)
		}
	default:
		e.sure = append(e.sure, sequence([]string{t}, false))
	}
}

// cut takes a term that may be the first piece of a long word.
func (e *ends) cut(t string, endings []string) {
	e.seen++
	for _, p := range endings {
		switch rest := e.word[len(p):]; {
		case !strings.HasSuffix(t, p) || !e.cutBehind(len(p), len(t)):
			continue
		case leastRest <= len(rest) && len(rest) <= mostRest:
			e.add(append([]string{t}, term.Words(rest)...), true)
		default: // few texts have it; what follows would be a beginning that many words have, or be cut again
			e.add([]string{t}, false)
			return
		}
	}
}

// What follows a word that was cut is looked for where it has so many bytes.
const (
	leastRest = 3
	mostRest  = term.MaxTerm - longestFold
)

// cutBehind says whether a term of some size may have been cut behind so many bytes of what is looked for: the character that
// comes next did not fit.
func (e *ends) cutBehind(n, size int) bool {
	longest := longestFold
	if e.word[n] < utf8.RuneSelf {
		longest = longestASCII
	}
	return size+longest > term.MaxTerm
}

// nothing is a condition that no row meets: no text of the archive can have what is looked for.
var nothing = query.Field{Name: "kind", Values: []query.Value{{Text: "none"}}}

// guess is what was gathered.
func (e *ends) guess() guess {
	g := guess{anyOf(e.sure), anyOf(e.nodes)}
	if g.sure == nil && g.doubt == nil {
		g.doubt = nothing
	}
	return g
}

// sequence asks for terms in order.
func sequence(terms []string, open bool) query.Node {
	return query.Terms{Text: strings.Join(terms, " "), Open: open}
}

// anyOf is a balanced tree of alternatives, so that it is never deep.
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
