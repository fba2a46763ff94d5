package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
)

// TestCollectedApart: a copy of an archive has removed a file for good that has grown in the other copy. Once their packs have come together,
// the beginning is in a pack alone that another one replaces: no command removes it, each names the repair, and that saves it.
func TestCollectedApart(t *testing.T) {
	for _, name := range []string{"pruned", "pruned, and a reindex", "forgotten", "forgotten, and a reindex"} {
		t.Run(name, func(t *testing.T) { collectedApart(t, name) })
	}
}

func collectedApart(t *testing.T, name string) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	begin := saidInAWF("quokka")
	grown := begin + strings.Replace(saidInAWF("wombat"), `"seq":0`, `"seq":1`, 1)
	written(t, file, []byte(begin))
	written(t, filepath.Join(filepath.Dir(file), "00000002-0000-4000-8000-000000000002.jsonl"), []byte(strings.ReplaceAll(saidInAWF("numbat"), "00000001", "00000002")))
	call(t, one, "ingest", source)
	copyArchiveTo(t, one, other)
	if strings.HasPrefix(name, "pruned") {
		call(t, one, "prune", "--query", "quokka", "--yes")
		call(t, one, "gc")
	} else {
		call(t, one, "forget", "--match", "quokka", "--apply", "--yes")
	}
	written(t, file, []byte(grown))
	call(t, other, "ingest", source)
	removed(t, source)
	copyPacks(t, one, other)
	before := []string{"source add " + t.TempDir(), "gc"}
	if strings.HasSuffix(name, "reindex") {
		before = []string{"reindex", "gc", "reindex", "gc"}
	}
	for _, line := range before {
		code, out, stderr := inside(t.Context(), other, "", strings.Fields(line)...)
		if code != failure.ExitFine && code != failure.ExitCorrupt {
			t.Fatalf("%s: exit %d\n%s%s", line, code, out, stderr)
		}
		if code == failure.ExitCorrupt && (!strings.Contains(stderr, "verify --repair") || strings.Contains(stderr, "txarchive reindex")) {
			t.Errorf("%s says %s", line, stderr)
		}
	}
	code, out, stderr := inside(t.Context(), other, "", "verify")
	if out += stderr; code != failure.ExitCorrupt || !strings.Contains(out, "no pack has these bytes") || !strings.Contains(out, "verify --repair") || strings.Contains(out, "txarchive reindex") || strings.Contains(out, "next ingest") {
		t.Errorf("verify: exit %d: %s", code, out)
	}
	inside(t.Context(), other, "", "verify", "--repair", "--yes")
	for _, after := range []string{"gc", "reindex", "gc"} {
		call(t, other, after)
		back := filepath.Join(t.TempDir(), "back")
		call(t, other, "restore", "--all", "--all-versions", "--at", "now", "--to", back)
		if all := fmt.Sprint(filesIn(t, back)); !strings.Contains(all, grown) || !strings.Contains(all, "numbat") {
			t.Errorf("after %s, restored is %q", after, all)
		}
	}
	if strings.HasPrefix(name, "pruned") {
		call(t, other, "verify", "--deep")
	}
	call(t, other, "forget", "--match", "quokka", "--apply", "--yes")
	nowhere(t, other, []string{"quokka"})
}
