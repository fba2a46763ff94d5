// Package where compiles queries to conditions on rows: full-text expressions for words and facets, and SQL for
// everything else. It runs no SQL itself, and no query compiles to invalid SQL.
package where

import (
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

// Cond is a compiled query: the conjunction of all its parts. The zero Cond matches every row.
//
// SQL uses these table aliases: e (events), t (transcripts), c (conversations), r (runs). The owner of a row is its
// transcript with its conversation and run.
type Cond struct {
	Match     []fts5.Expr
	Prefixes  []Prefix
	Not       []fts5.Expr // must not match
	sql       []string    // over e, t, c and r; for runs over r alone
	args      []any       // of sql
	OwnerSQL  []string    // over t, c and r alone: conditions on the owner of the row
	OwnerArgs []any       // of OwnerSQL
	// Unions are disjunctions whose alternatives can each list their rows.
	Unions []Union
	// HintSQL is implied by the rest and is over t, c and r alone. It is expensive to evaluate for each row, but
	// narrows down the owners whose rows can match.
	HintSQL  []string
	HintArgs []any
	// Possible is implied by the rest and is over no row: unless all of it holds, no row matches, and none need be read.
	Possible     []string
	PossibleArgs []any
	// RangeSQL is implied by the rest, too. For a list of transcripts it selects byte ranges of their originals (transcript,
	// first, behind): each matching row begins within one.
	RangeSQL  string
	RangeArgs []any // after the list of transcripts
	From      int64 // bounds of the row ids that can match, from the time window: From included, To excluded
	To        int64 // 0 is open
}

// Prefix is a prefix query for a single word.
type Prefix struct {
	match fts5.Expr
	Texts []string // prefixes of the terms that match
}

// Union matches the rows of a full-text expression and all rows of some owners.
type Union struct {
	Match  fts5.Expr
	Owners Cond // OwnerSQL and HintSQL alone
}

// Empty reports whether every row meets the condition.
func (c Cond) Empty() bool { return c.isTextOnly() && !c.hasWords() && len(c.Not) == 0 }

// isTextOnly reports whether the condition needs nothing but the full-text index.
func (c Cond) isTextOnly() bool { return len(c.sql)+len(c.OwnerSQL)+len(c.Unions) == 0 }

// isOwnersOnly reports whether the condition is on owners alone.
func (c Cond) isOwnersOnly() bool { return !c.hasWords() && len(c.Not)+len(c.sql)+len(c.Unions) == 0 }

// hasWords reports whether the full-text index finds all rows that can match.
func (c Cond) hasWords() bool { return len(c.Match)+len(c.Prefixes) > 0 }

// ownerCond returns a condition on the owners of rows.
func ownerCond(sql string, args []any) Cond { return Cond{OwnerSQL: []string{sql}, OwnerArgs: args} }

// TermColumn is the column of the full-text index with all terms, facets included.
var TermColumn = fts5.Column{Number: 0, Name: "t"}

// Facet returns the expression for a facet; open matches values that begin with value.
func Facet(field, value string, open bool) *fts5.Phrase {
	return &fts5.Phrase{Column: TermColumn, Terms: []string{index.Facet(field, value)}, Prefix: open}
}

// Expression combines Match, Prefixes and Not into one expression. ok is false when there is nothing to match.
func (c Cond) Expression() (e fts5.Expr, ok bool) {
	all := slices.Clone(c.Match)
	for _, o := range c.Prefixes {
		all = append(all, o.match)
	}
	switch {
	case len(all) == 0:
		return nil, false
	case len(c.Not) == 0:
		return allOf(all), true
	}
	return fts5.Not{Of: allOf(all), Without: OneOf(c.Not)}, true
}

func allOf(of []fts5.Expr) fts5.Expr {
	if len(of) == 1 {
		return of[0]
	}
	return fts5.And(of)
}

// OneOf returns the disjunction of expressions, flattened.
func OneOf(of []fts5.Expr) fts5.Expr {
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

// matchSQL returns a predicate on events or runs that holds for the rows of a full-text expression, and its argument. For
// events the argument is the expression itself: a scan replaces it by the matching rows of each batch. For runs FTS5
// evaluates the expression, collecting all rows at once.
func (k compiler) matchSQL(e fts5.Expr) (string, any) {
	switch {
	case k.runs:
		return `r.id IN (SELECT c.run FROM fts CROSS JOIN events e ON e.id = fts.rowid CROSS JOIN transcripts t ON t.id = e.transcript
			CROSS JOIN conversations c ON c.id = t.conversation WHERE fts MATCH ?` + Visible(k.all) + ")", e.String()
	case k.eventsOfRuns:
		return "e.id IN (SELECT rowid FROM fts WHERE fts MATCH ?)", e.String()
	}
	return "e.id IN (SELECT value FROM json_each(?))", e
}

// Visible returns SQL that excludes rows which repeat others: copies, earlier versions, copied history.
func Visible(all bool) string {
	if all {
		return ""
	}
	return " AND t.verdict IN (0, 6) AND e.verdict IN (0, 6)"
}

// RunSQL returns the condition on runs as one SQL expression.
func (c Cond) RunSQL(all bool) (string, []any) { return compiler{runs: true, all: all}.predicate(c) }

// EventSQL returns the condition on events as one SQL expression. An argument that is an fts5.Expr must be replaced by
// its rows, as JSON.
func (c Cond) EventSQL(all bool) (string, []any) { return compiler{all: all}.predicate(c) }

// ListsRows reports whether EventSQL has such arguments even in a scan of only the rows that Expression finds.
func (c Cond) ListsRows() bool {
	return len(c.Unions) > 0 || slices.ContainsFunc(c.args, func(a any) bool { _, ok := a.(fts5.Expr); return ok })
}

// predicate returns a condition as one SQL expression.
func (k compiler) predicate(c Cond) (string, []any) {
	var parts []string
	var args []any
	add := func(before string, e fts5.Expr, after string) {
		s, arg := k.matchSQL(e)
		parts, args = append(parts, before+s+after), append(args, arg)
	}
	if match, ok := c.Expression(); ok {
		add("", match, "")
	} else if len(c.Not) > 0 {
		add("NOT ", OneOf(c.Not), "")
	}
	parts, args = append(append(parts, c.OwnerSQL...), c.sql...), append(append(args, c.OwnerArgs...), c.args...)
	for _, u := range c.Unions {
		own, owned := k.predicate(u.Owners)
		args = append(args, owned...)
		add("("+own+" OR ", u.Match, ")")
	}
	if len(parts) == 0 {
		return "1", nil
	}
	return Balanced(parts, " AND "), args
}

func (c Cond) and(o Cond) Cond {
	c.Match, c.Prefixes, c.Not = append(c.Match, o.Match...), append(c.Prefixes, o.Prefixes...), append(c.Not, o.Not...)
	c.sql, c.args = append(c.sql, o.sql...), append(c.args, o.args...)
	c.OwnerSQL, c.OwnerArgs = append(c.OwnerSQL, o.OwnerSQL...), append(c.OwnerArgs, o.OwnerArgs...)
	c.HintSQL, c.HintArgs = append(c.HintSQL, o.HintSQL...), append(c.HintArgs, o.HintArgs...)
	c.Possible, c.PossibleArgs = append(c.Possible, o.Possible...), append(c.PossibleArgs, o.PossibleArgs...)
	c.Unions = append(c.Unions, o.Unions...)
	if c.RangeSQL == "" {
		c.RangeSQL, c.RangeArgs = o.RangeSQL, o.RangeArgs
	}
	c.From = max(c.From, o.From)
	if c.To == 0 || o.To != 0 && o.To < c.To {
		c.To = o.To
	}
	return c
}

// Events compiles a query on events. all includes rows that do not count.
func Events(root query.Node, all bool) (Cond, error) { return compiler{all: all}.node(root) }

// Runs compiles a query on runs.
func Runs(root query.Node, all bool) (Cond, error) { return compiler{runs: true, all: all}.node(root) }

// compiler compiles query trees to conditions.
type compiler struct {
	runs         bool // for runs, not for events
	eventsOfRuns bool // for events in a subquery of a condition on runs
	all          bool // include rows that do not count
}

func (k compiler) node(n query.Node) (Cond, error) {
	switch n := n.(type) {
	case nil:
		return Cond{}, nil
	case query.And:
		if k.runs {
			return k.runAnd(n.Of)
		}
		return k.and(n.Of)
	case query.Or:
		return k.or(n)
	case query.Not:
		if f, ok := n.Of.(query.Field); ok && !k.runs {
			if is, args, ok := exactColumn(f); ok { // the column alone: the full-text index would have to list all rows with the role
				return k.not(Cond{sql: []string{is}, args: args}), nil
			}
		}
		c, err := k.node(n.Of)
		return k.not(c), err
	case query.Word:
		return phrase(n.Text, false), nil
	case query.Phrase:
		return phrase(n.Text, false), nil
	case query.Prefix:
		return phrase(n.Text, true), nil
	case query.Near:
		return near(n)
	case query.Terms:
		return terms(strings.Fields(n.Text), n.Open), nil
	case query.Range:
		return k.window(n), nil
	case query.Field:
		return k.field(n)
	case query.Compare:
		return k.compare(n)
	}
	return Cond{}, &index.UnsupportedError{What: n.String(), Why: "only search looks for substrings and expressions", Hint: "a prefix is found as well: pars*"}
}

func (k compiler) and(of []query.Node) (c Cond, err error) {
	for _, n := range of {
		o, err := k.node(n)
		if err != nil {
			return c, err
		}
		c = c.and(o)
	}
	return c, nil
}

func (k compiler) or(n query.Or) (Cond, error) {
	var match []fts5.Expr
	var sql []string
	var args []any
	owners, hints, hinted := true, []string(nil), []any(nil) // owners: all alternatives without words are conditions on owners
	for _, n := range query.Alternatives(n) {
		c, err := k.node(n)
		if err != nil {
			return Cond{}, err
		}
		if c.Empty() {
			return Cond{}, nil // an empty alternative is always true
		}
		if m, ok := c.Expression(); ok && c.isTextOnly() {
			match = append(match, m)
			continue
		}
		owners = owners && c.isOwnersOnly()
		if len(c.HintSQL) > 0 {
			hints, hinted = append(hints, Balanced(c.HintSQL, " AND ")), append(hinted, c.HintArgs...)
		}
		s, a := k.predicate(c)
		sql, args = append(sql, s), append(args, a...)
	}
	if owners && len(sql) > 0 && (len(match) == 0 || !k.runs) {
		c := ownerCond(Balanced(sql, " OR "), args)
		if len(hints) == len(sql) {
			c.HintSQL, c.HintArgs = []string{Balanced(hints, " OR ")}, hinted
		}
		if len(match) > 0 {
			c = Cond{Unions: []Union{{OneOf(match), c}}}
		}
		return c, nil
	}
	c := k.anyOf(match, sql, args)
	if len(hints) == len(sql) && len(match) == 0 {
		c.HintSQL, c.HintArgs = []string{Balanced(hints, " OR ")}, hinted
	}
	return c, nil
}

// anyOf returns the disjunction of full-text and SQL expressions.
func (k compiler) anyOf(match []fts5.Expr, sql []string, args []any) Cond {
	if len(sql) == 0 {
		return Cond{Match: []fts5.Expr{OneOf(match)}}
	}
	if len(match) > 0 {
		s, arg := k.matchSQL(OneOf(match))
		sql, args = append(sql, s), append(args, arg)
	}
	return Cond{sql: []string{Balanced(sql, " OR ")}, args: args}
}

func (k compiler) not(c Cond) Cond {
	if c.Empty() {
		return c
	}
	if c.isTextOnly() {
		if m, ok := c.Expression(); ok {
			return Cond{Not: []fts5.Expr{m}}
		}
		return Cond{Match: []fts5.Expr{OneOf(c.Not)}}
	}
	s, a := k.predicate(c)
	s = "NOT coalesce(" + s + ", 0)" // NULL counts as false
	if c.isOwnersOnly() {
		return ownerCond(s, a)
	}
	return Cond{sql: []string{s}, args: a}
}

// phrase compiles a text to the sequence of its terms. open makes the last one a prefix. A text without terms matches
// every row.
func phrase(text string, open bool) Cond {
	words := term.Words(text)
	return terms(words, open, term.Sequences(words, open)...)
}

// maxNearTerms is how many terms the words of a Near may have: each is looked up in up to four forms.
const maxNearTerms = 32

// near compiles words at some distance. Those without terms match everywhere.
func near(n query.Near) (Cond, error) {
	e := &fts5.Near{Column: TermColumn, Within: n.Within}
	all := term.Words(n.Text)
	for _, text := range n.Words() {
		if words := term.Words(text); len(words) > 0 {
			e.Parts = append(e.Parts, term.Sequences(words, false))
		}
	}
	switch {
	case len(e.Parts) < 2:
		return phrase(n.Text, false), nil
	case len(all) > maxNearTerms:
		return Cond{}, &index.UnsupportedError{What: n.String(), Why: "its words have too many parts", Hint: "words without quotes match at any distance"}
	}
	return Cond{Match: []fts5.Expr{e}}, nil
}

// terms compiles a sequence of terms, or alternative sequences in its place: parts of identifiers.
func terms(words []string, open bool, instead ...[]string) Cond {
	switch {
	case len(words) == 0:
		return Cond{}
	case len(instead) == 0:
		instead = [][]string{words}
	}
	any := make([]fts5.Expr, len(instead))
	for i, sequence := range instead {
		any[i] = &fts5.Phrase{Column: TermColumn, Terms: sequence, Prefix: open}
	}
	match := OneOf(any)
	if open && len(words) == 1 {
		o := Prefix{match: match}
		for _, sequence := range instead {
			o.Texts = append(o.Texts, sequence[0])
		}
		return Cond{Prefixes: []Prefix{o}}
	}
	return Cond{Match: []fts5.Expr{match}}
}

// RunTime returns SQL for the start of a run, a row of runs. Where nothing states a time, as in transcripts of Cursor, it is the last change
// of the run's originals; NULL if it has none.
func RunTime(run string) string { return "coalesce(" + run + ".started, " + RunChanged(run) + ")" }

// RunChanged returns SQL for the last change of the originals of a run, a row of runs.
func RunChanged(run string) string {
	return "(SELECT max(o.mtime) / 1000 FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id CROSS JOIN originals o ON o.id = t.version WHERE n.run = " + run + ".id)"
}

// window bounds the time of an event, or of a run.
func (k compiler) window(n query.Range) Cond {
	at := "coalesce(e.time, e.near, 0)"
	if k.runs {
		at = RunTime("r")
	}
	var c Cond
	var parts []string
	if !n.From.IsZero() {
		us := n.From.UnixMicro()
		parts, c.args = append(parts, at+" >= ?"), append(c.args, us)
		c.From = schema.HourOf(us) << schema.SlotBits
	}
	if !n.To.IsZero() {
		us := n.To.UnixMicro()
		parts, c.args = append(parts, at+" < ?"), append(c.args, us)
		c.To = (schema.HourOf(us) + 1) << schema.SlotBits
	}
	c.sql = []string{Balanced(parts, " AND ")}
	return c
}
