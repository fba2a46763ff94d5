// Package repair recovers what damage has left of an archive: it writes what is still good in damaged packs to new
// ones, searches other places for the rest, and records as facts which bytes are lost.
//
// It fills a gap with the same bytes, identified by hash, from another pack, from a backup, or from the source. It does not
// know how the index works, and asks it only for what no manifest states any more. It promises that what it stores is what was
// stored before, byte for byte; that a damaged pack is quarantined, never deleted; that the new packs are durable before
// the damaged ones are removed from the store; and that every step can be repeated.
package repair

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// Index is the part of the index that a repair uses in place of damaged manifests.
type Index interface {
	index.FactReader
	Packs(ctx context.Context) iter.Seq2[string, error]
	StatesIn(ctx context.Context, in blob.Span) iter.Seq2[index.State, error] // by name
	// FactsIn yields the facts whose newest statement is in a pack, retractions included. The index does not have the values of
	// ledgers.
	FactsIn(ctx context.Context, pack string) iter.Seq2[blob.Fact, error]
}

// File is an original in its source.
type File interface {
	io.ReaderAt
	io.Closer
}

// Repair describes an archive, and where else to search. The caller must hold the archive's lock to apply a plan.
type Repair struct {
	Packs   blob.Store
	Index   Index      // nil if there is none
	Backup  blob.Store // nil if there is none
	Damaged []string   // packs that are not as they were written, as a verify found them
	Missing []string   // packs that should exist but do not, besides those that the index knows
	// Original opens an original below the root of its source. It may be nil.
	Original func(root, path string) (File, error)
	// Quarantine makes a copy of a damaged pack that nothing removes, unless there is one already.
	Quarantine func(ctx context.Context, name string) error
	Writer     string // id of this writer in pack names
	Now        func() time.Time
	Log        *slog.Logger
	Format     pack.Options // of new packs
	// Progress is called with how many originals are done. It may be nil.
	Progress func(done, total int64)
	// ChainLimit is how many originals are in memory at a time; 0 is 65,536.
	ChainLimit int
}

// Where bytes were found.
const (
	FromPack   = "pack"   // in a damaged or another pack
	FromBackup = "backup" // in a pack of the backup
	FromSource = "source" // in the original's source, which has the same bytes
)

// DamagedPack is a pack that is damaged or missing.
type DamagedPack struct {
	Pack string
	Size int64
	// Missing says that there is no such file. ContentKnown says that its content is known from its manifest, the index or a
	// backup.
	Missing, ContentKnown bool
}

// Recovered is how much will be stored again.
type Recovered struct {
	Originals int64 // versions
	Bytes     int64
	From      map[string]int64 // bytes by where they were found
}

// Plan is what a repair will do. It holds open files until Close, and memory for each original of the archive.
type Plan struct {
	Damaged   []DamagedPack
	Recovered Recovered
	Lost      []blob.Loss // new losses
	Known     []blob.Loss // recorded before, and still not found
	Found     []blob.Loss // recorded before, of which bytes were found
	// Unnamed are entries of packs whose manifest is lost. They are saved under the name of the entry.
	Unnamed []string
	// LostFacts is how many facts of lost manifests cannot be recovered.
	LostFacts int64

	inventory *inventory  // nil after Close
	chains    []*chain    // to be written to new manifests; nil after Close
	facts     []blob.Fact // to be written to the last new manifest; nil after Close
	rewritten int         // number of chains
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Damaged) == 0 && len(p.Lost) == 0 && len(p.Found) == 0 && p.rewritten == 0
}

// LostBytes returns how many bytes the plan records as lost.
func (p *Plan) LostBytes() (n int64) {
	for _, l := range p.Lost {
		n += l.Size
	}
	return n
}

// Same reports whether the plan does the same as another, which may have been made at another time.
func (p *Plan) Same(o *Plan) bool {
	losses := func(a, b []blob.Loss) bool {
		return slices.EqualFunc(a, b, func(a, b blob.Loss) bool {
			a.Since = b.Since
			return a == b
		})
	}
	return slices.Equal(p.Damaged, o.Damaged) && reflect.DeepEqual(p.Recovered, o.Recovered) && slices.Equal(p.Unnamed, o.Unnamed) &&
		p.LostFacts == o.LostFacts && losses(p.Lost, o.Lost) && losses(p.Known, o.Known) && losses(p.Found, o.Found)
}

