package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/query"
)

// printPlan shows what a plan would do, or is about to do.
func (a *app) printPlan(plan *prune.Plan, limit int) error {
	if a.json {
		return plan.Write(a.out, encode, "")
	}
	if a.quiet {
		return nil
	}
	all := plan.Runs.Len() + plan.Spared.Len()
	shown := all
	if limit > 0 {
		shown = min(shown, limit)
	}
	words, err := decisions(plan, shown)
	if err != nil {
		return err
	}
	for _, word := range words {
		if err := a.printDecided(plan, shown, word); err != nil {
			return err
		}
	}
	if n := all - shown; n > 0 {
		fmt.Fprintf(a.out, "... and %s (--limit 0 shows all)\n\n", plural(n, "more run", "more runs"))
	}
	for said := range strings.SplitSeq(planSum(plan), "\n") {
		fmt.Fprintln(a.out, a.wrapped("", said, "  "))
	}
	return nil
}

// firstRuns yields the first runs of a plan with what becomes of them: those of which something goes, then those that were spared.
func firstRuns(plan *prune.Plan, n int) iter.Seq2[*prune.PlannedRun, error] {
	return func(yield func(*prune.PlannedRun, error) bool) {
		for _, list := range []*prune.List[prune.PlannedRun]{&plan.Runs, &plan.Spared} {
			for r, err := range list.All() {
				if n--; n < 0 || !yield(r, err) {
					return
				}
			}
		}
	}
}

// decisions are what becomes of the first runs, and by which rule, in the order in which they come.
func decisions(plan *prune.Plan, n int) (words []string, err error) {
	for r, err := range firstRuns(plan, n) {
		if err != nil {
			return nil, err
		}
		if word := decisionWord(&r.Decision); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words, nil
}

// printDecided shows those of the first runs with which the same is done by the same rule, some thousands in a table.
func (a *app) printDecided(plan *prune.Plan, n int, word string) error {
	const most = 5000
	var g *grid
	begin := func() {
		g = &grid{columns: []column{{head: "run"}, {head: "format", spare: 2}, {head: "frees", right: true, spare: 1}, {head: "why", flex: cut}, {head: "what", flex: cut}}}
	}
	begin()
	fmt.Fprintf(a.out, "%s\n", line(word))
	for r, err := range firstRuns(plan, n) {
		switch {
		case err != nil:
			return err
		case decisionWord(&r.Decision) != word:
			continue
		case len(g.rows) == most:
			fmt.Fprintf(a.out, "%s\n", a.fitted(g))
			begin()
		}
		g.add(r.RunID, r.Format, size(r.Bytes), why(&r.Decision, 1), firstOf(r.Title, r.Flow, r.Native))
	}
	fmt.Fprintf(a.out, "%s\n\n", a.fitted(g))
	return nil
}

// decisionWord says what becomes of a run, and by which rule.
func decisionWord(d *policy.Decision) string {
	word := string(d.Action)
	switch {
	case d.Action == policy.Thin && d.Tier == policy.TierPayloads:
		word += fmt.Sprintf(" to payloads up to %s", size(d.Over))
	case d.Action == policy.Thin:
		word += " to " + string(d.Tier)
	}
	if d.Rule != "" {
		word += ", by rule " + d.Rule
	}
	return word
}

// why is the first reasons of a decision on one line; the rule is said elsewhere.
func why(d *policy.Decision, n int) string {
	text := strings.Join(d.Reasons[:min(n, len(d.Reasons))], "; ")
	return strings.TrimPrefix(strings.TrimPrefix(text, "rule "+d.Rule+" "), "rule "+d.Rule+": ")
}

// planSum is a plan in one or two lines.
func planSum(p *prune.Plan) string {
	if p.Runs.Len() == 0 {
		return fmt.Sprintf("Nothing to prune: %s kept.", plural(p.Kept, "run is", "runs are"))
	}
	pruned := p.Pruned()
	var parts []string
	if pruned > 0 {
		parts = append(parts, plural(pruned, "run goes", "runs go"))
	}
	if n := p.Runs.Len() - pruned; n > 0 {
		parts = append(parts, plural(n, "run becomes thinner", "runs become thinner"))
	}
	parts = append(parts, fmt.Sprintf("%s kept", plural(p.Kept, "is", "are")))
	text := strings.Join(parts, ", ") + "."
	f := &p.Frees
	if f.Originals > 0 { // those of runs of which only the ledger stays, too
		text += fmt.Sprintf("\nOriginals that go with them: %s (%s).", number(f.Originals), size(f.RawBytes))
	}
	if f.Marked > 0 {
		text += fmt.Sprintf("\n%s of payloads in %s become marks of the same length.", size(f.PayloadBytes), plural(f.Marked, "original", "originals"))
	}
	if len(p.Left) > 0 {
		text += "\n" + leftSum(p.Left)
	}
	return text + "\n" + freedSum(f)
}

// freedSum says by how much the archive shrinks.
func freedSum(f *prune.Frees) string {
	var of []string
	if f.PackBytes > 0 {
		of = append(of, size(f.PackBytes)+" of packs")
	}
	if f.IndexBytes > 0 {
		of = append(of, size(f.IndexBytes)+" of the index")
	}
	if len(of) == 0 {
		return "Nothing gets smaller by it."
	}
	text := "gc will free about " + strings.Join(of, " and ")
	if f.WrittenBytes > 0 {
		text += fmt.Sprintf(";\n%s are written for what stays", size(f.WrittenBytes))
	}
	return text + "."
}

// leftSum says which payloads stay, and why.
func leftSum(left []prune.Left) string {
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
		payloads = plural(known, "payload", "payloads")
	}
	return fmt.Sprintf("%s in %s stay:\n  %s; --json names them.", payloads, plural(len(left), "original", "originals"), strings.Join(parts, ", "))
}

