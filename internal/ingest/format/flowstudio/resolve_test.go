package flowstudio

import (
	"bytes"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const testRun = "run-20261120-100000-abc123"

// resolved loads the files of a golden case and returns its one run after Resolve.
func resolved(t *testing.T, name string) *runRecords {
	t.Helper()
	byRun := map[string]*runRecords{}
	for _, o := range formattest.Originals(t, New(), "testdata/"+name) {
		put(t, byRun, o.Path, o.Bytes)
	}
	w := byRun[testRun]
	if w == nil {
		t.Fatalf("%s: no run %s in %v", name, testRun, sortedKeys(byRun))
	}
	flowStudio{}.Resolve(&w.family)
	flowStudio{}.Resolve(&w.family) // Resolve is idempotent
	return w
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ in, conversation, step, agent, engine, by, receipt string }{
		{"names", "build/3.4-merge-gate-keeper-claude", "3.4-merge", "gate-keeper", "claude", "receipt", "succeeded"},
		{"names", "build/3.5-cut-over-gate-keeper-gemini", "3.5-cut-over", "gate-keeper", "gemini", "receipt prefix", "succeeded"},
		{"names", "build/late-step-repo-operator-claude", "late-step", "repo-operator", "claude", "events", ""},
		{"names", "build/plain-code-critic-claude", "plain", "code-critic", "claude", "guess", ""},
		{"names", "build/onlyname", "", "", "", "", ""},
		// A second engine's transcript is named by the receipt that the first engine overwrote, and has no receipt itself.
		{"gemini", "signal/frame-requirements-author-gemini", "frame", "requirements-author", "gemini", "receipt", "succeeded"},
		{"gemini", "signal/frame-requirements-author-claude", "frame", "requirements-author", "claude", "receipt prefix", ""},
		// Lifecycle receipts name no transcript; SDK receipts name it by an absolute path.
		{"stub", "signal/normalize-signal-normalizer-claude", "normalize", "signal-normalizer", "claude", "receipt prefix", "succeeded"},
		{"sdk", "deploy/decide-deploy-monitor-claude", "decide", "deploy-monitor", "claude", "receipt", "succeeded"},
		{"sdk", "deploy/smoke-deploy-decider-claude", "smoke", "deploy-decider", "claude", "guess", ""},
		{"cli", "build/mutate-fixer-claude", "mutate", "fixer", "claude", "receipt", "failed"},
	} {
		found := false
		for _, v := range resolved(t, c.in).family.Conversations {
			if v.ID != c.conversation {
				continue
			}
			found = true
			by, _ := v.Attributes["named_by"].(string)
			if v.Step != c.step || v.Agent != c.agent || v.Engine != c.engine || by != c.by || v.Status != c.receipt {
				t.Errorf("%s: got %q %q %q by %q with %q, want %+v", v.ID, v.Step, v.Agent, v.Engine, by, v.Status, c)
			}
		}
		if !found {
			t.Errorf("%s: no conversation %s", c.in, c.conversation)
		}
	}
}

func TestReceiptWithoutTranscript(t *testing.T) {
	for _, r := range resolved(t, "names").family.Receipts {
		if gone := r.Step == "gone"; gone != (r.Conversation == "") {
			t.Errorf("receipt %s belongs to %q", r.Key, r.Conversation)
		}
	}
}

func TestStepsAreJoined(t *testing.T) {
	n := 0
	for _, s := range resolved(t, "stub").family.Steps {
		if s.Kind == "execution" && s.Conversation != "signal/normalize-"+s.Agent+"-claude" {
			t.Errorf("step %s belongs to %q", s.Key, s.Conversation)
		}
		if s.Kind == "execution" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d executions, want 2", n)
	}
}

// TestVerdicts: tokens count once, where a receipt states them; cost counts from result lines, receipt or not.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		in      string
		verdict transcript.Verdict
		records int
		tokens  int64
		cost    int64
	}{
		{"cli", "", 5, 12 + 898 + 7815 + 1214, 34997000 + 90526000 + 1},
		{"cli", transcript.DerivedTotal, 2, 12 + 898 + 7815 + 1214, 0},
		{"cli", transcript.OutsideReceipt, 0, 0, 0},
		{"sdk", "", 1, 3814, 0},
		{"sdk", transcript.DerivedTotal, 1, 3814, 0},
		{"sdk", transcript.OutsideReceipt, 1, 3814, 0},
		{"session", "", 1, 954 + 281, 0},
		{"session", transcript.OutsideReceipt, 1, 59, 0},
		{"names", "", 8, 11 + 15 + 18, 5 * 250000000},
		{"names", transcript.DerivedTotal, 2, 22, 0},
		{"names", transcript.OutsideReceipt, 3, 33, 0},
	} {
		var records int
		var tokens, cost int64
		for _, u := range resolved(t, c.in).family.Usage {
			if u.Verdict == c.verdict {
				records++
				tokens += u.Input.N + u.Output.N
				cost += u.Cost.N
			}
		}
		if records != c.records || tokens != c.tokens || cost != c.cost {
			t.Errorf("%s, verdict %q: %d records, %d tokens, %d nano-USD; want %d, %d, %d",
				c.in, c.verdict, records, tokens, cost, c.records, c.tokens, c.cost)
		}
	}
}

