package index

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCollectingAllocates bounds what a row costs beside what its parser made: rows and their numbers lie in blocks.
func TestCollectingAllocates(t *testing.T) {
	const events = 2000
	var all []transcript.Record
	for i := range events {
		all = append(all, &transcript.Event{Run: "r", Kind: transcript.KindMessage, Role: "assistant", Time: transcript.Time{UnixMicro: int64(i), Valid: true},
			Origin: transcript.Origin{Line: i + 1, Offset: int64(i) * 100, Length: 100},
			Parts:  []transcript.Part{{Text: fmt.Sprintf("the %dth event opens src/health.py and parseConfig of number %d", i, i*i%1000)}}})
	}
	c := NewCollector(&Lexicon{})
	rows := 0
	collect := func() {
		c.Reset(Subject{Format: "awf", Size: events * 100})
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
