package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// printAnswer prints what was asked for: hits, or only their number, files or facets.
func (a *app) printAnswer(ctx context.Context, answer *search.Answer, o searchOptions) error {
	switch {
	case o.count:
		n, err := answer.Count(ctx)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(map[string]int64{"hits": n})
		}
		_, err = fmt.Fprintln(a.Out, n)
		return err
	case o.files:
		return a.printFiles(answer, o.null)
	case len(o.facets) > 0:
		facets, err := answer.Facets(o.facets...)
		if err != nil {
			return err
		}
		return a.printFacets(facets)
	}
	show := hitPrinter{a: a, style: a.Style(), width: a.Width()}
	for r, err := range answer.Results() {
		if err == nil && a.JSON {
			err = a.PrintJSON(r)
		} else if err == nil {
			show.hit(&r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printFiles prints a file name per line; with null, as its exact bytes, which may include line feeds, and a NUL.
func (a *app) printFiles(answer *search.Answer, null bool) error {
	out := a.rawOutput()
	for f, err := range answer.Files() {
		name := f.Source + "/" + f.Path
		switch {
		case err != nil:
		case a.JSON:
			err = a.PrintJSON(f)
		case null:
			_, err = io.WriteString(out, name+"\x00")
		default:
			_, err = fmt.Fprintln(a.Out, terminal.OneLine(name))
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

func (a *app) printFacets(facets []search.Facet) error {
	l := a.Listing(terminal.Column{Head: "field"}, terminal.Column{Head: "value", Shorten: terminal.TruncateMiddle}, terminal.Column{Head: "hits", Right: true})
	for _, f := range facets {
		if err := l.Row(f, f.Field, cmp.Or(f.Value, "(unknown)"), terminal.Count(f.Hits)); err != nil {
			return err
		}
	}
	l.End("")
	return nil
}

// staleAfter is the age of the last complete scan of a source from which a search notes it.
const staleAfter = 7 * 24 * time.Hour

// searchedSources returns a function that reports, for each source that is followed, whether its directory exists, how current and how
// complete it is.
func (a *app) searchedSources(ctx context.Context, store *archive.Archive) (look func() []search.Source, err error) {
	all, err := ingest.Sources(ctx, store.Index())
	if err != nil {
		return nil, err
	}
	notes, err := store.Index().LoadLocal(ctx, scannedKey)
	if err != nil {
		return nil, err
	}
	problems, err := store.Index().ProblemsBySource(ctx)
	if err != nil {
		return nil, err
	}
	return func() (states []search.Source) {
		for _, s := range all {
			state := search.Source{Name: s.Name, Path: s.Root, State: "ok", Problems: problems[s.Name]}
			if at := lastScanned(notes, s.Name, a.Now()); !at.IsZero() {
				state.Last = &at
			}
			if a.look(s, &state) {
				states = append(states, state)
			}
		}
		return states
	}, nil
}

// look reports whether a source is followed, and records in state whether its directory exists and how current it is.
func (a *app) look(s ingest.Named, state *search.Source) (followed bool) {
	switch age := a.Now().Sub(s.Added); sourceState(s) {
	case "removed":
		return false
	case "missing":
		state.State, state.Reason = "missing", "its directory is missing; what was stored from it is searched"
	default:
		if state.Last != nil {
			age = a.Now().Sub(*state.Last)
		}
		if age > staleAfter {
			state.State, state.Reason = "stale", "not scanned for "+terminal.Duration(age.Truncate(24*time.Hour))+"; newer files are not searched: txarchive ingest"
		}
	}
	return true
}

// noteIgnored notes the words of a query that have no effect.
func (a *app) noteIgnored(words []string) {
	if len(words) > 0 {
		a.Note("Ignored, as it is only punctuation: %s", strings.Join(words, " "))
	}
}

// printCoverage notes what the hits do not cover.
func (a *app) printCoverage(c *search.Coverage) {
	found := terminal.Plural(c.Shown, "hit", "hits")
	if c.Shown == 0 {
		found = "Nothing found"
	}
	if c.Rows != nil {
		found += " in " + terminal.Plural(*c.Rows, "searched row", "searched rows")
	}
	a.Note("%s, %s", found, time.Duration(c.Elapsed*int64(time.Microsecond)).Round(time.Millisecond))
	if c.Window != nil {
		a.Note("Only the newest %s hits are ranked; use before: to search older ones", terminal.Count(*c.Window))
	}
	switch {
	case c.More && c.Window == nil && c.Next == nil:
		a.Note("There may be more: --limit 0 shows all")
	case c.More && c.Window == nil:
		a.Note("There may be more: --limit 0 shows all, --after '%s' the next", *c.Next)
	case c.Next != nil:
		a.Note("There are more: --after '%s' shows the next", *c.Next)
	}
	a.noteIgnored(c.Ignored)
	for _, h := range c.Hidden {
		atLeast := ""
		if h.AtLeast {
			atLeast = "at least "
		}
		a.Note("Excluded (%s): %s%s", h.By, atLeast, terminal.Plural(h.Hits, "hit", "hits"))
	}
	a.printSources(c.Sources, c.More || c.Next != nil)
	if c.Thinned != nil && *c.Thinned > 0 {
		a.Note("A policy has removed the words of %s from the index: txarchive sql \"SELECT run_id, thinned FROM v_runs WHERE thinned <> 'ledger'\"", terminal.Plural(*c.Thinned, "run", "runs"))
	}
	if c.Shown == 0 && (c.Rows == nil || *c.Rows > 0) {
		for _, l := range c.Limits {
			a.Note("Limits of search: %s", l)
		}
	}
	if c.Unreadable > 0 {
		a.Note("%s could not be read: txarchive verify", terminal.Plural(c.Unreadable, "text", "texts"))
	}
	for _, p := range c.Proposals {
		a.Note("Try: txarchive search %s   (%s)", strings.TrimSpace(terminal.ShellQuote(p.Query)+" "+p.Option), p.Why)
	}
	if c.Explain != nil {
		a.printExplain(c.Explain)
	}
}

// maxSourcesNamed is how many sources a note names; of the others it gives the number.
const maxSourcesNamed = 3

// printSources notes the sources of which something may be missing. What could not be read in their files is no news to who sees only some of
// the hits.
func (a *app) printSources(sources []search.Source, more bool) {
	var unwell, broken []string
	problems := int64(0)
	for _, s := range sources {
		if s.State != "ok" {
			if unwell = append(unwell, s.Name); len(unwell) <= maxSourcesNamed {
				a.Note("Source %s is %s: %s", s.Name, s.State, s.Reason)
			}
		}
		if s.Problems > 0 {
			broken, problems = append(broken, s.Name), problems+s.Problems
		}
	}
	if more := len(unwell) - maxSourcesNamed; more > 0 {
		a.Note("%s also missing or stale: txarchive status", terminal.Plural(more, "more source", "more sources"))
	}
	if n := len(broken); n > 0 && !more {
		named, has := "Source "+broken[0], "has"
		if n > 1 {
			named, has = "Sources "+strings.Join(broken[:min(n, maxSourcesNamed)], ", "), "have"
		}
		if more := n - maxSourcesNamed; more > 0 {
			named += fmt.Sprintf(" and %s more", terminal.Count(more))
		}
		a.Note("%s %s %s, so the results may be incomplete: txarchive doctor", named, has, terminal.Plural(problems, "problem", "problems"))
	}
}