// TestBetterModel: a receipt states a default or just "gemini"; the transcript has the real model.
func TestBetterModel(t *testing.T) {
	for in, want := range map[string]string{"gemini": "gemini-2.5-pro", "cli": "claude-sonnet-4-5-20250929", "sdk": "claude-opus-4-20250514", "stub": "claude-stub"} {
		found := false
		for _, u := range resolved(t, in).family.Usage {
			found = found || u.Receipt != "" && u.Model == want
		}
		if !found {
			t.Errorf("%s: no usage of %s", in, want)
		}
	}
}

// TestRewrites replays what the program does to a step's files: it writes the receipt again for its routing, then a retry
// overwrites transcript and receipt. The rewrite is the same usage; the retry was spent as well.
func TestRewrites(t *testing.T) {
	root := "swarm/runs/" + testRun + "/build/"
	receipt := `{"step_id":"fix","agent_key":"coder","flow_key":"build","engine":"claude-step","started_at":"START",` +
		`"tokens":{"prompt":100,"completion":10},"transcript_path":"llm/fix-coder-claude.jsonl"ROUTING}`
	line := `{"type":"result","usage":{"input_tokens":100,"output_tokens":10},"total_cost_usd":0.5,"timestamp":"START"}` + "\n"
	version := func(text, start, routing string) []byte {
		return []byte(strings.NewReplacer("START", start, "ROUTING", routing).Replace(text))
	}
	byRun := map[string]*runRecords{}
	first, second := "2026-11-20T10:00:01.000001+00:00Z", "2026-11-20T10:05:00.5Z"
	for _, routing := range []string{"", `,"routing":{"loop_iteration":0,"decision":"loop"}`} {
		put(t, byRun, root+"receipts/fix-coder.json", version(receipt, first, routing))
		put(t, byRun, root+"llm/fix-coder-claude.jsonl", version(line, first, ""))
	}
	if n := byRun[testRun].count(); n.TokensIn != 100 || n.TokensOut != 10 || n.Cost != 5e8 {
		t.Errorf("after routing: %+v", n)
	}
	put(t, byRun, root+"receipts/fix-coder.json", version(receipt, second, ""))
	put(t, byRun, root+"llm/fix-coder-claude.jsonl", version(line, second, ""))
	w := byRun[testRun]
	if n := w.count(); n.TokensIn != 200 || n.TokensOut != 20 || n.Cost != 10e8 {
		t.Errorf("after a retry: %+v", n)
	}
	keys := map[string]bool{}
	for _, r := range w.family.Receipts {
		keys[r.Key] = true
	}
	if len(keys) != 2 {
		t.Errorf("receipts %v, want two attempts", keys)
	}
}

// TestAsideCountsNothing: quarantined and hidden directories are kept and searchable, but not counted.
func TestAsideCountsNothing(t *testing.T) {
	byRun := map[string]*runRecords{}
	for _, o := range formattest.Originals(t, New(), "testdata/aside") {
		put(t, byRun, o.Path, o.Bytes)
	}
	if got := strings.Join(sortedKeys(byRun), " "); got != ".trash _corrupt/"+testRun+" _index good-run "+testRun {
		t.Errorf("runs %s", got)
	}
	for id, w := range byRun {
		counted := id == "good-run" || id == testRun
		if (w.count() != nil) != counted {
			t.Errorf("run %s counts: %v", id, !counted)
		}
		if !counted && (len(w.problems)+len(w.family.Conversations)+len(w.family.Usage)+len(w.family.Receipts) > 0 || len(w.events) == 0) {
			t.Errorf("run %s has more than rows", id)
		}
	}
}

func TestTextOfDamage(t *testing.T) {
	if _, err := (flowStudio{}).Text(roleTranscript, []byte(`{"a":`), 0); err == nil {
		t.Error("no error for a torn line")
	}
	if _, err := (flowStudio{}).Text(roleTranscript, []byte(`{"role":"user"}`), 3); err == nil {
		t.Error("no error for a part that is not there")
	}
	if text, err := (flowStudio{}).Text(roleLines, bytes.Repeat([]byte("\xff"), 2), 0); err != nil || text != "\uFFFD" {
		t.Errorf("got %q, %v", text, err)
	}
}
