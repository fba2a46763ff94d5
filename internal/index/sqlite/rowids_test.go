package sqlite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// crowded is an index whose hours take few rows, with originals in some order: all hours are full, and most rows are filed
// under later ones.
func crowded(t *testing.T, order []int) (db *DB, first blob.Version) {
	t.Helper()
	db = newDB(t)
	db.commits.HourRows = 3
	for _, n := range order {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		run := fmt.Sprint("run-", n)
		o := indextest.Original{Source: "src", Path: run, Format: "awf", Claim: ".", Size: 1000}
		o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run})
		for i := range 10 {
			at := indextest.At(int64(r.IntN(5)*3600 + r.IntN(2)))
			if n == 2 { // before all hours that are told apart
				at.UnixMicro = -at.UnixMicro
			}
			o.Records = append(o.Records, &transcript.Event{Run: run, Kind: transcript.KindMessage, Time: at,
				Origin: indextest.Place(i), Parts: []transcript.Part{{Text: "word"}}})
		}
		b := indextest.Batch(run, o)
		if err := db.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if n == order[0] {
			first = b.Pack.Versions[0]
		}
	}
	return db, first
}

func TestFullHours(t *testing.T) {
	db, first := crowded(t, []int{1, 0, 2, 3, 4, 5})
	other, _ := crowded(t, []int{5, 2, 4, 0, 3, 1})
	told := func(problem string) { t.Error(problem) }
	if rows, err := db.Differences(t.Context(), other, told); err != nil || rows == 0 {
		t.Fatal(rows, err)
	}
	for _, db := range []*DB{db, other} {
		if err := db.Check(t.Context(), told); err != nil {
			t.Fatal(err)
		}
		narrow(t, db, 60)
		tomb := index.FactRow{Pack: "p", Fact: blob.NewTombstone(&first, "").Fact(indextest.Epoch)}
		if err := db.Commit(t.Context(), index.Batch{Facts: []index.FactRow{tomb}}); err != nil { // slots become free
			t.Fatal(err)
		}
		narrow(t, db, 50)
	}
	mustExec(t, db, "DELETE FROM spilled")
	problems := 0
	if err := db.Check(t.Context(), func(p string) {
		if strings.Contains(p, "no date finds") {
			problems++
		}
	}); err != nil || problems != 1 {
		t.Errorf("%d problems, %v", problems, err)
	}
}

// narrow compares hits, page by page and between dates, with the view.
func narrow(t *testing.T, db *DB, rows int) {
	t.Helper()
	ids := func(where string, args ...any) (ids []string) {
		if err := db.r.Select(&ids, "SELECT event_id FROM v_events WHERE "+where+" ORDER BY time_us DESC, conversation_id, seq DESC", args...); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if n := len(ids("1")); n != rows {
		t.Fatalf("%d rows, want %d", n, rows)
	}
	for _, limit := range []int{0, 1, 7} {
		writetest.Same(t, fmt.Sprint("pages of ", limit), hits(t, db, "word", limit), ids("1"))
	}
	for hour := range int64(12) {
		at := indextest.Epoch.Add(time.Duration(hour) * time.Hour)
		until := "before:" + at.Format(time.RFC3339)
		writetest.Same(t, until, hits(t, db, until, 3), ids("time_us < ?", at.UnixMicro()))
	}
}

// hits are those of a query, page by page.
func hits(t *testing.T, db *DB, text string, limit int) (ids []string) {
	t.Helper()
	page := index.Page{Limit: limit}
	for {
		n := 0
		for h, err := range db.Find(t.Context(), indextest.Parse(t, text), page) {
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			ids, page.After = append(ids, h.ID), h.Cursor
			n++
		}
		if limit == 0 || n < limit {
			return ids
		}
	}
}

// TestLastingFlood asks for the newest rows while there are more in each hour than it takes: most are not looked at, however
// far behind the hours are.
func TestLastingFlood(t *testing.T) {
	db := newDB(t)
	db.commits.HourRows = 3
	run := "run"
	o := indextest.Original{Source: "src", Path: run, Format: "awf", Claim: ".", Size: 1000}
	o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run})
	for i := range 600 {
		o.Records = append(o.Records, &transcript.Event{Run: run, Kind: transcript.KindMessage, Time: indextest.At(int64(i) * 360), // ten an hour
			Origin: indextest.Place(i), Parts: []transcript.Part{{Text: "word"}}})
	}
	if err := db.Commit(t.Context(), indextest.Batch(run, o)); err != nil {
		t.Fatal(err)
	}
	c := countReads(t, db)
	for _, text := range []string{"", "word", "before:" + indextest.Epoch.Add(40*time.Hour).Format(time.RFC3339), "after:" + indextest.Epoch.Add(50*time.Hour).Format(time.RFC3339)} {
		n := 0
		w := c.of(t, func() error {
			for _, err := range db.Find(t.Context(), indextest.Parse(t, text), index.Page{Limit: 5}) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if n != 5 || w.rows > 300 { // 200 of them tell which hours were full
			t.Errorf("%q: %d hits of %d rows", text, n, w.rows)
		}
	}
}
