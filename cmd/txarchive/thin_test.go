package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// thinPolicy is a policy that drops payloads of runs.
func thinPolicy(t *testing.T, r *rand.Rand, runs []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "thin.yaml")
	text := "version: 1\nrules:\n  - name: thin\n    match: {id: [" + strings.Join(runs, ", ") + "]}\n    action: thin\n    tier: payloads\n    over: "
	must(t, os.WriteFile(file, []byte(text+[]string{"100B", "200B", "2KB"}[r.IntN(3)]+"\n    children: stay\n"), 0o600))
	return file
}

// halve cuts some transcripts off behind a line, and gives what they were.
func halve(t *testing.T, r *rand.Rand, dir string) map[string][]byte {
	t.Helper()
	whole := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".jsonl") {
			return err
		}
		b, err := os.ReadFile(p)
		if lines := bytes.SplitAfter(b, []byte("\n")); err == nil && len(lines) > 4 && r.IntN(2) == 0 {
			whole[p] = b
			err = os.WriteFile(p, bytes.Join(lines[:len(lines)/2], nil), 0o600)
		}
		return err
	})
	must(t, err)
	return whole
}

func putBack(t *testing.T, files map[string][]byte) {
	t.Helper()
	for p, b := range files {
		past := time.Now().Add(-time.Hour)
		must(t, os.WriteFile(p, b, 0o600))
		must(t, os.Chtimes(p, past, past))
	}
}

// TestThinAnything drops payloads of random runs of all formats, while their files grow and gc leaves them alone. Then
// everything is taken back, and the archive is like one in which nothing was ever thinned.
func TestThinAnything(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	source := filepath.Join(t.TempDir(), "runs")
	fewRuns(t, source)
	largeOutputs(t, source)
	grows := halve(t, r, source)
	calm, dir := filepath.Join(t.TempDir(), "calm"), filepath.Join(t.TempDir(), "archive")
	both := func(line ...string) {
		t.Helper()
		tx(t, calm, 0, line...)
		tx(t, dir, 0, line...)
	}
	tx(t, calm, 0, "ingest", "-q", source)
	copyArchiveTo(t, calm, dir)
	all := runIDs(t, dir)
	thin := func() {
		t.Helper()
		some := []string{}
		for _, i := range r.Perm(len(all))[:1+r.IntN(len(all)/2)] {
			some = append(some, all[i])
		}
		tx(t, dir, 0, "prune", "--policy", thinPolicy(t, r, some), "--yes", "-q", "--allow-empty")
		tx(t, dir, 0, "verify")
	}
	for range 2 {
		thin()
	}
	putBack(t, grows)
	both("ingest", "-q", source)
	if out := tx(t, dir, 0, "ingest", "--json", source); !strings.Contains(out, `"new":0,"grown":0,"rewritten":0`) {
		t.Errorf("the source was archived again: %s", out)
	}
	thin()
	if r.IntN(2) == 0 {
		tx(t, dir, 0, "prune", "--run", all[r.IntN(len(all))], "--yes", "-q")
	}
	const cost = "format,model,flow,step,agent,status,source"
	if got, want := tx(t, dir, 0, "cost", "--json", "--by", cost), tx(t, calm, 0, "cost", "--json", "--by", cost); got != want {
		t.Errorf("costs are\n%s\nand were\n%s", got, want)
	}
	thinned := dumpViews(t, dir)
	tx(t, dir, 0, "reindex", "-q")
	if again := dumpViews(t, dir); !slices.Equal(thinned, again) {
		t.Errorf("reindex changed something: %s", firstDifference(again, thinned))
	}
	if r.IntN(2) == 0 {
		tx(t, dir, 0, "gc", "--grace", "7d", "-q")
		tx(t, dir, 0, "verify")
	}
	undoAll(t, program(t), dir)
	tx(t, dir, 0, "verify")
	whole := dumpViews(t, calm)
	if back := dumpViews(t, dir); !slices.Equal(whole, back) {
		t.Errorf("undone: %s", firstDifference(back, whole))
	}
	tx(t, dir, 0, "reindex", "-q")
	if back := dumpViews(t, dir); !slices.Equal(whole, back) {
		t.Errorf("undone and indexed again: %s", firstDifference(back, whole))
	}
	tx(t, dir, 0, "gc", "-q")
	tx(t, dir, 0, "verify", "--deep")
	back := filepath.Join(t.TempDir(), "back")
	tx(t, dir, 0, "restore", "--all", "--to", back, "-q")
	if n := compareMarked(t, source, filepath.Join(back, "runs")); n != 0 {
		t.Errorf("%d originals have marks", n)
	}
	for p, b := range everyByte(t, dir) {
		if bytes.Contains(b, []byte("[payload dropped by policy")) {
			t.Errorf("%s has marks", p)
		}
	}
}

