// Package gc rewrites the packs of an archive: without the bytes of versions that lie under tombstones, and small packs
// merged (GC); with other versions in the place of some (Replacer); and without what should never have been archived
// (Forget).
//
// It promises: the bytes of a version are removed only if no remaining version needs them; a new pack is durable and
// indexed before an old one is removed, so that repeating the call after a crash at any point ends in the same state.
package gc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// FactsBytes is how many bytes of facts are collected at a time, and FactBytes what one takes besides its text. The
// transaction that commits them needs several times as much memory.
const (
	FactsBytes = 8 << 20
	FactBytes  = 200
)

// Index is what gc needs of an index.
type Index interface {
	index.Writer
	index.Cleaner
	index.PackLister
}

// GC rewrites packs without content that is no longer needed, merges small packs, and frees space. It needs the
// archive's lock, and an index that knows all packs.
type GC struct {
	Packs   blob.Store
	Index   Index
	Writer  string // id of this writer, for pack names
	Now     func() time.Time
	Log     *slog.Logger
	Format  pack.Options // for new packs
	Options Options
	// Drop and DropFact select versions and facts to remove without a tombstone. They may be nil.
	Drop     func(*blob.Version) bool
	DropFact func(blob.Fact) bool
	// Progress is called with the number of bytes of old packs that are done. It may be nil.
	Progress func(done, total int64)

	// ChainLimit is how many chains are held in memory at a time when all of them are visited; 0 means 131,072.
	ChainLimit int

	factsLimit int                  // replaces FactsBytes, for tests
	matches    func(blob.Fact) bool // facts to count, for Forget
	began      time.Time
	replaced   map[string]bool // packs that the index knows to be replaced, while Run runs
}

// Options configure and bound a gc.
type Options struct {
	Grace     time.Duration // keep versions whose tombstone is younger; 0 means none
	MaxUnused Limit         // how much unneeded content may stay in packs
	MaxTime   time.Duration // start no more work after this; 0 means no limit
	MaxBytes  int64         // how many bytes of old packs to rewrite, roughly; 0 means no limit
	Forgotten bool          // of tombstoned versions, remove only those that must be forgotten
	DryRun    bool
	Purge     bool // purge deleted content from the index whatever that costs
}

// Limit is a number of bytes or a percentage of all packs, whichever is larger.
type Limit struct {
	Bytes   int64
	Percent float64
}

func (l Limit) of(total int64) int64 { return max(l.Bytes, int64(l.Percent/100*float64(total))) }

// Report is what a gc did, or would do.
type Report struct {
	Before, After int64 // size of all packs in bytes
	PacksBefore   int64
	PacksAfter    int64
	Rewritten     int64 // packs with unneeded content
	Merged        int64 // packs that were merged only because they are small
	Removed       int64 // packs that were removed, including leftovers of an earlier gc
	Dead          int64 // versions that are permanently removed
	Spared        int64 // tombstoned versions kept because of Grace
	Unused        int64 // unneeded bytes that stay in packs, roughly
	Damaged       []string
	More          bool // a bound was reached and there is more to do
	Index         index.Purged
}

// Freed returns by how many bytes the archive has shrunk.
func (r *Report) Freed() int64 { return r.Before - r.After + r.Index.Before - r.Index.After }

// Run performs a gc. The Report is valid even if Run fails.
func (g *GC) Run(ctx context.Context) (r Report, err error) {
	g.began, g.replaced = g.Now(), map[string]bool{}
	for name, err := range g.Index.Replaced(ctx) {
		if err != nil {
			return r, fmt.Errorf("gc: %w", err)
		}
		g.replaced[name] = true
	}
	if err := g.rewrite(ctx, &r); err != nil {
		return r, fmt.Errorf("gc: %w", err)
	}
	if g.Options.DryRun {
		return r, nil
	}
	debug.FreeOSMemory() // return the holdings' memory: the index needs as much of its own, outside of the heap
	r.Index, err = g.Index.Purge(ctx, g.Options.Purge)
	if err != nil {
		return r, fmt.Errorf("gc: %w", err)
	}
	return r, nil
}

// sweep removes packs that have been replaced: an interrupted gc has left them behind, or they came back with a copy of the archive. One
// that a repair needs stays.
func (g *GC) sweep(ctx context.Context, h *holdings, r *Report) error {
	var names []string
	for info, err := range g.Packs.List(ctx) {
		if err != nil {
			return err
		}
		if g.replaced[info.Name] && !h.needsLeftover(info.Name) {
			names = append(names, info.Name)
		}
	}
	return g.remove(ctx, names, r)
}

