package fts5

import "strings"

// Expr is a question for the index: a Phrase, or And, Or and Not of others. Its text is in the query language of FTS5.
type Expr interface {
	String() string
	// phrases adds those in it.
	phrases(to []*Phrase) []*Phrase
	// build is its walker in one segment, nil where that has no such row. found are the lists of each term in all segments.
	build(s *exprBuilder, segment int) rowIterator
}

// Column is a column of the table.
type Column struct {
	Number int
	Name   string
}

// Phrase is terms side by side in a column. Open says that the last one may go on.
type Phrase struct {
	Column Column
	Terms  []string
	Prefix bool
}

// And is what all say, Or what at least one does.
type (
	And []Expr
	Or  []Expr
)

// Not is what Of says and Without does not.
type Not struct{ Of, Without Expr }

func (p *Phrase) String() string { return p.Column.Name + " : " + p.text() }

func (p *Phrase) text() string {
	s := quoted(strings.Join(p.Terms, " "))
	if p.Prefix {
		s += " *"
	}
	return s
}

// quoted is a string of the query language.
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

// joinFlat joins expressions. FTS5 makes one node of a chain, however long, but stops at some depth.
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

// wholeTerms is the terms of a phrase that are.
func (p *Phrase) wholeTerms() []string {
	if p.Prefix && len(p.Terms) > 0 {
		return p.Terms[:len(p.Terms)-1]
	}
	return p.Terms
}

// TermCount is about how many terms an expression asks for: the beginning of one stands for many.
func TermCount(e Expr) (n int) {
	for _, p := range e.phrases(nil) {
		if n += len(p.Terms); p.Prefix && len(p.Terms) == 1 {
			n += maxLeaves
		}
	}
	return n
}

// exprBuilder is an expression on its way to its rows.
type exprBuilder struct {
	view     *View
	terms    map[string]int // numbers
	doclists []*doclist     // of each term in all segments
}

// maxLookupTerms bounds how many terms are looked up by one question to the store.
const maxLookupTerms = 128

// Rows returns the rows of an expression.
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
	var all []rowIterator // a row lies in one segment, with all of its terms
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

// iterate walks a whole term of a phrase in a segment, nil where that has none.
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
