package main

import (
	"strings"

	"github.com/txarchive/txarchive/internal/search"
)

// printExplain says how a query was run, step by step.
func (a *app) printExplain(x *search.Explain) {
	for _, t := range x.Texts {
		as := strings.Join(t.Terms, " ")
		if t.Candidates != "" {
			as = t.Candidates
		}
		a.note("%s %s: %s", strings.ToUpper(t.Kind[:1])+t.Kind[1:], line(t.Text), line(as))
	}
	if len(x.Filters) > 0 {
		a.note("Filters: %s", line(strings.Join(x.Filters, ", ")))
	}
	for _, asked := range x.Alternatives {
		a.note("Asked: %s", line(asked))
	}
	for _, step := range x.Engine {
		a.note("  %s", line(step))
	}
}