// choosePolicy reads the policy that a plan is made by.
func (a *app) choosePolicy(c *prune.Choice, file string) error {
	src, p, err := a.readPolicy(file)
	if err != nil {
		return err
	}
	c.By, c.Source, c.Text, c.Policy = "policy", filepath.Base(file), string(src), p
	return nil
}

// readPolicy reads a policy, or says all that is wrong with it.
func (a *app) readPolicy(file string) ([]byte, *policy.Policy, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	p, err := policy.Parse(src)
	var mistakes policy.Errors
	if errors.As(err, &mistakes) {
		return nil, nil, a.mistaken(file, mistakes)
	}
	return src, p, err
}

// mistaken prints every mistake of a policy but the first, which is the error.
func (a *app) mistaken(file string, mistakes policy.Errors) error {
	text := func(e *policy.Error) string { return fmt.Sprintf("%s:%d:%d: %s", file, e.Line, e.Column, e.Message) }
	hint := "`txarchive policy example` shows policies that work"
	if mistakes[0].Hint != "" {
		hint = mistakes[0].Hint
	}
	for _, e := range mistakes[1:] {
		if !a.json {
			fmt.Fprintln(a.err, "txarchive: "+line(text(e)))
			if e.Hint != "" {
				fmt.Fprintln(a.err, "hint: "+line(e.Hint))
			}
		}
	}
	return &failure{code: exitUsage, text: text(mistakes[0]), hint: hint, err: mistakes}
}

// chooseQuery finds the runs of a query.
func (a *app) chooseQuery(ctx context.Context, store *archive.Archive, c *prune.Choice, text string) error {
	zone, err := a.zone("")
	if err != nil {
		return err
	}
	tree, err := query.Parse(text, a.now(), zone)
	if err != nil {
		return err
	}
	if tree.Root == nil {
		return usage("the query is empty", "an empty query would mean every run; --query after:1970 says so")
	}
	c.By, c.Source = "query", text
	for r, err := range store.Index().Runs(ctx, index.Selection{Query: tree}, index.Page{}) {
		if err != nil {
			return err
		}
		c.Runs = append(c.Runs, r.ID)
	}
	return nil
}
