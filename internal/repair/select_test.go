package repair

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestSelectionsHoldLittle selects all originals, with different limits: never more at a time than allowed, each once, by name, and
// with the same places.
func TestSelectionsHoldLittle(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t))
	for range 25 {
		w.add()
	}
	var all []string
	for _, limit := range []int{1 << 20, 20, 5, 1} {
		r := w.repair(nil)
		r.ChainLimit = limit
		s := newInventory(r)
		w.check(s.load(ctx))
		var now []string
		for more := true; more; s.span, more = s.span.Next() {
			w.check(s.selectSpan(ctx))
			if len(s.chains) > limit {
				t.Errorf("%d originals are held, %d may be", len(s.chains), limit)
			}
			for _, c := range s.sorted() {
				w.check(s.locate(ctx, c))
				now = append(now, fmt.Sprint(c.Name(), c.Number, c.Size, c.SHA256, c.rewrite, len(c.found), len(c.states), c.lost))
			}
		}
		if all == nil {
			all = now
		}
		if len(now) < 25 || !slices.Equal(now, all) {
			t.Errorf("of %d at a time %d are met, else %d, or other places", limit, len(now), len(all))
		}
		w.check(errors.Join(s.close()))
	}
}

// TestFactsAreNotHeld checks that the facts of packs are processed as they are read and not kept: an archive may have more facts than
// originals.
func TestFactsAreNotHeld(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t))
	for range 5 {
		w.add()
	}
	s := newInventory(w.repair(nil))
	for info, err := range w.packs.List(ctx) {
		w.check(err)
		h := &packInfo{Info: info, from: FromPack}
		w.check(s.readPack(ctx, h))
		if len(h.manifest.Facts) > 0 || len(s.roots) == 0 {
			t.Errorf("%d facts of %s are held, %d sources are known", len(h.manifest.Facts), h.Name, len(s.roots))
		}
	}
	w.check(s.close())
}

// TestPlanOpensWhatItNeeds checks that a plan opens only those packs of a backup that it needs. A backup may have thousands.
func TestPlanOpensWhatItNeeds(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t))
	for range 20 {
		w.add()
	}
	r := w.repair(nil)
	packs := &blobtest.Counted{Store: w.packs}
	r.Packs, r.Backup = packs, packs
	p, err := r.Plan(ctx)
	w.check(err)
	if !p.Empty() || packs.Now > 0 || packs.Most != 1 {
		t.Errorf("a plan of %d chains has %d packs open, and had %d", p.rewritten, packs.Now, packs.Most)
	}
	w.check(p.Close())
}
