package prune

import (
	"cmp"
	"context"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// span is an entry of a pack, with its header and padding.
type span struct {
	from, to   int64
	live, dead bool // some version that stays has it; one that goes now has it
}

const tarBlock = 512

// freed counts what packs give back when versions go: members of which no entry stays, and shares of the others.
func (p *Pruner) freed(ctx context.Context, s *stand, goes map[int]bool) (f Frees, err error) {
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
	touched := map[int64]map[int64]*span{} // by pack and place
	for _, x := range s.Extents {
		if fate[x.Chain] == ends && touched[x.Pack] == nil {
			touched[x.Pack] = map[int64]*span{}
		}
	}
	for _, x := range s.Extents {
		spans := touched[x.Pack]
		if spans == nil {
			continue
		}
		e := spans[x.Raw]
		if e == nil {
			e = &span{from: x.Raw - tarBlock}
			spans[x.Raw] = e
		}
		e.to = max(e.to, x.Raw+(x.Size+tarBlock-1)/tarBlock*tarBlock)
		e.live = e.live || fate[x.Chain]&stays > 0
		e.dead = e.dead || fate[x.Chain] == ends
	}
	packs := make([]int64, 0, len(touched))
	for id := range touched {
		packs = append(packs, id)
	}
	members, err := p.Index.Members(ctx, packs)
	if err != nil {
		return f, err
	}
	for id, spans := range touched {
		f.Packs++
		all := make([]*span, 0, len(spans))
		for _, e := range spans {
			all = append(all, e)
		}
		f.addPack(members[id], all)
	}
	return f, nil
}

func (f *Frees) addPack(members []blob.Member, spans []*span) {
	slices.SortFunc(spans, func(a, b *span) int { return cmp.Compare(a.from, b.from) })
	for i := range members {
		m := &members[i]
		for len(spans) > 0 && spans[0].to <= m.Raw {
			spans = spans[1:]
		}
		freed, again := freedOf(m, spans)
		f.PackBytes += freed
		if again {
			f.Members++
		}
	}
}

// freedOf is what one member gives back: all of it when no entry in it stays, else the share of those that go, and
// then it must be made again.
func freedOf(m *blob.Member, spans []*span) (freed int64, again bool) {
	end := m.Raw + m.RawSize
	var dead int64
	live := false
	for _, e := range spans {
		if e.from >= end {
			break
		}
		switch {
		case e.live:
			live = true
		case e.dead:
			dead += min(e.to, end) - max(e.from, m.Raw)
		}
	}
	switch {
	case dead == 0:
		return 0, false
	case !live:
		return m.Size, false
	}
	return m.Size * min(dead, m.RawSize) / max(m.RawSize, 1), true
}
