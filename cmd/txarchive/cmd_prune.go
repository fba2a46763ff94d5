package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/terminal"
)

type pruneOptions struct {
	policy     string
	query      string
	runs       []string
	plan       string
	apply      string
	yes        bool
	undo       bool
	allowEmpty bool
	children   string
	thin       string
	dropLedger bool
	byHand     bool // a flag was given that only goes with --query and --run
	limit      int
}

func newPruneCommand(a *app) *cobra.Command {
	var o pruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove runs from the archive by policy, query or id",
		Long: "Show which runs a retention policy, a query or a list of ids would remove from the archive, and why. The plan is\n" +
			"applied exactly as shown, once you confirm it. Without --yes or --apply, the command asks on a terminal, and changes\n" +
			"nothing elsewhere.\n\n" +
			"Pruned runs leave the index at once. --undo brings them back until `txarchive gc` has removed their data. Their cost\n" +
			"stays in all totals, unless a rule or --drop-ledger says otherwise. Pinned and held runs are never pruned. Sources are\n" +
			"never touched, and what was pruned is not ingested again while its file is unchanged.\n\n" +
			"Applying a policy also makes it the policy of the archive, by which `nightly` prunes. docs/retention.md has the\n" +
			"details." +
			exitCodes("4 no such run, or nothing to undo", "8 refused: a policy without rules, a group or an archive that would lose its last run, a plan that is out of date, or data that gc has removed", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive prune --policy keep.yaml                # show the plan, and why\n" +
			"  txarchive prune --policy keep.yaml --yes          # apply it\n" +
			"  txarchive prune --query 'before:90d outcome:failed' --plan plan.json\n" +
			"  txarchive prune --apply plan.json                 # exactly that plan\n" +
			"  txarchive prune --run r7sk2 --thin ledger --yes   # keep only its cost\n" +
			"  txarchive prune --undo r7sk2                      # works until gc",
		RunE: func(cmd *cobra.Command, names []string) error {
			o.byHand = o.thin != "" || o.dropLedger || cmd.Flags().Changed("children")
			return runPrune(cmd.Context(), a, o, names)
		},
	}
	f := cmd.Flags()
	a.pathVar(f, &o.policy, "policy", "plan by the policy in `FILE` (see txarchive policy)")
	f.StringVar(&o.query, "query", "", "plan for the runs that match `QUERY`")
	f.StringSliceVar(&o.runs, "run", nil, "plan for the runs with these `IDS`")
	a.pathVar(f, &o.plan, "plan", "save the plan to `FILE`, and do nothing else")
	a.pathVar(f, &o.apply, "apply", "apply the plan that was saved in `FILE`")
	f.BoolVar(&o.yes, "yes", false, "apply the plan without asking")
	f.BoolVar(&o.undo, "undo", false, "undo the pruning of the given plans or runs, by id (default one that was interrupted, else the newest plan)")
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "allow a policy without rules, and groups or an archive that lose their last run")
	f.StringVar(&o.children, "children", "stay", "with --query or --run: `MODE` for child runs: stay (do not prune them) or follow")
	f.StringVar(&o.thin, "thin", "", "with --query or --run: only thin the runs, to the `TIER` versions, search, payloads or ledger")
	f.BoolVar(&o.dropLedger, "drop-ledger", false, "with --query or --run: also remove the cost of the runs from all totals")
	f.IntVar(&o.limit, "limit", 50, "show at most `N` runs of the plan, the newest first (0 = no limit)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"run": a.completeSome(""), "query": a.completeQuery, "children": fixed("stay", "follow"), "thin": fixed("versions", "search", "payloads", "ledger")})
	return cmd
}

// check rejects flags that do not go together.
func (o *pruneOptions) check(names []string) error {
	ways := 0
	for _, given := range []bool{o.policy != "", o.query != "", len(o.runs) > 0, o.apply != "", o.undo} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return failure.Usage("choose what to prune, in exactly one way", "--policy FILE, --query QUERY, --run ID, --apply PLAN or --undo")
	case len(names) > 0 && !o.undo:
		return failure.Usage(fmt.Sprintf("unexpected argument %q", names[0]), "name runs with --run; only --undo takes ids as arguments")
	case o.plan != "" && (o.yes || o.undo || o.apply != ""):
		return failure.Usage("--plan only saves a plan", "apply it later: txarchive prune --apply "+o.plan)
	case o.children != "stay" && o.children != "follow":
		return failure.Usage(fmt.Sprintf("--children cannot be %q", o.children), "--children stay or --children follow")
	case !slices.Contains([]string{"", "versions", "search", "payloads", "ledger"}, o.thin):
		return failure.Usage(fmt.Sprintf("unknown tier %q", o.thin), "--thin versions, --thin search, --thin payloads or --thin ledger")
	case o.byHand && o.query == "" && len(o.runs) == 0:
		return failure.Usage("--children, --thin and --drop-ledger need --query or --run", "a policy sets this for each rule: docs/policy.md")
	}
	return nil
}

