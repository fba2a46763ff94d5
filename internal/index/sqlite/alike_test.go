package sqlite

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// alike gives two ids that have one hash.
func alike(format string) (a, b string) {
	seen := map[int64]string{}
	for n := 0; ; n++ {
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", n)
		h := index.EventHash(format, id)
		if other := seen[h]; other != "" {
			return other, id
		}
		seen[h] = id
	}
}

// TestAlikeHashes: events whose ids have one hash are told apart, and copies of one of them found.
func TestAlikeHashes(t *testing.T) {
	one, other := alike("awf")
	original := func(run string, home bool, ids ...string) indextest.Original {
		o := indextest.Original{Source: "src", Path: run, Format: "awf", Claim: ".", Size: 1000}
		o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run})
		for i, id := range ids {
			o.Records = append(o.Records, &transcript.Event{Run: run, ID: id, Global: true, Home: home, Kind: transcript.KindMessage, Time: indextest.At(int64(i)),
				Origin: indextest.Place(i), Parts: []transcript.Part{{Text: run}, {Text: "second part"}}})
		}
		return o
	}
	all := []indextest.Original{original("first", true, one), original("second", true, other), original("fork", false, other, one, "own")}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		db := newDB(t)
		for _, n := range order {
			if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprint("pack", n), all[n])); err != nil {
				t.Fatal(err)
			}
		}
		writetest.Same(t, fmt.Sprint("verdicts in the order ", order), writetest.Dump(t, db.r, "SELECT r.native_id || ' ' || e.verdict || ' ' || count(*) FROM v_events e JOIN v_runs r USING (run_id) GROUP BY r.native_id, e.verdict ORDER BY 1"),
			writetest.Dump(t, db.r, "SELECT column1 || '' FROM (VALUES ('first counted 2'), ('fork copied history 4'), ('fork counted 2'), ('second counted 2'))"))
		writetest.Same(t, "forks", writetest.Dump(t, db.r, "SELECT count(*) FROM v_links WHERE kind = 'fork'"), writetest.Dump(t, db.r, "SELECT 2"))
	}
}

// TestJoinedRuns: when a name turns out to mean a run that is known, what both have said counts once, whenever that is told.
func TestJoinedRuns(t *testing.T) {
	original := func(path, run string, rank int) indextest.Original {
		o := indextest.Original{Source: "src", Path: path, Format: "awf", Claim: ".", Size: 1000}
		o.Records = []transcript.Record{
			&transcript.Run{ID: run, Local: true}, &transcript.Conversation{Run: run, Shared: true, Order: path, Rank: rank},
			&transcript.Event{Run: run, ID: "said", Kind: transcript.KindMessage, Time: indextest.At(1), Origin: indextest.Place(1), Parts: []transcript.Part{{Text: path}}},
		}
		return o
	}
	session, part := original("session", "s", 1), original("part", "message m", 0)
	session.Records[0] = &transcript.Run{ID: "s", Local: true, Anchor: "s", Anchored: true}
	join := indextest.Original{Source: "src", Path: "join", Format: "awf", Claim: ".", Size: 1000, Records: []transcript.Record{
		&transcript.Run{ID: "message m", Local: true, Anchor: "s", Anchored: true, Named: true},
	}}
	all := []indextest.Original{session, part, join}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		db := newDB(t)
		for _, n := range order {
			if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprint("pack", n), all[n])); err != nil {
				t.Fatal(err)
			}
		}
		writetest.Same(t, fmt.Sprint("verdicts in the order ", order), writetest.Dump(t, db.r, "SELECT path || ' ' || verdict FROM v_events ORDER BY 1"),
			writetest.Dump(t, db.r, "SELECT column1 FROM (VALUES ('part duplicate'), ('session counted'))"))
	}
}
