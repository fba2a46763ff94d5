package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
)

// tallyColumn returns the column of a field that rows are counted by, or "". Some have the id of a name, or of a scene with it.
func tallyColumn(field string) string {
	switch field {
	case "tool", "role", "kind", "type":
		return "e.scene"
	case "format":
		return "(SELECT v.format FROM versions v WHERE v.id = t.version)"
	case "source":
		return "(SELECT s.name FROM versions v CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE v.id = t.version)"
	case "path":
		return "(SELECT f.path FROM versions v CROSS JOIN files f ON f.id = v.file WHERE v.id = t.version)"
	case "agent":
		return "coalesce(" + where.SceneField("agent") + ", c.agent, r.agent)"
	case "model":
		return "coalesce(" + where.SceneField("model") + ", c.model, r.model)"
	case "flow":
		return "coalesce(" + where.SceneField("flow") + ", c.flow, r.flow)"
	case "step":
		return "coalesce(" + where.SceneField("step") + ", c.step)"
	case "project":
		return "coalesce(c.project, r.project)"
	case "group":
		return `r."group"`
	case "outcome":
		return "r.outcome"
	case "run":
		return "r.run_id"
	case "conversation":
		return "c.conversation_id"
	case "month", "day":
		return quarter
	}
	return ""
}

// quarter is the quarter of an hour of a row, since 1970. In all zones, days have begun with one since 1972.
const quarter = "(coalesce(e.time, e.near, 0) - 899999999 * (coalesce(e.time, e.near, 0) < 0)) / 900000000"

// Tally counts the matching rows by value, for each field separately; rows without a value count under "". Days and months
// are those of a zone. It also returns the number of rows. When it ends early it returns the counts so far with the error.
//
// Errors: *index.UnsupportedError for a field that rows cannot be counted by.
func (db *Reader) Tally(ctx context.Context, q *query.Tree, page index.Page, fields []string, zone *time.Location) (counts []map[string]int64, rows int64, err error) {
	page.After, page.Limit = "", 0
	f := db.finder(ctx, page)
	t := tally{zone: zone, counts: make([]map[string]int64, len(fields))}
	var columns []string
	for i, name := range fields {
		column := tallyColumn(name)
		if column == "" {
			return nil, 0, &index.UnsupportedError{What: "field " + name, Why: "rows cannot be counted by it"}
		}
		columns, t.counts[i] = append(columns, column), map[string]int64{}
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

// Names returns the distinct values that events have in a field (tool, role, kind, type, agent, model, flow, step, project), in
// no particular order. It reads no events and is fast. For other fields it returns nothing.
func (db *Reader) Names(ctx context.Context, field string) (names []string, err error) {
	query, args := "", []any(nil)
	switch field {
	case "tool", "role", "kind", "type":
		query = "SELECT DISTINCT n.id, n.name FROM scenes s CROSS JOIN names n ON n.id = s." + field
	case "agent", "model", "flow", "step":
		query = "SELECT DISTINCT 0, " + field + " FROM scenes WHERE " + field + " <> ''"
	case "project":
		query = "SELECT 0, name FROM " + where.ProjectsIn("runs") + " UNION SELECT 0, name FROM " + where.ProjectsIn("conversations")
		args = []any{"*", "*"}
	default:
		return nil, nil
	}
	err = engine.Each(ctx, db.r, query, args, scanName, func(n name) bool { names = append(names, n.text); return true })
	return names, engine.Damage(err)
}

// tally is the state of one Tally.
type tally struct {
	texts  []func(int64) string // by field: what a number in its column stands for
	zone   *time.Location
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
	for _, field := range fields {
		text, err := t.text(f, field)
		if err != nil {
			return err
		}
		t.texts = append(t.texts, text)
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

// text returns what turns a number in the column of a field into its value, nil where the column has the value itself.
func (t *tally) text(f *finder, field string) (func(int64) string, error) {
	query, names := "", map[int64]string{}
	switch field {
	case "format":
		query = "SELECT id, name FROM names"
	case "tool", "role", "kind", "type":
		query = "SELECT s.id, n.name FROM scenes s CROSS JOIN names n ON n.id = s." + field
	case "day", "month":
		layout := time.DateOnly
		if field == "month" {
			layout = "2006-01"
		}
		return func(quarter int64) string {
			text, known := names[quarter]
			if !known {
				text = time.Unix(quarter*900, 0).In(t.zone).Format(layout)
				names[quarter] = text
			}
			return text
		}, nil
	default:
		return nil, nil
	}
	err := engine.Each(f.ctx, f.tx, query, nil, scanName, func(n name) bool { names[n.id] = n.text; return true }) // there are few
	return func(id int64) string { return names[id] }, err
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
			text = t.texts[i](v)
		}
		counts[text] += n
	}
	return true
}
