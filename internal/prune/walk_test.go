package prune

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

// TestWalkHoldsLittle goes through an archive of originals, their growth and later versions, with more and fewer of them in
// memory at a time: never more than allowed, each once, by name, and always in the same state. What forget finds does
// not depend on it.
func TestWalkHoldsLittle(t *testing.T) {
	w := newWorld(t, rand.Uint64(), blobtest.NewMemory())
	for range 25 {
		w.ingest()
	}
	w.bury(3)
	pattern, err := ParsePattern("/unique-[0-9]*7-/")
	w.check(err)
	var all, found []string
	for _, limit := range []int{1 << 20, 40, 7} {
		gc := w.collector(Options{})
		gc.ChainLimit, gc.began = limit, w.now
		var now []string
		h, err := gc.walk(t.Context(), nil, func(h *holdings, span blob.Span) error {
			if h.count > limit+8 { // versions of one file stay together
				t.Errorf("%d chains are held, %d may be", h.count, limit)
			}
			for _, c := range h.sorted() {
				if !span.Has(c.name()) {
					t.Errorf("%s is behind the span", c.Path)
				}
				now = append(now, fmt.Sprint(c.key(), c.Size, c.SHA256, c.buried, c.whole(), len(c.states())))
			}
			return nil
		})
		w.check(err)
		if all == nil {
			all = now
		}
		if !slices.Equal(now, all) {
			t.Errorf("of %d at a time %d are met, of all %d, or in another state", limit, len(now), len(all))
		}
		f := &Forget{GC: w.collector(Options{}), Pattern: pattern}
		f.GC.ChainLimit = limit
		matches, err := f.Search(t.Context())
		w.check(err)
		var places []string
		for _, m := range matches {
			places = append(places, fmt.Sprint(m.Where, m.Source, m.Path, m.Version, m.Count))
		}
		if found == nil {
			found = places
		}
		if len(places) == 0 || !slices.Equal(places, found) {
			t.Errorf("of %d at a time forget finds %d, else %d", limit, len(places), len(found))
		}
		if f.holdings.count > 0 || len(h.volumes) < 20 {
			t.Errorf("%d chains of %d packs are held when all is done", f.holdings.count, len(h.volumes))
		}
	}
}

// TestReplacedPacksAreForgotten wants nothing to be known any more of packs that others have replaced: the plan still names
// them, and with each would stay all chains that were looked at while it was replaced.
func TestReplacedPacksAreForgotten(t *testing.T) {
	w := newWorld(t, rand.Uint64(), blobtest.NewMemory())
	for range 20 {
		w.ingest()
	}
	gc := w.collector(Options{})
	gc.began = w.now
	h, err := gc.survey(t.Context())
	w.check(err)
	groups, _ := h.plan(&gc.Options, nil)
	if len(groups) == 0 {
		t.Fatal("nothing is merged")
	}
	r := &rewriter{gc: gc, holdings: h, report: &Report{}, damaged: map[string]bool{}}
	for _, group := range groups {
		w.check(gc.selectGroup(t.Context(), h, group))
		w.check(r.replace(t.Context(), group))
		for _, v := range group {
			if len(v.entries)+len(v.lines)+len(v.stored)+len(v.told)+len(v.guests) > 0 {
				t.Errorf("of %s, which is no more, %d entries and %d lines are held", v.Name, len(v.entries), len(v.lines))
			}
		}
	}
	w.compare(w.db, 0)
}