// remove removes packs that others have replaced in the index.
func (g *GC) remove(ctx context.Context, names []string, r *Report) error {
	for _, name := range names {
		err := g.Packs.Remove(ctx, name)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return err
		}
		if err == nil {
			r.Removed++
		}
	}
	return nil
}

// rewrite makes plans and carries them out until there is nothing left to do: merged packs may be merged again.
func (g *GC) rewrite(ctx context.Context, r *Report) error {
	h, err := g.survey(ctx)
	if err != nil {
		return err
	}
	if err := g.checkComplete(ctx, h); err != nil {
		return err
	}
	if !g.Options.DryRun {
		if err := g.sweep(ctx, h, r); err != nil {
			return err
		}
	}
	r.Before, r.PacksBefore = h.size()
	r.Dead, r.Spared = h.dead, h.spared
	w := &rewriter{gc: g, holdings: h, report: r, damaged: map[string]bool{}}
	for {
		groups, unused := h.plan(&g.Options, w.damaged)
		r.After, r.PacksAfter = h.size()
		r.Unused = unused
		if g.Options.DryRun {
			r.estimate(groups)
			return nil
		}
		if len(groups) == 0 {
			return nil
		}
		packs, rewritten := len(h.volumes), r.Rewritten
		for _, group := range groups {
			if r.More = g.exhausted(w.done); r.More {
				r.After, r.PacksAfter = h.size()
				return nil
			}
			if err := g.selectGroup(ctx, h, group); err != nil {
				return err
			}
			if err := w.replace(ctx, group); err != nil {
				return err
			}
		}
		if len(h.volumes) >= packs && r.Rewritten == rewritten {
			break // their names conflict within one pack: they would be merged for ever
		}
	}
	r.After, r.PacksAfter = h.size()
	return nil
}

// exhausted reports whether a bound is reached.
func (g *GC) exhausted(done int64) bool {
	o := &g.Options
	return o.MaxTime > 0 && g.Now().Sub(g.began) >= o.MaxTime || o.MaxBytes > 0 && done >= o.MaxBytes
}

// begin starts a pack that is younger than clock, and sets clock to its time.
func (g *GC) begin(ctx context.Context, clock *time.Time) (*pack.Writer, error) {
	*clock = pack.MonotonicTime(g.Now(), *clock)
	return pack.Begin(ctx, g.Packs, g.Writer, *clock, g.Format)
}

// checkComplete verifies that the store has all packs that the index knows: a missing one may reappear and need
// content that would be removed.
func (g *GC) checkComplete(ctx context.Context, h *holdings) error {
	there := map[string]bool{}
	for _, v := range h.volumes {
		there[v.Name] = true
	}
	return g.checkThere(ctx, there, h.replaced)
}

// CheckPacks verifies that the store has all packs that the index knows. What is not found may be in a missing one.
func (g *GC) CheckPacks(ctx context.Context) error {
	there := map[string]bool{}
	for info, err := range g.Packs.List(ctx) {
		if err != nil {
			return err
		}
		there[info.Name] = true
	}
	return g.checkThere(ctx, there, nil)
}

func (g *GC) checkThere(ctx context.Context, there, replaced map[string]bool) error {
	for name, err := range g.Index.Packs(ctx) {
		if err != nil {
			return err
		}
		if replaced[name] { // indexed by an earlier release when it came back from a backup
			return fmt.Errorf("pack %s is indexed, although another pack replaces it: %w", name, index.ErrDamaged)
		}
		if !there[name] {
			return fmt.Errorf("pack %s is %w", name, blob.ErrMissing)
		}
	}
	return nil
}

func (h *holdings) size() (bytes, packs int64) {
	for _, v := range h.volumes {
		bytes += v.Size
	}
	return bytes, int64(len(h.volumes))
}

// estimate adds what carrying out a plan would do.
func (r *Report) estimate(groups []group) {
	for _, group := range groups {
		for _, v := range group {
			if v.dirty() {
				r.Rewritten++
			} else {
				r.Merged++
			}
			r.After -= v.unused
		}
		r.PacksAfter -= int64(len(group)) - 1
	}
}
