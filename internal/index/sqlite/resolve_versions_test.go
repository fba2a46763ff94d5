package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestVersionsInAnyOrder has documents that are written again and again, each version with some of what the one before has stated,
// copies of them elsewhere and forks of them: whatever comes when, in the end the same counts.
func TestVersionsInAnyOrder(t *testing.T) {
	for range 2 {
		r := seedtest.Rand(t)
		all := rewritten(r)
		commit := func(order []int, most int) []string {
			db := newDB(t)
			for i := 0; i < len(order); {
				var some []indextest.Original
				for n := 1 + r.IntN(most); n > 0 && i < len(order); n, i = n-1, i+1 {
					some = append(some, all[order[i]])
				}
				if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprintf("pack-%02d", i), some...)); err != nil {
					t.Fatal(err)
				}
			}
			parseWanted(t, db, all)
			return dumpViews(t, db)
		}
		asWritten := make([]int, len(all))
		for i := range asWritten {
			asWritten[i] = i
		}
		want := commit(asWritten, 1)
		for _, o := range []struct {
			what  string
			order []int
			most  int
		}{{"at once", asWritten, len(all)}, {"another order", r.Perm(len(all)), 3}} {
			got := commit(o.order, o.most)
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("%s: %s\nwant %s", o.what, got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %d rows, want %d", o.what, len(got), len(want))
			}
		}
	}
}

// parseWanted parses again what must be, as an ingest does.
func parseWanted(t *testing.T, db *DB, all []indextest.Original) {
	t.Helper()
	for range len(all) {
		var names []string
		if err := db.r.Select(&names, "SELECT DISTINCT f.path || ' ' || v.number FROM transcripts t JOIN versions v ON v.id = t.version JOIN files f ON f.id = v.file WHERE t.indexed = ?", resolve.Wanted); err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			return
		}
		var some []indextest.Original
		for _, o := range all {
			if slices.Contains(names, fmt.Sprint(o.Path, " ", o.Number)) {
				some = append(some, o)
			}
		}
		if err := db.Commit(t.Context(), index.Batch{Parsed: indextest.Batch("", some...).Parsed}); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("originals are still to be parsed again")
}

// rewritten are versions of some documents, those of one in their order.
func rewritten(r *rand.Rand) (all []indextest.Original) {
	w := &rewriter{r: r, global: r.IntN(2) == 0, shared: r.IntN(2) == 0}
	for len(all) < 14 {
		d := w.document()
		d.number++
		o := original(slices.Index(w.documents, d))
		if o.Number = d.number; len(all) > 0 && r.IntN(8) == 0 { // the same content once more
			same := all[r.IntN(len(all))]
			o.Size, o.Content, o.Records = same.Size, same.Content, same.Records
			all = append(all, o)
			continue
		}
		d.edit(w)
		o.Size, o.Content, o.Records = int64(len(d.lines)+1)*100, fmt.Sprint(d.run, d.lines), w.records(d)
		all = append(all, o)
	}
	return all
}

type rewriter struct {
	r              *rand.Rand
	documents      []*rewrittenDocument
	next           int
	global, shared bool // of ids; of conversations
}

type rewrittenDocument struct {
	run            string
	lines          []int // what it states
	number         int
	rank           int
	history, aside bool
}

// document returns one that there is, or a new one: a copy, or a fork.
func (w *rewriter) document() *rewrittenDocument {
	if len(w.documents) > 0 && w.r.IntN(5) > 0 {
		return w.documents[w.r.IntN(len(w.documents))]
	}
	d := &rewrittenDocument{run: fmt.Sprint("run-", w.r.IntN(2)), rank: w.r.IntN(3) / 2}
	if len(w.documents) > 0 {
		d.lines = slices.Clone(w.documents[w.r.IntN(len(w.documents))].lines)
		d.history, d.aside = w.r.IntN(6) == 0, w.r.IntN(6) == 0
	}
	w.documents = append(w.documents, d)
	return d
}

func (d *rewrittenDocument) edit(w *rewriter) {
	if w.r.IntN(9) == 0 {
		d.run = fmt.Sprint("run-", w.r.IntN(2)) // it is about another one now
	}
	if w.r.IntN(12) == 0 {
		d.aside = !d.aside // what it states counts now, or no longer
	}
	if len(d.lines) > 0 && w.r.IntN(3) == 0 {
		at := w.r.IntN(len(d.lines))
		d.lines = slices.Delete(slices.Clone(d.lines), at, at+1)
	}
	for range 1 + w.r.IntN(3) {
		d.lines = append(d.lines, w.next)
		w.next++
	}
}

func (w *rewriter) records(d *rewrittenDocument) (all records) {
	word := func(of string) string { return fmt.Sprint(of, " ", w.r.IntN(3)) }
	run := &transcript.Run{ID: d.run, Rank: d.rank, Title: word("title"), Status: word("status"), Project: word("/srv/p")}
	conversation := &transcript.Conversation{Run: d.run, ID: d.run, Shared: w.shared, Order: "o", Rank: d.rank, Title: word("title")}
	if all = (records{run, conversation}); d.history {
		run.Rank, run.Named = transcript.RankHistory, true
		all = records{run}
	}
	for at, line := range d.lines {
		place := indextest.Place(at)
		e := event(d.run, fmt.Sprint(line/2), w.global, at) // some have several lines
		e.Home = w.r.IntN(3) == 0
		if e.Retold = fmt.Sprint("prompt ", line); line%9 == 4 && w.r.IntN(3) > 0 {
			e.Verdict = transcript.Uncounted
		}
		if d.aside || d.history {
			e.Conversation, e.Verdict = "", transcript.Uncounted
		}
		if d.history {
			e.ID, e.Global, e.Home = "", false, false
		}
		switch line % 4 {
		case 1:
			e.Kind, e.Role, e.Retold = transcript.KindToolCall, "assistant", ""
			e.Parts[0].Call = &transcript.Call{ID: fmt.Sprint("call-", line/8), Name: "Bash", Key: []string{"", fmt.Sprint("key-", line/6)}[line/4%2], Rank: line % 3}
		case 2:
			e.Kind, e.Role, e.Retold = transcript.KindToolResult, "tool", ""
			e.Parts[0].Result = &transcript.Result{Call: fmt.Sprint("call-", line/8), Name: "Bash", Status: word("ended")}
		}
		u := request(d.run, fmt.Sprint("k", line/2), "", at)
		u.Rank, u.Time = int64(line%3), indextest.At(int64(line/4))
		if line%7 == 0 {
			u.Alias, u.Key = u.Key, fmt.Sprint(u.Key, " ", line%2)
			if w.r.IntN(4) == 0 { // the request that it speaks for is called otherwise here
				u.Alias = fmt.Sprint("k", w.r.IntN(6))
			}
		}
		all = append(all, e, u)
		if line%3 == 0 {
			all = append(all, &transcript.Receipt{Run: d.run, Key: fmt.Sprint(line / 6), Status: word("ended"), Origin: place},
				&transcript.Step{Run: d.run, Key: fmt.Sprint(line / 6), Rank: line % 2, Status: word("ended"), Origin: place},
				&transcript.Hint{Run: d.run, Key: fmt.Sprint(line / 6), Value: word("hint"), Origin: place})
		}
		if line%5 == 0 {
			l := &transcript.Link{Kind: "fork", From: transcript.RunEnd(word("run")), To: transcript.RunEnd(d.run), Origin: place}
			if w.global {
				l.Event = e.ID
			}
			all = append(all, l)
		}
	}
	return all
}
