package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// printPlan prints what a plan would do, or is about to do.
func (a *app) printPlan(plan *prune.Plan, limit int) error {
	if a.JSON {
		return plan.Write(a.Out, printer.Encode, "")
	}
	if a.Quiet {
		return nil
	}
	all := plan.Runs.Len() + plan.Spared.Len()
	shown := all
	if limit > 0 {
		shown = min(shown, limit)
	}
	runs := plan.NewestFirst(shown)
	words, err := decisions(runs)
	if err != nil {
		return err
	}
	for _, word := range words {
		if err := a.printDecided(runs, word); err != nil {
			return err
		}
	}
	if n := all - shown; n > 0 {
		fmt.Fprintf(a.Out, "... and %s (--limit 0 shows all)\n\n", terminal.Plural(n, "more run", "more runs"))
	}
	for said := range strings.SplitSeq(planSummary(plan), "\n") {
		a.Line("%s", said)
	}
	return nil
}

// decisions returns the different decisions about runs, each with its rule, in order of appearance.
func decisions(runs iter.Seq2[*prune.PlannedRun, error]) (words []string, err error) {
	for r, err := range runs {
		if err != nil {
			return nil, err
		}
		if word := decisionWord(&r.Decision); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words, nil
}

// printDecided prints those of the runs that have a decision, some thousands in a table.
func (a *app) printDecided(runs iter.Seq2[*prune.PlannedRun, error], word string) error {
	const most = 5000
	var g *terminal.Table
	reason, err := commonReason(runs, word)
	if err != nil {
		return err
	}
	begin := func() {
		g = &terminal.Table{Columns: []terminal.Column{{Head: "run"}, {Head: "started", DropRank: 1}, {Head: "format", DropRank: 3}, {Head: "frees", Right: true, DropRank: 2}}}
		if reason == "" {
			g.Columns = append(g.Columns, terminal.Column{Head: "why", Shorten: terminal.Truncate})
		}
		g.Columns = append(g.Columns, terminal.Column{Head: "what", Shorten: terminal.Truncate})
	}
	begin()
	a.Line("%s", terminal.OneLine(strings.Join(terminal.NonEmpty(word, reason), ": ")))
	for r, err := range runs {
		switch {
		case err != nil:
			return err
		case decisionWord(&r.Decision) != word:
			continue
		case len(g.Rows) == most:
			fmt.Fprintf(a.Out, "%s\n", a.Fit(g))
			begin()
		}
		started := ""
		if r.Started != nil {
			started = r.Started.In(a.Location()).Format(time.DateOnly)
		}
		cells := []string{r.RunID, started, r.Format, terminal.Bytes(r.Bytes)}
		if reason == "" {
			cells = append(cells, reasonText(&r.Decision, 1))
		}
		g.Add(append(cells, terminal.FirstNonEmpty(string(r.Title), string(r.Flow), r.Native))...)
	}
	fmt.Fprintf(a.Out, "%s\n\n", a.Fit(g))
	return nil
}

// commonReason returns the reason that all runs with a decision share; "" if they have different ones.
func commonReason(runs iter.Seq2[*prune.PlannedRun, error], word string) (string, error) {
	reasons := map[string]bool{}
	for r, err := range runs {
		if err != nil {
			return "", err
		}
		if decisionWord(&r.Decision) == word {
			reasons[reasonText(&r.Decision, 1)] = true
		}
	}
	if len(reasons) > 1 {
		return "", nil
	}
	return strings.Join(slices.Collect(maps.Keys(reasons)), ""), nil
}

// decisionWord describes a decision and its rule.
func decisionWord(d *policy.Decision) string {
	word := string(d.Action)
	switch {
	case d.Action == policy.Thin && d.Tier == policy.TierPayloads:
		word += fmt.Sprintf(" to payloads of at most %s", terminal.Bytes(d.Over))
	case d.Action == policy.Thin:
		word += " to " + string(d.Tier)
	}
	if d.Rule != "" {
		word += ", by rule " + string(d.Rule)
	}
	return word
}

// reasonText returns the first n reasons of a decision on one line, without the rule, which is printed elsewhere.
func reasonText(d *policy.Decision, n int) string {
	text := strings.Join(d.Reasons[:min(n, len(d.Reasons))], "; ")
	return strings.TrimPrefix(strings.TrimPrefix(text, "rule "+string(d.Rule)+" "), "rule "+string(d.Rule)+": ")
}

// planSummary describes a plan in one or two lines.
func planSummary(p *prune.Plan) string {
	if p.Runs.Len() == 0 {
		return fmt.Sprintf("Nothing to prune: %s kept.", terminal.Plural(p.Kept, "run is", "runs are"))
	}
	pruned := p.Pruned()
	var parts []string
	if pruned > 0 {
		parts = append(parts, terminal.Plural(pruned, "run to prune", "runs to prune"))
	}
	if n := p.Runs.Len() - pruned; n > 0 {
		parts = append(parts, terminal.Plural(n, "run to thin", "runs to thin"))
	}
	parts = append(parts, fmt.Sprintf("%s to keep", terminal.Count(p.Kept)))
	text := strings.Join(parts, ", ") + "."
	f := &p.Frees
	if f.Originals > 0 {
		what := "Earlier versions removed"
		if p.Ends() {
			what = "Originals pruned with them"
		}
		text += fmt.Sprintf("\n%s: %s (%s).", what, terminal.Count(f.Originals), terminal.Bytes(f.RawBytes))
	}
	if f.Marked > 0 {
		text += fmt.Sprintf("\n%s of payloads in %s are replaced by marks of the same length.", terminal.Bytes(f.PayloadBytes), terminal.Plural(f.Marked, "original", "originals"))
	}
	if len(p.Left) > 0 {
		text += "\n" + keptPayloads(p.Left)
	}
	return text + "\n" + freedSummary(f)
}

// freedSummary says by how much the archive shrinks.
func freedSummary(f *prune.Frees) string {
	var of []string
	if f.PackBytes > 0 {
		of = append(of, terminal.Bytes(f.PackBytes)+" of packs")
	}
	if f.IndexBytes > 0 {
		of = append(of, terminal.Bytes(f.IndexBytes)+" of the index")
	}
	if len(of) == 0 {
		return "This frees no space."
	}
	text := "gc will free about " + strings.Join(of, " and ")
	if f.WrittenBytes > 0 {
		text += fmt.Sprintf(";\nit rewrites %s for what is kept", terminal.Bytes(f.WrittenBytes))
	}
	return text + "."
}

// keptPayloads says which payloads stay, and why.
func keptPayloads(left []prune.Left) string {
	why, known := map[string]int{}, 0
	for _, l := range left {
		why[l.Why]++
		if l.Count != nil {
			known += *l.Count
		}
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", reason, why[reason]))
	}
	payloads := "Payloads"
	if known > 0 {
		payloads = terminal.Plural(known, "payload", "payloads")
	}
	return fmt.Sprintf("%s in %s are kept:\n  %s; --json lists them.", payloads, terminal.Plural(len(left), "original", "originals"), strings.Join(parts, ", "))
}

// choosePolicy reads the policy of a plan.
func (a *app) choosePolicy(c *prune.Choice, file string) error {
	src, p, err := a.readPolicy(file)
	if err != nil {
		return err
	}
	c.By, c.Source, c.Text, c.Policy = "policy", filepath.Base(file), string(src), p
	return nil
}

// readPolicy reads a policy, and prints everything that is wrong with it.
func (a *app) readPolicy(file string) ([]byte, *policy.Policy, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	p, err := policy.Parse(src)
	if mistakes, ok := errors.AsType[policy.Errors](err); ok {
		return nil, nil, a.printMistakes(file, mistakes)
	}
	return src, p, err
}

// printMistakes prints the mistakes of a policy in order, except the last, which is the error that it returns. The only error in JSON is the first.
func (a *app) printMistakes(file string, mistakes policy.Errors) error {
	text := func(e *policy.Error) string { return fmt.Sprintf("%s:%d:%d: %s", file, e.Line, e.Column, e.Message) }
	last := len(mistakes) - 1
	if a.JSON {
		last = 0
	}
	for _, e := range mistakes[:last] {
		a.printError(text(e), a.completeCommands(e.Hint))
	}
	return &failure.Error{Code: failure.ExitUsage, Text: text(mistakes[last]), Hint: cmp.Or(mistakes[last].Hint, "`txarchive policy example` shows valid policies"), Err: mistakes}
}

// chooseQuery selects the runs of a query for a plan.
func (a *app) chooseQuery(ctx context.Context, store *archive.Archive, c *prune.Choice, text string) error {
	zone, err := a.zone("")
	if err != nil {
		return err
	}
	tree, err := query.Parse(text, a.Now(), zone)
	if err != nil {
		return err
	}
	if tree.Root == nil {
		return failure.Usage("the query is empty", "an empty query would match every run: use --query after:1970 for that")
	}
	if words := search.Ignored(tree.Root); len(words) > 0 {
		return failure.Usage("the query has words that are only punctuation: "+strings.Join(words, " "), "they would match every run: leave them out")
	}
	c.By, c.Source = "query", text
	if c.Runs, err = store.Index().RunIDs(ctx, index.Selection{Query: tree}, index.Page{}); err != nil {
		return err
	}
	if len(c.Runs) == 0 { // the query may be misspelt; what else it may mean is to be looked at first
		s := a.suggester(store)
		s.Relaxed(ctx, "list", text, runsMatch(ctx, store, index.Selection{}, index.Page{}))
		s.Else()
	}
	return nil
}
