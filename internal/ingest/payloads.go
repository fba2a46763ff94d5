package ingest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/payload"
)

// Why the payloads of an original are kept without a look into it.
const (
	keptDatabase = "in a database"
	keptLarge    = "in an original of more than 512 MiB"
	keptMissing  = "bytes of the original are missing"
)

// Payloads finds what a thinning drops from originals: string values that exceed a length and are tool output, or base64 in messages of
// users and tools. wanted gives, for each version in the index, the runs by native id with their length limits in bytes. It holds
// one original in memory at a time, and calls found for each original that has payloads, whether they can be replaced or are kept,
// by source, path and number.
func (g *Ingester) Payloads(ctx context.Context, wanted map[int64]map[string]int64, found func(index.Payloads) error) error {
	sources, err := g.provenances(ctx)
	if err != nil {
		return err
	}
	states, err := g.wantedStates(ctx, wanted)
	if err != nil {
		return err
	}
	for i := range states {
		s := &states[i].State
		x, err := g.payloadsOf(ctx, s, sources[s.Source], states[i].limits)
		if err != nil {
			return fmt.Errorf("look for payloads in %s/%s: %w", s.Source, s.Path, err)
		}
		if x.Marked == nil && x.Why == "" {
			continue
		}
		x.VersionKey = index.KeyOf(&s.Version)
		if err := found(x); err != nil {
			return err
		}
	}
	return nil
}

// wantedState is a version that is looked into, with the limits of its runs.
type wantedState struct {
	index.State
	limits map[string]int64
}

// wantedStates loads the versions that are wanted, and no others.
func (g *Ingester) wantedStates(ctx context.Context, wanted map[int64]map[string]int64) (states []wantedState, err error) {
	var versions []index.Placed
	for _, version := range slices.Sorted(maps.Keys(wanted)) {
		versions = append(versions, index.Placed{Version: version})
	}
	for s, err := range g.Index.StatesOf(ctx, versions) {
		if err != nil {
			return nil, err
		}
		states = append(states, wantedState{State: s})
	}
	if len(states) != len(versions) { // which of them is of which version is told by their order
		return nil, fmt.Errorf("look for payloads in %d originals: %w", len(versions), index.ErrNotFound)
	}
	for i, v := range versions {
		states[i].limits = wanted[v.Version]
	}
	states = slices.DeleteFunc(states, func(s wantedState) bool { return s.Tombstoned })
	slices.SortFunc(states, func(a, b wantedState) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Number, b.Number))
	})
	return states, nil
}

func (g *Ingester) payloadsOf(ctx context.Context, s *index.State, of provenance, limits map[string]int64) (x index.Payloads, err error) {
	f := g.formatNamed(s.Format)
	switch {
	case f == nil:
		return x, nil
	case g.isDatabase(f, s.Role):
		return index.Payloads{Why: keptDatabase}, nil
	case s.Size > payload.MaxOriginal:
		return index.Payloads{Why: keptLarge}, nil
	case !isComplete(s.Extents, s.Size), s.Apart && s.Parser == 0:
		return index.Payloads{Why: keptMissing}, nil
	}
	data, err := io.ReadAll(io.LimitReader(g.Originals.Reader(ctx, s.Extents), s.Size))
	if err != nil {
		return x, err
	}
	return payload.Find(payload.Original{Format: f, State: s, Dir: of.dir, Host: of.host, Limits: limits}, data)
}
