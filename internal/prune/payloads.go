package prune

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// Payloads provides what the tier payloads needs: originals are replaced with copies in which marks replace payloads.
type Payloads struct {
	GC *gc.GC // provides packs, writer, format and clock
	// Find calls found, one original at a time, with the payloads that can be dropped from originals. wanted maps
	// originals, by their number in the index, to the runs (by native id) and the sizes above which payloads are dropped.
	Find func(ctx context.Context, wanted map[int64]map[string]int64, found func(index.Payloads) error) error
}

// Left is payloads that a plan should drop but cannot.
type Left struct {
	Source  string `json:"source"`
	Path    string `json:"path"`
	PathRaw []byte `json:"path_b64,omitempty"`
	Number  int    `json:"version"`
	Count   *int   `json:"payloads"` // nil if unknown
	Why     string `json:"why"`
}

// payloadLedgers is, by original, the ledgers of originals that lose payloads, and the runs that lose them.
type payloadLedgers struct {
	ledgers map[index.VersionKey]*index.Ledger
	orders  map[index.VersionKey]int64
	wanted  map[int64]map[string]int64 // by version in the index
}

// newMarking selects the orders that drop payloads, and loads their ledgers.
func (p *Pruner) newMarking(ctx context.Context, orders []index.LedgerOrder) (*payloadLedgers, error) {
	m := &payloadLedgers{map[index.VersionKey]*index.Ledger{}, map[index.VersionKey]int64{}, map[int64]map[string]int64{}}
	for _, o := range orders {
		var over map[string]int64
		for _, r := range o.Runs {
			if r.Action == string(policy.Thin) && r.Tier == string(policy.TierPayloads) {
				if over == nil {
					over = map[string]int64{}
				}
				over[r.Run] = r.Over
			}
		}
		if o.Tombstone || len(over) == 0 {
			continue
		}
		all, err := p.Index.Ledgers(ctx, []index.LedgerOrder{o})
		if err != nil {
			return nil, err
		}
		l := &all[0]
		key := index.KeyOf(&l.Version)
		m.ledgers[key], m.orders[key], m.wanted[o.Version] = l, o.Version, map[string]int64{}
		for _, r := range l.Runs {
			if limit, ok := over[r.Run]; ok {
				m.wanted[o.Version][r.NativeID] = limit
			}
		}
	}
	return m, nil
}

// mark replaces originals of runs with the tier payloads by originals with marks. The new packs also contain the
// ledgers of these originals, so that nothing is left to do for them; mark returns their ids.
func (p *Pruner) mark(ctx context.Context, orders []index.LedgerOrder, out *Applied, now time.Time) (done map[int64]bool, err error) {
	done = map[int64]bool{}
	m, err := p.newMarking(ctx, orders)
	if err != nil || len(m.wanted) == 0 {
		return done, err
	}
	if p.Payloads == nil {
		return nil, ErrPayloads
	}
	r := &marker{Replacer: gc.NewReplacer(ctx, p.Payloads.GC)}
	if r.tombstones, err = p.tombstones(ctx, func(*blob.Tombstone) {}); err != nil {
		return nil, err
	}
	if err := p.Payloads.Find(ctx, m.wanted, func(x index.Payloads) error {
		if x.Why != "" {
			out.Left++
		}
		if x.Marked == nil {
			return nil
		}
		done[m.orders[x.VersionKey]] = true
		return r.mark(m.ledgers[x.VersionKey], &x, out.Plan, now)
	}); err != nil {
		return nil, errors.Join(err, r.Abort())
	}
	if err := r.Seal(); err != nil || len(done) == 0 {
		return done, err
	}
	out.Marked = len(done)
	return done, p.Adopt(ctx)
}

var hashSeed = maphash.MakeSeed()

// tombstoneSet is a set of tombstone keys, by hash.
type tombstoneSet map[uint64]struct{}

func (g tombstoneSet) has(key string) bool {
	_, ok := g[maphash.String(hashSeed, key)]
	return ok
}

