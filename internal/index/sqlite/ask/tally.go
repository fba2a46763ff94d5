package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/query"
)

// tallyColumns are the columns of the fields that rows are counted by. Some have the id of a name, or of a scene with it.
var tallyColumns = map[string]string{
	"tool": "e.scene", "role": "e.scene", "kind": "e.scene", "type": "e.scene", "format": "(SELECT v.format FROM versions v WHERE v.id = t.version)",
	"source": "(SELECT s.name FROM versions v CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE v.id = t.version)",
	"path":   "(SELECT f.path FROM versions v CROSS JOIN files f ON f.id = v.file WHERE v.id = t.version)",
	"agent":  "coalesce(c.agent, r.agent)", "model": "coalesce(c.model, r.model)", "project": "coalesce(c.project, r.project)", "flow": "coalesce(c.flow, r.flow)",
	"step": "c.step", "group": `r."group"`, "outcome": "r.outcome", "run": "r.run_id", "conversation": "c.conversation_id",
	"month": "strftime('%Y-%m', (coalesce(e.time, e.near, 0) - 999999 * (coalesce(e.time, e.near, 0) < 0)) / 1000000, 'unixepoch')",
	"day":   "strftime('%Y-%m-%d', (coalesce(e.time, e.near, 0) - 999999 * (coalesce(e.time, e.near, 0) < 0)) / 1000000, 'unixepoch')",
}

// Tally counts the matching rows by value, for each field separately; rows without a value count under "". It also returns
// the number of rows. When it ends early it returns the counts so far with the error.
//
// Errors: *index.UnsupportedError for a field that rows cannot be counted by.
func (db *Reader) Tally(ctx context.Context, q *query.Tree, page index.Page, fields []string) (counts []map[string]int64, rows int64, err error) {
	page.After, page.Limit = "", 0
	f := db.finder(ctx, page)
	t := tally{counts: make([]map[string]int64, len(fields))}
	var columns []string
	for i, name := range fields {
		if tallyColumns[name] == "" {
			return nil, 0, &index.UnsupportedError{What: "field " + name, Why: "rows cannot be counted by it"}
		}
		columns, t.counts[i] = append(columns, tallyColumns[name]), map[string]int64{}
	}
	if f.tx, err = db.read(ctx); err == nil {
		defer f.tx.Rollback()
		err = t.count(f, q, fields, columns)
	}
	if err != nil {
		err = fmt.Errorf("count by %s: %w", strings.Join(fields, ", "), engine.Damage(err))
	}
	return t.counts, t.rows, err
}

// Names returns the distinct values that events have in a field (tool, role, kind, type, agent, model, flow, step), in no
// particular order. It reads no events and is fast. For other fields it returns nothing.
func (db *Reader) Names(ctx context.Context, field string) (names []string, err error) {
	query := ""
	switch field {
	case "tool", "role", "kind", "type":
		query = "SELECT DISTINCT n.id, n.name FROM scenes s CROSS JOIN names n ON n.id = s." + field
	case "agent", "model", "flow", "step":
		query = "SELECT DISTINCT 0, " + field + " FROM scenes WHERE " + field + " <> ''"
	default:
		return nil, nil
	}
	err = engine.Each(ctx, db.r, query, nil, scanName, func(n name) bool { names = append(names, n.text); return true })
	return names, engine.Damage(err)
}

// tally is the state of one Tally.
type tally struct {
	names  []map[int64]string // by field: names of its ids
	counts []map[string]int64
	rows   int64
}

func (t *tally) count(f *finder, q *query.Tree, fields, columns []string) error {
	c, err := f.compile(q)
	if err != nil {
		return err
	}
	if err := f.window(&c); err != nil {
		return err
	}
	if err := t.loadNames(f, fields); err != nil {
		return err
	}
	groups := make([]string, len(columns))
	for i := range groups {
		groups[i] = fmt.Sprint(i + 1)
	}
	p := f.planner(false)
	err = p.run(c, func(w scan) error {
		sql, args, err := w.statement(strings.Join(append(slices.Clone(columns), "count(*)"), ", "), f.page.AllVersions)
		if err != nil {
			return err
		}
		return engine.Each(f.ctx, f.tx, sql+" GROUP BY "+strings.Join(groups, ", "), args, func(rows *sqlx.Rows) ([]any, error) { return rows.SliceScan() }, t.add)
	})
	if errors.Is(err, engine.ErrStop) {
		return nil
	}
	return err
}

// loadNames reads all names of the fields; there are few.
func (t *tally) loadNames(f *finder, fields []string) error {
	for _, field := range fields {
		query, names := "", map[int64]string{}
		switch t.names = append(t.names, names); field {
		case "format":
			query = "SELECT id, name FROM names"
		case "tool", "role", "kind", "type":
			query = "SELECT s.id, n.name FROM scenes s CROSS JOIN names n ON n.id = s." + field
		default:
			continue
		}
		if err := engine.Each(f.ctx, f.tx, query, nil, scanName, func(n name) bool { names[n.id] = n.text; return true }); err != nil {
			return err
		}
	}
	return nil
}

// name is a row of names.
type name struct {
	id   int64
	text string
}

func scanName(rows *sqlx.Rows) (n name, err error) { return n, rows.Scan(&n.id, &n.text) }

func (t *tally) add(values []any) bool {
	n, _ := values[len(t.counts)].(int64)
	t.rows += n
	for i, counts := range t.counts {
		text := ""
		switch v := values[i].(type) {
		case string:
			text = v
		case int64:
			text = t.names[i][v]
		}
		counts[text] += n
	}
	return true
}
