package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/prune/gc"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// leaky is a run whose messages nobody else has: it grows from night to night.
type leaky struct {
	id    string // native
	file  string
	word  string   // with which those of its messages begin
	marks []string // words of its messages
	lines int
}

const awfTranscripts = "awf/storage/transcripts"

func newLeaky(root string, n int) *leaky {
	id := fmt.Sprintf("%08d-0000-4000-8000-%012d", n, n)
	return &leaky{id: id, word: "Quokka", file: filepath.Join(root, awfTranscripts, id+".jsonl")}
}

// write adds messages of random words, which no compression makes small.
func (l *leaky) write(t *testing.T, r *rand.Rand, lines int) {
	t.Helper()
	f, err := os.OpenFile(l.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	for range lines {
		l.lines++
		mark := fmt.Sprintf("%s%016xZq", l.word, r.Uint64())
		l.marks = append(l.marks, mark)
		text := mark
		for range 8 {
			text += fmt.Sprintf(" %016x", r.Uint64())
		}
		fmt.Fprintf(f, `{"seq":%d,"run_id":%q,"type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-2%dT%02d:%02d:%02dZ","payload":{"role":"user","blocks":[{"type":"text","text":%q}]}}`+"\n",
			l.lines, l.id, r.IntN(2), l.lines/3600%24, l.lines/60%60, l.lines%60, text)
	}
	must(t, f.Close())
	past := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(l.file, past, past))
}

// call runs a command inside of this process and wants it to end well.
func call(t *testing.T, dir string, line ...string) string {
	t.Helper()
	code, stdout, stderr := inside(t.Context(), dir, "", line...)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s%s", strings.Join(line, " "), code, stdout, stderr)
	}
	return stdout
}

// runNamed is the id of the run that its producer calls so.
func runNamed(t *testing.T, dir, native string) string {
	t.Helper()
	return decode[[]map[string]string](t, call(t, dir, "sql", "--json", "SELECT run_id FROM v_runs WHERE native_id = '"+native+"'"))[0]["run_id"]
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

// diskUse is what a directory takes.
func diskUse(t *testing.T, dir string) (total int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	}))
	return total
}

// nowhere wants no file of an archive to hold one of some words, or patterns of them, in any spelling.
func nowhere(t *testing.T, dir string, words []string) {
	t.Helper()
	p, err := gc.ParsePattern("/(?i)" + strings.Join(words, "|") + "/")
	must(t, err)
	found, err := (&gc.Forget{Pattern: p}).Files(t.Context(), dir)
	must(t, err)
	for _, m := range found {
		t.Errorf("%s holds %d of %d words", m.File, m.Count, len(words))
	}
}

// TestNothingIsLeft prunes runs and collects: no byte of them is left in any file of the archive, everything else is as
// it was, and the disk has back what the plan said.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	source, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	for _, format := range []string{"awf", "leslie"} {
		must(t, os.CopyFS(filepath.Join(source, format), os.DirFS(filepath.Join(runs, format))))
	}
	var all []*leaky
	for n := range 6 {
		all = append(all, newLeaky(source, n+1))
	}
	dead, living := all[:3], all[3:]
	for _, l := range dead {
		l.word = "Thylacine"
	}
	for night := range 3 {
		for i, l := range all {
			if i%3 <= night {
				l.write(t, r, 200+r.IntN(200))
			}
		}
		call(t, dir, "ingest", source)
	}
	line := []string{"prune", "--json"}
	for _, l := range dead {
		line = append(line, "--run", runNamed(t, dir, l.id))
	}
	plan := decode[plannedFrees](t, call(t, dir, line...))
	cost, restored := costTotals(t, dir), restoredTree(t, dir)
	packs := filepath.Join(dir, "packs")
	before := diskUse(t, packs)
	call(t, dir, append(line, "--yes")...)
	grace := decode[gcJSON](t, call(t, dir, "gc", "--grace", "7d", "--json"))
	if grace.VersionsSpared != 3 || grace.VersionsGone != 0 || !grace.IndexRebuilt || diskUse(t, packs) < before {
		t.Errorf("a gc with grace: %+v", grace)
	}
	gc := decode[gcJSON](t, call(t, dir, "gc", "--json"))
	fell := before - diskUse(t, packs)
	slack := plan.Frees.PackBytes/20 + 8<<10 // facts and manifests
	if plan.Frees.PackBytes < 100<<10 || fell < plan.Frees.PackBytes-slack || fell > plan.Frees.PackBytes+slack {
		t.Errorf("packs fell by %d bytes, the plan said %d", fell, plan.Frees.PackBytes)
	}
	if gc.VersionsGone != 3 || gc.UnusedBytes != 0 || gc.LogKept {
		t.Errorf("gc: %+v", gc)
	}
	nowhere(t, dir, []string{"Thylacine[0-9a-f]{8}"}) // of words that follow each other, an index writes what differs
	afterGC(t, dir, source, cost, restored, dead, living)
	call(t, dir, "reindex")
	afterGC(t, dir, source, cost, restored, dead, living)
}