// session is a Claude Code session of so many requests.
func session(t *testing.T, dir, id string, requests int) {
	t.Helper()
	var b strings.Builder
	for i := range requests {
		fmt.Fprintf(&b, `{"type":"user","sessionId":%[1]q,"uuid":"u%[2]d","cwd":"/home/alice/p","version":"2.0.14","timestamp":"2026-11-0%[3]dT10:00:00Z","message":{"role":"user","content":"Wobblequax%[2]d please"}}
{"type":"assistant","sessionId":%[1]q,"uuid":"a%[2]d","cwd":"/home/alice/p","version":"2.0.14","requestId":"req_%[2]d","timestamp":"2026-11-0%[3]dT10:00:01Z","message":{"id":"msg_%[2]d","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":%[4]d,"output_tokens":7,"cache_read_input_tokens":11}}}
`, id, i, 1+i%9, 100+i)
	}
	file := filepath.Join(dir, "projects", "-home-alice-p", id+".jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	putBack(t, map[string][]byte{file: []byte(b.String())})
}

// TestPrunedRunGrows prunes runs that then go on at their source: they are archived again, and what they cost counts
// once, also when gc was there, they are pruned again, and the index is made anew.
func TestPrunedRunGrows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 6))
	source := filepath.Join(t.TempDir(), "runs")
	fewRuns(t, source)
	grows := halve(t, r, source)
	agent := filepath.Join(t.TempDir(), "claude")
	session(t, agent, "2b6f0d52-0000-4000-8000-000000000001", 5)
	calm, dir, collected := filepath.Join(t.TempDir(), "calm"), filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "collected")
	tx(t, calm, 0, "ingest", "-q", source, agent)
	copyArchiveTo(t, calm, dir)
	tx(t, dir, 0, "prune", "--query", "after:1970", "--yes", "-q")
	copyArchiveTo(t, dir, collected)
	tx(t, collected, 0, "gc", "-q")
	putBack(t, grows)
	session(t, agent, "2b6f0d52-0000-4000-8000-000000000001", 9)
	for _, d := range []string{calm, dir, collected} {
		tx(t, d, 0, "ingest", "-q", source, agent)
	}
	want := tx(t, calm, 0, "cost", "--json", "--by", "format,model,source")
	costsStay(t, dir, want)
	costsStay(t, collected, want)
}

// costsStay wants runs that have grown after they were pruned to be there again, and to cost what they did, whatever is done with the archive.
func costsStay(t *testing.T, dir, want string) {
	t.Helper()
	if n := strings.Count(tx(t, dir, 0, "list", "--json", "--limit", "0"), "\n"); n < 2 {
		t.Errorf("%d runs were archived again", n)
	}
	for _, step := range [][]string{{"verify"}, {"prune", "--query", "after:1970", "--yes", "-q"}, {"gc", "-q"}, {"reindex", "-q"}} {
		if got := tx(t, dir, 0, "cost", "--json", "--by", "format,model,source"); got != want {
			t.Fatalf("before %s: costs are\n%s\nand were\n%s", step[0], got, want)
		}
		tx(t, dir, 0, step...)
	}
	if got := tx(t, dir, 0, "cost", "--json", "--by", "format,model,source"); got != want {
		t.Fatalf("costs are\n%s\nand were\n%s", got, want)
	}
}

