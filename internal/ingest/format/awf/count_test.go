package awf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// totals counts records by the archive's rules: a run or call counts once; if several originals hold one conversation, the
// one with most events counts.
type totals struct {
	runs, files, events, messages, calls, router, results, links, problems int
	tokensIn, tokensOut                                                    int64
}

type tally struct {
	totals
	runs     map[string]bool
	events   map[string][]*transcript.Event // by conversation
	usage    map[string]bool
	links    map[[2]string]bool
	statuses map[string]string
	ranks    map[string]int
}

func count(originals []*formattest.Original) *tally {
	t := &tally{runs: map[string]bool{}, events: map[string][]*transcript.Event{}, usage: map[string]bool{},
		links: map[[2]string]bool{}, statuses: map[string]string{}, ranks: map[string]int{}}
	for _, o := range originals {
		if o.Claim.Role == roleTranscript {
			t.files++
		}
		here := map[string][]*transcript.Event{}
		for _, record := range o.Records() {
			t.record(record, here)
		}
		for id, events := range here {
			if len(events) > len(t.events[id]) {
				t.events[id] = events
			}
		}
	}
	t.sum()
	return t
}

func (t *tally) record(record transcript.Record, here map[string][]*transcript.Event) {
	switch r := record.(type) {
	case *transcript.Run:
		if !r.Named {
			t.runs[r.ID] = true
		}
		if r.Status != "" && r.Rank >= t.ranks[r.ID] {
			t.statuses[r.ID], t.ranks[r.ID] = r.Status, r.Rank
		}
	case *transcript.Event:
		if r.Verdict == "" {
			here[r.Conversation] = append(here[r.Conversation], r)
		}
	case *transcript.Usage:
		if !t.usage[r.Key] {
			t.usage[r.Key] = true
			t.tokensIn += r.Input.N
			t.tokensOut += r.Output.N
		}
	case *transcript.Link:
		t.links[[2]string{r.From.ID, r.To.ID}] = true
	case *transcript.Problem:
		t.problems++
	}
}

func (t *tally) sum() {
	calls, router := map[string]bool{}, map[string]bool{}
	for _, events := range t.events {
		for _, e := range events {
			t.totals.events++
			if strings.HasPrefix(e.Type, "message.") {
				t.messages++
			}
			for i, part := range e.Parts {
				if part.Result != nil {
					t.results++
				}
				if part.Call == nil {
					continue
				}
				key := e.Run + "/" + part.Call.Key
				if part.Call.Key == "" {
					key = fmt.Sprint(e.Conversation, e.Origin, i)
				}
				calls[key] = true
				if part.Call.Rank > 0 {
					router[key] = true
				}
			}
		}
	}
	t.totals.runs, t.calls, t.router, t.totals.links = len(t.runs), len(calls), len(router), len(t.links)
}

// TestCaseTotals counts the records of the cases that show one trait each.
func TestCaseTotals(t *testing.T) {
	for name, want := range map[string]totals{
		"mirror":         {runs: 2, files: 3, events: 6, messages: 3, links: 1},
		"resumed":        {runs: 1, files: 2, events: 5, messages: 1, problems: 1},
		"mirrored-twice": {runs: 1, files: 3, events: 6, messages: 1, calls: 1},
		"mirrored-short": {runs: 1, files: 3, events: 3},
		"channels":       {runs: 1, files: 1, events: 9, messages: 1, calls: 5, router: 3, results: 4},
		"torn":           {runs: 1, files: 3, events: 5, messages: 2, problems: 6},
	} {
		if got := count(formattest.Originals(t, New(), "testdata/"+name)); got.totals != want {
			t.Errorf("%s\n got %+v\nwant %+v", name, got.totals, want)
		}
	}
}

// TestLongLine: a prompt of megabytes is one line and one event.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("word ", 300_000)
	line := `{"seq":1,"run_id":"r","type":"message.user","path":"f","iteration":0,"timestamp":"2026-11-18T10:00:00Z","payload":{"role":"user","blocks":[{"type":"text","text":"` + long + `"}]}}`
	content := []byte(line + "\n" + line + "\n")
	if claim := formattest.Detect(New(), "mirror.txt", content); claim.Role != roleTranscript {
		t.Errorf("a line longer than the head: %+v", claim)
	}
	records := formattest.Check(t, New(), formattest.Input{Path: "t.jsonl", Role: roleTranscript, Bytes: content})
	events := 0
	for _, record := range records {
		if e, ok := record.(*transcript.Event); ok {
			events++
			if e.Parts[0].Text != long || !bytes.HasPrefix(content[e.Origin.Offset:], []byte(`{"seq"`)) {
				t.Error("text of a long line")
			}
		}
	}
	if events != 2 {
		t.Errorf("%d events", events)
	}
}

func TestDetect(t *testing.T) {
	const line = `{"seq":1,"run_id":"r","type":"x","path":"","iteration":0}`
	const audit = `{"event":"workflow.started","execution_id":"r","schema_version":1}`
	const state = `{"WorkflowID":"r","WorkflowName":"w","Status":"running","Inputs":{"a":"`
	const id = "0a0a0a0a-0000-4000-8000-000000000001"
	for _, c := range []struct{ path, content, role, root string }{
		{"transcripts/x.jsonl", line, roleTranscript, "."},
		{"home/.local/share/awf/transcripts/x.jsonl", "\xef\xbb\xbf\n\nbad\n" + line, roleTranscript, "home/.local/share/awf"},
		{"any/where.log", line + "\n", roleTranscript, ""},
		{"transcripts/" + id + ".jsonl", "", roleTranscript, ""},
		{"transcripts/" + id + ".jsonl", `{"role":"user"}`, "", ""},
		{"chat/" + id + ".jsonl", "", "", ""},
		{"transcripts/free-name.jsonl", "torn", roleTranscript, ""},
		{"a/states/r.json", state + strings.Repeat("long ", 4000), roleState, "a"},
		{"a/states/" + id + ".json", "", roleState, ""},
		{"a/states/" + id + ".json", `{"b":"` + strings.Repeat("long ", 4000), "", ""},
		{"a/states/" + id + ".json.1.2.tmp", state, "", ""},
		{"x.json", state, roleState, ""},
		{"package.json", `{"name":"x"}`, "", ""},
		{"share/awf/audit.jsonl", audit, roleAudit, "share/awf"},
		{"var/log/audit.jsonl", audit, roleAudit, ""},
		{"var/log/runs.log", audit, roleAudit, ""},
		{"x/history.db", "SQLite format 3\x00 CREATE TABLE execution_records", roleHistory, "x"},
		{"x/awf/history.db", "SQLite format 3\x00", roleHistory, "x/awf"},
		{"x/history.db", "SQLite format 3\x00", "", ""},
		{"x/notes.md", "text", "", ""},
	} {
		got := formattest.Detect(New(), c.path, []byte(c.content))
		if got.Role != c.role || got.Root != c.root || (got.Strength > 0) != (c.role != "") || got.Database != (c.role == roleHistory) {
			t.Errorf("%s: %+v, want %q %q", c.path, got, c.role, c.root)
		}
	}
}
