package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/adopt"
)

// Adopt indexes the packs that the index does not know: those that a crash left between the pack and the
// transaction, and those that came from another machine or a backup. It returns how many there were. A pack that
// cannot be read is skipped, and named in the error after all others were adopted.
func (g *Ingester) Adopt(ctx context.Context) (int, error) {
	g.applyDefaults()
	known := map[string]bool{}
	for name, err := range g.Index.Packs(ctx) {
		if err != nil {
			return 0, err
		}
		known[name] = true
	}
	for name, err := range g.Index.Replaced(ctx) {
		if err != nil {
			return 0, err
		}
		known[name] = true
	}
	var unknown []blob.Info
	present := map[string]bool{}
	for info, err := range g.Packs.List(ctx) {
		if err != nil {
			return 0, err
		}
		if !known[info.Name] {
			unknown = append(unknown, info)
		}
		present[info.Name] = true
	}
	adopter := adopt.Adopter{
		Packs:  g.Packs,
		Commit: g.commitRows,
		Progress: func(stage string, done, total int) {
			g.progress(Progress{Stage: stage, Files: int64(done), TotalFiles: int64(total)})
		},
	}
	n, damaged := adopter.Adopt(ctx, unknown)
	if damaged != nil && !errors.Is(damaged, blob.ErrCorrupt) {
		return n, damaged
	}
	g.missingPacks = map[string]bool{}
	for name, err := range g.Index.Packs(ctx) { // read again: adopting may have removed packs that others replace
		if err != nil {
			return n, err
		}
		if !present[name] {
			g.missingPacks[name] = true
		}
	}
	if _, err := g.Price(ctx); err != nil { // before parsing, since rows are priced with this book
		return n, err
	}
	if err := g.parsePending(ctx, nil); err != nil {
		return n, err
	}
	return n, damaged
}

// findContent returns where content is stored. It returns ErrNotFound also if a pack that holds part of it is missing or damaged, so that the
// content is stored again.
func (g *Ingester) findContent(ctx context.Context, ref blob.Ref) (index.Stored, error) {
	s, err := g.Index.ByRef(ctx, ref)
	if err == nil && slices.ContainsFunc(s.Extents, func(e blob.Extent) bool {
		return e.CopyOf != nil && (g.missingPacks[e.CopyOf.Pack] || slices.Contains(g.Damaged, e.CopyOf.Pack))
	}) {
		return index.Stored{}, index.ErrNotFound
	}
	return s, err
}

// Reindex fills an empty index from the packs alone, and tidies it as Run does. Packs, and originals in them, that could not be
// read are named in a blob.ErrCorrupt after everything else is indexed.
func (g *Ingester) Reindex(ctx context.Context) (int, error) {
	n, damaged := g.Adopt(ctx)
	if damaged != nil && !errors.Is(damaged, blob.ErrCorrupt) {
		return n, damaged
	}
	if err := g.Index.Tidy(ctx); err != nil { // never joined with damaged, which callers tolerate
		return n, err
	}
	return n, errors.Join(damaged, g.unreadableError())
}
