package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestThinnedPrunedApart: a copy of an archive has thinned what the other one had pruned. Once their packs have come together, any index says what
// became of it, and an undo brings it back.
func TestThinnedPrunedApart(t *testing.T) {
	t.Parallel()
	for _, tier := range []string{"search", "ledger"} {
		t.Run(tier, func(t *testing.T) {
			t.Parallel()
			one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
			file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			written(t, file, []byte(saidInAWF("quokka")))
			call(t, one, "ingest", source)
			copyArchiveTo(t, one, other)
			call(t, one, "prune", "--query", "format:awf", "--allow-empty", "--yes")
			call(t, other, "prune", "--query", "format:awf", "--thin", tier, "--allow-empty", "--yes")
			bringTogether(t, one, other)
			call(t, other, "verify", "--deep")
			call(t, other, "prune", "--undo", "r5051v1e51ya3")
			call(t, other, "verify", "--deep")
			if out := call(t, other, "search", "--json", "quokka"); out == "" {
				t.Error("nothing came back")
			}
		})
	}
}
