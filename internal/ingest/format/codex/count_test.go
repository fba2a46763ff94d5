package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCounts has every number worked out by hand from the lines of the cases.
func TestCounts(t *testing.T) {
	for name, want := range map[string]counts{
		"everything": {Runs: 1, Conversations: 1, Events: 26, Calls: 10, Results: 7, Links: 1,
			Input: 2200, Output: 180, CacheRead: 1300, CacheWrite: 100, Requests: 5},
		// Copied lines count in their origin alone; of the fork whose origin is not there they count.
		"forks": {Runs: 4, Conversations: 6, Events: 22, Calls: 2, Results: 2, Links: 6,
			Input: 13900, Output: 870, CacheRead: 16500, Requests: 10},
		// The prompt that stands before its turn_context is lost to the copied part: the turn is what can be told.
		"unnamed-turns": {Runs: 2, Conversations: 2, Events: 5, Links: 1, Input: 230, Output: 60, CacheRead: 110, Requests: 3},
		// Archived, compressed and copied elsewhere: the same threads.
		"moved": {Runs: 2, Conversations: 2, Events: 5, Input: 25, Output: 4, CacheRead: 10, Requests: 3},
		// A line before the head takes nothing from it: the fork is one, and what it copied counts once.
		"late-head": {Runs: 2, Conversations: 2, Events: 2, Links: 1, Input: 130, Output: 15, Requests: 2},
		"broken":    {Runs: 4, Conversations: 4, Events: 2, Problems: 5},
		"bare":      {Runs: 1, Conversations: 1, Events: 5, Calls: 1, Results: 1},
		"beside":    {Runs: 1, Conversations: 1, Events: 1},
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

// TestMissingOrigin takes the origin away: everything counts again, and the conversation says why.
func TestMissingOrigin(t *testing.T) {
	files := folder(t, filepath.Join("testdata", "forks", "in"))
	fork := files[1]
	family := transcript.Family{Hints: fork.hints, Conversations: []*transcript.FamilyConversation{{Conversation: *fork.conv}}}
	codex{}.Resolve(&family)
	if v := family.Conversations[0]; v.CopiedUntil != 0 || v.Attributes["origin_missing"] != true {
		t.Errorf("copied until %d, attributes %v", v.CopiedUntil, v.Attributes)
	}
	family.Conversations[0].Conversation = *fork.conv
	family.Related = map[string][]*transcript.Hint{files[0].conv.ID: files[0].hints}
	codex{}.Resolve(&family)
	v := family.Conversations[0]
	if v.Attributes["origin_missing"] != nil || v.CopiedUntil == 0 {
		t.Errorf("copied until %d, attributes %v", v.CopiedUntil, v.Attributes)
	}
	family.Related[files[0].conv.ID] = fork.hints
	codex{}.Resolve(&family)
	if last := fork.events[len(fork.events)-1]; family.Conversations[0].CopiedUntil <= last.Origin.Offset {
		t.Error("a fork without a turn of its own is all copy")
	}
}

// TestGrowth cuts a rollout at every line end: what was said of the part stays as it was when the rest has come.
func TestGrowth(t *testing.T) {
	names, err := filepath.Glob("testdata/everything/in/home/.codex/sessions/2026/03/04/*.jsonl")
	if err != nil || len(names) != 1 {
		t.Fatal(err, names)
	}
	content, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	const path = "sessions/2026/03/04/rollout-x.jsonl"
	whole := read(t, path, content)
	for end := 0; end < len(content); end++ {
		if content[end] != '\n' || end < 200 {
			continue
		}
		part := read(t, path, bytes.Clone(content[:end+1]))
		if part.conv.ID != whole.conv.ID || len(part.events) > len(whole.events) {
			t.Fatalf("cut at %d: conversation %q with %d events", end, part.conv.ID, len(part.events))
		}
		for i, e := range part.events {
			w := whole.events[i]
			if e.Parts[0].Text != w.Parts[0].Text || e.Verdict != w.Verdict || e.Kind != w.Kind || e.Origin != w.Origin {
				t.Fatalf("cut at %d: event at %+v is another one", end, e.Origin)
			}
		}
		for i, u := range part.usage {
			if u.Key != whole.usage[i].Key || u.Input != whole.usage[i].Input {
				t.Fatalf("cut at %d: usage %q is another one", end, u.Key)
			}
		}
	}
}

func TestMeter(t *testing.T) {
	var m meter
	for i, c := range []struct {
		in, key string
		input   int64
		ok      bool
	}{
		{`{"total_token_usage":{"input_tokens":10},"last_token_usage":{"input_tokens":4}}`, "0/10/0/0/0/0", 4, true}, // no total before: the last alone
		{`{"total_token_usage":{"input_tokens":10},"last_token_usage":{"input_tokens":4}}`, "", 0, false},
		{`{"total_token_usage":{"input_tokens":30},"last_token_usage":{"input_tokens":5}}`, "0/30/0/0/0/0", 20, true}, // growth, whatever the last says
		{`{"total_token_usage":{"input_tokens":7},"last_token_usage":{"input_tokens":7}}`, "1/7/0/0/0/0", 7, true},    // counters began anew
		{`{"total_token_usage":{"input_tokens":30}}`, "1/30/0/0/0/0", 23, true},
		{`{"total_token_usage":{"input_tokens":3}}`, "2/3/0/0/0/0", 3, true},
		{`{"total_token_usage":{"input_tokens":3,"reasoning_output_tokens":2}}`, "2/3/0/0/0/2", 0, true}, // not the same request
		{`{"total_token_usage":{"input_tokens":3,"reasoning_output_tokens":2.5}}`, "3/3/0/0/0/0", 3, true},
		{`{"last_token_usage":{"input_tokens":9}}`, "#1", 9, true},
		{`{"last_token_usage":{"input_tokens":9}}`, "", 0, false},
		{`null`, "", 0, false},
		{`{"total_token_usage":null}`, "", 0, false},
	} {
		got, key, ok := m.request([]byte(c.in))
		if ok != c.ok || ok && (key != c.key || got.input != c.input) {
			t.Errorf("%d: %s: %d %q %v, want %+v", i, c.in, got.input, key, ok, c)
		}
	}
}
