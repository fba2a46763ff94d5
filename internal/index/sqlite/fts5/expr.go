package fts5

import "strings"

// Expr is a full-text query: a Phrase, a Near, or And, Or and Not of others. String returns it in the query language of FTS5.
type Expr interface {
	String() string
	// phrases appends its phrases.
	phrases(to []*Phrase) []*Phrase
	// build returns its iterator over one segment, nil where the segment has no such row.
	build(s *exprBuilder, segment int) rowIterator
}

// Column is a column of the table.
type Column struct {
	Number int
	Name   string
}

// Phrase is a sequence of terms at adjacent positions of a column. Prefix makes the last one a prefix.
type Phrase struct {
	Column Column
	Terms  []string
	Prefix bool
}

// And matches the rows that all expressions match, Or those that at least one matches.
type (
	And []Expr
	Or  []Expr
)

// Not matches the rows that Of matches and Without does not.
type Not struct{ Of, Without Expr }

func (p *Phrase) String() string { return p.Column.Name + " : " + p.text() }

func (p *Phrase) text() string {
	s := quoted(strings.Join(p.Terms, " "))
	if p.Prefix {
		s += " *"
	}
	return s
}

// quoted returns s as a string of the query language.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func (a And) String() string { return joinFlat(a, " AND ") }
func (n Not) String() string { return "(" + n.Of.String() + ") NOT (" + n.Without.String() + ")" }

func (o Or) String() string {
	var texts []string
	for _, e := range o {
		if p, ok := e.(*Phrase); ok && p.Column == o[0].phrases(nil)[0].Column {
			texts = append(texts, p.text())
		}
	}
	if len(o) < 2 || len(texts) < len(o) {
		return joinFlat(o, " OR ")
	}
	return o[0].phrases(nil)[0].Column.Name + " : (" + strings.Join(texts, " OR ") + ")"
}

// joinFlat joins expressions without nesting. FTS5 turns a chain of any length into one node, but limits the depth.
func joinFlat(of []Expr, op string) string {
	if len(of) == 1 {
		return of[0].String()
	}
	var parts []string
	for _, e := range of {
		parts = append(parts, e.String())
	}
	return "(" + strings.Join(parts, ")"+op+"(") + ")"
}

func (p *Phrase) phrases(to []*Phrase) []*Phrase { return append(to, p) }
func (a And) phrases(to []*Phrase) []*Phrase     { return phrasesOf(a, to) }
func (o Or) phrases(to []*Phrase) []*Phrase      { return phrasesOf(o, to) }
func (n Not) phrases(to []*Phrase) []*Phrase     { return n.Without.phrases(n.Of.phrases(to)) }

func phrasesOf(of []Expr, to []*Phrase) []*Phrase {
	for _, e := range of {
		to = e.phrases(to)
	}
	return to
}

// wholeTerms returns the terms of a phrase that are not prefixes.
func (p *Phrase) wholeTerms() []string {
	if p.Prefix && len(p.Terms) > 0 {
		return p.Terms[:len(p.Terms)-1]
	}
	return p.Terms
}

// TermCount returns approximately how many terms an expression looks up. A prefix counts as many.
func TermCount(e Expr) (n int) {
	for _, p := range e.phrases(nil) {
		if n += len(p.Terms); p.Prefix && len(p.Terms) == 1 {
			n += maxLeaves
		}
	}
	return n
}

// exprBuilder builds the iterators of an expression.
type exprBuilder struct {
	view     *View
	terms    map[string]int // number of each term
	doclists []*doclist     // of each term in all segments, by number
}

// maxLookupTerms bounds how many terms one call of the store looks up.
const maxLookupTerms = 128

// Rows returns the rows that match an expression.
func (v *View) Rows(e Expr) (Rows, error) {
	a := &exprBuilder{view: v, terms: map[string]int{}}
	var terms []string
	for _, p := range e.phrases(nil) {
		for _, t := range p.wholeTerms() {
			if _, known := a.terms[t]; !known {
				a.terms[t] = len(terms)
				terms = append(terms, t)
			}
		}
	}
	for from := 0; from < len(terms) && len(v.segments) > 0; from += maxLookupTerms {
		lists, err := v.findDoclists(terms[from:min(from+maxLookupTerms, len(terms))])
		if err != nil {
			return nil, err
		}
		a.doclists = append(a.doclists, lists...)
	}
	var all []rowIterator // a row is in one segment with all of its terms
	for i := range v.segments {
		if w := e.build(a, i); w != nil {
			all = append(all, w)
		}
	}
	return newUnion(v, all), nil
}

func (p *Phrase) build(a *exprBuilder, segment int) rowIterator {
	return phraseGroup{p}.build(a, segment)
}

// iterate returns an iterator over a whole term of a phrase in a segment, nil if the segment does not have it.
func (p *Phrase) iterate(a *exprBuilder, segment int, term string) *iterator {
	l := a.doclists[a.terms[term]*len(a.view.segments)+segment]
	if l == nil {
		return nil
	}
	return l.iterate(p.Column.Number)
}

func (x And) build(a *exprBuilder, segment int) rowIterator {
	var all []rowIterator
	for _, e := range x {
		w := e.build(a, segment)
		if w == nil {
			return nil
		}
		all = append(all, w)
	}
	return newIntersection(all)
}

func (x Or) build(a *exprBuilder, segment int) rowIterator {
	phrases, others := groupPhrases(x)
	var all []rowIterator
	for _, e := range append(others, phrases...) {
		if w := e.build(a, segment); w != nil {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return newUnion(a.view, all)
}

func (x Not) build(a *exprBuilder, segment int) rowIterator {
	of, without := x.Of.build(a, segment), x.Without.build(a, segment)
	if of == nil || without == nil {
		return of
	}
	return difference{of, without}
}
