package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSharedFileThinnedAgain: of a file with two runs, one was pruned or thinned, and has grown since. When the other run is thinned, too, the index
// keeps what has come since, and is complete at once.
func TestSharedFileThinnedAgain(t *testing.T) {
	t.Parallel()
	second := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(saidInAWF(text), "00000001-", "00000002-"), "000000000001", "000000000002")
	}
	for _, first := range [][]string{{}, {"--thin", "search"}, {"--thin", "ledger"}, {"--thin", "payloads"}} {
		t.Run(strings.Join(first, " "), func(t *testing.T) {
			t.Parallel()
			source, dir := filepath.Join(t.TempDir(), "awf"), filepath.Join(t.TempDir(), "archive")
			file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			written(t, file, []byte(saidInAWF("quokka")+second("bilby")))
			call(t, dir, "ingest", source)
			run := strings.Split(call(t, dir, "sql", "--format", "csv", "SELECT run_id FROM v_runs WHERE native_id LIKE '00000001%'"), "\n")[1]
			call(t, dir, append([]string{"prune", "--run", run, "--allow-empty", "--yes"}, first...)...)
			call(t, dir, "verify", "--deep")
			grown := strings.Replace(saidInAWF("wombat"), `"seq":0`, `"seq":1`, 1)
			written(t, file, []byte(saidInAWF("quokka")+second("bilby")+grown))
			call(t, dir, "ingest", source)
			call(t, dir, "verify", "--deep")
			for _, then := range [][]string{{"--thin", "search"}, {"--undo"}, {"--thin", "ledger"}} {
				other := strings.Split(call(t, dir, "sql", "--format", "csv", "SELECT run_id FROM v_runs WHERE native_id LIKE '00000002%'"), "\n")[1]
				if then[0] != "--undo" {
					then = append(then, "--run", other, "--allow-empty", "--yes")
				}
				call(t, dir, append([]string{"prune"}, then...)...)
				call(t, dir, "verify", "--deep")
				if out := call(t, dir, "search", "--json", "wombat"); !strings.Contains(out, "wombat") {
					t.Errorf("after %v, what has come since is not found", then)
				}
			}
		})
	}
}
