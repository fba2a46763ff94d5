package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// TestRivals gives one name and number to the files of two machines: whichever comes first, the index has one of them
// whole. What lies under a tombstone gives way.
func TestRivals(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	row := func(machine string, content string, sizes ...int) (rows []*index.PackRow) {
		v := blob.Version{Source: "runs", Path: "a.jsonl", Number: 1, ModTime: at, Root: blob.RefOf([]byte(content[:sizes[0]]))}
		for i, size := range sizes {
			from := v.Size
			v.Size, v.SHA256 = int64(size), blob.RefOf([]byte(content[:size]))
			v.Extents = []blob.Extent{{Offset: from, Size: int64(size) - from, SHA256: blob.RefOf([]byte(content[from:size])), Raw: 512}}
			rows = append(rows, &index.PackRow{Name: fmt.Sprintf("p%d-%s", i, machine), Created: at, Versions: []blob.Version{v},
				Members: []blob.Member{{Size: 100, RawSize: 2048}}})
		}
		return rows
	}
	one, two := row("one", "the first machine wrote this", 10, 20, 28), row("two", "and this is of the second", 12, 25)
	last := func(rows []*index.PackRow) blob.Version { return rows[len(rows)-1].Versions[0] }
	winner, loser := one, two
	if a, b := last(one).Root, last(two).Root; a.String() > b.String() {
		winner, loser = two, one
	}
	buried := last(winner)
	tomb := blob.NewTombstone(&buried, "").Fact(at)
	for i, order := range [][]*index.PackRow{
		{one[0], two[0], one[1], two[1], one[2]}, {two[0], one[0], two[1], one[1], one[2]}, {two[0], two[1], one[0], one[1], one[2]}, {one[0], one[1], one[2], two[0], two[1]},
	} {
		for _, bury := range []bool{false, true} {
			db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for n, p := range order {
				b := index.Batch{Pack: p}
				if bury && n == 0 { // as a reindex begins
					b.Facts = []index.FactRow{{Fact: tomb, Pack: p.Name}}
				}
				if err := db.Commit(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			want := winner
			if bury {
				want = loser
			}
			var got []index.State
			for s, err := range db.States(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, s)
			}
			if len(got) != 1 || got[0].SHA256 != last(want).SHA256 || got[0].Root != last(want).Root || len(got[0].Extents) != len(want) {
				t.Errorf("order %d, buried %v: %+v", i, bury, got)
			}
		}
	}
}
