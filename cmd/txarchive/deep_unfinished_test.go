package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
)

// TestDeepUnfinished stops commands at each of their operations. What the next command takes over is not called an error of the index:
// verify --deep says that it is not finished.
func TestDeepUnfinished(t *testing.T) {
	dir, source := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	written(t, file, []byte(saidInAWF("quokka")))
	call(t, dir, "ingest", source)
	call(t, dir, "prune", "--query", "quokka", "--allow-empty", "--yes")
	written(t, file, []byte(saidInAWF("wombat")))
	for _, line := range [][]string{{"ingest", source}, {"prune", "--undo"}} {
		w := &writing{from: dir, line: func(string) []string { return line }}
		refused := false
		for n, code := 0, 1; code != failure.ExitFine; n++ {
			b := w.bench(t, t.TempDir())
			code, _ = faulty(t, b, failFrom(n))
			got, out, stderr := inside(t.Context(), b.dir, "", "verify", "--deep")
			switch {
			case got == failure.ExitRefused && strings.Contains(stderr, "not finished") && strings.Contains(out, "No errors found"):
				refused = true
			case got != failure.ExitFine:
				t.Errorf("%s, stopped at operation %d: exit %d\n%s%s", line[0], n+1, got, out, stderr)
			}
			if got == failure.ExitRefused {
				call(t, b.dir, "ingest", t.TempDir())
				call(t, b.dir, "verify", "--deep")
			}
		}
		if !refused {
			t.Errorf("%s: there was always everything to compare", line[0])
		}
	}
}
