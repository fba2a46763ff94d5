package index

import (
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
	check(c.Take(true), 0, "b", "here", "whose")
}
