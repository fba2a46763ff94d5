package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReindexApart: both copies of an archive have archived a file anew, and one has pruned it. Once their packs have come together, the
// index has the other one, whichever archive they came to, and so it is after a reindex and a gc.
func TestReindexApart(t *testing.T) {
	for _, name := range []string{"quokka", "wombat", "quokka in the other copy", "wombat in the other copy"} {
		t.Run(name, func(t *testing.T) { reindexApart(t, name) })
	}
}

// TestReindexBehind: an archive has pruned and collected a file of which another one has archived the beginning. That stays pruned when their
// packs come together, also in a reindex.
func TestReindexBehind(t *testing.T) {
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	begin, more := saidInAWF("begin"), strings.Replace(saidInAWF("more"), `"seq":0`, `"seq":1`, 1)
	written(t, file, []byte(begin))
	call(t, other, "ingest", source)
	call(t, one, "ingest", source)
	written(t, file, []byte(begin+more))
	call(t, one, "ingest", source)
	call(t, one, "prune", "--query", "format:awf", "--allow-empty", "--yes")
	call(t, one, "gc")
	copyPacks(t, one, other)
	call(t, other, "source", "add", t.TempDir())
	for _, after := range []string{"verify --deep", "reindex", "verify --deep"} {
		call(t, other, strings.Fields(after)...)
		if out := call(t, other, "list", "--json"); out != "" {
			t.Errorf("%s: the run is back: %s", after, out)
		}
	}
}

// saidInAWF is a transcript of AWF in which a person says something.
func saidInAWF(text string) string {
	return `{"seq":0,"run_id":"00000001-0000-4000-8000-000000000001","type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-21T00:00:00Z","payload":{"role":"user","blocks":[{"type":"text","text":"` + text + `"}]}}` + "\n"
}

func reindexApart(t *testing.T, name string) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	archive := func(dir, said string) {
		t.Helper()
		written(t, file, []byte(saidInAWF(said)))
		call(t, dir, "ingest", source)
	}
	kept, pruned := "quokka", "wombat" // the hashes decide which of them the index would have
	if strings.HasPrefix(name, "wombat") {
		kept, pruned = pruned, kept
	}
	archive(one, "begin")
	copyArchiveTo(t, one, other)
	archive(one, pruned)
	archive(other, kept)
	call(t, one, "prune", "--query", "format:awf", "--allow-empty", "--yes")
	if strings.HasSuffix(name, "in the other copy") {
		one, other = other, one
	}
	copyPacks(t, other, one)
	call(t, one, "source", "add", t.TempDir())
	for _, after := range []string{"verify --deep", "reindex", "verify --deep", "gc", "verify --deep"} {
		call(t, one, strings.Fields(after)...)
		if out := call(t, one, "search", "--json", kept); !strings.Contains(out, kept) {
			t.Errorf("%s: %s is not found", after, kept)
		}
	}
}
