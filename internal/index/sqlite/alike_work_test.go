package sqlite

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

type records = []transcript.Record

// sameIDs are archives in which very many originals, or very many lines of one, say the same of themselves: by a fork for each attempt, by a
// proxy that gives every request one id, by a program that numbers its messages. Each gives n originals, or one of n lines.
var sameIDs = map[string]func(first, n int) []indextest.Original{
	"an event in all originals": originals(func(_ int, id string) records { return records{event(id, "same", true, 0)} }),
	"events in all originals and in pairs of them": originals(func(i int, id string) records {
		return records{event(id, "same", true, 0), event(id, fmt.Sprint("pair-", i/2), true, 1), event(id, fmt.Sprint("own-", i), true, 2)}
	}),
	"a link that a copied event states": originals(func(_ int, id string) records {
		return records{event(id, "same", true, 0), &transcript.Link{Kind: "fork", From: transcript.RunEnd("origin"), To: transcript.RunEnd(id), Event: "same", Origin: indextest.Place(0)}}
	}),
	"an event in all lines":      lines(func(line int, id string) records { return records{event(id, "same", true, line)} }),
	"a local event in all lines": lines(func(line int, id string) records { return records{event(id, "same", false, line)} }),
	"a request in all originals": originals(func(_ int, id string) records { return records{event(id, "", false, 0), request(id, "same", "", 0)} }),
	"a request in all lines":     lines(func(line int, id string) records { return records{request(id, "same", "", line)} }),
	"a request that all speak for": originals(func(i int, id string) records {
		return records{event(id, "", false, 0), request(id, fmt.Sprint("k", i), "k0", 0)}
	}),
	"a call in all lines": lines(func(line int, id string) records {
		e := event(id, "", false, line)
		if line%2 == 0 {
			e.Kind, e.Parts[0].Call = transcript.KindToolCall, &transcript.Call{ID: "same", Name: "Bash"}
		} else {
			e.Kind, e.Parts[0].Result = transcript.KindToolResult, &transcript.Result{Call: "same", Name: "Bash"}
		}
		return records{e}
	}),
	"a key of calls in all lines": lines(func(line int, id string) records {
		e := event(id, "", false, line)
		e.Kind, e.Parts[0].Call = transcript.KindToolCall, &transcript.Call{ID: fmt.Sprint(line), Key: "same", Name: "Bash"}
		return records{e}
	}),
	"a receipt, a step and a hint in all lines": lines(func(line int, id string) records {
		at := indextest.Place(line)
		return records{&transcript.Receipt{Run: id, Key: "same", Origin: at}, &transcript.Step{Run: id, Key: "same", Origin: at}, &transcript.Hint{Run: id, Key: "same", Value: fmt.Sprint(line), Origin: at}}
	}),
	"a receipt, a step and a hint of all originals": originals(func(line int, id string) records {
		at := indextest.Place(0)
		return records{event(id, "", false, 0), &transcript.Receipt{Run: "all", Key: "same", Origin: at}, &transcript.Step{Run: "all", Key: "same", Origin: at}, &transcript.Hint{Run: "all", Key: "same", Value: fmt.Sprint(line), Origin: at}}
	}),
	"copies of all events": func(first, n int) []indextest.Original { // of one original, by as many names
		all := lines(func(line int, id string) records {
			return records{event("all", fmt.Sprint(line), true, line), request("all", fmt.Sprint(line), "", line)}
		})(0, 5)
		for i := first; i < first+n; i++ {
			o := all[0]
			o.Path = original(i).Path
			all = append(all, o)
		}
		return all[1:]
	},
	"a link in all originals": originals(func(_ int, id string) records {
		return records{event(id, "", false, 0), &transcript.Link{Kind: "fork", From: transcript.RunEnd("a"), To: transcript.RunEnd("b"), Origin: indextest.Place(0)}}
	}),
	"a parent of all originals": originals(func(_ int, id string) records {
		return records{event(id, "", false, 0), &transcript.Link{Kind: "parent", From: transcript.RunEnd("a"), To: transcript.RunEnd(id), Origin: indextest.Place(0)}}
	}),
	"a conversation of all originals": originals(func(i int, _ string) records {
		return records{&transcript.Run{ID: "all"}, &transcript.Conversation{Run: "all", ID: "all", Shared: true}, event("all", fmt.Sprint(i), false, 0)}
	}),
	"a conversation that only one can have": originals(func(i int, _ string) records {
		return records{&transcript.Run{ID: "all"}, &transcript.Conversation{Run: "all", ID: "all"}, event("all", fmt.Sprint(i), false, 0)}
	}),
	"earlier states of one conversation": originals(func(i int, _ string) (all records) { // as in as many backups
		all = records{&transcript.Run{ID: "all"}, &transcript.Conversation{Run: "all"}}
		for line := range 5 {
			all = append(all, event("all", fmt.Sprint(line), true, line))
		}
		return all
	}),
	"a parent and its hints in all originals": originals(func(i int, _ string) records {
		at := indextest.Place(0)
		return records{&transcript.Run{ID: "child"}, &transcript.Conversation{Run: "child"}, event("child", fmt.Sprint(i), true, 0),
			&transcript.Hint{Run: "parent", Key: "turn", Value: "1", Origin: at},
			&transcript.Link{Kind: "parent", From: transcript.RunEnd("parent"), To: transcript.RunEnd("child"), Origin: at}}
	}),
	"a run of all originals": originals(func(_ int, id string) records {
		return records{&transcript.Run{ID: "all"}, &transcript.Conversation{Run: "all", ID: id},
			&transcript.Event{Conversation: id, Run: "all", Kind: transcript.KindMessage, Role: "user", Origin: indextest.Place(0), Parts: []transcript.Part{{Text: "words"}}}}
	}),
	"a group of all runs": originals(func(_ int, id string) records {
		return records{&transcript.Run{ID: id, Group: "all", Project: "all"}, event(id, "", false, 0)}
	}),
}

