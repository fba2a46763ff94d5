package index

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestStretches takes an original of many runs in stretches: each tells of those that something was said of in it, all that was ever
// said, and not of all runs so far.
func TestStretches(t *testing.T) {
	c := NewCollector(new(Lexicon))
	c.Reset(Subject{Format: "leslie", Size: 1000})
	at := int64(0)
	say := func(run, title string) {
		c.Add(&transcript.Run{ID: run, Title: title})
		c.Add(&transcript.Conversation{ID: run, Run: run, Title: title})
		c.Add(&transcript.Event{Conversation: run, Kind: transcript.KindMessage, Origin: transcript.Origin{Offset: at, Length: 10}, Parts: []transcript.Part{{Text: "x"}}})
		at += 10
	}
	check := func(p *Parsed, until int64, runs ...string) {
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
	if check(p, 0, "b", "late", "here", "whose"); len(p.Again) > 0 {
		t.Errorf("%v are told again: nothing was forgotten", p.Again)
	}
}

// TestForgets bounds what a Collector keeps of an original with very many runs, told in stretches or indexed already: no more of them than
// it has in mind, and of each other one less than a hundred bytes.
func TestForgets(t *testing.T) {
	const many = 40_000
	for what, from := range map[string]int64{"told": 0, "indexed already": many * 10} {
		c := NewCollector(new(Lexicon))
		c.Reset(Subject{Format: "leslie", Size: many * 10, From: from})
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
			if n := max(len(m.runs.young)+len(m.runs.old), len(m.conversations.young)+len(m.conversations.old), len(c.runs), len(c.order)); n > 3*mostKept {
				t.Fatalf("%s: %d are kept as they are after %d", what, n, i)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		const each = 200 // two ids, of a conversation that is not called as its run, in maps with room to grow
		if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > many*each+4*mostKept*1000 {
			t.Errorf("%s: %d bytes are kept", what, took)
		}
		runtime.KeepAlive(c)
	}
}

// TestSizeIsOfAll: whatever an original may be full of makes a stretch larger, so that it ends in time.
func TestSizeIsOfAll(t *testing.T) {
	for _, r := range []transcript.Record{&transcript.Problem{Kind: "bad json"}, &transcript.Link{Kind: "fork"}, &transcript.Hint{Key: "k"}, &transcript.Usage{},
		&transcript.Receipt{}, &transcript.Step{}} {
		c := NewCollector(new(Lexicon))
		c.Reset(Subject{Format: "leslie", Size: 1000})
		for range 100 {
			c.Add(r)
		}
		if c.Size() < 100*recordSize {
			t.Errorf("100 records %T are %d bytes", r, c.Size())
		}
	}
}

// TestStretchesOfParts takes an event of many parts in stretches: none holds more than a few thousand, and each row is what it would be in one.
func TestStretchesOfParts(t *testing.T) {
	const parts = 3*someParts + 1
	c := NewCollector(new(Lexicon))
	c.Reset(Subject{Format: "leslie", Size: 1000})
	c.Add(&transcript.Run{ID: "a"})
	c.Add(&transcript.Conversation{ID: "a", Run: "a"})
	event := &transcript.Event{Conversation: "a", Kind: transcript.KindMessage, Origin: transcript.Origin{Length: 10}, Parts: make([]transcript.Part, parts)}
	next := 0
	take := func() error {
		p := c.Take(false)
		if len(p.Rows) > someParts {
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
	if err := c.AddSome(event, take); err != nil || next != parts {
		t.Errorf("%d of %d parts, %v", next, parts, err)
	}
	failed := errors.New("enough")
	if err := c.AddSome(event, func() error { return failed }); err != failed {
		t.Errorf("look's error became %v", err)
	}
}