// TestWordsComeBack takes a pruned run in again in the process that purged its words.
func TestWordsComeBack(t *testing.T) {
	agent, dir := filepath.Join(t.TempDir(), "claude"), filepath.Join(t.TempDir(), "archive")
	session(t, agent, "2b6f0d52-0000-4000-8000-000000000001", 3)
	session(t, agent, "2b6f0d52-0000-4000-8000-000000000002", 1)
	tx(t, dir, 0, "ingest", "-q", agent)
	found := func() int { return strings.Count(tx(t, dir, 0, "search", "--json", "*obblequax2*"), "\n") }
	if n := found(); n != 1 {
		t.Fatalf("%d hits", n)
	}
	for range 2 {
		tx(t, dir, 0, "prune", "--query", "wobblequax2", "--yes", "-q")
		tx(t, dir, 0, "gc", "-q")
		if n := found(); n != 0 {
			t.Fatalf("%d hits of what is gone", n)
		}
		tx(t, dir, 0, "ingest", "-q", "--pruned", agent)
		if n := found(); n != 1 {
			t.Fatalf("%d hits of what came back", n)
		}
	}
}

// TestNoTitleStays prunes a session that gave its sub-agent a title: the ledger keeps no words.
func TestNoTitleStays(t *testing.T) {
	agent, dir := filepath.Join(t.TempDir(), "claude"), filepath.Join(t.TempDir(), "archive")
	const id = "2b6f0d52-0000-4000-8000-000000000003"
	session(t, agent, id, 1)
	file := filepath.Join(agent, "projects", "-home-alice-p", id+".jsonl")
	b, err := os.ReadFile(file)
	must(t, err)
	head := `"sessionId":"` + id + `","cwd":"/home/alice/p","version":"2.0.14","timestamp":"2026-11-01T10:00:02Z"`
	putBack(t, map[string][]byte{file: append(b, []byte(`{"type":"assistant","uuid":"b",`+head+`,"requestId":"req_9","message":{"id":"msg_9","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"tool_use","id":"toolu_9","name":"Task","input":{"description":"Vexquorbling the fjord","prompt":"Go","subagent_type":"x"}}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"user","uuid":"c",`+head+`,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"done"}]},"toolUseResult":{"status":"completed","agentId":"abc12345","content":[{"type":"text","text":"done"}]}}
`)...)})
	tx(t, dir, 0, "ingest", "-q", agent)
	tx(t, dir, 0, "prune", "--query", "after:1970", "--yes", "-q")
	tx(t, dir, 0, "gc", "-q")
	for p, b := range everyByte(t, dir) {
		if bytes.Contains(bytes.ToLower(b), []byte("vexquorbling")) {
			t.Errorf("%s has the title", p)
		}
	}
}

// TestThinnedThenPruned: an original with marks replaces the one that it was made of, also once it is pruned itself: in any index, and for an undo.
func TestThinnedThenPruned(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "awf"), filepath.Join(t.TempDir(), "archive")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	result := fmt.Sprintf(`{"seq":1,"run_id":"00000001-0000-4000-8000-000000000001","type":"message.tool_result","path":"w","iteration":0,"timestamp":"2026-11-21T00:00:01Z","payload":{"role":"user","blocks":[{"type":"tool_result","tool_use_id":"t1","content":%q}]}}`+"\n",
		strings.Repeat("wombat ", 20000))
	written(t, file, []byte(saidInAWF("quokka")+result))
	call(t, dir, "ingest", source)
	call(t, dir, "prune", "--query", "format:awf", "--thin", "payloads", "--allow-empty", "--yes")
	call(t, dir, "verify", "--deep")
	call(t, dir, "prune", "--query", "format:awf", "--allow-empty", "--yes")
	call(t, dir, "verify", "--deep")
	call(t, dir, "reindex")
	if out := call(t, dir, "prune", "--undo", "--json"); !strings.Contains(out, `"rivals":0}`) {
		t.Errorf("the undo says %s", out)
	}
	for _, after := range []string{"undo", "reindex"} {
		if after == "reindex" {
			call(t, dir, after)
		}
		call(t, dir, "verify", "--deep")
		if out := call(t, dir, "search", "--json", "quokka"); !strings.Contains(out, "quokka") {
			t.Errorf("after %s, the run is not found", after)
		}
	}
}
