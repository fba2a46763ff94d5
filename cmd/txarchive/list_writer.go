package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
)

// listWriter prints rows in the format of the flags.
type listWriter struct {
	a       *app
	o       listOptions
	columns []listColumn
	out     *rows.Writer // nil for tables
	keys    bool         // write all keys of the JSON, not the columns
	n       int
	more    bool // there are more rows than were asked for
}

func newListWriter(a *app, o listOptions, all []listColumn) (*listWriter, error) {
	w := &listWriter{a: a, o: o}
	for _, name := range o.columns {
		w.columns = append(w.columns, *columnOf(all, name))
	}
	if o.output == "table" {
		if len(o.columns) == 0 {
			w.columns = fitting(all, a.Width(), o.sort)
		}
		return w, nil
	}
	w.keys = len(o.columns) == 0 && (o.output == "ndjson" || o.output == "json")
	if len(o.columns) == 0 && !w.keys {
		w.columns = slices.DeleteFunc(slices.Clone(all), func(c listColumn) bool { return c.raw == nil })
	}
	var err error
	w.out, err = a.Rows(o.output)
	return w, err
}

func (w *listWriter) write(rows iter.Seq2[listRow, error]) error {
	var err error
	if w.out == nil {
		err = w.table(rows)
	} else {
		err = w.script(rows)
	}
	if err == nil && w.more {
		w.a.Note("There are more than %s: --limit 0 lists all.", terminal.Count(w.n))
	}
	return err
}

// script writes rows for programs.
func (w *listWriter) script(rows iter.Seq2[listRow, error]) error {
	if !w.keys {
		if err := w.out.Columns(columnNames(w.columns)); err != nil {
			return err
		}
	}
	return errors.Join(w.each(rows, w.row), w.end())
}

// end closes the JSON array, also of no rows.
func (w *listWriter) end() error {
	if w.keys && w.n == 0 {
		if err := w.out.Columns([]string{}); err != nil {
			return err
		}
	}
	return w.out.End()
}

// each calls do for as many rows as were asked for.
func (w *listWriter) each(rows iter.Seq2[listRow, error], do func(*listRow) error) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		if w.o.limit > 0 && w.n == w.o.limit {
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

func (w *listWriter) row(r *listRow) error {
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

func (w *listWriter) table(all iter.Seq2[listRow, error]) error {
	g := terminal.Table{}
	for _, c := range w.columns {
		col := terminal.Column{Head: strings.TrimPrefix(c.name, "tool_"), Right: c.right, Shorten: c.flex}
		if len(w.o.columns) == 0 && c.name != w.o.sort {
			col.DropRank = max(c.spare, c.from)
		}
		g.Columns = append(g.Columns, col)
	}
	first := true
	flush := func() error {
		if len(g.Rows) == 0 {
			return nil
		}
		if first && len(w.o.columns) == 0 {
			w.dropEmpty(&g)
		}
		first = false
		_, err := fmt.Fprintln(w.a.Out, w.a.Fit(&g))
		g.Rows = nil
		return err
	}
	err := w.each(all, func(r *listRow) error {
		cells := make([]string, len(w.columns))
		for i, c := range w.columns {
			cells[i] = c.cell(w.a, r)
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
func (w *listWriter) dropEmpty(g *terminal.Table) {
	for i := len(w.columns) - 1; i >= 0; i-- {
		if w.columns[i].name == w.o.sort || slices.ContainsFunc(g.Rows, func(cells []string) bool { return cells[i] != "" && cells[i] != "-" }) {
			continue
		}
		w.columns, *g = slices.Delete(w.columns, i, i+1), *g.Without(i)
	}
}
