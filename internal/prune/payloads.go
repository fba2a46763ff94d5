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
)

// Payloads is what the tier payloads needs: originals with marks take the place of those that are thinned.
type Payloads struct {
	GC *GC // its packs, writer, format and clock
	// Find gives what can go of the originals of runs (by native id) over so many bytes, one at a time.
	Find func(ctx context.Context, wanted map[index.VersionKey]map[string]int64, found func(index.Payloads) error) error
	// Adopt has the index know the new packs.
	Adopt func(context.Context) error
}

// Left is payloads that a plan should drop and cannot.
type Left struct {
	Source  string `json:"source"`
	Path    string `json:"path"`
	PathRaw []byte `json:"path_b64,omitempty"`
	Number  int    `json:"version"`
	Count   *int   `json:"payloads"` // nil: unknown
	Why     string `json:"why"`
}

// marking is the ledgers of originals of which payloads go, by original, with the runs that lose them.
type marking struct {
	ledgers map[index.VersionKey]*index.Ledger
	orders  map[index.VersionKey]int64
	wanted  map[index.VersionKey]map[string]int64
}

func (p *Pruner) toMark(ctx context.Context, orders []index.LedgerOrder) (*marking, error) {
	m := &marking{map[index.VersionKey]*index.Ledger{}, map[index.VersionKey]int64{}, map[index.VersionKey]map[string]int64{}}
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
		key := index.VersionKey{Source: l.Version.Source, Path: l.Version.Path, Number: l.Version.Number}
		m.ledgers[key], m.orders[key], m.wanted[key] = l, o.Version, map[string]int64{}
		for _, r := range l.Runs {
			if limit, ok := over[r.Run]; ok {
				m.wanted[key][r.NativeID] = limit
			}
		}
	}
	return m, nil
}

// mark puts originals with marks in the place of those that runs with the tier payloads hold. The packs that it writes
// also say what the ledgers of these originals say, so that nothing is left to do for them: it returns them.
func (p *Pruner) mark(ctx context.Context, orders []index.LedgerOrder, out *Applied, now time.Time) (done map[int64]bool, err error) {
	done = map[int64]bool{}
	m, err := p.toMark(ctx, orders)
	if err != nil || len(m.wanted) == 0 {
		return done, err
	}
	if p.Payloads == nil {
		return nil, ErrPayloads
	}
	r := &replacer{gc: p.Payloads.GC, ctx: ctx}
	if r.standing, err = p.tombstones(ctx, func(*blob.Tombstone) {}); err != nil {
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
		return nil, errors.Join(err, r.writer.Abort())
	}
	if err := r.seal(); err != nil || len(done) == 0 {
		return done, err
	}
	out.Marked = len(done)
	return done, p.Payloads.Adopt(ctx)
}

// graveSet is the keys of some tombstones, by their hashes.
type graveSet map[uint64]struct{}

func (g graveSet) has(key string) bool {
	_, ok := g[maphash.String(chainSeed, key)]
	return ok
}

// tombstones are those that stand. Each is told of them.
func (p *Pruner) tombstones(ctx context.Context, each func(*blob.Tombstone)) (graveSet, error) {
	all := graveSet{}
	for f, err := range p.Index.Facts(ctx, blob.FactTombstone) {
		if err != nil {
			return nil, err
		}
		if t, err := blob.ParseTombstone(f); err == nil {
			all[maphash.String(chainSeed, f.Key)] = struct{}{}
			each(&t)
		}
	}
	return all, nil
}

// mark writes one original with marks, and what is to be known of it and of the one in whose place it comes.
func (r *replacer) mark(l *index.Ledger, x *index.Payloads, plan string, now time.Time) error {
	old := l.Version
	v, err := r.store(old, int64(len(x.Marked)), func() io.Reader { return bytes.NewReader(x.Marked) })
	if err != nil {
		return err
	}
	if key := blob.NewTombstone(&v, "").Key(); r.standing.has(key) { // it was like that before, and was undone
		r.manifest.Facts = append(r.manifest.Facts, blob.NewTombstone(&v, "").Retract(now))
	}
	grave := blob.NewTombstone(&old, plan)
	grave.Redacted = &blob.Redaction{SHA256: v.SHA256, Root: v.Root, Places: x.Places, Payloads: true}
	stays := *l
	stays.Version = v
	stays.Version.Extents = nil
	fact, err := stays.Fact(now)
	if err != nil {
		return err
	}
	r.manifest.Facts = append(r.manifest.Facts, grave.Fact(now),
		blob.Fact{Kind: index.FactLedger, Key: index.LedgerKey(&old), Time: now, Value: []byte("null")}, fact)
	return r.sealFull()
}

// countPayloads finds out what originals get marks, and how many bytes of packs they will take: it writes them as Apply
// does, but nowhere.
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
	m, err := p.toMark(ctx, orders)
	if err != nil || len(m.wanted) == 0 {
		return nil, err
	}
	gc, scale := *p.Payloads.GC, &scale{Store: p.Payloads.GC.Packs}
	gc.Packs = scale
	r := &replacer{gc: &gc, ctx: ctx}
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
		return nil, errors.Join(err, r.writer.Abort())
	}
	if err := r.seal(); err != nil {
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

// scale is a store that weighs packs and keeps none.
type scale struct {
	blob.Store
	bytes int64
}

// Create begins a pack that comes to nothing.
func (s *scale) Create(context.Context) (blob.Upload, error) { return weighed{s}, nil }

type weighed struct{ *scale }

func (w weighed) Write(p []byte) (int, error) {
	w.bytes += int64(len(p))
	return len(p), nil
}

func (weighed) Commit(context.Context, string) error { return nil }

func (weighed) Abort() error { return nil }
