package copilotcli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzEvents(f *testing.F) { formattest.Fuzz(f, New(), roleEvents, "session-state/x/events.jsonl") }

func FuzzWorkspace(f *testing.F) {
	formattest.Fuzz(f, New(), roleWorkspace, "session-state/x/workspace.yaml")
}

// counts are what stats says of one file.
type counts struct {
	User, Assistant, Reasoning, Calls, Results, System, Problems int
	Input, Output, CacheRead, CacheWrite, Requests               int64
}

func count(records []transcript.Record) (c counts) {
	for _, r := range records {
		switch r := r.(type) {
		case *transcript.Event:
			if r.Verdict != transcript.Counted {
				continue
			}
			switch {
			case r.Kind == transcript.KindMessage && r.Role == "user":
				c.User++
			case r.Kind == transcript.KindMessage:
				c.Assistant++
			case r.Kind == transcript.KindReasoning:
				c.Reasoning++
			case r.Kind == transcript.KindToolCall:
				c.Calls++
			case r.Kind == transcript.KindToolResult:
				c.Results++
			case r.Kind == transcript.KindSystem:
				c.System++
			}
		case *transcript.Usage:
			if r.Verdict != "" {
				continue
			}
			c.Input += r.Input.N
			c.Output += r.Output.N
			c.CacheRead += r.CacheRead.N
			c.CacheWrite += r.CacheWrite.N
			c.Requests += r.Requests.N
		case *transcript.Problem:
			c.Problems++
		}
	}
	return c
}

func read(t *testing.T, path string, content []byte) []transcript.Record {
	t.Helper()
	o := &formattest.Original{Path: path, Bytes: content, Claim: formattest.Detect(New(), path, content)}
	return formattest.Check(t, New(), o.Input(content))
}

const session = "home/.copilot/session-state/0b1c2d3e-0000-4000-8000-00000000000a/events.jsonl"

// TestCounts has every number worked out by hand from the lines of the cases.
func TestCounts(t *testing.T) {
	for path, want := range map[string]counts{
		"session/in/" + session: {User: 4, Assistant: 3, Reasoning: 1, Calls: 2, Results: 3, System: 2,
			Input: 300 + 50 + 6, Output: 70 + 12 + 5, CacheRead: 600 + 4, CacheWrite: 100, Requests: 4},
		"broken/in/session-state/torn/events.jsonl": {User: 1, Assistant: 1, Calls: 2, Problems: 3},
		"broken/in/session-state/empty.jsonl":       {},
	} {
		content, err := os.ReadFile(filepath.Join("testdata", path))
		if err != nil {
			t.Fatal(err)
		}
		if got := count(read(t, path, content)); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", path, got, want)
		}
	}
}

// TestApart adds up what messages say of their output: as much as the shutdowns, and no part of any total.
func TestApart(t *testing.T) {
	content, err := os.ReadFile("testdata/session/in/" + session)
	if err != nil {
		t.Fatal(err)
	}
	var apart int64
	for _, r := range read(t, session, content) {
		if u, ok := r.(*transcript.Usage); ok && u.Verdict == transcript.DerivedTotal {
			apart += u.Output.N
		}
	}
	if want := int64(70 + 12 + 5); apart != want {
		t.Errorf("messages say %d tokens of output, want %d", apart, want)
	}
}

// TestGrowth cuts the log at every line end: what was said of the part stays as it was when the rest has come.
func TestGrowth(t *testing.T) {
	content, err := os.ReadFile("testdata/session/in/" + session)
	if err != nil {
		t.Fatal(err)
	}
	events := func(b []byte) (all []*transcript.Event) {
		for _, r := range read(t, session, b) {
			if e, ok := r.(*transcript.Event); ok {
				all = append(all, e)
			}
		}
		return all
	}
	whole := events(content)
	for end, c := range content {
		if c != '\n' {
			continue
		}
		for i, e := range events(bytes.Clone(content[:end+1])) {
			if w := whole[i]; e.Origin != w.Origin || e.Verdict != w.Verdict || e.Kind != w.Kind || e.Parts[0].Text != w.Parts[0].Text {
				t.Fatalf("cut at %d: event at %+v is another one", end, e.Origin)
			}
		}
	}
}
