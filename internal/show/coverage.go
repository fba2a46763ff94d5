package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// NoteIgnored notes the words of a query that have no effect.
func NoteIgnored(p *printer.Printer, words []string) {
	if len(words) > 0 {
		p.Note("Ignored, as it is only punctuation: %s", strings.Join(words, " "))
	}
}

// Coverage notes what the hits do not cover.
func Coverage(p *printer.Printer, c *search.Coverage) {
	found := terminal.Plural(c.Shown, "hit", "hits")
	if c.Shown == 0 {
		found = "Nothing found"
	}
	if c.Rows != nil {
		found += " in " + terminal.Plural(*c.Rows, "searched row", "searched rows")
	}
	p.Note("%s, %s", found, time.Duration(c.Elapsed*int64(time.Microsecond)).Round(time.Millisecond))
	if c.Window != nil {
		p.Note("Only the newest %s hits are ranked; use before: to search older ones", terminal.Count(*c.Window))
	}
	switch {
	case c.More && c.Window == nil && c.Next == nil:
		p.Note("There may be more: --limit 0 shows all")
	case c.More && c.Window == nil:
		p.Note("There may be more: --limit 0 shows all, --after '%s' the next", *c.Next)
	case c.Next != nil:
		p.Note("There are more: --after '%s' shows the next", *c.Next)
	}
	NoteIgnored(p, c.Ignored)
	for _, h := range c.Hidden {
		atLeast := ""
		if h.AtLeast {
			atLeast = "at least "
		}
		excluded := "by " + h.By
		if h.Rule {
			excluded = "(" + h.By + ")"
		}
		p.Note("Excluded %s: %s%s", excluded, atLeast, terminal.Plural(h.Hits, "hit", "hits"))
	}
	noteSources(p, c.Sources, c.More || c.Next != nil)
	if c.Thinned != nil && *c.Thinned > 0 {
		p.Note("A policy has removed the words of %s from the index: txarchive sql \"SELECT run_id, thinned FROM v_runs WHERE thinned <> 'ledger'\"", terminal.Plural(*c.Thinned, "run", "runs"))
	}
	if c.Unreadable > 0 {
		p.Note("%s could not be read: txarchive verify", terminal.Plural(c.Unreadable, "text", "texts"))
	}
	for _, try := range c.Proposals {
		p.Note("Try: txarchive search %s   (%s)", strings.TrimSpace(terminal.ShellQuote(try.Query)+" "+try.Option), try.Why)
	}
	if c.Explain != nil {
		noteExplain(p, c.Explain)
	}
}

// Limits notes, for a search without hits, what search cannot find.
func Limits(p *printer.Printer, c *search.Coverage) {
	if c.Shown == 0 && (c.Rows == nil || *c.Rows > 0) {
		for _, l := range c.Limits {
			p.Note("Limits of search: %s", l)
		}
	}
}

// maxSourcesNamed is how many sources a note names; of the others it gives the number.
const maxSourcesNamed = 3

// noteSources notes the sources of which something may be missing. What could not be read in their files is no news to who sees only some of
// the hits.
func noteSources(p *printer.Printer, sources []search.Source, more bool) {
	var unwell, broken []string
	problems := int64(0)
	for _, s := range sources {
		if s.State != "ok" {
			if unwell = append(unwell, s.Name); len(unwell) <= maxSourcesNamed {
				p.Note("Source %s is %s: %s", s.Name, s.State, s.Reason)
			}
		}
		if s.Problems > 0 {
			broken, problems = append(broken, s.Name), problems+s.Problems
		}
	}
	if more := len(unwell) - maxSourcesNamed; more > 0 {
		p.Note("%s also missing or stale: txarchive status", terminal.Plural(more, "more source", "more sources"))
	}
	if n := len(broken); n > 0 && !more {
		named, has := "Source "+broken[0], "has"
		if n > 1 {
			named, has = "Sources "+strings.Join(broken[:min(n, maxSourcesNamed)], ", "), "have"
		}
		if more := n - maxSourcesNamed; more > 0 {
			named += fmt.Sprintf(" and %s more", terminal.Count(more))
		}
		p.Note("%s %s %s, so the results may be incomplete: txarchive doctor", named, has, terminal.Plural(problems, "problem", "problems"))
	}
}

// noteExplain notes how a query was run, step by step.
func noteExplain(p *printer.Printer, x *search.Explain) {
	for _, t := range x.Texts {
		as := strings.Join(t.Terms, " ")
		if t.Candidates != "" {
			as = t.Candidates
		}
		p.Note("%s %s: %s", strings.ToUpper(t.Kind[:1])+t.Kind[1:], terminal.OneLine(t.Text), terminal.OneLine(as))
	}
	if len(x.Filters) > 0 {
		p.Note("Filters: %s", terminal.OneLine(strings.Join(x.Filters, ", ")))
	}
	for _, asked := range x.Alternatives {
		p.Note("Query: %s", terminal.OneLine(asked))
	}
	for _, step := range x.Engine {
		p.Note("  %s", terminal.OneLine(step))
	}
}
