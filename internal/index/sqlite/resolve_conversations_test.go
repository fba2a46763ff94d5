package sqlite

import (
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestTakeOver has a copy arrive that is preferred to the one that has the rows. It takes them when they are what its own would be,
// and else has its own made: rows without a time stand at that of the file. One that waits to be parsed keeps its rows until then.
func TestTakeOver(t *testing.T) {
	const later, touched = time.Hour, 2 * time.Hour
	for _, k := range []struct {
		name         string
		timed        bool
		copy, change time.Duration // of the copy's file, and of the holder's before the copy arrives
		again        bool
	}{
		{"the same time", false, 0, 0, false},
		{"another time", false, later, 0, true},
		{"another time, and one is stated", true, later, 0, false},
		{"the holder waits to be parsed", false, later, touched, true},
		{"the holder waits, and has the same time now", false, later, later, false},
	} {
		db := newDB(t)
		batch := func(pack, path string, at time.Duration) index.Batch {
			event := &transcript.Event{Run: "r", Conversation: "c", Kind: transcript.KindMessage, Origin: indextest.Place(0), Parts: []transcript.Part{{Text: "words"}}}
			if k.timed {
				event.Time = indextest.At(5)
			}
			b := indextest.Batch(pack, indextest.Original{Source: "s", Path: path, Format: "f", Size: 100, Content: "the same", Records: []transcript.Record{
				&transcript.Run{ID: "r"}, &transcript.Conversation{ID: "c", Run: "r"}, event}})
			b.Pack.Versions[0].ModTime = indextest.Epoch.Add(at)
			for i := range b.Parsed[0].Rows {
				if row := &b.Parsed[0].Rows[i]; !k.timed {
					row.Near = indextest.Epoch.Add(at).UnixMicro()
				}
			}
			return b
		}
		change := batch("p1", "b", k.change)
		changed := index.Batch{Parsed: change.Parsed}
		change.Parsed = nil
		for _, b := range []index.Batch{batch("p0", "b", 0), change, batch("p2", "a", k.copy), changed} {
			if err := db.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		var rows, again int
		if err := db.r.QueryRow(`SELECT count(*) FILTER (WHERE t.indexed = 1), count(*) FILTER (WHERE t.indexed = 2) FROM transcripts t
			JOIN versions v ON v.id = t.version JOIN files f ON f.id = v.file WHERE f.path = 'a'`).Scan(&rows, &again); err != nil {
			t.Fatal(err)
		}
		if rows+again != 1 || (again == 1) != k.again {
			t.Errorf("%s: the copy has rows: %d, waits for its own: %d", k.name, rows, again)
		}
	}
}