// applies reports whether the plan is applied without a question.
func (o *pruneOptions) applies() bool { return o.yes || o.apply != "" }

func runPrune(ctx context.Context, a *app, o pruneOptions, names []string) (err error) {
	if err := o.check(names); err != nil {
		return err
	}
	asks := !o.applies() && !o.undo && o.plan == "" && a.canAsk()
	var plan *prune.Plan
	err = a.withPruner(ctx, o.applies() || o.undo || asks, func(w *pruning) (err error) {
		if o.undo {
			return w.undo(ctx, names)
		}
		if plan, err = w.planFor(ctx, o); err != nil {
			return err
		}
		if err := a.showPlan(o, plan); err != nil {
			return err
		}
		if o.applies() {
			return w.apply(ctx, plan)
		}
		return nil
	})
	if plan == nil {
		return err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	if err != nil || !asks || plan.Runs.Len() == 0 {
		return err
	}
	// Nobody waits for the answer: the archive is free until it comes, and what was shown is not applied to anything else.
	yes, err := a.ask(ctx, fmt.Sprintf("Apply this to %s?", terminal.Plural(plan.Runs.Len(), "run", "runs")))
	if err != nil {
		return err
	}
	if !yes {
		a.Note("Nothing was done.")
		return nil
	}
	return a.withPruner(ctx, true, func(w *pruning) error { return w.apply(ctx, plan) })
}

// pruning is an open archive of which runs are pruned.
type pruning struct {
	*prune.Pruner
	a     *app
	store *archive.Archive
	ing   *ingest.Ingester
}

// withPruner opens the archive, for writing or not, while fn runs.
func (a *app) withPruner(ctx context.Context, writes bool, fn func(*pruning) error) error {
	open := a.openRead
	if writes {
		open = a.openWrite
	}
	store, err := open(ctx)
	if err != nil {
		return err
	}
	ing := a.ingester(store)
	if writes { // packs that the index does not know may have facts that matter
		_, err = ing.Adopt(ctx)
	}
	if err == nil {
		err = fn(&pruning{a.pruner(store, ing), a, store, ing})
	}
	return errors.Join(err, store.Close())
}

// pruner returns a Pruner for an open archive.
func (a *app) pruner(store *archive.Archive, ing *ingest.Ingester) *prune.Pruner {
	adopt := func(ctx context.Context) error {
		_, err := ing.Adopt(ctx)
		return err
	}
	return &prune.Pruner{Index: store.Index(), Now: a.Now, Write: ing.WriteFacts, Adopt: adopt, BufferSize: a.planMemory,
		Payloads: &prune.Payloads{GC: a.gc(store), Find: ing.Payloads}}
}

// showPlan saves a plan to the file that the options name, or prints it.
func (a *app) showPlan(o pruneOptions, plan *prune.Plan) error {
	none := plan.Runs.Len() == 0
	if o.plan != "" {
		if none && !a.JSON { // why there are none
			if err := a.printPlan(plan, o.limit); err != nil {
				return err
			}
		}
		return savePlan(a, o.plan, plan)
	}
	if !o.applies() || !a.JSON {
		if err := a.printPlan(plan, o.limit); err != nil {
			return err
		}
	}
	if len(plan.Idle) > 0 { // one that is to keep runs may be misspelt
		a.Note("Rules that decide on no run: %s.", strings.Join(plan.Idle, ", "))
	}
	switch {
	case o.applies():
	case none && plan.Policy != "":
		a.Note("--yes still makes it the policy by which `txarchive nightly` prunes.")
	case !none && !a.canAsk():
		a.Note("Nothing was done. --yes applies it, --plan FILE saves it.")
	}
	return nil
}

// apply applies a plan, and prints what that did.
func (w *pruning) apply(ctx context.Context, plan *prune.Plan) error {
	done, err := w.Apply(ctx, plan)
	if err != nil {
		return err
	}
	switch a := w.a; {
	case a.JSON:
		return a.PrintJSON(struct {
			*prune.Applied
			Frees prune.Frees `json:"frees"`
		}{done, plan.Frees})
	case plan.Runs.Len() > 0:
		a.Note("Applied as plan %s. `txarchive prune --undo %s` reverts it; `txarchive gc` frees the space permanently.", plan.ID, plan.ID)
	case plan.Policy != "":
		a.Note("It is now the policy by which `txarchive nightly` prunes this archive.")
	}
	return nil
}

// planFor makes the plan that the flags ask for, or reads a saved one.
func (w *pruning) planFor(ctx context.Context, o pruneOptions) (*prune.Plan, error) {
	if o.apply != "" {
		file, err := os.Open(o.apply)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		plan, err := w.ReadPlan(file)
		if err != nil {
			return nil, failure.Refused(o.apply+": "+err.Error(), "make a new plan: txarchive prune --policy FILE --plan "+o.apply)
		}
		return plan, nil
	}
	c := prune.Choice{AllowEmpty: o.allowEmpty, Drop: o.dropLedger, Follow: o.children == "follow", Action: policy.Prune, Tier: policy.Tier(o.thin)}
	if o.thin != "" {
		c.Action = policy.Thin
	}
	if c.Tier == policy.TierPayloads {
		c.Over = policy.DefaultOver
	}
	var err error
	switch {
	case o.policy != "":
		err = w.a.choosePolicy(&c, o.policy)
	case o.query != "":
		err = w.a.chooseQuery(ctx, w.store, &c, o.query)
	default:
		c.By, c.Source = "run", strings.Join(o.runs, ", ")
		for _, id := range o.runs {
			run, bad := lookup.Run(ctx, w.store.Index(), id)
			if bad != nil {
				return nil, bad
			}
			c.Runs = append(c.Runs, run)
		}
	}
	if err != nil {
		return nil, err
	}
	plan, err := w.Make(ctx, c)
	return plan, lookup.ExplainNothing(ctx, w.store.Index(), err, c.Runs...)
}

func savePlan(a *app, path string, plan *prune.Plan) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(plan.Write(file, printer.Encode, "\n"), file.Close()); err != nil {
		return err
	}
	if a.JSON {
		return plan.Write(a.Out, printer.Encode, "")
	}
	a.Note("The plan for %s is in %s. `txarchive prune --apply %s` applies exactly this plan.", terminal.Plural(plan.Runs.Len(), "run", "runs"), path, path)
	return nil
}

