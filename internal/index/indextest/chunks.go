package indextest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// testChunks has more runs than a Collector keeps in its state, some of which continue at the end. Committed in chunks, in one or
// several commits, they are the same as in a single one.
func testChunks(t *testing.T, open func(*testing.T) Index) {
	const runs, remembered = 830, 410
	var records []transcript.Record
	say := func(id string, r transcript.Run, v transcript.Conversation, words string) {
		r.ID, v.ID, v.Run = id, strings.TrimPrefix(id, "own "), id
		at := Place(len(records))
		records = append(records, &r, &v, &transcript.Event{Conversation: v.ID, Kind: transcript.KindMessage, Role: "user", Time: At(int64(len(records))),
			Origin: at, Parts: []transcript.Part{{Text: words}}})
	}
	goOn := func(id string, e transcript.Event) {
		e.Kind, e.Origin = transcript.KindMessage, Place(len(records))
		e.Parts = []transcript.Part{{Text: "and on"}}
		records = append(records, &e, &transcript.Link{Kind: "fork", From: transcript.RunEnd(id), To: transcript.RunEnd("elsewhere"), Origin: e.Origin})
	}
	first := transcript.Run{Title: "Sails", Group: "boats", Host: "laptop", Rank: 7, Started: At(1), Attributes: transcript.Attributes{"a": 1.5, "b": "x"}}
	shared := transcript.Conversation{Title: "Sails", Shared: true, Order: "5", Rank: 7, Started: At(1), Attributes: transcript.Attributes{"c": true}}
	for _, id := range []string{"said again", "own name", "uncounted", "event alone"} {
		say(id, first, shared, "mend the sail")
		records = append(records, &transcript.Event{Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Origin: Place(len(records)), Parts: []transcript.Part{{Text: "aside"}}})
	}
	for i := range runs {
		say(fmt.Sprint("run ", i), transcript.Run{}, transcript.Conversation{}, "bait")
	}
	say("said again", transcript.Run{Model: "small-1", Ended: At(99999), Attributes: transcript.Attributes{"b": "y"}}, transcript.Conversation{Ended: At(99999)}, "and splint the mast")
	goOn("own name", transcript.Event{Conversation: "name"})
	goOn("uncounted", transcript.Event{Run: "uncounted", Verdict: transcript.Uncounted})
	goOn("event alone", transcript.Event{Conversation: "event alone", Run: "event alone"})
	dumpInChunks := func(chunk, commits int) string {
		x := open(t)
		b := Batch("pack", Original{Source: "s", Path: "log", Format: "leslie", Host: "desk", Size: int64(100*len(records) + 100), Records: records, ChunkSize: chunk, Remember: remembered})
		rest := b.Parsed[min(commits, len(b.Parsed)):]
		b.Parsed = b.Parsed[:len(b.Parsed)-len(rest)]
		commit(t, x, b)
		for _, p := range rest {
			commit(t, x, index.Batch{Parsed: []*index.Parsed{p}})
		}
		dumped := dumpTotals(t, x)
		for _, id := range []string{"said again", "own name", "uncounted", "event alone", "run 0", fmt.Sprint("run ", runs-1)} {
			r, err := x.Run(t.Context(), id)
			if err != nil {
				t.Fatal(id, err)
			}
			dumped += dumpRun(t, x, &r)
		}
		return dumped
	}
	want := dumpInChunks(0, 1)
	for _, c := range [][2]int{{700, 99}, {700, 1}, {40, 3}} {
		if got := dumpInChunks(c[0], c[1]); got != want {
			t.Errorf("in chunks of %d, at first %d: %s", c[0], c[1], difference(got, want))
		}
	}
}
