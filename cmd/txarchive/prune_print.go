package main

import (
	"context"
	"errors"
	"fmt"
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
func (a *app) printPlan(plan *prune.Plan, limit int, do bool) error {
	if a.json {
		return a.printJSON(plan)
	}
	if a.quiet {
		return nil
	}
	all := append(plan.Runs[:len(plan.Runs):len(plan.Runs)], plan.Spared...)
	shown := all
	if limit > 0 && len(shown) > limit {
		shown = shown[:limit]
	}
	for _, same := range alike(shown) {
		fmt.Fprintf(a.out, "%s\n", line(decisionWord(&same[0].Decision)))
		g := &grid{columns: []column{{head: "run"}, {head: "stored", right: true, spare: 1}, {head: "why", flex: cut}, {head: "what", flex: cut}}}
		for i := range same {
			g.add(same[i].RunID, size(same[i].Bytes), why(&same[i].Decision, 1), firstOf(same[i].Title, same[i].Native)+", "+same[i].Format)
		}
		fmt.Fprintf(a.out, "%s\n\n", a.fitted(g))
	}
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(a.out, "... and %s (--limit 0 shows all)\n\n", plural(int64(n), "more run", "more runs"))
	}
	for said := range strings.SplitSeq(planSum(plan), "\n") {
		fmt.Fprintln(a.out, a.wrapped("", said, "  "))
	}
	return nil
}

// alike gathers runs with which the same is done by the same rule.
func alike(runs []prune.PlannedRun) (all [][]prune.PlannedRun) {
	at := map[string]int{}
	for _, r := range runs {
		word := decisionWord(&r.Decision)
		if _, ok := at[word]; !ok {
			at[word] = len(all)
			all = append(all, nil)
		}
		all[at[word]] = append(all[at[word]], r)
	}
	return all
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
	if len(p.Runs) == 0 {
		return fmt.Sprintf("Nothing to prune: %s kept.", plural(int64(p.Kept+len(p.Spared)), "run is", "runs are"))
	}
	pruned := 0
	for i := range p.Runs {
		if p.Runs[i].Action == policy.Prune {
			pruned++
		}
	}
	var parts []string
	if pruned > 0 {
		goes := plural(int64(pruned), "run goes", "runs go")
		if f := &p.Frees; f.Originals > 0 {
			goes += fmt.Sprintf(" (%s of %s)", plural(int64(f.Originals), "original", "originals"), size(f.RawBytes))
		}
		parts = append(parts, goes)
	}
	if n := len(p.Runs) - pruned; n > 0 {
		parts = append(parts, plural(int64(n), "run becomes thinner", "runs become thinner"))
	}
	parts = append(parts, fmt.Sprintf("%s kept", plural(int64(p.Kept+len(p.Spared)), "is", "are")))
	text := strings.Join(parts, ", ") + "."
	f := &p.Frees
	if f.Marked > 0 {
		text += fmt.Sprintf("\n%s of payloads in %s become marks of the same length.", size(f.PayloadBytes), plural(int64(f.Marked), "original", "originals"))
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
		payloads = plural(int64(known), "payload", "payloads")
	}
	return fmt.Sprintf("%s in %s stay:\n  %s; --json names them.", payloads, plural(int64(len(left)), "original", "originals"), strings.Join(parts, ", "))
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
