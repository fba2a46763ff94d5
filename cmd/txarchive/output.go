package main

import (
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/terminal"
)

// colored reports whether a stream gets colors.
func (a *app) colored(stream io.Writer) bool {
	switch {
	case a.color == "always":
		return true
	case a.color == "never", a.getenv("NO_COLOR") != "", a.getenv("TERM") == "dumb":
		return false
	}
	_, ok := terminal.Detect(stream)
	return ok
}

func (a *app) style() terminal.Style { return terminal.Style{Enabled: a.colored(a.out)} }

// width returns the width of the terminal that results go to; 0 if they go elsewhere, where lines may be of any length.
func (a *app) width() int {
	w, _ := terminal.Detect(a.out)
	return w
}

// wrap returns lead and words, wrapped to the width of the terminal. Lines after the first begin with margin.
func (a *app) wrap(lead, words, margin string) string {
	return terminal.WrapHanging(lead, words, margin, a.width())
}

// fitTable returns a table at the width of the terminal.
func (a *app) fitTable(t *terminal.Table) string { return t.Fit(a.width(), a.style()) }

// listing is a list of like things: a table for people, NDJSON for scripts.
type listing struct {
	terminal.Table
	a *app
}

func (a *app) listing(columns ...terminal.Column) *listing {
	return &listing{terminal.Table{Columns: columns}, a}
}

// row adds a thing: its JSON object, and its cells.
func (l *listing) row(v any, cells ...string) error {
	if l.a.json {
		return l.a.printJSON(v)
	}
	l.Add(cells...)
	return nil
}

// end prints the table, or the note none if it has no rows.
func (l *listing) end(none string) {
	switch {
	case len(l.Rows) > 0:
		fmt.Fprintln(l.a.out, l.a.fitTable(&l.Table))
	case !l.a.json && none != "":
		l.a.note("%s", none)
	}
}

// encode returns v as JSON on one line, in which nothing acts on a terminal.
func encode(v any) string {
	s, err := terminal.EncodeJSON(v)
	if err != nil {
		return fmt.Sprintf(`{"error":{"code":%d,"message":"encode JSON","hint":null}}`, exitUnexpected)
	}
	return s
}

// printJSON writes one object on one line.
func (a *app) printJSON(v any) error {
	_, err := fmt.Fprintln(a.out, encode(v))
	return err
}
