package sqlite

import (
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

// cond is a part of a query in SQL: all of its fields that are set must hold. The zero cond says nothing.
type cond struct {
	match string // full-text expression
	not   string // full-text expression of what must not match
	sql   string // over the tables e (events), t, c and r; over r alone for runs
	args  []any
	from  int64 // row ids that can match, as far as the window of time says: from included, to excluded
	to    int64 // 0 is open
}

func (c cond) empty() bool { return c.match == "" && c.not == "" && c.sql == "" }

// pure says whether c is a full-text expression and nothing else.
func (c cond) pure() bool { return c.match != "" && c.not == "" && c.sql == "" }

// settle joins match and not where nothing else stands beside them.
func (c cond) settle() cond {
	if c.match != "" && c.not != "" && c.sql == "" {
		c.match, c.not = "("+c.match+") NOT ("+c.not+")", ""
	}
	return c
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
	if c.match != "" {
		parts, args = append(parts, found(runs, all)), append(args, c.match)
	}
	if c.not != "" {
		parts, args = append(parts, "NOT "+found(runs, all)), append(args, c.not)
	}
	if c.sql != "" {
		parts, args = append(parts, c.sql), append(args, c.args...)
	}
	if len(parts) == 0 {
		return "1", nil
	}
	return "(" + strings.Join(parts, " AND ") + ")", args
}

func joinMatch(a, op, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return "(" + a + ") " + op + " (" + b + ")"
}

func (c cond) and(o cond) cond {
	c.match, c.not = joinMatch(c.match, "AND", o.match), joinMatch(c.not, "OR", o.not)
	switch {
	case c.sql == "":
		c.sql, c.args = o.sql, o.args
	case o.sql != "":
		c.sql, c.args = c.sql+" AND "+o.sql, append(append([]any(nil), c.args...), o.args...)
	}
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
		c, err := k.node(n.Of)
		return k.not(c), err
	case query.Word:
		return cond{match: phrase(n.Text, "")}, nil
	case query.Phrase:
		return cond{match: phrase(n.Text, "")}, nil
	case query.Prefix:
		return cond{match: phrase(n.Text, " *")}, nil
	case query.Range:
		return k.window(n), nil
	case query.Field:
		return k.field(n)
	}
	return cond{}, &index.UnsupportedError{What: n.String(), Why: "search cannot answer this yet"}
}

func (k compiler) or(n query.Or) (cond, error) {
	var match string
	var sql []string
	var args []any
	for _, n := range n.Of {
		c, err := k.node(n)
		if err != nil {
			return cond{}, err
		}
		c = c.settle()
		switch {
		case c.empty():
			return cond{}, nil // an alternative that says nothing is always true
		case c.pure():
			match = joinMatch(match, "OR", c.match)
		default:
			s, a := c.predicate(k.runs, k.all)
			sql, args = append(sql, s), append(args, a...)
		}
	}
	if len(sql) == 0 {
		return cond{match: match}, nil
	}
	if match != "" {
		sql, args = append(sql, found(k.runs, k.all)), append(args, match)
	}
	return cond{sql: "(" + strings.Join(sql, " OR ") + ")", args: args}, nil
}

func (k compiler) not(c cond) cond {
	c = c.settle()
	switch {
	case c.empty():
		return c
	case c.sql == "":
		return cond{match: c.not, not: c.match}
	}
	s, a := c.predicate(k.runs, k.all)
	return cond{sql: "NOT coalesce(" + s + ", 0)", args: a} // what is unknown is not so
}

// phrase asks for the terms of a text in order. A single term may also be a part of an identifier; several
// must be words, since parts of different identifiers stand side by side in their column. A text without terms
// asks for nothing.
func phrase(text, star string) string {
	words := term.Words(text)
	if len(words) == 0 {
		return ""
	}
	columns := "t : "
	if len(words) == 1 {
		columns = "{t p} : "
	}
	return columns + quoted(strings.Join(words, " ")) + star
}

// quoted is a string of the full-text query language.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

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
		c.to = (hourOf(us) + spill) << slotBits
	}
	c.sql = "(" + strings.Join(parts, " AND ") + ")"
	return c
}

// spill is how many hours later than its time a row may be filed, when the hours before it are full.
const spill = 24
