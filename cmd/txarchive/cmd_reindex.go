package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newReindexCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the index from the packs",
		Long: "Rebuild the index from the packs alone, with the parsers of this version of txarchive. Use it if the index is missing\n" +
			"or damaged. Readers use the old index until the new one is complete." +
			exitCodes("5 some packs are damaged or missing (the index has all others)", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive reindex",
		Args:    argCount(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runReindex(cmd.Context(), a) },
	}
}

func runReindex(ctx context.Context, a *app) error {
	began := time.Now()
	a.beginWork("the previous index is still in place")
	store, err := a.openWithoutIndex(ctx, archive.Write)
	if err != nil {
		return err
	}
	n, missing, damage, err := rebuild(ctx, a, store)
	damage = errors.Join(damage, missing)
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	took := time.Since(began)
	switch {
	case a.JSON:
		err = a.PrintJSON(map[string]any{"packs": n, "complete": damage == nil, "elapsed_us": took.Microseconds()})
	case !a.Quiet:
		a.Line("Rebuilt the index from %s, %s", terminal.Plural(n, "pack", "packs"), took.Round(time.Millisecond))
	}
	if err != nil || damage == nil {
		return err
	}
	if errors.Is(damage, errPackGone) {
		return failure.Corrupt(damage.Error(), "`txarchive verify --repair --from BACKUP` restores it; the next ingest stores again what its sources still have")
	}
	return failure.Corrupt(damage.Error(), hintDamaged)
}

// rebuild builds the next generation of the index. missing joins errors for packs that only the previous index knows, damage errors for
// packs and originals that could not be read.
func rebuild(ctx context.Context, a *app, store *archive.Archive) (n int, missing, damage, err error) {
	db, publish, abort, err := store.NewIndex(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	defer abort()
	g := a.ingester(store)
	g.Index = db
	n, damage, err = refill(ctx, a, g)
	if err != nil {
		return n, nil, nil, err
	}
	if before := store.Index(); before != nil {
		missing, err = missingFrom(ctx, before, db)
		if err != nil && !errors.Is(err, blob.ErrCorrupt) && !errors.Is(err, index.ErrDamaged) { // damage of the old index may be why it is rebuilt
			return n, nil, nil, err
		}
	}
	if err := db.Optimize(ctx); err != nil {
		return n, nil, nil, err
	}
	return n, missing, damage, publish()
}

// errPackGone says that the previous index knew a pack that does not exist. It wraps blob.ErrCorrupt.
var errPackGone = fmt.Errorf("in the previous index, but %w", blob.ErrMissing)

// missingFrom returns errors for the packs that an index knows and a new one, which was built from the packs, does not.
func missingFrom(ctx context.Context, before, now index.PackLister) (missing, err error) {
	known := map[string]bool{}
	for _, packs := range []iter.Seq2[string, error]{now.Packs(ctx), now.Replaced(ctx), before.Replaced(ctx)} {
		for name, err := range packs {
			if err != nil {
				return nil, err
			}
			known[name] = true
		}
	}
	for name, err := range before.Packs(ctx) {
		if err != nil {
			return nil, err
		}
		if !known[name] {
			missing = errors.Join(missing, fmt.Errorf("pack %s: %w", name, errPackGone))
		}
	}
	return missing, nil
}

// refill fills an empty index from the packs. damage joins errors for packs and originals that could not be read.
func refill(ctx context.Context, a *app, g *ingest.Ingester) (n int, damage, err error) {
	m := a.meter()
	g.Progress = ingestProgress(m)
	n, err = g.Reindex(ctx)
	m.Stop()
	if errors.Is(err, blob.ErrCorrupt) && ctx.Err() == nil {
		damage, err = err, nil
	}
	return n, damage, err
}