func event(id, native string, global bool, line int) *transcript.Event {
	return &transcript.Event{Conversation: id, Run: id, ID: native, Global: global, Kind: transcript.KindMessage, Role: "user", Time: indextest.At(int64(line)),
		Origin: indextest.Place(line), Parts: []transcript.Part{{Text: "words"}}}
}

func request(id, key, alias string, line int) *transcript.Usage {
	return &transcript.Usage{Run: id, Conversation: id, Key: key, Alias: alias, Model: "m", Input: transcript.Known(int64(line)), Origin: indextest.Place(line)}
}

func original(i int) indextest.Original {
	id := fmt.Sprintf("run-%06d", i)
	return indextest.Original{Source: "work", Path: id + ".jsonl", Format: "awf", Role: "transcript", Content: id}
}

// originals are n from first on, each of which says what say gives.
func originals(say func(i int, id string) records) func(first, n int) []indextest.Original {
	return func(first, n int) (all []indextest.Original) {
		for i := first; i < first+n; i++ {
			o := original(i)
			o.Records = say(i, o.Content)
			all = append(all, o)
		}
		return all
	}
}

// lines are one original of n lines.
func lines(say func(line int, id string) records) func(first, n int) []indextest.Original {
	return func(first, n int) []indextest.Original {
		o := original(first)
		for i := range n {
			o.Records = append(o.Records, say(i, o.Content)...)
		}
		o.Size = int64(n+1) * 100
		return []indextest.Original{o}
	}
}

// TestAlikeWork asks what a batch costs for each of its originals or lines, however many of them say the same: twice as many
// cost twice as much. One more costs no more than that for each of those that are there.
func TestAlikeWork(t *testing.T) {
	for what, say := range sameIDs {
		t.Run(what, func(t *testing.T) {
			const few, many = 100, 200
			of := func(n int) (first, next work) {
				db := newDB(t)
				c := countWrites(t, db)
				commit := func(pack string, originals []indextest.Original) func() error {
					batch := indextest.Batch(pack, originals...)
					batch.Resolvers = func(string) index.Resolver { return index.Resolver{Resolve: func(*transcript.Family) {}} }
					return func() error { return db.Commit(t.Context(), batch) }
				}
				first = c.of(t, commit("first", say(0, n)))
				next = c.of(t, commit("next", say(n, 1)))
				return first, next
			}
			small, one := of(few)
			large, other := of(many)
			if small.steps < 100*few {
				t.Fatalf("%v: nothing was counted", small)
			}
			large.within(t, "a batch", many, small, few, 1.1, 2)
			other.within(t, "one more", many, one, few, 1.1, 2)
		})
	}
}

// TestByRefWork: finding content takes the same however many versions have it.
func TestByRefWork(t *testing.T) {
	of := func(n int) (w work) {
		db := newDB(t)
		batch := indextest.Batch("pack", sameIDs["copies of all events"](0, n)...)
		first := &batch.Pack.Versions[0]
		for _, v := range batch.Pack.Versions[1:] {
			v.Extents[0].CopyOf = &blob.Copy{Pack: "pack", Raw: first.Extents[0].Raw}
		}
		if err := db.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		c := countReads(t, db)
		return c.of(t, func() error { _, err := db.ByRef(t.Context(), first.SHA256); return err })
	}
	few := of(10)
	if few.steps == 0 {
		t.Fatalf("%v: nothing was counted", few)
	}
	of(400).within(t, "finding content", 1, few, 1, 1.1, 2)
}

// TestRewrittenWork asks what the next version of a document costs, which states again what all before it have stated: that does not
// depend on how many those are.
func TestRewrittenWork(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprint("shared=", shared), func(t *testing.T) {
			version := func(number int) index.Batch {
				o := original(0)
				o.Number, o.Content = number, fmt.Sprint(number)
				o.Records = records{&transcript.Run{ID: "all"}, &transcript.Conversation{Run: "all", ID: "all", Shared: shared}}
				for line := range 100 + number {
					o.Records = append(o.Records, event("all", fmt.Sprint(line), false, line), request("all", fmt.Sprint(line), "", line))
				}
				o.Size = int64(len(o.Records)) * 100
				return indextest.Batch(fmt.Sprintf("pack-%03d", number), o)
			}
			db := newDB(t)
			c := countWrites(t, db)
			var w [31]work
			for number := 1; number < len(w); number++ {
				w[number] = c.of(t, func() error { return db.Commit(t.Context(), version(number)) })
			}
			const few, many = 10, 30
			if w[few].steps < 100*few {
				t.Fatalf("%v: nothing was counted", w[few])
			}
			w[many].within(t, "the next version", 100+many, w[few], 100+few, 1.5, 2)
		})
	}
}
