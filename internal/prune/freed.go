package prune

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// count estimates how much a plan frees.
func (p *Pruner) count(ctx context.Context, s *snapshot, plan *Plan) error {
	f := &plan.Frees
	goes, i := versionSet{}, -1
	for v, err := range plan.Versions.All() {
		if i++; err != nil {
			return err
		}
		if h := plan.held[i]; v.Goes && !h.tombstoned {
			goes.add(h.id)
			f.Originals, f.RawBytes = f.Originals+1, f.RawBytes+v.Size
		}
	}
	marked, err := p.countPayloads(ctx, plan)
	if err != nil {
		return err
	}
	removal, err := p.countFacts(ctx, plan, marked)
	if err != nil {
		return err
	}
	if err := p.freed(ctx, s, func(version int64) bool { return goes.has(version) || marked[version] }, f); err != nil {
		return err
	}
	if err := p.countIndex(ctx, plan, removal); err != nil {
		return err
	}
	f.Bytes = f.PackBytes - f.WrittenBytes + f.IndexBytes
	return nil
}

// versionSet is a bit set of versions (private ids).
type versionSet []uint64

func (s *versionSet) add(version int64) {
	for int64(len(*s)) <= version/64 {
		*s = append(*s, 0)
	}
	(*s)[version/64] |= 1 << (version % 64)
}

func (s versionSet) has(version int64) bool {
	return version/64 < int64(len(s)) && s[version/64]>>(version%64)&1 == 1
}

// countedFacts is how many ledgers are built to estimate the size of all.
const countedFacts = 128

// countFacts estimates the size of ledgers and tombstones in packs, from a sample if there are many, and returns the
// sample.
func (p *Pruner) countFacts(ctx context.Context, plan *Plan, marked map[int64]bool) (*index.Removal, error) {
	step, of := 1, plan.Versions.Len()-len(marked)
	if of > 2*countedFacts {
		step = of / countedFacts
	}
	var sample []index.LedgerOrder
	n := 0
	for i, h := range plan.held {
		if marked[h.id] {
			continue
		}
		if n++; n%step > 0 {
			continue
		}
		v, err := plan.Versions.get(i)
		if err != nil {
			return nil, err
		}
		o, err := plan.order(v, h)
		if err != nil {
			return nil, err
		}
		sample = append(sample, o)
	}
	removal := &index.Removal{}
	if len(sample) == 0 {
		return removal, nil
	}
	ledgers, err := p.Index.Ledgers(ctx, sample)
	if err != nil {
		return nil, err
	}
	facts, err := factsOf(ledgers, sample, plan.ID, plan.Created)
	if err != nil {
		return nil, err
	}
	scale := &countingStore{}
	w, err := pack.Begin(ctx, scale, "plan", plan.Created, pack.Options{})
	if err != nil {
		return nil, err
	}
	if _, _, err := w.Seal(ctx, blob.Manifest{Facts: facts}); err != nil {
		return nil, err
	}
	removal.Ledgers, removal.LedgerFactor = ledgers, float64(of)/float64(len(sample))
	plan.Frees.WrittenBytes += int64(float64(scale.bytes) * removal.LedgerFactor)
	return removal, nil
}

// countIndex estimates how much gc frees in the index.
func (p *Pruner) countIndex(ctx context.Context, plan *Plan, removal *index.Removal) error {
	removal.Originals = plan.Frees.Originals
	versions := make([][]int64, len(plan.runs))
	rows := make([]int64, len(plan.runs))
	if err := plan.eachSuperseded(func(h heldVersion) {
		versions[h.run], rows[h.run] = append(versions[h.run], h.id), rows[h.run]+int64(h.rows)
	}); err != nil {
		return err
	}
	removal.Runs = make([]index.RemovedRun, 0, plan.Runs.Len())
	formats := map[string]string{} // one copy of each
	for r, err := range plan.Runs.All() {
		if err != nil {
			return err
		}
		if _, known := formats[r.Format]; !known {
			formats[r.Format] = r.Format
		}
		x := &plan.runs[len(removal.Runs)]
		leaving := index.RemovedRun{ID: x.id, Format: formats[r.Format], RowCount: int64(x.rows), Thinned: x.thinned, DropsRows: x.ends, DropsLedger: x.ends && !r.Ledger}
		if at := len(removal.Runs); x.versions {
			leaving.RowCount, leaving.Versions = rows[at], append([]int64{}, versions[at]...)
		}
		removal.Runs = append(removal.Runs, leaving)
	}
	freed, err := p.Index.EstimateFreed(ctx, removal)
	if err != nil {
		return err
	}
	plan.Frees.IndexBytes, plan.words = freed.Bytes, freed.Words
	return nil
}

