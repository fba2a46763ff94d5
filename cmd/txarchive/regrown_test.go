package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrunedAgainGrown: a file was pruned, came back, has grown and was pruned again. Any index says so, also if it meets what is stored of the file
// after the facts.
func TestPrunedAgainGrown(t *testing.T) {
	t.Parallel()
	for _, then := range [][]string{{"gc", "--grace", "7d"}, {"gc"}, {"forget", "--match", "numbat", "--apply", "--yes"}} {
		t.Run(then[0], func(t *testing.T) {
			t.Parallel()
			source, dir := filepath.Join(t.TempDir(), "awf"), filepath.Join(t.TempDir(), "archive")
			file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			written(t, filepath.Join(filepath.Dir(file), "00000002-0000-4000-8000-000000000002.jsonl"), []byte(strings.ReplaceAll(strings.ReplaceAll(saidInAWF("numbat"), "00000001-", "00000002-"), "000000000001", "000000000002")))
			prune := func() { call(t, dir, "prune", "--run", "r5051v1e51ya3", "--allow-empty", "--yes") }
			written(t, file, []byte(saidInAWF("quokka")))
			call(t, dir, "ingest", "--all", source)
			prune()
			call(t, dir, "prune", "--undo")
			written(t, file, []byte(saidInAWF("quokka")+saidInAWF("wombat")))
			call(t, dir, "ingest", "--all", source)
			prune()
			call(t, dir, "verify", "--deep")
			call(t, dir, then...)
			call(t, dir, "verify", "--deep")
			call(t, dir, "reindex")
			call(t, dir, "verify", "--deep")
		})
	}
}
