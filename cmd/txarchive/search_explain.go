package main

import (
	"strings"

	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// printExplain prints how a query was run, step by step.
func (a *app) printExplain(x *search.Explain) {
	for _, t := range x.Texts {
		as := strings.Join(t.Terms, " ")
		if t.Candidates != "" {
			as = t.Candidates
		}
		a.Note("%s %s: %s", strings.ToUpper(t.Kind[:1])+t.Kind[1:], terminal.OneLine(t.Text), terminal.OneLine(as))
	}
	if len(x.Filters) > 0 {
		a.Note("Filters: %s", terminal.OneLine(strings.Join(x.Filters, ", ")))
	}
	for _, asked := range x.Alternatives {
		a.Note("Query: %s", terminal.OneLine(asked))
	}
	for _, step := range x.Engine {
		a.Note("  %s", terminal.OneLine(step))
	}
}
