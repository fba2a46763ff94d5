package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune"
)

func newHoldCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Keep runs for a reason, until a day",
		Long: "Hold runs: no policy and no prune touches them until the hold is released or expires. A run may have several holds, told\n" +
			"apart by name. Holds are kept in the packs, like the originals." +
			exits("4 no such run or hold", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive hold add r7sk2 --owner legal --reason 'case 7' --until 2027-12-31\n  txarchive hold list\n  txarchive hold release r7sk2 --name legal",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var h prune.Hold
	var until, name string
	add := &cobra.Command{Use: "add RUN...", Short: "Hold runs", Args: args(cobra.MinimumNArgs(1)), ValidArgsFunction: a.completeRuns,
		Example: "  txarchive hold add r7sk2 --owner legal --reason 'case 7' --until 90d",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if h.Owner == "" {
				h.Owner = firstOf(a.getenv("USER"), "unknown")
			}
			if h.Name == "" {
				h.Name = h.Owner
			}
			if err := a.checkHold(&h, until); err != nil {
				return err
			}
			return changeMarks(cmd.Context(), a, ids, "held", func(_ *prune.Pruner, run string) (blob.Fact, error) {
				h := h
				h.Run = run
				return h.Fact(nowMicro(a))
			})
		}}
	f := add.Flags()
	f.StringVar(&h.Owner, "owner", "", "who holds (default $USER)")
	f.StringVar(&h.Name, "name", "", "name of the hold, to release it by (default: the owner)")
	f.StringVar(&h.Reason, "reason", "", "why")
	f.StringVar(&until, "until", "", "when it expires: a day (2027-12-31), or a duration from now (90d); without it never")
	release := &cobra.Command{Use: "release RUN...", Short: "End holds", Args: args(cobra.MinimumNArgs(1)), ValidArgsFunction: a.completeRuns,
		Example: "  txarchive hold release r7sk2\n  txarchive hold release r7sk2 --name legal",
		RunE:    func(cmd *cobra.Command, ids []string) error { return runRelease(cmd.Context(), a, ids, name) }}
	release.Flags().StringVar(&name, "name", "", "only the hold of this name")
	var all bool
	list := &cobra.Command{Use: "list", Short: "List holds", Args: args(cobra.NoArgs),
		Example: "  txarchive hold list --json | jq -r .run_id",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runHoldList(cmd.Context(), a, all) }}
	list.Flags().BoolVar(&all, "all", false, "expired ones, too")
	cmd.AddCommand(add, list, release)
	return cmd
}

// checkHold fills in when a hold expires.
func (a *app) checkHold(h *prune.Hold, until string) error {
	if strings.ContainsRune(h.Name, '/') {
		return usage(fmt.Sprintf("%q is no name of a hold", h.Name), "names have no slash: --name")
	}
	if until == "" {
		return nil
	}
	at, err := time.ParseInLocation(time.DateOnly, until, time.Local)
	if err == nil {
		at = at.AddDate(0, 0, 1) // the whole day
	} else if d, bad := policy.ParseDuration(until); bad == nil {
		at = a.now().Add(d)
	} else {
		return usage(fmt.Sprintf("%q is neither a day nor a duration", until), "--until 2027-12-31, --until 90d")
	}
	if !at.After(a.now()) {
		return usage("the hold would have expired already", "--until names a day to come")
	}
	at = at.UTC().Truncate(time.Second)
	h.Expires = &at
	return nil
}

func nowMicro(a *app) time.Time { return a.now().UTC().Truncate(time.Microsecond) }

func runRelease(ctx context.Context, a *app, ids []string, name string) error {
	store, err := a.write(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	ing := a.ingester(store)
	if _, err := ing.Adopt(ctx); err != nil {
		return err
	}
	p := a.pruner(store, ing)
	holds, err := p.Holds(ctx)
	if err != nil {
		return err
	}
	var facts []blob.Fact
	runs := []string{}
	for _, id := range ids {
		run, err := findRun(ctx, store, id)
		if err != nil {
			return err
		}
		before := len(facts)
		for _, h := range holds {
			if h.Run == run && (name == "" || h.Name == name) {
				facts = append(facts, prune.Release(run, h.Name, nowMicro(a)))
			}
		}
		if len(facts) == before {
			return notFound(run+" has no such hold", "`txarchive hold list --all` lists them")
		}
		runs = append(runs, run)
	}
	if err := p.Write(ctx, facts); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"run_ids": runs, "state": "released"})
	}
	a.note("released: %s", strings.Join(runs, ", "))
	return nil
}

func runHoldList(ctx context.Context, a *app, all bool) error {
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	holds, err := a.pruner(store, a.ingester(store)).Holds(ctx)
	if err != nil {
		return err
	}
	g := grid{columns: []column{{head: "run"}, {head: "name"}, {head: "owner"}, {head: "until"}, {head: "reason", flex: true}, {head: "what", flex: true}}}
	for _, h := range holds {
		if !all && !h.Active(a.now()) {
			continue
		}
		if a.json {
			if err := a.printJSON(h); err != nil {
				return err
			}
			continue
		}
		until := "never expires"
		if h.Expires != nil {
			until = a.clock(*h.Expires)
		}
		g.add(h.Run, h.Name, h.Owner, until, h.Reason, a.runWords(ctx, store, h.Run))
	}
	switch {
	case a.json:
	case len(g.rows) == 0:
		a.note("No run is held. Next: txarchive hold add RUN")
	default:
		fmt.Fprintln(a.out, g.render(a.width(), a.ink()))
	}
	return nil
}
