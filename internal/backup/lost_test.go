package backup

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestLost: a pack that the archive has lost stays in the backup, whatever else expires, and is reported each time. A pack that was
// replaced expires, even if no backup ever saw the pack that replaced it.
func TestLost(t *testing.T) {
	whole, head, tail := part{file: "a", to: 300}, part{file: "b", to: 100}, part{file: "b", from: 100, to: 200}
	bury := func(p part) blob.Manifest {
		v := p.version()
		return blob.Manifest{Facts: []blob.Fact{blob.NewTombstone(&v, "").Fact(time.Unix(2e9, 0))}}
	}
	tag := blob.Manifest{Facts: []blob.Fact{{Kind: "tag", Key: "k", Time: time.Unix(1, 0), Value: json.RawMessage(`1`)}}}
	for _, c := range []struct {
		name string
		then func(w *world, whole, head, tail, tag string)
		lost []int // of whole, head, tail, tag
	}{
		{"nothing", func(*world, string, string, string, string) {}, nil},
		{"one", func(w *world, whole, _, _, _ string) { w.remove(whole) }, []int{0}},
		{"a tail", func(w *world, _, _, tail, _ string) { w.remove(tail) }, []int{2}},
		{"a fact", func(w *world, _, _, _, tag string) { w.remove(tag) }, []int{3}},
		{"all", func(w *world, a, b, c, d string) { w.remove(a, b, c, d) }, []int{0, 1, 2, 3}},
		{"replaced", func(w *world, a, b, c, d string) {
			w.write([]string{a, b, c, d}, whole)
			w.remove(a, b, c, d)
		}, nil},
		{"replaced twice", func(w *world, a, b, c, d string) {
			again := w.seal(blob.Manifest{Replaces: []string{a, b, c, d}, Facts: tag.Facts}, whole, part{file: "b", to: 200})
			w.seal(blob.Manifest{Replaces: []string{again}, Facts: tag.Facts}, whole, part{file: "b", to: 200})
			w.remove(a, b, c, d, again)
		}, nil},
		{"replaced twice, the second time by less", func(w *world, a, b, c, d string) {
			again := w.write([]string{a, b, c}, whole, part{file: "b", to: 200})
			w.write([]string{again}, whole, part{file: "b", to: 150})
			w.remove(a, b, c, again)
		}, []int{2}},
		{"pruned", func(w *world, a, _, _, _ string) {
			again := w.seal(bury(whole))
			w.seal(blob.Manifest{Replaces: []string{again}, Facts: bury(whole).Facts})
			w.remove(a, again)
		}, nil},
		{"grown, and pruned", func(w *world, _, b, c, _ string) {
			w.seal(bury(tail))
			w.remove(b, c)
		}, nil},
		{"pruned, and grown since", func(w *world, _, b, c, _ string) {
			w.seal(bury(head))
			w.remove(b, c)
		}, []int{2}},
		{"pruned, and archived again", func(w *world, _, b, c, _ string) {
			w.write(nil, part{file: "b", to: 200, number: 2})
			w.remove(b, c)
		}, nil},
		{"pruned, and archived again as it was before", func(w *world, _, b, c, _ string) {
			w.write(nil, part{file: "b", to: 100, number: 2})
			w.remove(b, c)
		}, []int{1, 2}},
		{"archived again in part", func(w *world, _, b, c, _ string) {
			w.write(nil, part{file: "b", from: 100, to: 200, number: 2})
			w.remove(b, c)
		}, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 7)
			packs := []string{w.write(nil, whole), w.write(nil, head), w.write(nil, tail), w.seal(tag)}
			b := w.open()
			if _, err := b.Take(ctx, w.packs, TakeOptions{}); err != nil {
				t.Fatal(err)
			}
			c.then(w, packs[0], packs[1], packs[2], packs[3])
			var lost []string
			for _, i := range c.lost {
				lost = append(lost, packs[i])
			}
			if got, err := b.Lost(ctx, w.packs); err != nil || !slices.Equal(packNames(got), sorted(lost)) {
				t.Errorf("lost %q, %v, want %q", packNames(got), err, sorted(lost))
			}
			for range 3 {
				w.now = w.now.Add(time.Hour)
				w.add()
				r, err := b.Take(ctx, w.packs, TakeOptions{Keep: Keep{Last: 1}})
				if errors.Is(err, blob.ErrCorrupt) != (len(lost) > 0) || err != nil && len(lost) == 0 {
					t.Fatal(err)
				}
				if !slices.Equal(packNames(r.Lost), sorted(lost)) {
					t.Errorf("lost %q, want %q", packNames(r.Lost), sorted(lost))
				}
				want := sorted(slices.Concat(w.names, lost))
				if s, _ := b.Snapshot(""); !slices.Equal(packNames(s.Packs), want) || !slices.Equal(w.stored(b), want) || s.Bytes != r.Bytes {
					t.Errorf("backed up %q, stored %q, want %q", packNames(s.Packs), w.stored(b), want)
				}
				checkWhole(t, b)
			}
			s, _ := b.Snapshot("")
			if r, err := b.Take(ctx, w.packs, TakeOptions{AsIs: true}); err != nil || len(r.Lost) > 0 || r.Packs != int64(len(w.names)) {
				t.Errorf("taken as it is: %+v, %v", r, err)
			}
			if r, err := b.Fill(ctx, s, w.packs, nil); err != nil || r.Copied != int64(len(lost)) {
				t.Fatalf("%+v, %v", r, err)
			}
			if r, err := b.Take(ctx, w.packs, TakeOptions{}); err != nil || len(r.Lost) > 0 {
				t.Errorf("what was lost is there again: %+v, %v", r, err)
			}
		})
	}
}
