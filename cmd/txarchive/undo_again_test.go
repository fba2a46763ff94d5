package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
)

// TestUndoAgain stops an undo of the newest of two plans at each of its operations. Run again it ends in the same state, which the
// first plan is a part of still: what was interrupted is finished, even if all that was left was to index it.
func TestUndoAgain(t *testing.T) {
	dir, source := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "awf")
	for id, said := range map[string]string{"00000001": "quokka", "00000002": "wombat"} {
		file := filepath.Join(source, awfTranscripts[len("awf/"):], id+"-0000-4000-8000-000000000001.jsonl")
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		written(t, file, []byte(strings.ReplaceAll(saidInAWF(said), "00000001-", id+"-")))
	}
	call(t, dir, "ingest", source)
	call(t, dir, "prune", "--query", "quokka", "--yes")
	call(t, dir, "prune", "--query", "wombat", "--allow-empty", "--yes")
	w := &writing{from: dir, line: func(string) []string { return []string{"prune", "--undo"} }}
	for n, code := 0, 1; code != failure.ExitFine; n++ {
		b := w.bench(t, t.TempDir())
		code, _ = faulty(t, b, failFrom(n))
		if code != failure.ExitFine {
			call(t, b.dir, "prune", "--undo")
		}
		runs := strings.Fields(call(t, b.dir, "sql", "--format", "csv", "SELECT pruned FROM v_runs ORDER BY native_id"))
		if !slices.Equal(runs[1:], []string{"1", "0"}) {
			t.Errorf("stopped at operation %d: pruned %v", n+1, runs[1:])
		}
		if code == failure.ExitFine { // what follows undoes the plan before
			call(t, b.dir, "prune", "--undo")
			call(t, b.dir, "verify", "--deep")
		}
	}
}
