package search

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var recallQueries = flag.Int("recall-queries", 40, "random queries that each corpus is asked")

// TestFindsEverything compares answers with a naive scan of all texts, for random texts and questions.
func TestFindsEverything(t *testing.T) {
	for range 3 {
		s := scribe{seedtest.Rand(t)}
		w := newWorld(t)
		for i := range 6 {
			w.take(s.original(fmt.Sprintf("run-%d", i), 40))
		}
		w.mark(s)
		for range *recallQueries {
			compareHits(t, w.searcher(), w.rows, s.ask(w.rows, 2), Options{AllVersions: s.IntN(4) == 0})
		}
	}
}

// mark puts tags, pins and holds on runs.
func (w *world) mark(s scribe) {
	w.t.Helper()
	for i := range w.rows {
		r := &w.rows[i]
		if i > 0 && w.rows[i-1].runID == r.runID {
			r.tags, r.pinned, r.held = w.rows[i-1].tags, w.rows[i-1].pinned, w.rows[i-1].held
			continue
		}
		if s.IntN(2) == 0 {
			r.tags = append(r.tags, "release")
			w.fact(index.FactTag, index.RunFactKey(r.runID, "release"), "{}")
		}
		if s.IntN(3) == 0 {
			r.tags = append(r.tags, "Über cool")
			w.fact(index.FactTag, index.RunFactKey(r.runID, "Über cool"), "{}")
		}
		if r.pinned = s.IntN(3) == 0; r.pinned {
			w.fact(index.FactPin, r.runID, "{}")
		}
		if r.held = s.IntN(3) == 0; r.held {
			w.fact(index.FactHold, index.RunFactKey(r.runID, "legal"), "{}")
		}
	}
}

func (w *world) fact(kind, key, value string) {
	w.t.Helper()
	f := blob.Fact{Kind: kind, Key: key, Time: indextest.Epoch, Value: []byte(value)}
	if err := w.db.Commit(w.t.Context(), index.Batch{Facts: []index.FactRow{{Pack: "pack-001", Fact: f}}}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) compare(s *Searcher, q asked) {
	w.t.Helper()
	compareHits(w.t, s, w.rows, q, Options{})
}

// compareHits runs a query and compares the hits with what the naive scan says about each row.
func compareHits(t *testing.T, s *Searcher, rows []row, q asked, o Options) {
	t.Helper()
	o.NoSnippets, o.Budget = true, -1
	a, err := s.Find(t.Context(), q.text, o)
	if err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
	got := map[string]bool{}
	for r, err := range a.ordered(t.Context()) {
		if err != nil {
			t.Fatalf("%s: %v", q.text, err)
		}
		if got[r.ID] {
			t.Fatalf("%s: %s twice", q.text, r.ID)
		}
		got[r.ID] = true
	}
	known := 0
	for i := range rows {
		r := &rows[i]
		want := q.holds(r)
		if r.hidden && !o.AllVersions {
			want = no
		}
		if got[r.id] {
			known++
		}
		if want != maybe && got[r.id] != (want == yes) {
			show := *r
			show.naive = nil
			if show.text = shortened(r.text); len(q.text) > 2000 {
				q.text = q.text[:2000]
			}
			t.Fatalf("%s: row %s found %v\nrow %+v\nunderstood as %s\nalternatives %v", q.text, r.id, got[r.id], show, a.tree, a.alternatives)
		}
	}
	if known != len(got) {
		t.Fatalf("%s: %d hits, of which the scan knows %d", q.text, len(got), known)
	}
}

// shortened cuts a text short for a message.
func shortened(text string) string { return text[:min(len(text), 2000)] }

// TestSubstringsOfLongWords looks for every stretch of words that are cut into several terms.
func TestSubstringsOfLongWords(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("abcdefghij", 7) + "klmnop"
	accents := strings.Repeat("éa", 40) + "zz"
	w.take(talk("long", "see "+long+" there", accents, "unrelated text", "x"+long+"/"+long))
	for _, text := range []string{long, naiveFold(accents), " " + long + " there"} {
		for from := 50; from < 70; from++ {
			for _, n := range []int{3, 8, 20} {
				if from+n > len(text) {
					continue
				}
				part := text[from : from+n]
				q := asked{"*" + quoted(part) + "*", func(r *row) truth { return r.read().contains(naiveFold(part)) }}
				w.compare(w.searcher(), q)
			}
		}
	}
}
