// Package repair saves what damage has left of an archive: it writes what is still good in damaged packs into new
// ones, looks elsewhere for what is not, and has facts say which bytes are lost.
//
// It owns how a hole is filled: with the same bytes from another pack, from a backup, or from the source, each known
// by its hash. It knows nothing of an index's inside, and asks it only for what no manifest tells any more. Its promises:
// what it stores is what was stored before, byte for byte; a damaged pack is moved aside, never removed; the new pack is
// durable before the old one moves; every step can be repeated.
package repair

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// Index is what a repair asks for what damaged manifests do not tell.
type Index interface {
	StatesIn(ctx context.Context, in blob.Span) iter.Seq2[index.State, error] // by name
	Packs(ctx context.Context) iter.Seq2[string, error]
	Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error]
	// FactsIn yields the facts that a pack tells best, taken back ones too. Of ledgers it does not know the value.
	FactsIn(ctx context.Context, pack string) iter.Seq2[blob.Fact, error]
}

// File is an original in its source.
type File interface {
	io.ReaderAt
	io.Closer
}

// Repair says what an archive has, and where else to look. It needs the archive's lock to apply a plan.
type Repair struct {
	Packs   blob.Store
	Index   Index      // nil when there is none
	Backup  blob.Store // nil when there is none
	Damaged []string   // packs that are not as they were written, as a verify found them
	Missing []string   // packs that are not there and should be, besides those that the index knows
	// Original opens an original below the root of its source. It may be nil.
	Original func(root, path string) (File, error)
	// Quarantine keeps a damaged pack where nothing removes it; it may be there already.
	Quarantine func(ctx context.Context, name string) error
	Writer     string // id of this writer in pack names
	Now        func() time.Time
	Log        *slog.Logger
	Format     pack.Options // of new packs
	// Progress is told how many originals are looked at. It may be nil.
	Progress func(done, total int64)
	// ChainLimit is how many originals are in memory at a time: 0 is 65,536.
	ChainLimit int
}

// Where bytes were found.
const (
	FromPack   = "pack"   // in a damaged pack, or in another one
	FromBackup = "backup" // in a pack of the backup
	FromSource = "source" // in the original's source, which has the same bytes
)

// DamagedPack is a pack that is damaged or missing.
type DamagedPack struct {
	Pack string
	Size int64
	// Missing says that there is no such file, and ContentKnown that what it held is known, by its manifest, the index or a backup.
	Missing, ContentKnown bool
}

// Recovered is how much is stored again.
type Recovered struct {
	Originals int64 // versions
	Bytes     int64
	From      map[string]int64 // bytes by where they were found
}

// Plan is what a repair will do. It holds open files until Close, and memory for each original of the archive.
type Plan struct {
	Damaged   []DamagedPack
	Recovered Recovered
	Lost      []blob.Loss // new ones
	Known     []blob.Loss // acknowledged before, and found nowhere now either
	Found     []blob.Loss // acknowledged before, of which bytes are there again
	// Unnamed are entries of packs whose manifest is lost that are saved under the name that they have there.
	Unnamed []string
	// LostFacts is how many facts of lost manifests nobody can tell again.
	LostFacts int64

	inventory *inventory  // until Close
	chains    []*chain    // that are told again, until Close
	facts     []blob.Fact // too
	rewritten int         // chains
}

// Empty says whether there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Damaged) == 0 && len(p.Lost) == 0 && len(p.Found) == 0 && p.rewritten == 0
}

// LostBytes is how many bytes the plan gives up.
func (p *Plan) LostBytes() (n int64) {
	for _, l := range p.Lost {
		n += l.Size
	}
	return n
}

// Close ends what the plan can do. What it says stays.
func (p *Plan) Close() error {
	if p.inventory == nil {
		return nil
	}
	err := p.inventory.close()
	p.inventory, p.chains, p.facts = nil, nil, nil
	return err
}

// Plan looks at every manifest and, for what is damaged or missing, everywhere for the same bytes. It changes nothing.
func (r *Repair) Plan(ctx context.Context) (p *Plan, err error) {
	s := newInventory(r)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	p = &Plan{inventory: s, Recovered: Recovered{From: map[string]int64{}}, Lost: []blob.Loss{}, Known: []blob.Loss{}, Found: []blob.Loss{}, Unnamed: []string{}}
	done := int64(0)
	if err := s.adoptOrphans(ctx, p, &done); err != nil {
		return nil, err
	}
	for more := true; more; s.span, more = s.span.Next() {
		if err := s.selectSpan(ctx); err != nil {
			return nil, err
		}
		if err := s.locateAll(ctx, p, &done); err != nil {
			return nil, err
		}
	}
	s.deselect()
	p.sort()
	if err := s.collectFacts(ctx, p); err != nil {
		return nil, err
	}
	for _, h := range s.damaged() {
		p.Damaged = append(p.Damaged, DamagedPack{Pack: h.Name, Size: h.Size, Missing: h.missing, ContentKnown: h.known || h.replaced})
	}
	return p, nil
}

// locateAll settles the chains of the selection.
func (s *inventory) locateAll(ctx context.Context, p *Plan, done *int64) error {
	for _, c := range s.sorted() {
		if err := s.settle(ctx, c); err != nil {
			return err
		}
		p.addChain(s, c)
		if *done++; s.repair.Progress != nil {
			s.repair.Progress(*done, max(*done, s.total))
		}
	}
	return nil
}

// sort puts into order what several selections have added to.
func (p *Plan) sort() {
	slices.SortFunc(p.chains, byName)
	for _, losses := range [][]blob.Loss{p.Lost, p.Known, p.Found} {
		slices.SortStableFunc(losses, func(a, b blob.Loss) int {
			return a.Chain().Compare(b.Chain())
		})
	}
}

// addChain adds to the plan what became of a chain.
func (p *Plan) addChain(s *inventory, c *chain) {
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
	before := s.losses.Of(&c.Version)
	for _, l := range c.lost {
		if i := slices.IndexFunc(before, func(b blob.Loss) bool { return b.Offset == l.Offset && b.Size == l.Size }); i >= 0 {
			p.Known = append(p.Known, before[i])
			continue
		}
		// Of a hole of which a part is filled, the rest is lost for as long as it was.
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
