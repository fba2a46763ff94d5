package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// bulkSource makes some megabytes of transcripts: Claude Code sessions with results of all sizes, said twice as the
// program does, and short AWF runs.
func bulkSource(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	words := make([]string, 4000)
	for i := range words {
		words[i] = fmt.Sprintf("%c%x", 'a'+r.IntN(26), r.IntN(1<<(8+r.IntN(16))))
	}
	prose := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[min(r.IntN(len(words)), r.IntN(len(words)))])
			b.WriteByte(" \n"[r.IntN(20)/19])
		}
		return b.String()
	}
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	files := map[string][]byte{}
	for n := range 40 {
		id := fmt.Sprintf("%08d-0000-4000-8000-%012d", n, n)
		var b strings.Builder
		for i := range 5 + r.IntN(25) {
			at := time.Date(2026, 1, 1+n, 10, i, 0, 0, time.UTC).Format(time.RFC3339)
			head := fmt.Sprintf(`"sessionId":%q,"cwd":"/home/alice/p%d","version":"2.0.14","timestamp":%q`, id, n%5, at)
			fmt.Fprintf(&b, `{"type":"user","uuid":"u%d-%d",%s,"message":{"role":"user","content":%s}}`+"\n", n, i, head, quote(prose(80+r.IntN(300))))
			fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d-%d",%s,"requestId":"req_%d_%d","message":{"id":"msg_%d_%d","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":%s},{"type":"tool_use","id":"toolu_%d_%d","name":"Bash","input":{"command":%s}}],"usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d}}}`+"\n",
				n, i, head, n, i, n, i, quote(prose(200+r.IntN(600))), n, i, quote(prose(40)), r.IntN(9000), r.IntN(900), r.IntN(90000))
			result := quote(prose(100 + r.IntN(1<<(4+r.IntN(11)))))
			fmt.Fprintf(&b, `{"type":"user","uuid":"r%d-%d",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d_%d","content":%s}]},"toolUseResult":{"stdout":%s,"stderr":"","interrupted":false}}`+"\n",
				n, i, head, n, i, result, result)
		}
		files[filepath.Join(dir, "claude", "projects", fmt.Sprintf("-home-alice-p%d", n%5), id+".jsonl")] = []byte(b.String())
	}
	for n := range 150 {
		id := fmt.Sprintf("%08d-0000-4000-9000-%012d", n, n)
		var b strings.Builder
		for i := range 3 + r.IntN(10) {
			fmt.Fprintf(&b, `{"seq":%d,"run_id":%q,"type":"message.user","path":"w","iteration":0,"timestamp":"2026-02-01T%02d:%02d:00Z","payload":{"role":"user","blocks":[{"type":"text","text":%s}]}}`+"\n",
				i+1, id, n%24, i, quote(prose(100+r.IntN(400))))
		}
		files[filepath.Join(dir, "awf", "storage", "transcripts", id+".jsonl")] = []byte(b.String())
	}
	for p := range files {
		must(t, os.MkdirAll(filepath.Dir(p), 0o700))
	}
	putBack(t, files)
}

// TestPlanTellsBytes compares what a plan says with what files of the archive give back, for pruning and thinning.
func TestPlanTellsBytes(t *testing.T) {
	source, base := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "base")
	r := seedtest.Rand(t)
	bulkSource(t, r, source)
	for n := range 8 {
		documents(t, source, 20, 10+5*n)
		tx(t, base, 0, "ingest", "-q", source)
	}
	tx(t, base, 0, "gc", "-q") // what many ingests leave in the index is not what a plan frees
	rules := filepath.Join(t.TempDir(), "keep.yaml")
	plans := []struct{ name, rule string }{
		{"some", "match: {project: [\"*p1\", \"*p2\"]}\n    action: prune"},
		{"small ones", "match: {format: awf}\n    action: prune"},
		{"payloads", "match: {}\n    action: thin\n    tier: payloads\n    over: 1KB"},
		{"words", "match: {format: claude-code}\n    action: thin\n    tier: search"},
		{"ledger", "match: {format: claude-code}\n    action: thin\n    tier: ledger"},
		{"versions", "match: {}\n    action: thin\n    tier: versions"},
	}
	r.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	if *draws == 1 {
		plans = plans[:2] // "words" moves no pack
	}
	for _, c := range plans {
		t.Run(c.name, func(t *testing.T) {
			must(t, os.WriteFile(rules, []byte("version: 1\nrules:\n  - name: all\n    "+c.rule+"\n"), 0o600))
			dir := copyArchive(t, base)
			packs, all := packBytes(t, dir), diskUse(t, dir)
			plan := decode[plannedFrees](t, tx(t, dir, 0, "prune", "--policy", rules, "--allow-empty", "--json"))
			tx(t, dir, 0, "prune", "--policy", rules, "--allow-empty", "--yes", "-q")
			if written := packBytes(t, dir) - packs; plan.Frees.WrittenBytes < written*95/100-1000 || plan.Frees.WrittenBytes > written*105/100+1000 {
				t.Errorf("%d bytes were written, the plan said %d", written, plan.Frees.WrittenBytes)
			}
			tx(t, dir, 0, "gc", "-q")
			asSaid(t, "packs", packs-packBytes(t, dir), plan.Frees.PackBytes-plan.Frees.WrittenBytes, int64(plan.Frees.Packs), 5)
			asSaid(t, "archive", all-diskUse(t, dir), plan.Frees.Bytes, int64(plan.Frees.Packs), 10)
		})
	}
}
