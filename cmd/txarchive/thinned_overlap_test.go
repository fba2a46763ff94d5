package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThinnedThenOverlaps: a file was thinned, and has grown in two copies of an archive in other steps. What was thinned stays so in the index
// when their packs come together, also after gc, and in a new index.
func TestThinnedThenOverlaps(t *testing.T) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	text := saidInAWF("quokka")
	grow := func(dir, word, seq string) {
		text += strings.Replace(saidInAWF(word), `"seq":0`, `"seq":`+seq, 1)
		written(t, file, []byte(text))
		call(t, dir, "ingest", source)
	}
	written(t, file, []byte(text))
	call(t, one, "ingest", source)
	call(t, one, "prune", "--run", "r5051v1e51ya3", "--thin", "search", "--allow-empty", "--yes")
	copyArchiveTo(t, one, other)
	grow(other, "wombat", "1")
	grow(one, "numbat", "2")
	grow(other, "bilby", "3")
	bringTogether(t, other, one)
	for _, line := range [][]string{{"ingest"}, {"gc"}, {"reindex"}} {
		call(t, one, line...)
		call(t, one, "verify", "--deep")
		if out := call(t, one, "sql", "--format", "csv", "SELECT count(*) FROM v_pruned"); !strings.HasSuffix(strings.TrimSpace(out), "1") {
			t.Errorf("after %v, v_pruned has %s", line, out)
		}
		for word, want := range map[string]bool{"quokka": false, "wombat": true, "numbat": true, "bilby": true} {
			if out := call(t, one, "search", "--json", word); (out != "") != want {
				t.Errorf("after %v, a search for %s finds %q", line, word, out)
			}
		}
	}
}
