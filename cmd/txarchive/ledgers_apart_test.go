package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestLedgersApart: both copies of an archive have archived a file anew, and what one has pruned or thinned of it is not taken from the
// other's: a deep verify finds the index to be what the packs make of it, and what nobody has taken away is found.
func TestLedgersApart(t *testing.T) {
	prune := []string{"prune", "--query", "format:awf", "--allow-empty", "--yes"}
	thin := append(slices.Clone(prune), "--thin", "search")
	drawn := seedtest.Rand(t).Perm(4)
	if *aparts <= 2 {
		drawn = drawn[:1]
	}
	for _, c := range []struct {
		name                     string
		one, other, then         [][]string
		oneIsFound, otherIsFound bool // if the index has it
	}{
		{"both pruned", [][]string{prune}, [][]string{prune}, nil, false, false},
		{"one pruned", [][]string{prune}, nil, nil, false, true},
		{"one pruned, then the other", [][]string{prune}, nil, [][]string{prune}, false, false},
		{"one pruned, then the other, and undone", [][]string{prune}, nil, [][]string{prune, {"prune", "--undo"}}, true, true},
		{"one thinned", [][]string{thin}, nil, nil, false, true},
		{"one thinned, the other pruned", [][]string{thin}, [][]string{prune}, nil, false, false},
		{"one pruned and collected, the other pruned", [][]string{prune, {"gc"}}, [][]string{prune}, nil, false, false},
		{"both pruned and collected", [][]string{prune, {"gc"}}, [][]string{prune, {"gc"}}, nil, false, false},
	} {
		for _, i := range drawn {
			swapped := []string{"", ", swapped", ", in the other copy", ", swapped, in the other copy"}[i]
			t.Run(c.name+swapped, func(t *testing.T) {
				t.Parallel()
				said, other := "quokka", "wombat" // the hashes decide which of them the index has
				if strings.Contains(swapped, "swapped") {
					said, other = other, said
				}
				dirs := grownApart(t, said, other)
				for side, lines := range [][][]string{c.one, c.other} {
					for _, line := range lines {
						call(t, dirs[side], line...)
					}
				}
				if strings.HasSuffix(swapped, "in the other copy") {
					slices.Reverse(dirs)
				}
				bringTogether(t, dirs[1], dirs[0])
				for _, line := range c.then {
					agrees(t, dirs[0], line[0])
					call(t, dirs[0], line...)
				}
				for _, after := range []string{"merge", "reindex", "gc"} {
					if after != "merge" {
						inside(t.Context(), dirs[0], "", after)
					}
					agrees(t, dirs[0], after)
					for word, found := range map[string]bool{said: c.oneIsFound, other: c.otherIsFound} {
						out := call(t, dirs[0], "search", "--json", word)
						has := call(t, dirs[0], "sql", "--json", "SELECT event_id FROM v_events WHERE event_text(event_id) LIKE '%"+word+"%'")
						if found && has != "[]\n" && out == "" || !found && out != "" {
							t.Errorf("after %s, a search for %s finds %q; of its events the index has %s", after, word, out, has)
						}
					}
				}
			})
		}
	}
}

// grownApart makes two copies of an archive, which have archived a transcript anew, with other words.
func grownApart(t *testing.T, said, other string) []string {
	t.Helper()
	dirs, source := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")}, filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	archive := func(dir, text string) {
		t.Helper()
		written(t, file, []byte(saidInAWF(text)))
		call(t, dir, "ingest", source)
	}
	archive(dirs[0], "begin")
	copyArchiveTo(t, dirs[0], dirs[1])
	archive(dirs[0], said)
	archive(dirs[1], other)
	return dirs
}

// copyPacks copies those packs of an archive that another does not have.
func copyPacks(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", "-n", filepath.Join(from, "packs"), to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// bringTogether copies the packs of one archive to another, which adopts them.
func bringTogether(t *testing.T, from, to string) {
	t.Helper()
	copyPacks(t, from, to)
	call(t, to, "source", "add", t.TempDir())
}

// agrees checks that the index is what the packs make of it.
func agrees(t *testing.T, dir, after string) {
	t.Helper()
	code, out, stderr := inside(t.Context(), dir, "", "verify", "--deep")
	if code != failure.ExitFine && code != failure.ExitCorrupt || strings.Contains(out, "index: ") {
		t.Errorf("after %s, verify --deep: exit %d\n%s%s", after, code, out, stderr)
	}
}
