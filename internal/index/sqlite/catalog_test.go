package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// TestStatesIn asks for the originals of spans: all of them once, by source, path and number, wherever a span ends.
func TestStatesIn(t *testing.T) {
	db := smallDB(t, asIs)
	ref := func(s string) blob.Ref { return blob.RefOf([]byte(s)) }
	p := &index.PackRow{Name: "many", Created: time.Unix(0, 0).UTC()}
	for i, source := range []string{"b", "a", "runs"} {
		for j, path := range []string{"z", "a/b", "", "\xff", "a.b", "ä"} {
			for number := range 1 + (i+j)%3 {
				sum := ref(fmt.Sprint(source, path, number))
				p.Versions = append(p.Versions, blob.Version{Source: source, Path: path, Number: number + 1, Root: sum, SHA256: sum, Size: 1,
					Extents: []blob.Extent{{Size: 1, SHA256: sum, Raw: int64(1000 * len(p.Versions))}}})
			}
		}
	}
	if err := db.Commit(t.Context(), index.Batch{Pack: p}); err != nil {
		t.Fatal(err)
	}
	in := func(span blob.Span) (all []string, names []blob.Name) {
		for s, err := range db.StatesIn(t.Context(), span) {
			if err != nil {
				t.Fatal(err)
			}
			name := blob.Name{Source: s.Source, Path: s.Path}
			if !span.Has(name) {
				t.Errorf("%q is not in the span", name)
			}
			all, names = append(all, fmt.Sprintf("%q %d %d", name, s.Number, len(s.Extents))), append(names, name)
		}
		if !slices.IsSortedFunc(names, blob.Name.Compare) {
			t.Errorf("not by name: %q", all)
		}
		return all, names
	}
	whole, names := in(blob.Span{})
	if len(whole) < len(p.Versions) {
		t.Fatalf("%d originals of %d", len(whole), len(p.Versions))
	}
	ends := append(slices.Compact(names), blob.Name{Source: "aa", Path: "x"}, blob.Name{Source: "zz"})
	for i := range ends {
		before, _ := in(blob.Span{Until: &ends[i]})
		behind, _ := in(blob.Span{After: &ends[i]})
		if !slices.Equal(slices.Concat(before, behind), whole) {
			t.Errorf("cut at %q: %q and %q", ends[i], before, behind)
		}
	}
}

// TestPacksOfNoName: a name that no pack can have is damage, and not a pack that is missing.
func TestPacksOfNoName(t *testing.T) {
	db := newDB(t)
	if err := db.Commit(t.Context(), workBatch(0, 1, false)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.w.Exec("UPDATE packs SET name = 'no/../name'"); err != nil {
		t.Fatal(err)
	}
	for name, err := range db.Packs(t.Context()) {
		if !errors.Is(err, index.ErrDamaged) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
