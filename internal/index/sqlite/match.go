package sqlite

import (
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

// cond is a part of a query in SQL: all that it lists must hold. The zero cond says nothing.
type cond struct {
	match []fts5.Expr
	open  []opening
	not   []fts5.Expr // what must not match
	sql   []string    // over the tables e (events), t, c and r; over r alone for runs
	args  []any       // of sql
	own   []string    // over t, c and r alone: what owns the row must be so
	owned []any       // of own
	// hint follows from the rest and is over t, c and r alone: it is dear to ask of each row, and narrows down what
	// owns those that can match.
	hint   []string
	hinted []any
	from   int64 // row ids that can match, as far as the window of time says: from included, to excluded
	to     int64 // 0 is open
}

// opening is a word of which only the beginning is given.
type opening struct {
	match  fts5.Expr
	begins []string // what terms begin with that are meant
}

func (c cond) empty() bool { return !c.worded() && len(c.not)+len(c.sql)+len(c.own) == 0 }

// worded reports whether the full-text index finds what can match.
func (c cond) worded() bool { return len(c.match)+len(c.open) > 0 }

// ofOwner is a condition on what owns a row.
func ofOwner(sql string, args []any) cond { return cond{own: []string{sql}, owned: args} }

// The columns of the full-text index.
var (
	inWords  = fts5.Column{Number: 0, Name: "t"}
	inFacets = fts5.Column{Number: 1, Name: "x"}
)

// facet asks for a value of a field; open says that it may go on.
func facet(field, value string, open bool) *fts5.Phrase {
	return &fts5.Phrase{Column: inFacets, Terms: []string{index.Facet(field, value)}, Open: open}
}

// expression is match, open and not in one; ok is false when there is nothing to match.
func (c cond) expression() (e fts5.Expr, ok bool) {
	all := slices.Clone(c.match)
	for _, o := range c.open {
		all = append(all, o.match)
	}
	switch {
	case len(all) == 0:
		return nil, false
	case len(c.not) == 0:
		return allOf(all), true
	}
	return fts5.Not{Of: allOf(all), Without: oneOf(c.not)}, true
}

func allOf(of []fts5.Expr) fts5.Expr {
	if len(of) == 1 {
		return of[0]
	}
	return fts5.And(of)
}

// oneOf is flat, however the alternatives were nested.
func oneOf(of []fts5.Expr) fts5.Expr {
	if len(of) == 1 {
		return of[0]
	}
	var flat fts5.Or
	for _, e := range of {
		if inner, ok := e.(fts5.Or); ok {
			flat = append(flat, inner...)
		} else {
			flat = append(flat, e)
		}
	}
	return flat
}

// balanced joins SQL expressions such that many of them make no deep tree.
func balanced(parts []string, op string) string {
	if len(parts) < 3 {
		return "(" + strings.Join(parts, op) + ")"
	}
	half := len(parts) / 2
	return "(" + balanced(parts[:half], op) + op + balanced(parts[half:], op) + ")"
}

// found is the rows that a full-text expression finds, as a predicate of an event or of a run.
func found(runs, all bool) string {
	if !runs {
		return "e.id IN (SELECT rowid FROM fts WHERE fts MATCH ?)"
	}
	return `r.id IN (SELECT c.run FROM fts CROSS JOIN events e ON e.id = fts.rowid CROSS JOIN transcripts t ON t.id = e.transcript
		CROSS JOIN conversations c ON c.id = t.conversation WHERE fts MATCH ?` + visible(all) + ")"
}

// visible leaves out rows that say what others say: copies, earlier versions, copied history.
func visible(all bool) string {
	if all {
		return ""
	}
	return " AND t.verdict IN (0, 6) AND e.verdict IN (0, 6)"
}

// predicate is c as one SQL expression.
func (c cond) predicate(runs, all bool) (string, []any) {
	var parts []string
	var args []any
	if match, ok := c.expression(); ok {
		parts, args = append(parts, found(runs, all)), append(args, match.String())
	} else if len(c.not) > 0 {
		parts, args = append(parts, "NOT "+found(runs, all)), append(args, oneOf(c.not).String())
	}
	parts, args = append(append(parts, c.own...), c.sql...), append(append(args, c.owned...), c.args...)
	if len(parts) == 0 {
		return "1", nil
	}
	return balanced(parts, " AND "), args
}

func (c cond) and(o cond) cond {
	c.match, c.open, c.not = append(c.match, o.match...), append(c.open, o.open...), append(c.not, o.not...)
	c.sql, c.args = append(c.sql, o.sql...), append(c.args, o.args...)
	c.own, c.owned = append(c.own, o.own...), append(c.owned, o.owned...)
	c.hint, c.hinted = append(c.hint, o.hint...), append(c.hinted, o.hinted...)
	c.from = max(c.from, o.from)
	if c.to == 0 || o.to != 0 && o.to < c.to {
		c.to = o.to
	}
	return c
}

// compiler prints query trees as SQL.
type compiler struct {
	runs bool // for runs, not for events
	all  bool // also what does not count
}

func (k compiler) node(n query.Node) (cond, error) {
	switch n := n.(type) {
	case nil:
		return cond{}, nil
	case query.And:
		var c cond
		for _, n := range n.Of {
			o, err := k.node(n)
			if err != nil {
				return c, err
			}
			c = c.and(o)
		}
		return c, nil
	case query.Or:
		return k.or(n)
	case query.Not:
		if f, ok := n.Of.(query.Field); ok && !k.runs {
			if is, args, ok := roleColumn(f); ok { // alone: the full-text index would have to give all rows of the role
				return k.not(cond{sql: []string{is}, args: args}), nil
			}
		}
		c, err := k.node(n.Of)
		return k.not(c), err
	case query.Word:
		return phrase(n.Text, false, false), nil
	case query.Phrase:
		return phrase(n.Text, false, false), nil
	case query.Prefix:
		return phrase(n.Text, true, false), nil
	case query.Terms:
		return phrase(n.Text, n.Open, true), nil
	case query.Range:
		return k.window(n), nil
	case query.Field:
		return k.field(n)
	case query.Compare:
		return k.compare(n)
	}
	return cond{}, &index.UnsupportedError{What: n.String(), Why: "search cannot answer this yet"}
}

func (k compiler) or(n query.Or) (cond, error) {
	var match []fts5.Expr
	var sql []string
	var args []any
	owners := true // all alternatives are conditions on what owns a row
	for _, n := range n.Of {
		c, err := k.node(n)
		if err != nil {
			return cond{}, err
		}
		if c.empty() {
			return cond{}, nil // an alternative that says nothing is always true
		}
		if m, ok := c.expression(); ok && len(c.sql)+len(c.own) == 0 {
			match, owners = append(match, m), false
			continue
		}
		owners = owners && !c.worded() && len(c.not)+len(c.sql) == 0
		s, a := c.predicate(k.runs, k.all)
		sql, args = append(sql, s), append(args, a...)
	}
	if owners {
		return ofOwner(balanced(sql, " OR "), args), nil
	}
	return k.either(match, sql, args), nil
}

// either is true where one of the full-text or SQL expressions is.
func (k compiler) either(match []fts5.Expr, sql []string, args []any) cond {
	if len(sql) == 0 {
		return cond{match: []fts5.Expr{oneOf(match)}}
	}
	if len(match) > 0 {
		sql, args = append(sql, found(k.runs, k.all)), append(args, oneOf(match).String())
	}
	return cond{sql: []string{balanced(sql, " OR ")}, args: args}
}

func (k compiler) not(c cond) cond {
	if c.empty() {
		return c
	}
	if len(c.sql)+len(c.own) == 0 {
		if m, ok := c.expression(); ok {
			return cond{not: []fts5.Expr{m}}
		}
		return cond{match: []fts5.Expr{oneOf(c.not)}}
	}
	s, a := c.predicate(k.runs, k.all)
	s = "NOT coalesce(" + s + ", 0)" // what is unknown is not so
	if !c.worded() && len(c.not)+len(c.sql) == 0 {
		return ofOwner(s, a)
	}
	return cond{sql: []string{s}, args: a}
}

// phrase asks for the terms of a text in order. open says that the last one may go on, whole that parts of identifiers
// will not do. A text without terms asks for nothing.
func phrase(text string, open, whole bool) cond {
	words := term.Words(text)
	if len(words) == 0 {
		return cond{}
	}
	sequences := [][]string{words}
	if !whole {
		sequences = term.Sequences(words, open)
	}
	var any []fts5.Expr
	for _, terms := range sequences {
		any = append(any, &fts5.Phrase{Column: inWords, Terms: terms, Open: open})
	}
	match := oneOf(any)
	if open && len(words) == 1 {
		o := opening{match: match}
		for _, terms := range sequences {
			o.begins = append(o.begins, terms[0])
		}
		return cond{open: []opening{o}}
	}
	return cond{match: []fts5.Expr{match}}
}

// window bounds the time of an event, or the start of a run.
func (k compiler) window(n query.Range) cond {
	at := "coalesce(e.time, e.near, 0)"
	if k.runs {
		at = "r.started"
	}
	var c cond
	var parts []string
	if !n.From.IsZero() {
		us := n.From.UnixMicro()
		parts, c.args = append(parts, at+" >= ?"), append(c.args, us)
		c.from = hourOf(us) << slotBits
	}
	if !n.To.IsZero() {
		us := n.To.UnixMicro()
		parts, c.args = append(parts, at+" < ?"), append(c.args, us)
		c.to = (hourOf(us) + 1) << slotBits
	}
	c.sql = []string{balanced(parts, " AND ")}
	return c
}
