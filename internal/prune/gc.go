package prune

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// Shelf is what gc needs of an index.
type Shelf interface {
	index.Writer
	index.Cleaner
	Packs(ctx context.Context) iter.Seq2[string, error]
	Replaced(ctx context.Context) iter.Seq2[string, error]
	EnsureNewer(ctx context.Context, facts []blob.Fact) error
}

// GC rewrites packs without what nobody needs, merges small ones, and gives space back. It needs the archive's lock,
// and an index that knows all packs.
type GC struct {
	Packs   blob.Store
	Index   Shelf
	Writer  string // id of this writer in pack names
	Now     func() time.Time
	Log     *slog.Logger
	Format  pack.Options // of new packs
	Options Options
	// Drop and DropFact name versions and facts that go without a tombstone. They may be nil.
	Drop     func(*blob.Version) bool
	DropFact func(blob.Fact) bool
	// Progress is told how many bytes of old packs are done. It may be nil.
	Progress func(done, total int64)

	// ChainLimit is how many chains are held in memory at a time while all are gone through: 0 is 131,072.
	ChainLimit int

	factsRoom int                  // of tests, for factsBytes
	matches   func(blob.Fact) bool // of Forget: facts to count
	began     time.Time
}

// Options bound a gc.
type Options struct {
	Grace     time.Duration // versions buried for less stay; 0: none do
	MaxUnused Limit         // how much that nobody needs may stay in packs
	MaxTime   time.Duration // when to begin nothing more; 0: never
	MaxBytes  int64         // how many bytes of old packs are rewritten, roughly; 0: all that must be
	Forgotten bool          // of what is buried only that goes which must be forgotten
	DryRun    bool
	Purge     bool // the index is cleaned of what was taken out of it whatever that costs
}

// Limit is a number of bytes, or a part of all packs.
type Limit struct {
	Bytes   int64
	Percent float64
}

func (l Limit) of(total int64) int64 { return max(l.Bytes, int64(l.Percent/100*float64(total))) }

// Report is what a gc did, or would do.
type Report struct {
	Before, After int64 // bytes of all packs
	PacksBefore   int64
	PacksAfter    int64
	Rewritten     int64 // packs with something that nobody needs any more
	Merged        int64 // packs that were only small
	Removed       int64 // packs that are gone, leftovers of an earlier gc included
	Dead          int64 // versions that are gone for good
	Spared        int64 // versions that are buried, and kept for the grace
	Unused        int64 // bytes in packs that nobody needs and that stay, roughly
	Damaged       []string
	More          bool // there is more to do: a bound was reached
	Index         index.Purged
}

// Freed is how many bytes the archive takes less.
func (r *Report) Freed() int64 { return r.Before - r.After + r.Index.Before - r.Index.After }

// ErrMissing says that the index knows packs which are not there.
var ErrMissing = errors.New("packs are missing")

// Run does it all. Report says what was done also when it fails.
func (g *GC) Run(ctx context.Context) (r Report, err error) {
	g.began = g.Now()
	if !g.Options.DryRun {
		if err := g.sweep(ctx, &r); err != nil {
			return r, fmt.Errorf("gc: %w", err)
		}
	}
	if err := g.rewrite(ctx, &r); err != nil {
		return r, fmt.Errorf("gc: %w", err)
	}
	if g.Options.DryRun {
		return r, nil
	}
	debug.FreeOSMemory() // of what was known of the originals: the index takes as much of its own, outside of the heap
	r.Index, err = g.Index.Purge(ctx, g.Options.Purge)
	if err != nil {
		return r, fmt.Errorf("gc: %w", err)
	}
	return r, nil
}

// sweep removes packs that others have replaced, as a gc that died has left them.
func (g *GC) sweep(ctx context.Context, r *Report) error {
	var names []string
	for name, err := range g.Index.Replaced(ctx) {
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	return g.remove(ctx, names, r)
}

// remove removes packs that the index does not know any more.
func (g *GC) remove(ctx context.Context, names []string, r *Report) error {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		err := g.Packs.Remove(ctx, name)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return err
		}
		if err == nil {
			r.Removed++
		}
	}
	return g.Index.Removed(ctx, names)
}

// rewrite makes plans and follows them until there is nothing left to do: what was merged may be merged again.
func (g *GC) rewrite(ctx context.Context, r *Report) error {
	h, err := g.survey(ctx)
	if err != nil {
		return err
	}
	if err := g.complete(ctx, h); err != nil {
		return err
	}
	r.Before, r.PacksBefore = h.size()
	r.Dead, r.Spared = h.dead, h.spared
	w := &rewriter{gc: g, holdings: h, report: r, damaged: map[string]bool{}}
	for {
		groups, unused := h.plan(&g.Options, w.damaged)
		r.After, r.PacksAfter = h.size()
		r.Unused = unused
		if g.Options.DryRun {
			r.foresee(groups)
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
			break // names of theirs cannot stand in one pack: they would be merged for ever
		}
	}
	r.After, r.PacksAfter = h.size()
	return nil
}

// exhausted says whether a bound is reached.
func (g *GC) exhausted(done int64) bool {
	o := &g.Options
	return o.MaxTime > 0 && g.Now().Sub(g.began) >= o.MaxTime || o.MaxBytes > 0 && done >= o.MaxBytes
}

// begin starts a pack that is younger than all up to clock, and sets it.
func (g *GC) begin(ctx context.Context, clock *time.Time) (*pack.Writer, error) {
	*clock = pack.MonotonicTime(g.Now(), *clock)
	return pack.Begin(ctx, g.Packs, g.Writer, *clock, g.Format)
}

// complete wants the store to have all packs that the index knows: one that lacks may come back, and need what would
// be thrown away.
func (g *GC) complete(ctx context.Context, h *holdings) error {
	there := map[string]bool{}
	for _, v := range h.volumes {
		there[v.Name] = true
	}
	for name, err := range g.Index.Packs(ctx) {
		if err != nil {
			return err
		}
		if !there[name] {
			return fmt.Errorf("pack %s: %w", name, ErrMissing)
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

// foresee says what following a plan would do.
func (r *Report) foresee(groups []group) {
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
