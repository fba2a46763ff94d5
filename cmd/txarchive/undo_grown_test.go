package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUndoneInPart: a file beside two runs went with them and came back with one. It says so in any index, also when it has grown since and
// gc has moved it behind the facts.
func TestUndoneInPart(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "awf"), filepath.Join(t.TempDir(), "archive")
	transcripts := filepath.Join(source, awfTranscripts[len("awf/"):])
	must(t, os.MkdirAll(transcripts, 0o700))
	for _, n := range []string{"1", "2"} {
		written(t, filepath.Join(transcripts, "0000000"+n+"-0000-4000-8000-00000000000"+n+".jsonl"),
			[]byte(strings.ReplaceAll(strings.ReplaceAll(saidInAWF("quokka"), "00000001-", "0000000"+n+"-"), "000000000001", "00000000000"+n)))
	}
	notes := filepath.Join(source, "storage", "notes.txt")
	written(t, notes, []byte("notes\n"))
	call(t, dir, "ingest", "--all", source)
	call(t, dir, "prune", "--query", "quokka", "--allow-empty", "--yes")
	call(t, dir, "prune", "--undo", "r5051v1e51ya3")
	written(t, notes, []byte("notes\nmore notes\n"))
	call(t, dir, "ingest", "--all", source)
	call(t, dir, "verify", "--deep")
	call(t, dir, "gc")
	call(t, dir, "verify", "--deep")
}