// eachSuperseded calls do for the earlier versions that runs lose which lose nothing else.
func (p *Plan) eachSuperseded(do func(heldVersion)) error {
	for i, h := range p.held {
		if !p.runs[h.run].versions {
			continue
		}
		v, err := p.Versions.get(i)
		if err != nil {
			return err
		}
		if v.Goes && !h.tombstoned {
			do(h)
		}
	}
	return nil
}

// span is an entry of a pack, with its header and padding.
type span struct {
	from, to   int64
	live, dead bool // a remaining version has it; a version that is removed now has it
}

const tarBlock = 512

// spans returns the entries of a pack, in order, and how many of its extents are removed.
func spans(p *index.InventoryPack) (all []*span, removed int64) {
	at := map[int64]*span{}
	for _, x := range p.Extents {
		e := at[x.Raw]
		if e == nil {
			e = &span{from: x.Raw - tarBlock}
			at[x.Raw] = e
		}
		e.to = max(e.to, x.Raw+(x.Size+tarBlock-1)/tarBlock*tarBlock)
		e.live = e.live || x.Kept
		if x.Removed {
			e.dead = true
			removed++
		}
	}
	return slices.SortedFunc(maps.Values(at), func(a, b *span) int { return cmp.Compare(a.from, b.from) }), removed
}

// freed estimates how much packs shrink when versions are removed: by whole members of which no entry stays, and by a
// share of the others.
func (p *Pruner) freed(ctx context.Context, s *snapshot, goes func(version int64) bool, f *Frees) error {
	var remainders []gc.Remainder
	for x, err := range s.Packs(goes) {
		if err != nil {
			return err
		}
		volumes, err := p.Index.Volumes(ctx, []int64{x.ID})
		if err != nil {
			return err
		}
		v := volumes[x.ID]
		all, removed := spans(x)
		remainders = append(remainders, f.addPack(&v, all)...)
		f.PackBytes += v.Manifest * removed / int64(len(x.Extents))
		f.Packs++
	}
	var packs blob.Store
	if p.Payloads != nil {
		packs = p.Payloads.GC.Packs
	}
	share, err := gc.RecompressedRatio(ctx, packs, remainders)
	for _, x := range remainders {
		f.PackBytes -= int64(x.Keeps * share)
	}
	f.Members = len(remainders)
	return err
}

// addPack adds what is removed of one pack, and returns the members that gc compresses again because an entry stays.
func (f *Frees) addPack(v *index.Volume, spans []*span) (remainders []gc.Remainder) {
	for i := range v.Members {
		m := &v.Members[i]
		for len(spans) > 0 && spans[0].to <= m.Raw {
			spans = spans[1:]
		}
		dead, live := within(m, spans)
		if dead == 0 {
			continue
		}
		f.PackBytes += m.Size
		if len(live) > 0 {
			keeps := float64(m.Size) * float64(m.RawSize-min(dead, m.RawSize)) / float64(max(m.RawSize, 1))
			remainders = append(remainders, gc.Remainder{Pack: v.Name, Keeps: keeps, Live: live})
		}
	}
	return remainders
}

// within returns how many bytes of a member are removed, and where the content of the remaining entries is.
func within(m *blob.Member, spans []*span) (dead int64, live [][2]int64) {
	end := m.Raw + m.RawSize
	for _, e := range spans {
		if e.from >= end {
			break
		}
		switch {
		case e.live:
			live = append(live, [2]int64{e.from + tarBlock, e.to})
		case e.dead:
			dead += min(e.to, end) - max(e.from, m.Raw)
		}
	}
	return dead, live
}
