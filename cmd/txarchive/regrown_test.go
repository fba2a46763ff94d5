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

// TestThinnedApart: a copy of an archive has pruned a file that has grown in the other copy, and was thinned there. Once their packs have come
// together, any index says so, also if it meets what is stored of the file after the facts.
func TestThinnedApart(t *testing.T) {
	t.Parallel()
	for _, tier := range []string{"search", "ledger"} {
		t.Run(tier, func(t *testing.T) {
			t.Parallel()
			one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
			file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			written(t, file, []byte(saidInAWF("quokka")))
			beside := func(n, text string) { // gc moves what was archived with it
				written(t, filepath.Join(filepath.Dir(file), "0000000"+n+"-0000-4000-8000-00000000000"+n+".jsonl"),
					[]byte(strings.ReplaceAll(strings.ReplaceAll(saidInAWF(text), "00000001-", "0000000"+n+"-"), "000000000001", "00000000000"+n)))
			}
			beside("2", "numbat")
			call(t, one, "ingest", source)
			copyArchiveTo(t, one, other)
			call(t, one, "prune", "--query", "format:awf", "--allow-empty", "--yes")
			written(t, file, []byte(saidInAWF("quokka")+strings.Replace(saidInAWF("wombat"), `"seq":0`, `"seq":1`, 1)))
			beside("3", "bilby")
			call(t, other, "ingest", source)
			call(t, other, "prune", "--run", "r5051v1e51ya3", "--thin", tier, "--allow-empty", "--yes")
			bringTogether(t, other, one)
			call(t, one, "prune", "--query", "bilby", "--allow-empty", "--yes")
			for _, line := range [][]string{nil, {"gc"}, {"reindex"}} {
				if line != nil {
					call(t, one, line...)
				}
				call(t, one, "verify", "--deep")
				if out := call(t, one, "search", "--json", "wombat"); out != "" {
					t.Errorf("after %v, a search finds %s", line, out)
				}
			}
		})
	}
}
