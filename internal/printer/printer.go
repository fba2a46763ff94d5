// Package printer is where results and notes go, and how they look: for people at the width of their terminal, in their time zone and
// with colors; for programs as JSON that does not depend on any of that.
package printer

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Printer prints what a command finds. All fields but Complete are needed.
type Printer struct {
	Out    io.Writer // results
	Err    io.Writer // everything else
	Getenv func(string) string
	Now    func() time.Time

	JSON  bool
	Quiet bool // no notes
	UTC   bool
	Color string // auto, always or never

	Complete func(format string) string // completes the command lines in a note; nil leaves them as they are

	zoneNoted bool // that $TZ is not known
}

// Colored reports whether a stream gets colors.
func (p *Printer) Colored(stream io.Writer) bool {
	switch {
	case p.Color == "always":
		return true
	case p.Color == "never", p.Getenv("NO_COLOR") != "", p.Getenv("TERM") == "dumb":
		return false
	}
	_, ok := terminal.Detect(stream)
	return ok
}

// Style returns the colors of results.
func (p *Printer) Style() terminal.Style { return terminal.Style{Enabled: p.Colored(p.Out)} }

// Width returns the width of the terminal that results go to; 0 if they go elsewhere, where lines may be of any length.
func (p *Printer) Width() int {
	w, _ := terminal.Detect(p.Out)
	return w
}

// Wrap returns lead and words, wrapped to the width of the terminal. Lines after the first begin with margin.
func (p *Printer) Wrap(lead, words, margin string) string {
	return terminal.WrapHanging(lead, words, margin, p.Width())
}

// Fit returns a table at the width of the terminal.
func (p *Printer) Fit(t *terminal.Table) string { return t.Fit(p.Width(), p.Style()) }

// Note prints a message beside the results. Command lines in its format are completed.
func (p *Printer) Note(format string, args ...any) {
	if p.Quiet {
		return
	}
	if p.Complete != nil {
		format = p.Complete(format)
	}
	p.Message("", fmt.Sprintf(format, args...))
}

// Message prints lead and text to standard error, on one line: names of files may contain line feeds. A terminal gets it wrapped to its
// width.
func (p *Printer) Message(lead, text string) { fmt.Fprintln(p.Err, p.WrapMessage(lead, text)) }

// WrapMessage returns what Message prints.
func (p *Printer) WrapMessage(lead, text string) string {
	width, _ := terminal.Detect(p.Err)
	return wrapLine(lead, text, width)
}

// Line prints a sentence of the results, as Message does.
func (p *Printer) Line(format string, args ...any) {
	fmt.Fprintln(p.Out, wrapLine("", fmt.Sprintf(format, args...), p.Width()))
}

// wrapLine returns lead and text, made harmless, on one line of any length for a width of 0. Else the lines after the first are indented.
func wrapLine(lead, text string, width int) string {
	text = strings.ReplaceAll(terminal.Clean(text), "\n", " ")
	words := strings.TrimLeft(text, " ")
	lead += text[:len(text)-len(words)]
	return terminal.WrapHanging(lead, words, strings.Repeat(" ", len(lead)-len(strings.TrimLeft(lead, " "))+2), width)
}

// FormatOr returns the output format that was asked for, else json for --json, else a table.
func (p *Printer) FormatOr(asked, json string) string {
	switch {
	case asked != "":
		return asked
	case p.JSON:
		return json
	}
	return "table"
}

// Rows returns a writer of rows in an output format.
func (p *Printer) Rows(format string) (*rows.Writer, error) {
	w, ok := rows.New(format, rows.Output{W: p.Out, Width: p.Width(), Style: p.Style()})
	if !ok {
		return nil, failure.Usage(fmt.Sprintf("unknown format %q", format), "--format table, csv, json, ndjson or markdown")
	}
	return w, nil
}

// CheckLimit checks a limit of rows.
func CheckLimit(limit int) error {
	if limit < 0 {
		return failure.Usage("--limit cannot be negative", "--limit 0 is no limit")
	}
	return nil
}

// Listing is a list of like things: a table for people, NDJSON for scripts.
type Listing struct {
	terminal.Table
	p *Printer
}

// Listing returns an empty list.
func (p *Printer) Listing(columns ...terminal.Column) *Listing {
	return &Listing{terminal.Table{Columns: columns}, p}
}

// Row adds a thing: its JSON object, and its cells.
func (l *Listing) Row(v any, cells ...string) error {
	if l.p.JSON {
		return l.p.PrintJSON(v)
	}
	l.Add(cells...)
	return nil
}

// End prints the table, or the note none if it has no rows.
func (l *Listing) End(none string) {
	switch {
	case len(l.Rows) > 0:
		fmt.Fprintln(l.p.Out, l.p.Fit(&l.Table))
	case !l.p.JSON && none != "":
		l.p.Note("%s", none)
	}
}

// RawOutput returns the writer for the bytes of originals. They go out unchanged, except to a terminal, which would act on them.
func (p *Printer) RawOutput() io.WriteCloser {
	if _, ok := terminal.Detect(p.Out); ok {
		return &terminal.CleanWriter{W: p.Out}
	}
	return nopCloser{p.Out}
}

// nopCloser is a writer whose Close does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// DisplayPath returns a path as people write it: with ~ for the home directory.
func (p *Printer) DisplayPath(path string) string {
	if home := p.Getenv("HOME"); home != "" && home != "/" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}
