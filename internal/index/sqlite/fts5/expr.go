package fts5

import "strings"

// Expr is a question for the index: a Phrase, or And, Or and Not of others. Its text is in the query language of FTS5.
type Expr interface {
	String() string
	// phrases adds those in it.
	phrases(to []*Phrase) []*Phrase
	// in is its walker in one segment, nil where that has no such row. found are the lists of each term in all segments.
	in(s *asked, segment int) walker
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

func (a And) String() string { return flat(a, " AND ") }
func (n Not) String() string { return "(" + n.Of.String() + ") NOT (" + n.Without.String() + ")" }

func (o Or) String() string {
	var texts []string
	for _, e := range o {
		if p, ok := e.(*Phrase); ok && p.Column == o[0].phrases(nil)[0].Column {
			texts = append(texts, p.text())
		}
	}
	if len(o) < 2 || len(texts) < len(o) {
		return flat(o, " OR ")
	}
	return o[0].phrases(nil)[0].Column.Name + " : (" + strings.Join(texts, " OR ") + ")"
}

// flat joins expressions. FTS5 makes one node of a chain, however long, but stops at some depth.
func flat(of []Expr, op string) string {
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

// whole is the terms of a phrase that are.
func (p *Phrase) whole() []string {
	if p.Prefix && len(p.Terms) > 0 {
		return p.Terms[:len(p.Terms)-1]
	}
	return p.Terms
}

// Size is about how many terms an expression asks for: the beginning of one stands for many.
func Size(e Expr) (n int) {
	for _, p := range e.phrases(nil) {
		if n += len(p.Terms); p.Prefix && len(p.Terms) == 1 {
			n += leavesAtOnce
		}
	}
	return n
}

// asked is an expression on its way to its rows.
type asked struct {
	view  *View
	terms map[string]int // numbers
	lists []*list        // of each term in all segments
}

// termsAtOnce bounds how many terms are looked up by one question to the store.
const termsAtOnce = 128

// Rows returns the rows of an expression.
func (v *View) Rows(e Expr) (Rows, error) {
	a := &asked{view: v, terms: map[string]int{}}
	var terms []string
	for _, p := range e.phrases(nil) {
		for _, t := range p.whole() {
			if _, known := a.terms[t]; !known {
				a.terms[t] = len(terms)
				terms = append(terms, t)
			}
		}
	}
	for from := 0; from < len(terms) && len(v.segments) > 0; from += termsAtOnce {
		lists, err := v.lists(terms[from:min(from+termsAtOnce, len(terms))])
		if err != nil {
			return nil, err
		}
		a.lists = append(a.lists, lists...)
	}
	var all []walker // a row lies in one segment, with all of its terms
	for i := range v.segments {
		if w := e.in(a, i); w != nil {
			all = append(all, w)
		}
	}
	return unite(v, all), nil
}

func (p *Phrase) in(a *asked, segment int) walker { return phraseGroup{p}.in(a, segment) }

// iterate walks a whole term of a phrase in a segment, nil where that has none.
func (p *Phrase) iterate(a *asked, segment int, term string) *iterator {
	l := a.lists[a.terms[term]*len(a.view.segments)+segment]
	if l == nil {
		return nil
	}
	return l.iterate(p.Column.Number)
}

func (x And) in(a *asked, segment int) walker {
	var all []walker
	for _, e := range x {
		w := e.in(a, segment)
		if w == nil {
			return nil
		}
		all = append(all, w)
	}
	return intersect(all)
}

func (x Or) in(a *asked, segment int) walker {
	phrases, others := groupPhrases(x)
	var all []walker
	for _, e := range append(others, phrases...) {
		if w := e.in(a, segment); w != nil {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return unite(a.view, all)
}

func (x Not) in(a *asked, segment int) walker {
	of, without := x.Of.in(a, segment), x.Without.in(a, segment)
	if of == nil || without == nil {
		return of
	}
	return difference{of, without}
}
