package show

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
)

// ListOptions say which rows a list has, and how.
type ListOptions struct {
	Sort    string // started, ended, duration, events, tokens or cost, from the highest
	Reverse bool   // from the lowest
	Limit   int    // rows; 0 is no limit
	Output  string // table, csv, json, ndjson or markdown
	Columns []string
}

// Orders are the values of ListOptions.Sort.
func Orders() []string { return []string{"started", "ended", "duration", "events", "tokens", "cost"} }

// List prints the rows of a list, in the order in which they come. all are the columns that it may have. It returns how many there were.
func List(p *printer.Printer, o ListOptions, all []Column, rows iter.Seq2[Row, error]) (n int, err error) {
	w, err := newList(p, o, all)
	if err != nil {
		return 0, err
	}
	if w.out == nil {
		err = w.table(rows)
	} else {
		err = w.script(rows)
	}
	if err == nil && w.more {
		w.Note("There are more than %s: --limit 0 lists all.", terminal.Count(w.n))
	}
	return w.n, err
}

type list struct {
	*printer.Printer
	o       ListOptions
	columns []Column
	out     *rows.Writer // nil for tables
	keys    bool         // write all keys of the JSON, not the columns
	n       int
	more    bool // there are more rows than were asked for
}

func newList(p *printer.Printer, o ListOptions, all []Column) (*list, error) {
	w := &list{Printer: p, o: o}
	for _, name := range o.Columns {
		w.columns = append(w.columns, *columnOf(all, name))
	}
	if o.Output == "table" {
		if len(o.Columns) == 0 {
			w.columns = fitting(all, p.Width(), o.Sort)
		}
		return w, nil
	}
	w.keys = len(o.Columns) == 0 && (o.Output == "ndjson" || o.Output == "json")
	if len(o.Columns) == 0 && !w.keys {
		w.columns = slices.DeleteFunc(slices.Clone(all), func(c Column) bool { return c.raw == nil })
	}
	var err error
	w.out, err = p.Rows(o.Output)
	return w, err
}

// script writes rows for programs.
func (w *list) script(rows iter.Seq2[Row, error]) error {
	if !w.keys {
		if err := w.out.Columns(ColumnNames(w.columns)); err != nil {
			return err
		}
	}
	return errors.Join(w.each(rows, w.row), w.end())
}

// end closes the JSON array, also of no rows.
func (w *list) end() error {
	if w.keys && w.n == 0 {
		if err := w.out.Columns([]string{}); err != nil {
			return err
		}
	}
	return w.out.End()
}

// each calls do for as many rows as were asked for.
func (w *list) each(rows iter.Seq2[Row, error], do func(*Row) error) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		if w.o.Limit > 0 && w.n == w.o.Limit {
			w.more = true
			return nil
		}
		w.n++
		if err := do(&r); err != nil {
			return err
		}
	}
	return nil
}

func (w *list) row(r *Row) error {
	if w.keys {
		m := r.json()
		names := slices.Sorted(maps.Keys(m))
		values := make([]any, len(names))
		for i, name := range names {
			values[i] = m[name]
		}
		if w.n == 1 {
			if err := w.out.Columns(names); err != nil {
				return err
			}
		}
		return w.out.Row(values)
	}
	values := make([]any, len(w.columns))
	for i, c := range w.columns {
		values[i] = c.value(r)
	}
	return w.out.Row(values)
}

func (w *list) table(all iter.Seq2[Row, error]) error {
	g := terminal.Table{}
	for _, c := range w.columns {
		col := terminal.Column{Head: strings.TrimPrefix(c.name, "tool_"), Right: c.right, Shorten: c.flex}
		if len(w.o.Columns) == 0 && c.name != w.o.Sort {
			col.DropRank = max(c.spare, c.from)
		}
		g.Columns = append(g.Columns, col)
	}
	first := true
	flush := func() error {
		if len(g.Rows) == 0 {
			return nil
		}
		if first && len(w.o.Columns) == 0 {
			w.dropEmpty(&g)
		}
		first = false
		_, err := fmt.Fprintln(w.Out, w.Fit(&g))
		g.Rows = nil
		return err
	}
	err := w.each(all, func(r *Row) error {
		cells := make([]string, len(w.columns))
		for i, c := range w.columns {
			cells[i] = c.cell(w.Printer, r)
		}
		g.Add(cells...)
		if len(g.Rows) == rows.TableChunk {
			return flush()
		}
		return nil
	})
	return errors.Join(err, flush())
}

// dropEmpty drops columns that were not asked for and have no values.
func (w *list) dropEmpty(g *terminal.Table) {
	for i := len(w.columns) - 1; i >= 0; i-- {
		if w.columns[i].name == w.o.Sort || slices.ContainsFunc(g.Rows, func(cells []string) bool { return cells[i] != "" && cells[i] != "-" }) {
			continue
		}
		w.columns, *g = slices.Delete(w.columns, i, i+1), *g.Without(i)
	}
}
