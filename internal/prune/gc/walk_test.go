package gc

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestWalkHoldsLittle walks an archive of originals, their growth and later versions with different limits of chains
// in memory: the limit is never exceeded, each chain is visited once, in the order of names, and always in the same
// state. What forget finds does not depend on the limit.
func TestWalkHoldsLittle(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t), blobtest.NewMemory())
	for range 25 {
		w.ingest()
	}
	w.addTombstones(3)
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
			for _, c := range slices.SortedFunc(h.chains, func(a, b *Chain) int { return a.key().Compare(b.key()) }) {
				if !span.Has(c.name()) {
					t.Errorf("%s is behind the span", c.Path)
				}
				now = append(now, fmt.Sprint(c.key(), c.Size, c.SHA256, c.tombstoned, c.Complete(), len(c.states())))
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
		if f.holdings != nil || len(h.volumes) < 20 {
			t.Errorf("of %d packs forget holds %v when all is done", len(h.volumes), f.holdings)
		}
	}
	f := &Forget{GC: w.collector(Options{}), Pattern: pattern}
	done, err := f.Apply(t.Context())
	w.check(err)
	if done.Redacted == 0 || f.holdings != nil {
		t.Errorf("%d are redacted, forget holds %v while gc works", done.Redacted, f.holdings)
	}
	w.adopt(w.db) // what takes the place of something redacted is no rival of it
	w.notApart(w.db)
	w.notApart(w.reindexed())
}

// TestByPackOrder checks that originals are read in the order in which packs hold them: in the order of names, a pack
// would be opened and a member inflated for nearly each of a million.
func TestByPackOrder(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t), blobtest.NewMemory())
	for range 25 {
		w.ingest()
	}
	placed := 0
	_, err := w.collector(Options{}).walk(t.Context(), nil, func(h *holdings, _ blob.Span) error {
		var last blob.Copy
		all := h.byPackOrder()
		for _, c := range all {
			if len(c.parts) == 0 || c.parts[0].at == nil {
				continue
			}
			at := c.parts[0].at.Copy
			if at.Compare(last) < 0 {
				t.Errorf("%v comes after %v", at, last)
			}
			last = at
			placed++
		}
		if len(all) != h.count { // which may be none in the last span
			t.Errorf("%d of %d originals", len(all), h.count)
		}
		return nil
	})
	w.check(err)
	if placed == 0 {
		t.Error("no original has a place")
	}
}

// TestReplacedPacksAreForgotten checks that no details of replaced packs stay in memory: the plan still references
// them, and each would retain all chains that were selected when it was replaced.
func TestReplacedPacksAreForgotten(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t), blobtest.NewMemory())
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
			if len(v.entries)+len(v.lines)+len(v.stored)+len(v.chains)+len(v.foreign)+len(v.facts) > 0 {
				t.Errorf("of %s, which is no more, %d entries and %d lines are held", v.Name, len(v.entries), len(v.lines))
			}
		}
	}
	w.compare(w.db, 0)
}

// TestFactsHoldLittle has facts in many packs, older and newer ones of the same key, and a small limit: gc holds only
// those of the packs that it merges, never more than the limit, and the newest fact of every key is unchanged.
func TestFactsHoldLittle(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t), blobtest.NewMemory())
	w.ingest()
	newest := map[factKey]blob.Fact{}
	for range 60 {
		p := w.begin()
		for range 1 + w.rnd.IntN(12) {
			f := blob.Fact{Kind: "tag", Key: fmt.Sprint("run/", w.rnd.IntN(200)), Time: w.now.Add(-time.Duration(w.rnd.IntN(3)) * time.Hour), Value: []byte(`"note"`)}
			if have, ok := newest[factKey{f.Kind, f.Key}]; !ok || !f.Time.Before(have.Time) {
				newest[factKey{f.Kind, f.Key}] = f
			}
			p.manifest.Facts = append(p.manifest.Facts, f)
		}
		p.seal()
	}
	gc := w.collector(Options{})
	gc.began, gc.factsLimit = w.now, 30*FactBytes
	h, err := gc.survey(t.Context())
	w.check(err)
	if len(h.facts) > 0 {
		t.Errorf("%d facts are held once all packs are measured", len(h.facts))
	}
	groups, _ := h.plan(&gc.Options, nil)
	if len(groups) < 5 {
		t.Fatalf("%d packs are to be made", len(groups))
	}
	r := &rewriter{gc: gc, holdings: h, report: &Report{}, damaged: map[string]bool{}}
	for _, group := range groups {
		w.check(gc.selectGroup(t.Context(), h, group))
		if len(h.facts) > 30 {
			t.Errorf("%d facts are held, there is room for 30", len(h.facts))
		}
		w.check(r.replace(t.Context(), group))
	}
	stay := map[factKey]blob.Fact{}
	for _, v := range h.volumes {
		m, err := gc.open(t.Context(), v, nil)
		w.check(err)
		for _, f := range m.Facts {
			if have, ok := stay[factKey{f.Kind, f.Key}]; !ok || !f.Time.Before(have.Time) {
				stay[factKey{f.Kind, f.Key}] = f
			}
		}
	}
	for key, f := range newest {
		if !stay[key].Time.Equal(f.Time) {
			t.Errorf("the newest fact of %s is of %v, and was of %v", key.key, stay[key].Time, f.Time)
		}
	}
	if len(stay) != len(newest) {
		t.Errorf("%d facts stay of %d", len(stay), len(newest))
	}
	for f, err := range w.db.Facts(t.Context(), "tag") {
		if w.check(err); !f.Time.Equal(newest[factKey{f.Kind, f.Key}].Time) {
			t.Errorf("the index has %s of %v", f.Key, f.Time)
		}
	}
}