// Close releases what Apply needs. The exported fields stay valid.
func (p *Plan) Close() error {
	if p.inventory == nil {
		return nil
	}
	err := p.inventory.close()
	p.inventory, p.chains, p.facts = nil, nil, nil
	return err
}

// Plan reads every manifest and searches everywhere for the bytes that are damaged or missing. It changes nothing.
func (r *Repair) Plan(ctx context.Context) (p *Plan, err error) {
	inv := newInventory(r)
	defer func() {
		if err != nil {
			err = errors.Join(err, inv.close())
		}
	}()
	if err := inv.load(ctx); err != nil {
		return nil, err
	}
	p = &Plan{inventory: inv, Recovered: Recovered{From: map[string]int64{}}, Lost: []blob.Loss{}, Known: []blob.Loss{}, Found: []blob.Loss{}, Unnamed: []string{}}
	done := int64(0)
	if err := inv.adoptOrphans(ctx, p, &done); err != nil {
		return nil, err
	}
	for more := true; more; inv.span, more = inv.span.Next() {
		if err := inv.selectSpan(ctx); err != nil {
			return nil, err
		}
		if err := inv.locateChains(ctx, p, &done); err != nil {
			return nil, err
		}
	}
	inv.deselect()
	p.sort()
	if err := inv.collectFacts(ctx, p); err != nil {
		return nil, err
	}
	for _, pi := range inv.damaged() {
		p.Damaged = append(p.Damaged, DamagedPack{Pack: pi.Name, Size: pi.Size, Missing: pi.missing, ContentKnown: pi.known || pi.replaced})
	}
	return p, nil
}

// locateChains locates the bytes of the selected chains, and adds the chains to the plan.
func (inv *inventory) locateChains(ctx context.Context, p *Plan, done *int64) error {
	for _, c := range inv.sorted() {
		if err := inv.locate(ctx, c); err != nil {
			return err
		}
		p.addChain(inv, c)
		if *done++; inv.repair.Progress != nil {
			inv.repair.Progress(*done, max(*done, inv.total))
		}
	}
	return nil
}

// sort sorts the lists to which several selections have added.
func (p *Plan) sort() {
	slices.SortFunc(p.chains, byName)
	for _, losses := range [][]blob.Loss{p.Lost, p.Known, p.Found} {
		slices.SortStableFunc(losses, func(a, b blob.Loss) int {
			return a.Chain().Compare(b.Chain())
		})
	}
}

// addChain adds the result of locating a chain to the plan.
func (p *Plan) addChain(inv *inventory, c *chain) {
	if c.rewrite {
		p.chains, p.rewritten = append(p.chains, c), p.rewritten+1
		stored := false
		for _, f := range c.found {
			if f.at == nil {
				p.Recovered.Bytes += f.size
				p.Recovered.From[f.from] += f.size
				stored = true
			}
		}
		if stored {
			p.Recovered.Originals++
		}
	}
	before := inv.losses.Of(&c.Version)
	for _, l := range c.lost {
		if i := slices.IndexFunc(before, func(b blob.Loss) bool { return b.Offset == l.Offset && b.Size == l.Size }); i >= 0 {
			p.Known = append(p.Known, before[i])
			continue
		}
		// If a part of a recorded loss was found, the rest keeps the time and pack of that loss.
		if i := slices.IndexFunc(before, func(b blob.Loss) bool { return b.Offset <= l.Offset && l.Offset+l.Size <= b.Offset+b.Size }); i >= 0 {
			l.Since, l.Pack = before[i].Since, before[i].Pack
		}
		p.Lost = append(p.Lost, l)
	}
	for _, b := range before {
		still := slices.ContainsFunc(c.lost, func(l blob.Loss) bool { return l.Offset == b.Offset && l.Size == b.Size })
		if !still {
			p.Found = append(p.Found, b)
		}
	}
}
