package copilotcli

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzEvents(f *testing.F) { formattest.Fuzz(f, New(), roleEvents, "session-state/x/events.jsonl") }

func FuzzWorkspace(f *testing.F) {
	formattest.Fuzz(f, New(), roleWorkspace, "session-state/x/workspace.yaml")
}

func FuzzRequests(f *testing.F) {
	formattest.Fuzz(f, New(), roleUsage, "session-store.db/x/usage.ndjson")
}

func FuzzOutput(f *testing.F) { formattest.Fuzz(f, New(), roleOutput, "ci/fuzz.log") }

// TestGrowth leaves out saved output, since its last line names the session.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "1.log", "both", "records.txt") }

// TestMessageOutput adds up the output tokens that messages state: as many as in the shutdowns, and uncounted.
func TestMessageOutput(t *testing.T) {
	var apart int64
	for _, o := range formattest.Originals(t, New(), "testdata/session") {
		for _, r := range o.Records() {
			if u, ok := r.(*transcript.Usage); ok && u.Verdict == transcript.DerivedTotal {
				apart += u.Output.N
			}
		}
	}
	if want := int64(70 + 12 + 5); apart != want {
		t.Errorf("messages say %d tokens of output, want %d", apart, want)
	}
}

// TestRequests checks that the requests of the database or the totals of shutdowns count, whichever is complete.
func TestRequests(t *testing.T) {
	stated := func(mark string, at, input, output int64) *transcript.Usage {
		return &transcript.Usage{Key: fmt.Sprintf("s%s%d", mark, at), Time: timestamp.UnixSeconds(at), Rank: rankDirectory,
			Input: transcript.Known(input), Output: transcript.Known(output)}
	}
	sum := func(at, input, output int64) *transcript.Usage { return stated(shutdownMark, at, input, output) }
	request := func(at, input, output int64) *transcript.Usage { return stated(storeMark, at, input, output) }
	saved := func(at, input, output int64) *transcript.Usage { return stated(checkpointMark, at, input, output) }
	record := func(at, input, output int64) *transcript.Usage {
		u := stated("", at, input, output)
		u.Key = fmt.Sprintf("%ss#%d", recordMark, at)
		return u
	}
	late := sum(0, 10, 1)
	late.Time = transcript.Time{}
	for name, c := range map[string]struct {
		usage []*transcript.Usage
		want  string // of each, whether it counts
	}{
		"nobody shut it down":       {[]*transcript.Usage{request(1, 5, 1), request(2, 5, 1)}, "++"},
		"no database":               {[]*transcript.Usage{sum(3, 10, 2), sum(6, 4, 1)}, "++"},
		"both":                      {[]*transcript.Usage{sum(3, 10, 2), request(1, 5, 1), request(2, 5, 1), request(4, 7, 7)}, "-+++"},
		"one is missing":            {[]*transcript.Usage{sum(3, 10, 2), request(2, 5, 1), request(4, 7, 7)}, "+-+"},
		"the database came later":   {[]*transcript.Usage{sum(3, 10, 2), sum(6, 4, 1), request(5, 4, 1)}, "+-+"},
		"a crash that no sum has":   {[]*transcript.Usage{sum(6, 4, 1), request(2, 50, 10), request(5, 4, 1)}, "-++"},
		"of two machines":           {[]*transcript.Usage{sum(3, 10, 2), sum(3, 10, 2), request(1, 5, 1), request(1, 5, 1)}, "++--"},
		"records":                   {[]*transcript.Usage{sum(3, 10, 2), record(1, 5, 1), record(2, 5, 1), record(4, 7, 7)}, "-+++"},
		"a record is missing":       {[]*transcript.Usage{sum(3, 10, 2), record(2, 5, 1), record(4, 7, 7)}, "+-+"},
		"records and a database":    {[]*transcript.Usage{sum(3, 5, 1), record(2, 5, 1), request(2, 5, 1), record(4, 7, 7), request(4, 7, 7)}, "-+-+-"},
		"the database has more":     {[]*transcript.Usage{record(2, 5, 1), request(1, 5, 1), request(2, 5, 1)}, "-++"},
		"the database knows less":   {[]*transcript.Usage{sum(3, 10, 2), request(1, 10, 0)}, "+-"},
		"never shut down":           {[]*transcript.Usage{sum(3, 10, 2), saved(5, 4, 1)}, "++"},
		"saved and recorded":        {[]*transcript.Usage{saved(3, 10, 2), record(2, 10, 2), saved(5, 4, 1), record(5, 4, 1), record(6, 7, 7)}, "-+-++"},
		"saved, not all recorded":   {[]*transcript.Usage{saved(3, 10, 2), saved(5, 4, 1), record(5, 4, 1)}, "++-"},
		"a shutdown without a time": {[]*transcript.Usage{late, request(1, 10, 1), request(9, 1, 1)}, "-++"},
	} {
		f := &transcript.Family{Usage: c.usage}
		copilot{}.Resolve(f)
		got := ""
		for _, u := range f.Usage {
			if u.Verdict == "" {
				got += "+"
			} else {
				got += "-"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestLayouts checks that the usage in an older version's file counts only if the session's directory has no events.
func TestLayouts(t *testing.T) {
	for events, want := range map[int64]transcript.Verdict{0: "", 3: transcript.CopiedHistory} {
		f := &transcript.Family{
			Usage: []*transcript.Usage{{Key: "s" + shutdownMark + "1", Rank: rankFile}, {Key: "s" + shutdownMark + "2", Rank: rankDirectory}},
			Conversations: []*transcript.FamilyConversation{
				{Path: "session-state/s/events.jsonl", Events: events}, {Path: "session-state/s.jsonl", Events: 3},
			},
		}
		copilot{}.Resolve(f)
		if f.Usage[0].Verdict != want || f.Usage[1].Verdict != "" {
			t.Errorf("%d events: %q and %q", events, f.Usage[0].Verdict, f.Usage[1].Verdict)
		}
	}
}

// TestSecrets checks that files with credentials beside the sessions are left out, and that the database is claimed.
func TestSecrets(t *testing.T) {
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"config.json", `{"copilot_tokens":{"a":"b"}}`, skip},
		{"config.json", `{"trusted_folders":[]}`, format.Claim{}},
		{"mcp-config.json", `{"mcpServers":{}}`, skip},
		{"mcp-oauth-config/a1b2.json", `{}`, skip},
		{"session-store.db", "SQLite format 3\x00", format.Claim{Strength: format.Certain, Role: roleStore, Database: true}},
		{"session-store.db", "{}", format.Claim{}},
		{"session-state/x/session.db", "SQLite format 3\x00", format.Claim{}},
	})
}

// TestContinues checks that a shutdown includes the totals before it only if the output of the messages suggests so.
func TestContinues(t *testing.T) {
	for _, c := range []struct {
		said       int64
		checkpoint bool
		restored   bool
		want       bool
	}{
		{said: 300, want: true},
		{said: 200, want: true},
		{said: 800},
		{said: 14}, // fits neither 300 nor 800
		{said: 14, checkpoint: true, want: true},
		{said: 800, restored: true, want: true},
	} {
		p := &parser{outputSince: c.said, hasCheckpoints: c.checkpoint, lastTotals: map[string]modelTotals{"m": {output: 500}}}
		if got := p.continues(map[string]modelTotals{"m": {output: 800}}, c.restored); got != c.want {
			t.Errorf("%d tokens stated, checkpoint %v: %v", c.said, c.checkpoint, got)
		}
	}
}

func FuzzProduct(f *testing.F) {
	formattest.Fuzz(f, New(), rolePlan, "session-state/5f5f5f5f-0000-4000-8000-000000000001/plan.md")
}

func FuzzEarly(f *testing.F) {
	formattest.Fuzz(f, New(), roleEarly, ".copilot/history-session-state/session_x_1.json")
}
