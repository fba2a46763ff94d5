package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newHoldCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Protect runs from pruning, with a reason and an expiry",
		Long: "Hold runs. No policy and no prune affects a run until its holds have expired or are released. A run may have several\n" +
			"holds, with different names. Holds are stored in the packs, like the originals." +
			exitCodes("4 no such run or hold", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive hold add r7sk2 --owner legal --reason 'case 7' --until 2027-12-31\n  txarchive hold list\n  txarchive hold release r7sk2 --name legal",
	}
	cmd.AddCommand(newHoldAddCommand(a), newHoldListCommand(a), newHoldReleaseCommand(a))
	return cmd
}

func newHoldAddCommand(a *app) *cobra.Command {
	var h prune.Hold
	var until string
	cmd := &cobra.Command{Use: "add RUN...", Short: "Add a hold to runs", Args: argCount(1, unlimited), ValidArgsFunction: a.completeSome(""),
		Example: "  txarchive hold add r7sk2 --owner legal --reason 'case 7' --until 90d",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if h.Owner == "" {
				h.Owner = terminal.FirstNonEmpty(a.Getenv("USER"), "unknown")
			}
			if h.Name == "" {
				h.Name = h.Owner
			}
			if err := a.checkHold(&h, until); err != nil {
				return err
			}
			return changeMarks(cmd.Context(), a, ids, "held", findRun, func(_ *prune.Pruner, run string) ([]blob.Fact, error) {
				h := h
				h.Run = run
				f, err := h.Fact(nowMicro(a))
				return []blob.Fact{f}, err
			})
		}}
	f := cmd.Flags()
	f.StringVar(&h.Owner, "owner", "", "record `OWNER` as the owner of the hold (default $USER)")
	f.StringVar(&h.Name, "name", "", "give the hold this `NAME`, by which it can be released (default the owner)")
	f.StringVar(&h.Reason, "reason", "", "record this `TEXT` as the reason")
	f.StringVar(&until, "until", "", "expire at `WHEN`: the end of a date (2027-12-31, 2027-12) or a duration from now (90d) (default never)")
	return cmd
}

func newHoldReleaseCommand(a *app) *cobra.Command {
	var name string
	cmd := &cobra.Command{Use: "release RUN...", Short: "Release holds of runs", Args: argCount(1, unlimited), ValidArgsFunction: a.completeSome("is:held"),
		Example: "  txarchive hold release r7sk2\n  txarchive hold release r7sk2 --name legal",
		RunE: func(cmd *cobra.Command, ids []string) error {
			return changeMarks(cmd.Context(), a, ids, "released", a.findMarked, func(p *prune.Pruner, run string) (facts []blob.Fact, err error) {
				holds, err := p.Holds(cmd.Context())
				for _, h := range holds {
					if h.Run == run && (name == "" || h.Name == name) {
						facts = append(facts, prune.Release(run, h.Name, nowMicro(a)))
					}
				}
				if err == nil && len(facts) == 0 {
					err = failure.NotFound(run+" has no such hold", "`txarchive hold list --all` lists them")
				}
				return facts, err
			})
		}}
	cmd.Flags().StringVar(&name, "name", "", "release only the hold with this `NAME`")
	return cmd
}

func newHoldListCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "list", Short: "List holds", Args: argCount(0, 0),
		Example: "  txarchive hold list --json | jq -r .run_id",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runHoldList(cmd.Context(), a, all) }}
	cmd.Flags().BoolVar(&all, "all", false, "include expired holds")
	return cmd
}

// checkHold checks a hold and sets its expiry.
func (a *app) checkHold(h *prune.Hold, until string) error {
	if strings.ContainsRune(h.Name, '/') {
		return failure.Usage(fmt.Sprintf("invalid hold name %q", h.Name), "a name cannot contain a slash: --name NAME")
	}
	if until == "" {
		return nil
	}
	at := a.Now()
	if d, bad := policy.ParseDuration(until); bad == nil {
		at = at.Add(d)
	} else if _, at, bad = timeRange("", until, a.calendar()); bad != nil {
		return failure.Usage(fmt.Sprintf("%q is neither a date nor a duration", until), "--until 2027-12-31, --until 2027-12, --until 90d")
	}
	if !at.After(a.Now()) {
		return failure.Usage("the hold would already have expired", "--until takes a date in the future, or a duration from now: 2027-12, 90d")
	}
	at = at.UTC().Truncate(time.Second)
	h.Expires = &at
	return nil
}

func runHoldList(ctx context.Context, a *app, all bool) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	holds, err := a.pruner(store, a.ingester(store)).Holds(ctx)
	if err != nil {
		return err
	}
	if !all {
		holds = slices.DeleteFunc(holds, func(h prune.Hold) bool { return !h.Active(a.Now()) })
	}
	l := a.Listing(terminal.Column{Head: "run"}, terminal.Column{Head: "name"}, terminal.Column{Head: "owner", DropRank: 1}, terminal.Column{Head: "until"},
		terminal.Column{Head: "reason", Shorten: terminal.Truncate, DropRank: 2}, terminal.Column{Head: "what", Shorten: terminal.Truncate, DropRank: 3})
	for _, h := range holds {
		until := "never expires"
		if h.Expires != nil {
			until = a.FormatClock(*h.Expires)
		}
		if err := l.Row(h, h.Run, h.Name, h.Owner, until, h.Reason, a.describeRun(ctx, store, h.Run)); err != nil {
			return err
		}
	}
	l.End("No runs are held. Next: txarchive hold add RUN")
	return nil
}
