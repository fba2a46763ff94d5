package collect

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCollectingAllocates bounds the allocations for a row, apart from the parser's: rows and their numbers are allocated in blocks.
func TestCollectingAllocates(t *testing.T) {
	const events = 2000
	var all []transcript.Record
	for i := range events {
		all = append(all, &transcript.Event{Run: "r", Kind: transcript.KindMessage, Role: "assistant", Time: transcript.Time{UnixMicro: int64(i), Valid: true},
			Origin: transcript.Origin{Line: i + 1, Offset: int64(i) * 100, Length: 100},
			Parts:  []transcript.Part{{Text: fmt.Sprintf("the %dth event opens src/health.py and parseConfig of number %d", i, i*i%1000)}}})
	}
	c := New(&lexicon.Lexicon{})
	rows := 0
	collect := func() {
		c.Reset(index.Subject{Format: "awf", Size: events * 100})
		c.Add(&transcript.Run{ID: "r"})
		c.Add(&transcript.Conversation{Run: "r"})
		for _, r := range all {
			c.Add(r)
		}
		rows = len(c.Take(true).Rows)
	}
	collect()
	if rows != events {
		t.Fatalf("%d rows of %d events", rows, events)
	}
	if n := testing.AllocsPerRun(3, collect) / events; n > 0.1 {
		t.Errorf("%.2f allocations for each event", n)
	}
}

// TestCollectingSmallOriginals bounds the allocations for an original of a few events: itself, its run and its conversation, each with a list.
func TestCollectingSmallOriginals(t *testing.T) {
	const events, originals = 16, 200
	run, conversation := &transcript.Run{ID: "r", Title: "a run"}, &transcript.Conversation{Run: "r", Title: "a run"}
	event := &transcript.Event{Run: "r", Kind: transcript.KindMessage, Role: "user", Parts: []transcript.Part{{Text: "opens src/health.py and parseConfig"}}}
	c := New(&lexicon.Lexicon{})
	collect := func() {
		for range originals {
			c.Reset(index.Subject{Format: "leslie", Size: events * 100})
			c.Add(run)
			c.Add(conversation)
			for i := range events {
				event.Origin = transcript.Origin{Line: i + 1, Offset: int64(i) * 100, Length: 100}
				c.Add(event)
			}
			if p := c.Take(true); len(p.Rows) != events || len(p.Runs) != 1 || len(p.Conversations) != 1 {
				t.Fatalf("%d rows, %d runs, %d conversations", len(p.Rows), len(p.Runs), len(p.Conversations))
			}
		}
	}
	collect()
	if n := testing.AllocsPerRun(3, collect) / originals; n > 5.5 {
		t.Errorf("%.2f allocations for each original", n)
	}
}