// afterGC wants all but the dead runs to be as they were.
func afterGC(t *testing.T, dir, source, cost string, restored map[string]string, dead, living []*leaky) {
	t.Helper()
	call(t, dir, "ingest", source) // what was pruned stays out
	call(t, dir, "verify", "--deep")
	if got := costTotals(t, dir); got != cost {
		t.Errorf("cost is\n%s, was\n%s", got, cost)
	}
	want := maps.Clone(restored)
	for _, l := range dead {
		delete(want, filepath.Join("runs", awfTranscripts, filepath.Base(l.file)))
	}
	got := restoredTree(t, dir)
	if !maps.Equal(got, want) {
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got[name] != want[name] {
				t.Errorf("%s is restored as %d bytes of %d", name, len(got[name]), len(want[name]))
			}
		}
		t.Errorf("%d files are restored, want %d", len(got), len(want))
	}
	for _, l := range living {
		if n := strings.TrimSpace(call(t, dir, "search", "--count", "--json", l.marks[len(l.marks)-1])); !strings.Contains(n, "1") {
			t.Errorf("a living run has lost words: %s", n)
		}
	}
	if code, out, _ := inside(t.Context(), dir, "", "search", "--json", dead[0].marks[0]); code != 0 || out != "" {
		t.Errorf("a pruned run is found: exit %d, %s", code, out)
	}
}

// costTotals is all that the archive has cost.
func costTotals(t *testing.T, dir string) string {
	t.Helper()
	report := decode[map[string]json.RawMessage](t, call(t, dir, "cost", "--json", "--by", "format"))
	return string(report["totals"]) + string(report["rows"])
}

// restoredTree is every original by its name.
func restoredTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "back")
	call(t, dir, "restore", "--all", "--to", to)
	return filesIn(t, to)
}

// TestReplacedPackComesBack: a pack that gc has replaced and removed, and that comes back with a copy or a backup of the archive, is not
// indexed again, and the next gc removes it.
func TestReplacedPackComesBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	packs, old := filepath.Join(dir, "packs"), filepath.Join(t.TempDir(), "old")
	call(t, dir, "ingest", runs+"/awf")
	must(t, os.CopyFS(old, os.DirFS(packs)))
	call(t, dir, "ingest", runs+"/leslie")
	call(t, dir, "prune", "--query", "format:awf", "--yes", "--allow-empty")
	call(t, dir, "gc")
	want := diskUse(t, packs)
	must(t, os.CopyFS(packs, os.DirFS(old)))

	for range 2 {
		call(t, dir, "ingest", runs+"/leslie")
		call(t, dir, "gc")
		if used := diskUse(t, packs); used != want {
			t.Errorf("the packs take %d bytes, want %d", used, want)
		}
	}
	if code, _, stderr := inside(t.Context(), dir, "", "verify", "--deep"); code != failure.ExitFine || strings.Contains(stderr, "leftover") {
		t.Errorf("exit %d\n%s", code, stderr)
	}

	// Earlier releases forgot the names of replaced packs once these were removed.
	db, err := sql.Open("sqlite", filepath.Join(dir, "index.db"))
	must(t, err)
	_, err = db.Exec("DELETE FROM local_state WHERE key LIKE 'replaced pack %'")
	must(t, errors.Join(err, db.Close()))
	must(t, os.CopyFS(packs, os.DirFS(old)))
	call(t, dir, "ingest", runs+"/leslie")
	if code, _, stderr := inside(t.Context(), dir, "", "gc"); code != failure.ExitCorrupt || !strings.Contains(stderr, "txarchive reindex") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	call(t, dir, "reindex")
	call(t, dir, "gc")
	if used := diskUse(t, packs); used != want {
		t.Errorf("the packs take %d bytes after a reindex, want %d", used, want)
	}
}
