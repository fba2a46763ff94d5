// Package rows writes rows of values, such as those of an SQL statement, as a table for people, CSV, JSON, NDJSON or Markdown, and escapes
// what others write as Markdown or HTML.
package rows

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Writer writes rows as they arrive: Columns once, Row for each, then End.
type Writer struct {
	Columns func(names []string) error
	Row     func(values []any) error
	End     func() error
}

// Output is where rows go.
type Output struct {
	W     io.Writer
	Width int            // of tables; 0 is any
	Style terminal.Style // of tables
}

// Formats are the formats that rows can be written in.
var Formats = []string{"table", "csv", "json", "ndjson", "markdown"}

// New returns a writer for a format; false if there is no such format.
func New(format string, o Output) (*Writer, bool) {
	switch format {
	case "table":
		return tableRows(o), true
	case "csv":
		return csvRows(o.W), true
	case "json":
		return jsonRows(o.W, "[", ",", "]"), true
	case "ndjson":
		return jsonRows(o.W, "", "", ""), true
	case "markdown":
		return markdownRows(o.W), true
	}
	return nil, false
}

// HumanReadable returns a writer that shows micro-USD of cost_microusd as dollars under the name cost, and formats the texts for which
// formatTime returns true.
func (w *Writer) HumanReadable(formatTime func(string) (string, bool)) *Writer {
	costs := map[int]bool{}
	return &Writer{
		Columns: func(names []string) error {
			names = slices.Clone(names)
			for i, n := range names {
				if n == "cost_microusd" {
					names[i], costs[i] = "cost", true
				}
			}
			return w.Columns(names)
		},
		Row: func(values []any) error {
			values = slices.Clone(values)
			for i, v := range values {
				switch v := v.(type) {
				case int64:
					if costs[i] {
						values[i] = terminal.Dollars(&v)
					}
				case string:
					if text, ok := formatTime(v); ok {
						values[i] = text
					}
				}
			}
			return w.Row(values)
		},
		End: w.End,
	}
}

// TableChunk is how many rows share column widths: the first rows are printed before the last one is known. Long rows are fewer.
const TableChunk = 1000

// tableBytes is the length of the cells after which no more rows share column widths.
const tableBytes = 16 << 20

func tableRows(o Output) *Writer {
	var g terminal.Table
	shown, held := false, 0
	flush := func() error {
		if len(g.Rows) == 0 && shown || len(g.Columns) == 0 {
			return nil
		}
		for i := range g.Columns {
			g.Columns[i].Right = len(g.Rows) > 0 && onlyNumbers(&g, i)
			switch {
			case onlyIDs(&g, i):
				g.Columns[i].Shorten = nil
			case onlyNames(&g, i):
				g.Columns[i].Shorten = terminal.TruncateMiddle
			default:
				g.Columns[i].Shorten = terminal.Truncate
			}
		}
		shown = true
		_, err := fmt.Fprintln(o.W, g.Fit(o.Width, o.Style))
		g.Rows, held = nil, 0
		return err
	}
	return &Writer{
		Columns: func(names []string) error {
			for _, n := range names {
				g.Columns = append(g.Columns, terminal.Column{Head: terminal.OneLine(n)})
			}
			return nil
		},
		Row: func(values []any) error {
			cells := make([]string, len(values))
			for i, v := range values {
				cells[i] = Text(v)
				held += len(cells[i])
			}
			g.Add(cells...)
			if len(g.Rows) == TableChunk || held >= tableBytes {
				return flush()
			}
			return nil
		},
		End: flush,
	}
}

// publicID matches the id of a run, conversation, event or usage record.
var publicID = lazyregexp.New(`^[rcu][0-9a-z]{12}(:[0-9]+(\.[0-9]+)?)?$`)

// onlyIDs reports whether a column holds nothing but ids. They are never shortened: people type them again.
func onlyIDs(g *terminal.Table, i int) bool {
	return len(g.Rows) > 0 && !slices.ContainsFunc(g.Rows, func(row []string) bool { return row[i] != "" && !publicID.MatchString(row[i]) })
}

// onlyNames reports whether no cell of a column has a space: names and paths often begin alike.
func onlyNames(g *terminal.Table, i int) bool {
	return !slices.ContainsFunc(g.Rows, func(row []string) bool { return strings.Contains(row[i], " ") })
}

// onlyNumbers reports whether a column holds nothing but numbers and amounts of dollars.
func onlyNumbers(g *terminal.Table, i int) bool {
	for _, row := range g.Rows {
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

func csvRows(out io.Writer) *Writer {
	w := csv.NewWriter(out)
	return &Writer{
		Columns: w.Write,
		Row: func(values []any) error {
			cells := make([]string, len(values))
			for i, v := range values {
				cells[i] = escapeFormula(v)
				if _, ok := terminal.Detect(out); ok {
					cells[i] = terminal.Clean(cells[i])
				}
			}
			return w.Write(cells)
		},
		End: func() error {
			w.Flush()
			return w.Error()
		},
	}
}

// escapeFormula returns a value for CSV. Text that a spreadsheet would run as a formula gets an apostrophe in front.
func escapeFormula(v any) string {
	s := Text(v)
	switch v.(type) {
	case string, []byte:
		first, _ := utf8.DecodeRuneInString(s)
		if s == "" || s == "-" || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) { // some take full-width signs for the others
			return s
		}
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}

// jsonRows writes objects: first before them, between two of them, last after them.
func jsonRows(out io.Writer, first, between, last string) *Writer {
	var names []string
	n := 0
	return &Writer{
		Columns: func(c []string) error {
			names = c
			_, err := fmt.Fprint(out, first)
			return err
		},
		Row: func(values []any) error {
			var b strings.Builder
			if n++; n > 1 {
				b.WriteString(between + "\n")
			}
			b.WriteByte('{')
			for i, v := range values {
				if i > 0 {
					b.WriteByte(',')
				}
				name, err := terminal.EncodeJSON(names[i])
				if err != nil {
					return err
				}
				value, err := terminal.EncodeJSON(jsonValue(v))
				if err != nil {
					return err
				}
				b.WriteString(name + ":" + value)
			}
			b.WriteByte('}')
			_, err := fmt.Fprint(out, b.String())
			return err
		},
		End: func() error {
			if names == nil || last == "" && n == 0 {
				return nil
			}
			_, err := fmt.Fprintln(out, last)
			return err
		},
	}
}

func markdownRows(out io.Writer) *Writer {
	cells := func(values []string) error {
		for i := range values {
			values[i] = strings.ReplaceAll(EscapeMarkdown(terminal.OneLine(values[i])), "|", `\|`)
		}
		_, err := fmt.Fprintf(out, "| %s |\n", strings.Join(values, " | "))
		return err
	}
	return &Writer{
		Columns: func(names []string) error {
			if err := cells(append([]string(nil), names...)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(out, "|%s\n", strings.Repeat(" --- |", len(names)))
			return err
		},
		Row: func(values []any) error {
			plain := make([]string, len(values))
			for i, v := range values {
				plain[i] = Text(v)
			}
			return cells(plain)
		},
		End: func() error { return nil },
	}
}

// Text returns a value as text: NULL is empty, bytes that are not text are hexadecimal.
func Text(v any) string {
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

// jsonValue returns a value for JSON: bytes that are not text are base64, numbers that are not finite are null.
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

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "&", "&amp;")

// EscapeMarkdown escapes a line of text so that it is not read as markup.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
