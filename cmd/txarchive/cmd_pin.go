package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newPinCommand(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "pin [RUN...]",
		Short: "Protect runs from pruning, or list pinned runs",
		Long: "Pin runs. No policy and no prune affects a pinned run until `txarchive unpin`; use `hold` for a limited time. Without\n" +
			"RUN, list the pinned runs. Pins are stored in the packs, like the originals." +
			exitCodes("4 no such run", "10 no archive", "11 another txarchive is writing"),
		Example:           "  txarchive pin r7sk2 --reason 'the demo'\n  txarchive pin\n  txarchive list is:pinned",
		ValidArgsFunction: a.completeSome(""),
		RunE: func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				return runPinList(cmd.Context(), a)
			}
			return changeMarks(cmd.Context(), a, ids, "pinned", findRun, func(_ *prune.Pruner, run string) ([]blob.Fact, error) {
				f, err := prune.Pin{Run: run, Reason: reason}.Fact(nowMicro(a))
				return []blob.Fact{f}, err
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "record this `TEXT` as the reason")
	return cmd
}

func newUnpinCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "unpin RUN...",
		Short: "Remove pins from runs",
		Long: "Remove the pins from runs, so that policies apply to them again." +
			exitCodes("4 no such run, or it is not pinned", "10 no archive", "11 another txarchive is writing"),
		Example:           "  txarchive unpin r7sk2",
		Args:              argCount(1, unlimited),
		ValidArgsFunction: a.completeSome("is:pinned"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return changeMarks(cmd.Context(), a, ids, "unpinned", a.findMarked, func(p *prune.Pruner, run string) ([]blob.Fact, error) {
				pins, err := p.Pins(cmd.Context())
				for _, pin := range pins {
					if pin.Run == run {
						return []blob.Fact{prune.Unpin(run, nowMicro(a))}, nil
					}
				}
				return nil, errors.Join(err, failure.NotFound(run+" is not pinned", "`txarchive pin` lists the pinned runs"))
			})
		},
	}
}

// runFinder returns the id of the run that an id names.
type runFinder func(context.Context, *archive.Archive, string) (string, error)

// findRun finds a run that is in the archive.
func findRun(ctx context.Context, store *archive.Archive, id string) (string, error) {
	return lookup.Run(ctx, store.Index(), id)
}

// changeMarks writes the facts that mark returns for each run that find returns.
func changeMarks(ctx context.Context, a *app, ids []string, word string, find runFinder,
	mark func(*prune.Pruner, string) ([]blob.Fact, error),
) error {
	return a.update(ctx, a.openWrite, func(store *archive.Archive, ing *ingest.Ingester) error {
		p := a.pruner(store, ing)
		var facts []blob.Fact
		runs := []string{}
		for _, id := range ids {
			run, err := find(ctx, store, id)
			if err != nil {
				return err
			}
			if slices.Contains(runs, run) {
				continue
			}
			more, err := mark(p, run)
			if err != nil {
				return err
			}
			facts, runs = append(facts, more...), append(runs, run)
		}
		if err := p.Write(ctx, facts); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(map[string]any{"run_ids": runs, "state": word})
		}
		a.Note("%s: %s", word, strings.Join(runs, ", "))
		return nil
	})
}

// findMarked is findRun, but also accepts the whole id of a run that has a pin or a hold and is not in the archive.
func (a *app) findMarked(ctx context.Context, store *archive.Archive, id string) (string, error) {
	run, err := lookup.Run(ctx, store.Index(), id)
	if err == nil {
		return run, nil
	}
	lost, bad := a.orphanMarks(ctx, store, time.Time{})
	if bad != nil {
		return "", bad
	}
	if slices.Contains(lost, id) {
		return id, nil
	}
	return "", err
}

// orphanMarks returns the runs with a pin, or a hold active at now, that are not in the archive: such a mark keeps nothing.
func (a *app) orphanMarks(ctx context.Context, store *archive.Archive, now time.Time) ([]string, error) {
	p := a.pruner(store, a.ingester(store))
	pins, err := p.Pins(ctx)
	if err != nil {
		return nil, err
	}
	holds, err := p.Holds(ctx)
	if err != nil {
		return nil, err
	}
	var runs, lost []string
	for i := range pins {
		runs = append(runs, pins[i].Run)
	}
	for i := range holds {
		if holds[i].Active(now) {
			runs = append(runs, holds[i].Run)
		}
	}
	slices.Sort(runs)
	for _, run := range slices.Compact(runs) {
		switch _, err := store.Index().Run(ctx, run); {
		case errors.Is(err, index.ErrNotFound):
			lost = append(lost, run)
		case err != nil:
			return nil, err
		}
	}
	return lost, nil
}

func runPinList(ctx context.Context, a *app) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	pins, err := a.pruner(store, a.ingester(store)).Pins(ctx)
	if err != nil {
		return err
	}
	l := a.Listing(terminal.Column{Head: "run"}, terminal.Column{Head: "added", DropRank: 2}, terminal.Column{Head: "reason", Shorten: terminal.Truncate}, terminal.Column{Head: "what", Shorten: terminal.Truncate, DropRank: 1})
	for _, pin := range pins {
		added := ""
		if pin.Added != nil {
			added = a.FormatClock(*pin.Added)
		}
		if err := l.Row(pin, pin.Run, added, pin.Reason, a.describeRun(ctx, store, pin.Run)); err != nil {
			return err
		}
	}
	l.End("No runs are pinned. Next: txarchive pin RUN")
	return nil
}

// describeRun returns a short description of a run.
func (a *app) describeRun(ctx context.Context, store *archive.Archive, id string) string {
	r, err := store.Index().Run(ctx, id)
	if errors.Is(err, index.ErrNotFound) {
		return "not in this archive"
	}
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	return terminal.FirstNonEmpty(r.Title, r.Flow, r.NativeID)
}
