package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newPolicyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check and explain retention policies",
		Long: "Check and explain retention policies. A policy is a YAML file that says which runs are kept, thinned or pruned, and\n" +
			"for how long (docs/policy.md). A policy by itself deletes nothing: `txarchive prune --policy FILE` makes a plan from\n" +
			"it." +
			exitCodes("4 no such run or example", "10 no archive"),
		Example: "  txarchive policy example starter > keep.yaml\n  txarchive policy check keep.yaml\n  txarchive policy explain r7sk2 --policy keep.yaml",
	}
	var file string
	explain := &cobra.Command{Use: "explain RUN", Short: "Show which rule decides on a run, why, and until when", Args: argCount(1, 1),
		Example:           "  txarchive policy explain r7sk2\n  txarchive policy explain r7sk2 --policy keep.yaml --json | jq -r '.reasons[]'",
		ValidArgsFunction: a.completeRuns,
		RunE:              func(cmd *cobra.Command, v []string) error { return runPolicyExplain(cmd.Context(), a, file, v[0]) }}
	a.pathVar(explain.Flags(), &file, "policy", "use the policy in `FILE` (default the policy last applied to the archive)")
	cmd.AddCommand(
		&cobra.Command{Use: "check FILE", Short: "Report every mistake in a policy", Args: argCount(1, 1),
			Example: "  txarchive policy check keep.yaml\n  txarchive policy check --json keep.yaml | jq '.mistakes[]'",
			RunE:    func(_ *cobra.Command, v []string) error { return runPolicyCheck(a, v[0]) }},
		&cobra.Command{Use: "show", Short: "Print the policy last applied to the archive", Args: argCount(0, 0),
			Example: "  txarchive policy show > keep.yaml",
			RunE:    func(cmd *cobra.Command, _ []string) error { return runPolicyShow(cmd.Context(), a) }},
		explain,
		&cobra.Command{Use: "example [NAME]", Short: "Print an example policy, or list the examples", Args: argCount(0, 1),
			Example:   "  txarchive policy example flow-studio > keep.yaml",
			ValidArgs: policy.Examples(),
			RunE:      func(_ *cobra.Command, v []string) error { return runPolicyExample(a, strings.Join(v, "")) }})
	return cmd
}

func runPolicyCheck(a *app, file string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	p, err := policy.Parse(src)
	mistakes, ok := errors.AsType[policy.Errors](err)
	if err != nil && !ok {
		return err
	}
	if a.JSON {
		all := []map[string]any{}
		for _, e := range mistakes {
			all = append(all, map[string]any{"line": e.Line, "column": e.Column, "message": e.Message, "hint": printer.OrNull(e.Hint)})
		}
		rules := 0
		if p != nil {
			rules = len(p.Rules)
		}
		if err := a.PrintJSON(map[string]any{"file": file, "valid": len(mistakes) == 0, "rules": rules, "mistakes": all}); err != nil {
			return err
		}
	}
	if len(mistakes) > 0 {
		return a.printMistakes(file, mistakes)
	}
	if p.Empty() {
		a.Note("%s has no rules: it keeps everything, and prune rejects it.", file)
	} else {
		a.Note("%s is valid: %s.", file, terminal.Plural(len(p.Rules), "rule", "rules"))
	}
	return nil
}

func runPolicyShow(ctx context.Context, a *app) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	text, err := a.pruner(store, a.ingester(store)).LastPolicy(ctx)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(map[string]any{"policy": printer.OrNull(text)})
	case text == "":
		a.Note("No policy has been applied to this archive yet. Next: txarchive policy example")
		return nil
	}
	fmt.Fprint(a.Out, terminal.Clean(text))
	return nil
}

func runPolicyExplain(ctx context.Context, a *app, file, id string) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	pruner := a.pruner(store, a.ingester(store))
	run, err := lookup.Run(ctx, store.Index(), id)
	if err != nil {
		return err
	}
	var p *policy.Policy
	if file != "" {
		_, p, err = a.readPolicy(file)
	} else {
		var text string
		if text, err = pruner.LastPolicy(ctx); err == nil && text == "" {
			return failure.Usage("no policy has been applied to this archive yet", "name one: --policy FILE")
		}
		if err == nil {
			p, err = policy.Parse([]byte(text))
		}
	}
	if err != nil {
		return err
	}
	d, r, err := pruner.Explain(ctx, p, run)
	if err != nil {
		return lookup.ExplainNothing(ctx, store.Index(), err, run)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"run_id": d.RunID, "action": d.Action, "tier": d.Tier, "rule": d.Rule, "group": d.Group,
			"reasons": d.Reasons, "until": printer.Stamp(d.Until.Time), "bytes": d.Bytes, "ledger": d.Ledger})
	}
	fmt.Fprintln(a.Out, terminal.Truncate(strings.Join([]string{r.ID, r.Format, terminal.Bytes(r.Bytes), terminal.OneLine(terminal.FirstNonEmpty(r.Title, r.Flow, r.Native))}, "  "), a.Width()))
	fmt.Fprintln(a.Out, a.Wrap(terminal.OneLine(decisionWord(d))+": ", terminal.OneLine(reasonText(d, len(d.Reasons))), "  "))
	if !d.Until.IsZero() {
		fmt.Fprintln(a.Out, "until "+a.FormatClock(d.Until.Time)+", if nothing else changes")
	}
	return nil
}

func runPolicyExample(a *app, name string) error {
	if name == "" {
		for _, n := range policy.Examples() {
			if a.JSON {
				if err := a.PrintJSON(map[string]any{"name": n}); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(a.Out, n)
		}
		return nil
	}
	src, err := policy.Example(name)
	if err != nil {
		return failure.NotFound(fmt.Sprintf("unknown example %q", name), "one of "+strings.Join(policy.Examples(), ", "))
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"name": name, "policy": string(src)})
	}
	_, err = a.Out.Write(src)
	return err
}
