package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/seedtest"
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

// TestCopiesSwapped has files that pass their contents to each other. Each content has several runs and conversations, some of
// whose events are copied from another: in the end the same is linked as if all of it came at once.
func TestCopiesSwapped(t *testing.T) {
	drawn := seedtest.Seed(t)
	for _, seed := range []uint64{5, 12, 55, 162, drawn, drawn + 1, drawn + 2} { // the first ones have failed
		r := rand.New(rand.NewPCG(seed, 1))
		all := swapped(r)
		commit := func(most int) []string {
			db := newDB(t)
			n := 0
			for some := range slices.Chunk(all, most) {
				n++
				if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprintf("pack-%02d", n), some...)); err != nil {
					t.Fatal(err)
				}
			}
			parseWanted(t, db, all)
			_, links, err := asked(t.Context(), db, index.Question{SQL: `SELECT l.from_id, l.to_id, l.offset, f.path, v.number FROM links l
				JOIN versions v ON v.id = l.version JOIN files f ON f.id = v.file WHERE l.derived = 1 ORDER BY 1, 2, 3, 4, 5`})
			if err != nil {
				t.Fatal(err)
			}
			return append(links, dumpViews(t, db)...)
		}
		want, got := commit(len(all)), commit(1)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("seed %d: one by one %q\nat once %q", seed, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
			}
		}
	}
}

// swapped are versions of three files, each with one of three contents.
func swapped(r *rand.Rand) (all []indextest.Original) {
	var contents [3]records
	for i := range contents {
		for at := range 1 + r.IntN(4) {
			e := event(fmt.Sprint("run-", r.IntN(3)), fmt.Sprint(r.IntN(4)), true, at)
			e.Home, e.Conversation = r.IntN(2) == 0, fmt.Sprint(r.IntN(2))
			contents[i] = append(contents[i], &transcript.Run{ID: e.Run}, e)
		}
	}
	var numbers, last [3]int
	for len(all) < 6 {
		file, content := r.IntN(3), r.IntN(3)
		if numbers[file] > 0 && last[file] == content {
			continue
		}
		last[file] = content
		numbers[file]++
		o := original(file)
		o.Number, o.Content, o.Records, o.Size = numbers[file], fmt.Sprint(content), contents[content], 1000
		all = append(all, o)
	}
	return all
}

// TestCopiesOfForks has a run and what was forked from it, as links state: where a fork comes first by path, it has the events of
// all, and still nothing else was forked from it. In any order.
func TestCopiesOfForks(t *testing.T) {
	fork := func(i int, id, of string) indextest.Original {
		o := original(i)
		o.Records = records{&transcript.Run{ID: id}, event(id, "one", true, 0)}
		if of != "" {
			o.Records = append(o.Records, &transcript.Link{Kind: "fork", From: transcript.End{Type: "run", ID: of}, To: transcript.End{Type: "run", ID: id}})
		}
		return o
	}
	for name, all := range map[string][]indextest.Original{
		"two of one":     {fork(0, "b", "a"), fork(1, "c", "a"), fork(2, "a", "")},
		"of each other":  {fork(0, "c", "b"), fork(1, "b", "a"), fork(2, "a", "")},
		"of a fourth":    {fork(0, "d", "c"), fork(1, "c", "b"), fork(2, "b", "a"), fork(3, "a", "")},
		"of one missing": {fork(0, "b", "a"), fork(1, "c", "a")},
	} {
		for turn := range len(all) {
			db := newDB(t)
			for i := range all {
				if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprintf("pack-%d", i), all[(i+turn)%len(all)])); err != nil {
					t.Fatal(err)
				}
			}
			if _, links, err := asked(t.Context(), db, index.Question{SQL: "SELECT from_id, to_id FROM links WHERE derived = 1"}); err != nil || len(links) > 0 {
				t.Errorf("%s, the %d. first: links %q, %v", name, turn, links, err)
			}
		}
	}
}
