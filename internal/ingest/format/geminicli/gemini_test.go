package geminicli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleLog, "shop/chats/session-2026-05-06T07-00-11111111.jsonl")
}

func FuzzDocument(f *testing.F) {
	formattest.Fuzz(f, New(), roleDocument, "shop/chats/session-2026-05-06T07-00-11111111.json")
}

func FuzzPrompts(f *testing.F) { formattest.Fuzz(f, New(), rolePrompts, "shop/logs.json") }

// TestCounts has every number worked out by hand from the cases.
func TestCounts(t *testing.T) {
	for name, want := range map[string]counts{
		// users u1 u2 u5 #22, answers g2 g3, two thoughts, five calls, four results, three notices of the program
		"log": {Runs: 1, Conversations: 1, Events: 20, Calls: 5, Results: 4, Problems: 3,
			Input: 707 + 0 + 10 + 5, Output: 40 + 60 + 1, CacheRead: 300 + 2000, Requests: 4},
		// what the log took over counts once, what only one of the two has counts as well
		"migrated":     {Runs: 1, Conversations: 1, Events: 6, Input: 150, Output: 35, CacheRead: 150, Requests: 2},
		"subagent":     {Runs: 1, Conversations: 3, Events: 6, Calls: 1, Results: 1, Links: 1, Input: 59, Output: 6, Requests: 2},
		"document":     {Runs: 2, Conversations: 2, Events: 3, Input: 7, Output: 3, Requests: 1},
		"twice":        {Runs: 1, Conversations: 1, Events: 3, Input: 5, Output: 3, CacheRead: 2, Requests: 1},
		"unrecognised": {Runs: 1, Conversations: 1, Problems: 2},
		"prompts":      {},
	} {
		files := folder(t, filepath.Join("testdata", name, "in"))
		if got := tally(files); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
		slices.Reverse(files)
		if got := tally(files); got != want {
			t.Errorf("%s in another order:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

// TestGrowth cuts a log at every line end: what was said of the part stays as it was when the rest has come.
func TestGrowth(t *testing.T) {
	const path = "home/.gemini/tmp/shop/chats/session-2026-05-06T07-00-11111111.jsonl"
	content, err := os.ReadFile("testdata/log/in/" + path)
	if err != nil {
		t.Fatal(err)
	}
	events := func(b []byte) (all []*transcript.Event) {
		for _, r := range read(t, path, b).records {
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
		for i, e := range events(slices.Clone(content[:end+1])) {
			if w := whole[i]; e.ID != w.ID || e.Origin != w.Origin || e.Verdict != w.Verdict || e.Parts[0].Text != w.Parts[0].Text {
				t.Fatalf("cut at %d: event %q at %+v is another one", end, e.ID, e.Origin)
			}
		}
	}
}