func (w *pruning) undo(ctx context.Context, names []string) error {
	var ids []string
	for _, name := range names {
		if strings.HasPrefix(name, "p") {
			ids = append(ids, name)
			continue
		}
		run, err := lookup.Run(ctx, w.store.Index(), name)
		if err != nil {
			return err
		}
		ids = append(ids, run)
	}
	done, err := w.Undo(ctx, ids)
	if err != nil {
		return err
	}
	if _, err := w.ing.Adopt(ctx); err != nil { // parses their originals again
		return err
	}
	if err := w.EndUndo(ctx); err != nil {
		return err
	}
	a := w.a
	if a.JSON {
		return a.PrintJSON(done)
	}
	if len(done.Resumed) > 0 {
		a.Note("The undo of %s was interrupted, and is finished now. Another `txarchive prune --undo` reverts the plan before.", strings.Join(done.Resumed, " "))
	}
	if len(done.Runs) > 0 || len(done.Resumed) == 0 {
		a.Note("%s restored.", terminal.Plural(len(done.Runs), "run", "runs"))
	}
	if len(done.Gone) > 0 {
		a.Note("%s pruned, for gc has removed the data: %s", terminal.Plural(len(done.Gone), "run stays", "runs stay"), strings.Join(done.Gone, " "))
	}
	if done.Marked > 0 {
		a.Note("%s marks in place of payloads: gc has removed the payloads, or other thinned runs share the original.", terminal.Plural(done.Marked, "original keeps", "originals keep"))
	}
	if done.Rivals > 0 {
		a.Note("%s another of the same name and version, and searches find one of the two: `txarchive verify` names them, `txarchive restore --all-versions` restores both.",
			terminal.Plural(done.Rivals, "restored original has", "restored originals have"))
	}
	for _, id := range done.Runs {
		fmt.Fprintln(a.Out, id)
	}
	n, err := w.Takes(ctx, done.Runs)
	if n > 0 {
		a.Note("The next nightly run prunes or thins %s of these again by the policy of this archive, unless pinned: txarchive pin RUN", terminal.Plural(n, "run", "runs"))
	}
	return err
}
