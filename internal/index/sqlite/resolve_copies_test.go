package sqlite

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCopiesInStretches has copies of one content parsed at the same time, in stretches that come in any order, some of which are not
// written before the others begin, and wants all events in the end, of the copy whose place is the first. A soak repeats it.
func TestCopiesInStretches(t *testing.T) {
	const events = 6
	parsed := func(path string) index.Batch {
		records := []transcript.Record{&transcript.Run{ID: "r"}, &transcript.Conversation{ID: "c", Run: "r"}}
		for i := range events {
			records = append(records, &transcript.Event{Run: "r", Conversation: "c", Kind: transcript.KindMessage, Origin: indextest.Place(i),
				Time: indextest.At(int64(i)), Parts: []transcript.Part{{Text: "words"}}})
		}
		return indextest.Batch("pack "+path, indextest.Original{Source: "s", Path: path, Format: "f", Size: 1000, Content: "the same", Records: records, ChunkSize: 2})
	}
	for range 12 {
		r, db := seedtest.Rand(t), newDB(t)
		commit := func(b index.Batch) {
			if err := db.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{"a", "b", "c"} {
			commit(index.Batch{Pack: parsed(path).Pack})
		}
		for range 4 {
			left := map[string][]*index.Parsed{}
			for s, err := range db.ToReparse(t.Context(), map[string]int{"f": 1}) {
				if err != nil {
					t.Fatal(err)
				}
				left[s.Path] = parsed(s.Path).Parsed
			}
			for len(left) > 0 {
				var some index.Batch
				for range 1 + r.IntN(3) {
					paths := slices.Sorted(maps.Keys(left))
					if len(paths) == 0 {
						break
					}
					path := paths[r.IntN(len(paths))]
					some.Parsed = append(some.Parsed, left[path][0])
					if left[path] = left[path][1:]; len(left[path]) == 0 {
						delete(left, path)
					}
				}
				commit(some)
			}
		}
		got := ""
		if err := db.r.QueryRow(`SELECT group_concat(path || ' ' || n) FROM (SELECT f.path, count(*) AS n FROM events e JOIN transcripts t ON t.id = e.transcript
			JOIN versions v ON v.id = t.version JOIN files f ON f.id = v.file GROUP BY 1)`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint("a ", events); got != want {
			t.Errorf("events are of %s, want %s", got, want)
		}
	}
}
