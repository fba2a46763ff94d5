package prune

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// count finds out what a plan gives back.
func (p *Pruner) count(ctx context.Context, s *stand, plan *Plan) error {
	f := &plan.Frees
	goes := map[int]bool{}
	for i := range plan.Versions {
		if v := &plan.Versions[i]; v.Goes && !s.Versions[v.at].Buried {
			goes[v.at] = true
			f.RawBytes += v.Size
		}
	}
	f.Originals = len(goes)
	planned := plan.byID()
	marked, err := p.countPayloads(ctx, s, plan, planned)
	if err != nil {
		return err
	}
	leaving, err := p.countFacts(ctx, s, plan, planned, marked)
	if err != nil {
		return err
	}
	for at := range s.Versions {
		if marked[s.Versions[at].ID] {
			goes[at] = true
		}
	}
	if err := p.freed(ctx, s, goes, f); err != nil {
		return err
	}
	if err := p.countIndex(ctx, s, plan, leaving); err != nil {
		return err
	}
	f.Bytes = f.PackBytes - f.WrittenBytes + f.IndexBytes
	return nil
}

// countedFacts is how many ledgers are made to find out what all of them take.
const countedFacts = 500

// countFacts finds out what ledgers and tombstones take in packs, from some of them when they are many, and gives these.
func (p *Pruner) countFacts(ctx context.Context, s *stand, plan *Plan, planned map[string]*PlannedRun, marked map[int64]bool) (*index.Leaving, error) {
	step, of := 1, len(plan.Versions)-len(marked)
	if of > 2*countedFacts {
		step = of / countedFacts
	}
	var some []index.LedgerOrder
	for i, n := 0, 0; i < len(plan.Versions); i++ {
		if v := &plan.Versions[i]; !marked[s.Versions[v.at].ID] {
			if n++; n%step == 0 {
				some = append(some, s.order(plan, planned, v))
			}
		}
	}
	come := &index.Leaving{}
	if len(some) == 0 {
		return come, nil
	}
	ledgers, err := p.Index.Ledgers(ctx, some)
	if err != nil {
		return nil, err
	}
	facts, err := factsOf(ledgers, plan.ID, plan.Created)
	if err != nil {
		return nil, err
	}
	scale := &scale{}
	up, _ := scale.Create(ctx)
	w, err := pack.NewWriter(up, "plan", plan.Created, pack.Options{})
	if err != nil {
		return nil, err
	}
	if _, _, err := w.Seal(ctx, blob.Manifest{Facts: facts}); err != nil {
		return nil, err
	}
	come.Ledgers, come.Times = ledgers, float64(of)/float64(len(some))
	plan.Frees.WrittenBytes += int64(float64(scale.bytes) * come.Times)
	return come, nil
}

// countIndex finds out what gc gives back of the index when it cleans it.
func (p *Pruner) countIndex(ctx context.Context, s *stand, plan *Plan, leaving *index.Leaving) error {
	leaving.Originals = plan.Frees.Originals
	for i := range plan.Runs {
		r := &plan.Runs[i]
		leaving.Runs = append(leaving.Runs, index.LeavingRun{Run: s.byID[r.RunID], Rows: r.ends(), Ledger: r.ends() && !r.Ledger})
	}
	freed, err := p.Index.Frees(ctx, s.Estate, leaving)
	if err != nil {
		return err
	}
	plan.Frees.IndexBytes = freed.Bytes
	for i, words := range freed.Words {
		if r := &plan.Runs[i]; !r.ends() {
			r.Bytes = words
		}
	}
	return nil
}

// span is an entry of a pack, with its header and padding.
type span struct {
	from, to   int64
	live, dead bool // some version that stays has it; one that goes now has it
}

const tarBlock = 512

// touched is a pack that holds what goes.
type touched struct {
	spans     map[int64]*span // by place
	all, gone int64           // extents
}

// touched finds the packs that hold what goes, by id.
func (s *stand) touched(goes map[int]bool) map[int64]*touched {
	const stays, ends = 1, 2
	fate := make(map[int64]int, len(s.Versions)) // of chains
	for i := range s.Versions {
		v := &s.Versions[i]
		switch {
		case goes[i]:
			fate[v.Chain] |= ends
		case !v.Buried:
			fate[v.Chain] |= stays
		}
	}
	packs := map[int64]*touched{}
	for _, x := range s.Extents {
		if fate[x.Chain] == ends && packs[x.Pack] == nil {
			packs[x.Pack] = &touched{spans: map[int64]*span{}}
		}
	}
	for _, x := range s.Extents {
		t := packs[x.Pack]
		if t == nil {
			continue
		}
		e := t.spans[x.Raw]
		if e == nil {
			e = &span{from: x.Raw - tarBlock}
			t.spans[x.Raw] = e
		}
		e.to = max(e.to, x.Raw+(x.Size+tarBlock-1)/tarBlock*tarBlock)
		e.live = e.live || fate[x.Chain]&stays > 0
		t.all++
		if fate[x.Chain] == ends {
			e.dead = true
			t.gone++
		}
	}
	return packs
}

// freed counts what packs give back when versions go: members of which no entry stays, and shares of the others.
func (p *Pruner) freed(ctx context.Context, s *stand, goes map[int]bool, f *Frees) error {
	packs := s.touched(goes)
	ids := slices.Sorted(maps.Keys(packs))
	volumes, err := p.Index.Volumes(ctx, ids)
	if err != nil {
		return err
	}
	var again []remains
	for _, id := range ids {
		t, v := packs[id], volumes[id]
		sorted := slices.SortedFunc(maps.Values(t.spans), func(a, b *span) int { return cmp.Compare(a.from, b.from) })
		again = append(again, f.addPack(&v, sorted)...)
		f.PackBytes += v.Manifest * t.gone / t.all
	}
	share, err := p.remade(ctx, again)
	for _, x := range again {
		f.PackBytes -= int64(x.keeps * share)
	}
	f.Packs, f.Members = len(ids), len(again)
	return err
}

// addPack adds what goes of one pack, and returns the members that gc makes again: those of which an entry stays.
func (f *Frees) addPack(v *index.Volume, spans []*span) (again []remains) {
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
			again = append(again, remains{v.Name, keeps, live})
		}
	}
	return again
}

// within says how much of a member goes, and where the content of entries is that stay.
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
