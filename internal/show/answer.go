package show

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// AnswerOptions say what of an answer to a search is printed: its hits unless one of them is set.
type AnswerOptions struct {
	Count  bool     // only the number of hits
	Files  bool     // only the names of originals with hits
	Null   bool     // these as exact bytes, each with NUL after it
	Facets []string // only the number of hits by these fields
}

// Answer prints the answer to a search.
func Answer(ctx context.Context, p *printer.Printer, answer *search.Answer, o AnswerOptions) error {
	switch {
	case o.Count:
		n, err := answer.Count(ctx)
		if err != nil {
			return err
		}
		if p.JSON {
			return p.PrintJSON(map[string]int64{"hits": n})
		}
		_, err = fmt.Fprintln(p.Out, n)
		return err
	case o.Files:
		return printFiles(p, answer, o.Null)
	case len(o.Facets) > 0:
		facets, err := answer.Facets(o.Facets...)
		if err != nil {
			return err
		}
		return printFacets(p, facets)
	}
	h := hitPrinter{Printer: p, style: p.Style(), width: p.Width()}
	for r, err := range answer.Results() {
		if err == nil && p.JSON {
			err = p.PrintJSON(r)
		} else if err == nil {
			h.hit(&r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printFiles prints a file name per line; with null, as its exact bytes, which may include line feeds, and a NUL.
func printFiles(p *printer.Printer, answer *search.Answer, null bool) error {
	out := p.RawOutput()
	for f, err := range answer.Files() {
		name := f.Source + "/" + f.Path
		switch {
		case err != nil:
		case p.JSON:
			err = p.PrintJSON(f)
		case null:
			_, err = io.WriteString(out, name+"\x00")
		default:
			_, err = fmt.Fprintln(p.Out, terminal.OneLine(name))
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

func printFacets(p *printer.Printer, facets []search.Facet) error {
	l := p.Listing(terminal.Column{Head: "field"}, terminal.Column{Head: "value", Shorten: terminal.TruncateMiddle}, terminal.Column{Head: "hits", Right: true})
	for _, f := range facets {
		if err := l.Row(f, f.Field, cmp.Or(f.Value, "(unknown)"), terminal.Count(f.Hits)); err != nil {
			return err
		}
	}
	l.End("")
	return nil
}
