package main

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// rowWriter prints the rows of a statement as they come.
type rowWriter struct {
	columns func([]string) error
	row     func([]any) error
	end     func() error
}

// sheetFormats are the formats that rows are written in.
var sheetFormats = []string{"table", "csv", "json", "ndjson", "markdown"}

func newRowWriter(a *app, format string) (*rowWriter, error) {
	switch format {
	case "table":
		return tableRows(a), nil
	case "csv":
		return csvRows(a), nil
	case "json":
		return jsonRows(a, "[", ",", "]"), nil
	case "ndjson":
		return jsonRows(a, "", "", ""), nil
	case "markdown":
		return markdownRows(a), nil
	}
	return nil, usage(fmt.Sprintf("there is no format %q", format), "--format table, csv, json, ndjson or markdown")
}

// forPeople prints costs and times as people read them.
func (w *rowWriter) forPeople(a *app) *rowWriter {
	costs := map[int]bool{}
	return &rowWriter{
		columns: func(names []string) error {
			names = slices.Clone(names)
			for i, n := range names {
				if n == "cost_microusd" {
					names[i], costs[i] = "cost", true
				}
			}
			return w.columns(names)
		},
		row: func(values []any) error {
			values = slices.Clone(values)
			for i, v := range values {
				switch v := v.(type) {
				case int64:
					if costs[i] {
						values[i] = dollars(&v)
					}
				case string:
					if t, err := time.Parse(stampLayout, v); err == nil {
						values[i] = a.clock(t)
					}
				}
			}
			return w.row(values)
		},
		end: w.end,
	}
}

// formatOr is the format that was asked for, else what --json means, else a table.
func (a *app) formatOr(asked, json string) string {
	switch {
	case asked != "":
		return asked
	case a.json:
		return json
	}
	return "table"
}

// checkRows checks a number of rows to show.
func checkRows(limit int) error {
	if limit < 0 {
		return usage("a number of rows cannot be negative", "--limit 0 is no limit")
	}
	return nil
}

// tableChunk is how many rows share the widths of their columns: a table begins before its last row is there.
const tableChunk = 1000

func tableRows(a *app) *rowWriter {
	var g grid
	shown := false
	flush := func() error {
		if len(g.rows) == 0 && shown || len(g.columns) == 0 {
			return nil
		}
		for i := range g.columns {
			g.columns[i].right = len(g.rows) > 0 && g.numeric(i)
			if g.columns[i].flex = cut; g.ids(i) {
				g.columns[i].flex = nil
			}
		}
		shown = true
		_, err := fmt.Fprintln(a.out, a.fitted(&g))
		g.rows = nil
		return err
	}
	return &rowWriter{
		columns: func(names []string) error {
			for _, n := range names {
				g.columns = append(g.columns, column{head: line(n)})
			}
			return nil
		},
		row: func(values []any) error {
			cells := make([]string, len(values))
			for i, v := range values {
				cells[i] = plainValue(v)
			}
			g.add(cells...)
			if len(g.rows) == tableChunk {
				return flush()
			}
			return nil
		},
		end: flush,
	}
}

// publicID is the id of a run, conversation, event or usage record.
var publicID = lazyregexp.New(`^[rcu][0-9a-z]{12}(:[0-9]+(\.[0-9]+)?)?$`)

// ids says whether a column has ids only, which are typed again: what is cut of them names nothing.
func (g *grid) ids(i int) bool {
	return len(g.rows) > 0 && !slices.ContainsFunc(g.rows, func(row []string) bool { return row[i] != "" && !publicID.MatchString(row[i]) })
}

// numeric says whether a column has numbers only.
func (g *grid) numeric(i int) bool {
	for _, row := range g.rows {
		cell := row[i]
		if usd, ok := strings.CutPrefix(cell, "$"); ok {
			cell = strings.ReplaceAll(usd, ",", "")
		}
		if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" {
			return false
		}
	}
	return true
}

func csvRows(a *app) *rowWriter {
	w := csv.NewWriter(a.out)
	return &rowWriter{
		columns: w.Write,
		row: func(values []any) error {
			cells := make([]string, len(values))
			for i, v := range values {
				cells[i] = noFormula(v)
				if _, ok := terminal(a.out); ok {
					cells[i] = clean(cells[i])
				}
			}
			return w.Write(cells)
		},
		end: func() error {
			w.Flush()
			return w.Error()
		},
	}
}

// noFormula is a value as CSV has it: an apostrophe stands before a text that a spreadsheet would take for a formula and run.
func noFormula(v any) string {
	s := plainValue(v)
	switch v.(type) {
	case string, []byte:
		if s == "" || s == "-" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
			return s
		}
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}

func jsonRows(a *app, first, between, last string) *rowWriter {
	var names []string
	n := 0
	return &rowWriter{
		columns: func(c []string) error {
			names = c
			_, err := fmt.Fprint(a.out, first)
			return err
		},
		row: func(values []any) error {
			var b strings.Builder
			if n++; n > 1 {
				b.WriteString(between + "\n")
			}
			b.WriteByte('{')
			for i, v := range values {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(encode(names[i]) + ":" + encode(jsonValue(v)))
			}
			b.WriteByte('}')
			_, err := fmt.Fprint(a.out, b.String())
			return err
		},
		end: func() error {
			if names == nil || last == "" && n == 0 {
				return nil
			}
			_, err := fmt.Fprintln(a.out, last)
			return err
		},
	}
}

func markdownRows(a *app) *rowWriter {
	cells := func(values []string) error {
		for i := range values {
			values[i] = strings.ReplaceAll(markdown(line(values[i])), "|", `\|`)
		}
		_, err := fmt.Fprintf(a.out, "| %s |\n", strings.Join(values, " | "))
		return err
	}
	return &rowWriter{
		columns: func(names []string) error {
			if err := cells(append([]string(nil), names...)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.out, "|%s\n", strings.Repeat(" --- |", len(names)))
			return err
		},
		row: func(values []any) error {
			plain := make([]string, len(values))
			for i, v := range values {
				plain[i] = plainValue(v)
			}
			return cells(plain)
		},
		end: func() error { return nil },
	}
}

// plainValue is a value as text: NULL is empty, bytes that are no text are hexadecimal.
func plainValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return hex.EncodeToString(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// jsonValue is a value as JSON has it: bytes that are no text are base64, what is no number is null.
func jsonValue(v any) any {
	switch v := v.(type) {
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return base64.StdEncoding.EncodeToString(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
	}
	return v
}
