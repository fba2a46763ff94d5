package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
)

// TestUndoApart: both copies of an archive have archived a file anew, and one has pruned it. Once their packs have come together, an undo
// brings back what was pruned, although another content has the number of its version now; and so whichever of the two the index keeps.
func TestUndoApart(t *testing.T) {
	for _, name := range []string{"the newest plan", "the run", "swapped", "only what is displaced", "the run, only displaced", "gone", "in the other copy", "both pruned", "both pruned, swapped"} {
		t.Run(name, func(t *testing.T) { undoApart(t, name) })
	}
}

func undoApart(t *testing.T, name string) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	archive := func(dir, said string) {
		t.Helper()
		written(t, file, []byte(`{"seq":0,"run_id":"00000001-0000-4000-8000-000000000001","type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-21T00:00:00Z","payload":{"role":"user","blocks":[{"type":"text","text":"`+said+`"}]}}`+"\n"))
		call(t, dir, "ingest", source)
	}
	want, pruned, kept := []string{"quokka", "wombat"}, "quokka", "wombat"
	if strings.HasSuffix(name, "swapped") { // the hashes decide which of them the index has
		pruned, kept = kept, pruned
	}
	call(t, one, "source", "add", source)
	if !strings.Contains(name, "only") {
		archive(one, "begin")
		want = append(want, "begin")
	}
	copyArchiveTo(t, one, other)
	archive(one, pruned)
	archive(other, kept)
	call(t, one, "prune", "--query", "format:awf", "--allow-empty", "--yes")
	switch name {
	case "gone":
		call(t, one, "gc")
	case "in the other copy":
		one, other = other, one
	case "both pruned", "both pruned, swapped":
		call(t, other, "prune", "--query", "format:awf", "--allow-empty", "--yes")
	}
	copyPacks(t, other, one)
	call(t, one, "source", "add", t.TempDir())
	undo := []string{"prune", "--undo", "--json"}
	switch name {
	case "gone":
		undoGone(t, one)
		return
	case "the run", "the run, only displaced":
		undo = append(undo, "r5051v1e51ya3")
	}
	if out := call(t, one, undo...); !strings.Contains(out, `"rivals":1}`) {
		t.Errorf("the undo says %s", out)
	}
	if strings.HasPrefix(name, "both") {
		inside(t.Context(), one, "", "prune", "--undo")
	}
	for _, after := range []string{"verify --deep", "gc", "reindex", "verify --deep"} {
		code, out, _ := inside(t.Context(), one, "", strings.Fields(after)...)
		if strings.HasPrefix(after, "verify") && (!strings.Contains(out, "begins differently") || strings.Contains(out, "lacks")) {
			t.Errorf("%s: exit %d\n%s", after, code, out)
		}
		for _, at := range [][]string{nil, {"--at", "now"}} {
			back := filepath.Join(t.TempDir(), "back")
			call(t, one, append([]string{"restore", "--all", "--all-versions", "--to", back}, at...)...)
			all := fmt.Sprint(filesIn(t, back))
			for _, word := range want {
				if !strings.Contains(all, word) {
					t.Errorf("%s %q: %s is not restored", after, at, word)
				}
			}
		}
	}
	code, _, stderr := inside(t.Context(), one, "", "prune", "--undo")
	if code == failure.ExitFine || !strings.Contains(stderr, "nothing to undo") {
		t.Errorf("a second undo: exit %d, %s", code, stderr)
	}
}

// undoGone: of what gc has removed nothing comes back, and its tombstones stay.
func undoGone(t *testing.T, dir string) {
	t.Helper()
	const standing = "SELECT count(*) AS n FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL"
	before := call(t, dir, "sql", "--json", standing)
	code, out, stderr := inside(t.Context(), dir, "", "prune", "--undo", "--json")
	if code == failure.ExitFine {
		t.Errorf("what is gone came back: %s", out)
	}
	if after := call(t, dir, "sql", "--json", standing); after != before {
		t.Errorf("tombstones: %s, before %s; the undo says %s%s", after, before, out, stderr)
	}
}