// tombstones returns the keys of all valid tombstones, and calls each for them.
func (p *Pruner) tombstones(ctx context.Context, each func(*blob.Tombstone)) (tombstoneSet, error) {
	all := tombstoneSet{}
	for f, err := range p.Index.Facts(ctx, blob.FactTombstone) {
		if err != nil {
			return nil, err
		}
		if t, err := blob.ParseTombstone(f); err == nil {
			all[maphash.String(hashSeed, f.Key)] = struct{}{}
			each(&t)
		}
	}
	return all, nil
}

// marker writes originals with marks in place of payloads.
type marker struct {
	*gc.Replacer
	tombstones tombstoneSet // all valid ones
}

// mark writes one original with marks, and the facts about it and the one that it replaces.
func (r *marker) mark(l *index.Ledger, x *index.Payloads, plan string, now time.Time) error {
	old := l.Version
	v, err := r.Store(old, int64(len(x.Marked)), func() io.Reader { return bytes.NewReader(x.Marked) })
	if err != nil {
		return err
	}
	if key := blob.NewTombstone(&v, "").Key(); r.tombstones.has(key) { // the same marks were set before and undone
		r.AddFacts(blob.NewTombstone(&v, "").Retract(now))
	}
	tombstone := blob.NewTombstone(&old, plan)
	tombstone.Redacted = &blob.Redaction{SHA256: v.SHA256, Root: v.Root, Places: x.Places, Payloads: true}
	stays := *l
	stays.Version = v
	stays.Version.Extents = nil
	fact, err := stays.Fact(now)
	if err != nil {
		return err
	}
	r.AddFacts(tombstone.Fact(now), blob.Retraction(index.FactLedger, index.LedgerKey(&old), now), fact)
	return r.SealFull()
}

// countPayloads determines which originals get marks, and how many bytes of packs they will take: it writes them as
// Apply does, but discards the packs.
func (p *Pruner) countPayloads(ctx context.Context, plan *Plan) (marked map[int64]bool, err error) {
	if p.Payloads == nil || !plan.dropsPayloads() {
		return nil, nil
	}
	var orders []index.LedgerOrder
	i := -1
	for v, err := range plan.Versions.All() {
		if i++; err != nil {
			return nil, err
		}
		if !plan.marks(v) {
			continue
		}
		o, err := plan.order(v, plan.held[i])
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	m, err := p.newMarking(ctx, orders)
	if err != nil || len(m.wanted) == 0 {
		return nil, err
	}
	collector, scale := *p.Payloads.GC, &countingStore{Store: p.Payloads.GC.Packs}
	collector.Packs = scale
	r := &marker{Replacer: gc.NewReplacer(ctx, &collector)}
	marked = map[int64]bool{}
	if err := p.Payloads.Find(ctx, m.wanted, func(x index.Payloads) error {
		if x.Why != "" {
			plan.Left = append(plan.Left, leftOf(&x))
		}
		if x.Marked == nil {
			return nil
		}
		plan.Frees.Marked++
		plan.Frees.PayloadBytes += x.Bytes
		marked[m.orders[x.VersionKey]] = true
		return r.mark(m.ledgers[x.VersionKey], &x, plan.ID, plan.Created)
	}); err != nil {
		return nil, errors.Join(err, r.Abort())
	}
	if err := r.Seal(); err != nil {
		return nil, err
	}
	plan.Frees.WrittenBytes += scale.bytes
	return marked, nil
}

func leftOf(x *index.Payloads) Left {
	l := Left{Source: x.Source, Number: x.Number, Why: x.Why}
	l.Path, l.PathRaw = blob.Readable(x.Path)
	if x.Left > 0 {
		l.Count = &x.Left
	}
	return l
}

// countingStore is a store that counts the bytes of packs and discards them.
type countingStore struct {
	blob.Store
	bytes int64
}

// Create starts a pack that is discarded.
func (s *countingStore) Create(context.Context) (blob.Upload, error) { return countingUpload{s}, nil }

type countingUpload struct{ *countingStore }

func (w countingUpload) Write(p []byte) (int, error) {
	w.bytes += int64(len(p))
	return len(p), nil
}

func (countingUpload) Commit(context.Context, string) error { return nil }

func (countingUpload) Abort() error { return nil }
