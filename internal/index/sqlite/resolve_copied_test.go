package sqlite

import (
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCopiesOfOneOriginal has an original with two runs, each of which has copied an event of another: what is found of one takes
// nothing away from the other, at once or later.
func TestCopiesOfOneOriginal(t *testing.T) {
	both := original(0)
	both.Records = records{event("b1", "one", true, 0), event("b2", "two", true, 1)}
	from := func(i int, id, native string) indextest.Original {
		o := original(i)
		e := event(id, native, true, 0)
		e.Home = true // it was written here
		o.Records = []transcript.Record{e}
		return o
	}
	one, two := from(1, "a1", "one"), from(2, "a2", "two")
	for name, batches := range map[string][][]indextest.Original{"at once": {{both, one, two}}, "later": {{both}, {one}, {two}}} {
		t.Run(name, func(t *testing.T) {
			db := newDB(t)
			for i, b := range batches {
				if err := db.Commit(t.Context(), indextest.Batch(string(rune('a'+i)), b...)); err != nil {
					t.Fatal(err)
				}
			}
			var links string
			if err := db.r.GetContext(t.Context(), &links, "SELECT group_concat(from_id || ' ' || to_id, ', ' ORDER BY from_id) FROM links WHERE derived = 1"); err != nil {
				t.Fatal(err)
			}
			if want := "a1 b1, a2 b2"; links != want {
				t.Errorf("links %q, want %q", links, want)
			}
		})
	}
}
