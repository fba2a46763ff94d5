package collect

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestChunks takes an original of many runs in chunks: a chunk has the runs with new statements, each with everything that was ever
// stated about it, and no others.
func TestChunks(t *testing.T) {
	c := New(new(lexicon.Lexicon))
	c.Reset(index.Subject{Format: "leslie", Size: 1000})
	at := int64(0)
	say := func(run, title string) {
		c.Add(&transcript.Run{ID: run, Title: title})
		c.Add(&transcript.Conversation{ID: run, Run: run, Title: title})
		c.Add(&transcript.Event{Conversation: run, Kind: transcript.KindMessage, Origin: transcript.Origin{Offset: at, Length: 10}, Parts: []transcript.Part{{Text: "x"}}})
		at += 10
	}
	check := func(p *index.Parsed, until int64, runs ...string) {
		t.Helper()
		if len(p.Runs) != len(runs) || p.Until != until {
			t.Fatalf("%d runs until %d, want %q until %d", len(p.Runs), p.Until, runs, until)
		}
		for i, id := range runs {
			if p.Runs[i].ID != id {
				t.Errorf("run %d is %q, want %q", i, p.Runs[i].ID, id)
			}
		}
		for _, r := range p.Rows {
			if v := p.Conversations[r.Conversation]; v.Run != v.ID || v.LastSeq != v.TotalRows || r.Seq > v.LastSeq {
				t.Errorf("row %+v in conversation %+v", r, v)
			}
		}
	}
	say("a", "first")
	say("b", "second")
	check(c.Take(false), 20, "a", "b")
	say("c", "third")
	say("a", "")
	p := c.Take(false)
	check(p, 40, "c", "a")
	if a := p.Conversations[1]; a.Title != "first" || a.LastSeq != 2 || p.Runs[1].Title != "first" {
		t.Errorf("of the first: %+v in %+v, want all that was said of it", a, p.Runs[1])
	}
	c.Add(&transcript.Run{ID: "here", Local: true})
	c.Add(&transcript.Run{ID: "whose", Guess: true})
	check(c.Take(false), 0, "here", "whose")
	say("b", "")
	c.Add(&transcript.Conversation{ID: "late", Run: "late"})
	c.Add(&transcript.Run{ID: "late"})
	p = c.Take(true)
	if check(p, 0, "b", "late", "here", "whose"); len(p.Continued) > 0 {
		t.Errorf("%v are told again: nothing was forgotten", p.Continued)
	}
}

// TestEviction bounds the state of a Collector for an original with very many runs, taken in chunks or replayed: two generations of
// them, and less than a hundred bytes for each run or conversation that was evicted.
func TestEviction(t *testing.T) {
	const many = 40_000
	for what, from := range map[string]int64{"new": 0, "indexed already": many * 10} {
		c := New(new(lexicon.Lexicon))
		c.Reset(index.Subject{Format: "leslie", Size: many * 10, From: from})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range many {
			id := fmt.Sprintf("run %08d of many", i)
			c.Add(&transcript.Run{ID: id, Title: id})
			c.Add(&transcript.Conversation{ID: "of " + id, Run: id, Title: id})
			c.Add(&transcript.Event{Conversation: "of " + id, Kind: transcript.KindMessage, Origin: transcript.Origin{Offset: int64(i) * 10, Length: 10}})
			if from == 0 && c.Size() >= 4<<20 {
				c.Take(false)
			}
			m := &c.state
			if n := max(len(m.runs.young)+len(m.runs.old), len(m.conversations.young)+len(m.conversations.old), len(c.runs), len(c.conversations)); n > 3*maxYoung {
				t.Fatalf("%s: %d are kept as they are after %d", what, n, i)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		const each = 200 // two ids, of a conversation that is not called as its run, in maps with room to grow
		if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > many*each+4*maxYoung*1000 {
			t.Errorf("%s: %d bytes are kept", what, took)
		}
		runtime.KeepAlive(c)
	}
}

// TestSizeCountsAllRecords: every kind of record adds to the size of a chunk, so that the chunk ends in time.
func TestSizeCountsAllRecords(t *testing.T) {
	for _, r := range []transcript.Record{&transcript.Problem{Kind: "bad json"}, &transcript.Link{Kind: "fork"}, &transcript.Hint{Key: "k"}, &transcript.Usage{},
		&transcript.Receipt{}, &transcript.Step{}} {
		c := New(new(lexicon.Lexicon))
		c.Reset(index.Subject{Format: "leslie", Size: 1000})
		for range 100 {
			c.Add(r)
		}
		if c.Size() < 100*recordSize {
			t.Errorf("100 records %T are %d bytes", r, c.Size())
		}
	}
}

// TestChunksOfParts takes an event of many parts in chunks: none has more than a few thousand, and the rows are the same as in a single one.
func TestChunksOfParts(t *testing.T) {
	const parts = 3*chunkParts + 1
	c := New(new(lexicon.Lexicon))
	c.Reset(index.Subject{Format: "leslie", Size: 1000})
	c.Add(&transcript.Run{ID: "a"})
	c.Add(&transcript.Conversation{ID: "a", Run: "a"})
	event := &transcript.Event{Conversation: "a", Kind: transcript.KindMessage, Origin: transcript.Origin{Length: 10}, Parts: make([]transcript.Part, parts)}
	next := 0
	take := func() error {
		p := c.Take(false)
		if len(p.Rows) > chunkParts {
			t.Errorf("%d rows at a time", len(p.Rows))
		}
		for i := range p.Rows {
			if r := &p.Rows[i]; r.Part != next || r.Parts != parts || r.Seq != 1 || p.Conversations[r.Conversation].ID != "a" {
				t.Fatalf("part %d of %d at %d, in conversation %d: want part %d", r.Part, r.Parts, r.Seq, r.Conversation, next)
			}
			next++
		}
		return nil
	}
	if err := c.AddInChunks(event, take); err != nil || next != parts {
		t.Errorf("%d of %d parts, %v", next, parts, err)
	}
	failed := errors.New("enough")
	if err := c.AddInChunks(event, func() error { return failed }); err != failed {
		t.Errorf("afterChunk's error became %v", err)
	}
}
