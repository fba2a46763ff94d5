package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// tx runs a command line in this process and expects an exit code.
func tx(t *testing.T, dir string, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp()
	a.in, a.Out, a.Err = strings.NewReader(""), &out, &errs
	if got := execute(t.Context(), a, append([]string{"--archive", dir}, args...)); got != code {
		t.Fatalf("%s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String()
}

// examples are some of the examples as a source that cannot be written, the same for all tests, and a function that compares it.
func examples(t *testing.T) (source string, same func()) {
	t.Helper()
	shown.once.Do(func() {
		root, err := os.MkdirTemp("", "txarchive-examples")
		must(t, err)
		shown.root, shown.source = root, filepath.Join(root, "runs")
		fewRuns(t, shown.source)
		past := time.Now().Add(-time.Hour).Truncate(time.Second)
		must(t, filepath.WalkDir(shown.source, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return errors.Join(os.Chtimes(p, past, past), os.Chmod(p, map[bool]fs.FileMode{true: 0o555, false: 0o444}[e.IsDir()]))
		}))
		shown.before = state(t, shown.source)
	})
	return shown.source, func() {
		t.Helper()
		if !slices.Equal(shown.before, state(t, shown.source)) {
			t.Error("the source has changed")
		}
	}
}

// archived is an archive of the examples.
func archived(t *testing.T) (dir, source string, same func()) {
	t.Helper()
	source, same = examples(t)
	shown.archived.Do(func() { tx(t, filepath.Join(shown.root, "archive"), 0, "ingest", "-q", source) })
	return copyArchive(t, filepath.Join(shown.root, "archive")), source, same
}

// shown are the examples, and their archive, of which archived gives copies; TestMain removes both.
var shown struct {
	once, archived sync.Once
	root, source   string
	before         []string
}

// state is all of a directory that may be seen.
func state(t *testing.T, dir string) (all []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		content := []byte{}
		if err == nil && !e.IsDir() {
			content, err = os.ReadFile(p)
		}
		all = append(all, fmt.Sprint(p, info.Mode(), info.ModTime(), string(content)))
		return err
	}))
	return all
}

// about are the rows of a dump that speak of runs and of no others.
func about(dump []string, views string, runs []string, without map[string]bool) (left []string) {
	for _, row := range dump {
		view, _, _ := strings.Cut(row, " ")
		if !strings.Contains(views, view+" ") {
			continue
		}
		speaks := func(id string) bool { return strings.Contains(row, id) }
		if slices.ContainsFunc(runs, speaks) && !slices.ContainsFunc(slices.Collect(maps.Keys(without)), speaks) {
			left = append(left, row)
		}
	}
	return left
}

func runIDs(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for row := range strings.Lines(tx(t, dir, 0, "list", "--json", "--limit", "0")) {
		var r struct {
			ID string `json:"run_id"`
		}
		must(t, json.Unmarshal([]byte(row), &r))
		all = append(all, r.ID)
	}
	return all
}

// TestPruneAnything prunes random runs of all formats. Nothing else changes, costs least of all; the index is the same
// when it is made again, and everything is as it was when the prune is undone.
func TestPruneAnything(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	dir, source, same := archived(t)
	all := runIDs(t, dir)
	whole, costs := dumpViews(t, dir), tx(t, dir, 0, "cost", "--json", "--by", "format,model,flow,step,agent,status,source")
	for range max(1, *kills/4) {
		some := map[string]bool{}
		args := []string{"prune", "--yes", "-q"}
		for _, i := range r.Perm(len(all))[:1+r.IntN(len(all))] {
			some[all[i]] = true
			args = append(args, "--run", all[i])
		}
		tx(t, dir, 0, args...)
		pruned := dumpViews(t, dir)
		if got := tx(t, dir, 0, "cost", "--json", "--by", "format,model,flow,step,agent,status,source"); got != costs {
			t.Errorf("%d runs less: costs are\n%s\nand were\n%s", len(some), got, costs)
		}
		const views = "v_runs v_conversations v_events v_tool_calls v_receipts v_steps "
		if want, got := about(whole, views, all, some), about(pruned, views, all, some); !slices.Equal(want, got) {
			t.Errorf("without %d runs, others changed: %s", len(some), firstDifference(got, want))
		}
		for id := range some {
			if i := slices.IndexFunc(pruned, func(row string) bool {
				return strings.HasPrefix(row, "v_events ") && strings.Contains(row, id)
			}); i >= 0 {
				t.Errorf("still there: %s", pruned[i])
			}
		}
		if left := len(runIDs(t, dir)); left != len(all)-len(some) {
			t.Errorf("%d of %d runs are left after %d were pruned", left, len(all), len(some))
		}
		tx(t, dir, 0, "verify")
		tx(t, dir, 0, "ingest", "-q", source) // brings nothing back
		tx(t, dir, 0, "reindex", "-q")
		if again := dumpViews(t, dir); !slices.Equal(pruned, again) {
			t.Errorf("reindex changed something: %s", firstDifference(again, pruned))
		}
		tx(t, dir, 0, "prune", "--undo", "-q")
		if back := dumpViews(t, dir); !slices.Equal(whole, back) {
			t.Errorf("undo of %d runs: %s", len(some), firstDifference(back, whole))
		}
	}
	same()
}

// TestPrunedIsGone prunes half of the runs for good: what was said in them and nowhere else stands in no file of the
// archive, packs inflated; all that is left is restored byte for byte.
func TestPrunedIsGone(t *testing.T) {
	t.Parallel()
	dir, source, same := archived(t)
	plan := decode[struct {
		plannedFrees
		Versions []struct {
			Path string `json:"path"`
			Goes bool   `json:"goes"`
		} `json:"versions"`
	}](t, tx(t, dir, 0, "prune", "--query", "format:flow-studio OR format:leslie", "--json"))
	gone := map[string]bool{}
	for _, v := range plan.Versions {
		if v.Goes {
			gone[v.Path] = true
		}
	}
	before := packBytes(t, dir)
	tx(t, dir, 0, "prune", "--query", "format:flow-studio OR format:leslie", "--yes", "-q")
	tx(t, dir, 0, "gc")
	asSaid(t, "packs", before-packBytes(t, dir), plan.Frees.PackBytes-plan.Frees.WrittenBytes, int64(plan.Frees.Packs), 5)
	if len(gone) < 100 {
		t.Errorf("%d originals went", len(gone))
	}
	words := uniqueWords(t, source, gone)
	ledger, paths := strings.Join(dumpViews(t, dir), "\n"), strings.Join(slices.Collect(maps.Keys(gone)), "\n")
	other := everyByte(t, never(t, source, gone))
	words = slices.DeleteFunc(words, func(w []byte) bool {
		known := strings.Contains(ledger+paths, string(w))
		for _, data := range other {
			known = known || bytes.Contains(data, w)
		}
		return known
	})
	if len(words) < 30 {
		t.Fatalf("only %d words stand in what was pruned and nowhere else", len(words))
	}
	for name, data := range everyByte(t, dir) {
		for _, w := range words {
			if bytes.Contains(data, w) {
				t.Errorf("%s: %q", name, w)
			}
		}
	}
	back := t.TempDir()
	tx(t, dir, 0, "restore", "--all", "--to", filepath.Join(back, "x"), "-q")
	tx(t, dir, 0, "verify")
	n := 0
	err := filepath.WalkDir(source, func(p string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(source, p)
		if err != nil || e.IsDir() {
			return err
		}
		want, _ := os.ReadFile(p)
		got, missing := os.ReadFile(filepath.Join(back, "x", "runs", rel))
		switch {
		case gone[rel] && missing == nil:
			t.Errorf("%s came back", rel)
		case missing == nil && !bytes.Equal(want, got):
			t.Errorf("%s is not what it was", rel)
		case missing == nil:
			n++
		}
		return nil
	})
	if err != nil || n < 50 {
		t.Errorf("%d files are left, %v", n, err)
	}
	same()
}

// never is an archive that never had some of the files.
func never(t *testing.T, source string, gone map[string]bool) string {
	t.Helper()
	left, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	fewRuns(t, left)
	for p := range gone {
		must(t, os.Remove(filepath.Join(left, p)))
	}
	tx(t, dir, 0, "ingest", "-q", left)
	return dir
}

func packBytes(t *testing.T, dir string) int64 { return diskUse(t, filepath.Join(dir, "packs")) }

// uniqueWords are long words that stand in the named files of a source and in no others, and are no part of a path, an
// id or a name that a ledger keeps.
func uniqueWords(t *testing.T, source string, in map[string]bool) (words [][]byte) {
	t.Helper()
	inside, outside := map[string]bool{}, map[string]bool{}
	split := func(r rune) bool { return r < 'a' || r > 'z' }
	err := filepath.WalkDir(source, func(p string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(source, p)
		for _, w := range strings.FieldsFunc(strings.ToLower(rel), split) {
			outside[w] = true
		}
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		for _, w := range strings.FieldsFunc(string(data), split) {
			if in[rel] && len(w) >= 8 {
				inside[w] = true
			} else if !in[rel] {
				outside[w] = true
			}
		}
		return err
	})
	must(t, err)
	for w := range inside {
		if len(w) >= 8 && !outside[w] {
			words = append(words, []byte(w))
		}
	}
	return words
}

// everyByte is every file of an archive, packs inflated as well.
func everyByte(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "README.txt" {
			return err
		}
		if all[p], err = os.ReadFile(p); err == nil && strings.HasSuffix(p, ".gz") {
			all[p+" inflated"], err = exec.Command("gzip", "-dc", p).Output()
		}
		return err
	})
	must(t, err)
	return all
}

// TestKilledPrune kills prunes and their undoing at random instants. The same command then ends in the state that it
// has without the kill.
func TestKilledPrune(t *testing.T) {
	bin := program(t)
	calm, _, same := archived(t)
	disturbed, _, _ := archived(t)
	thin := filepath.Join(t.TempDir(), "thin.yaml")
	must(t, os.WriteFile(thin, []byte(payloadPolicy), 0o600))
	documented := t.TempDir()
	for _, n := range []int{4, 9, 6, 12} {
		documents(t, documented, 2, n)
		tx(t, calm, 0, "ingest", "-q", documented)
		tx(t, disturbed, 0, "ingest", "-q", documented)
	}
	steps := [][]string{
		{"prune", "--policy", thin, "--yes", "-q"}, {"prune", "--query", "format:continue", "--thin", "versions", "--yes", "-q"},
		{"prune", "--query", "format:awf OR format:devflow", "--yes", "-q"}, {"prune", "--run", "rxtvjsm9dx137", "--thin", "search", "--yes", "-q"},
		{"prune", "--query", "format:leslie", "--thin", "ledger", "--yes", "-q"}, {"prune", "--query", "format:chibi", "--yes", "-q"},
	}
	for done, round := 0, 0; done < *kills/2+1; round++ {
		r := seedtest.Rand(t)
		var want []string
		few := len(steps)
		if *kills < 8 {
			few = 1
		}
		for _, i := range r.Perm(len(steps))[:few] {
			step := steps[i]
			took := run(t, bin, calm, step...)
			want = dumpViews(t, calm)
			for range 3 {
				if struck(t, bin, disturbed, r, took, step) {
					done++
				}
			}
			run(t, bin, disturbed, step...)
			if got := dumpViews(t, disturbed); !slices.Equal(want, got) {
				t.Fatalf("%v: %s", step, firstDifference(got, want))
			}
		}
		run(t, bin, disturbed, "verify")
		for range 6 {
			if struck(t, bin, disturbed, r, 200*time.Millisecond, []string{"prune", "--undo", "-q"}) {
				done++
			}
		}
		for _, dir := range []string{calm, disturbed} {
			undoAll(t, bin, dir)
		}
		run(t, bin, disturbed, "verify")
	}
	if want, got := dumpViews(t, calm), dumpViews(t, disturbed); !slices.Equal(want, got) {
		t.Errorf("undone: %s", firstDifference(got, want))
	}
	same()
}

// struck starts a command and kills it somewhere within the time that one takes.
func struck(t *testing.T, bin, archive string, r *rand.Rand, took time.Duration, args []string) bool {
	t.Helper()
	c := exec.Command(bin, append([]string{"--archive", archive}, args...)...)
	must(t, c.Start())
	time.Sleep(time.Duration(r.Int64N(int64(took) + 1)))
	_ = c.Process.Kill() // it may have ended already
	return c.Wait() != nil
}

// undoAll takes plans back until there are none.
func undoAll(t *testing.T, bin, archive string) {
	t.Helper()
	for {
		c := exec.Command(bin, "--archive", archive, "prune", "--undo", "-q")
		if out, err := c.CombinedOutput(); err != nil {
			if c.ProcessState.ExitCode() != failure.ExitNotFound {
				t.Fatalf("undo: %v\n%s", err, out)
			}
			return
		}
	}
}

// plannedFrees is what a plan says of itself.
type plannedFrees struct {
	Frees prune.Frees `json:"frees"`
}

// asSaid wants what became free to be what a plan said, within some percent or one member of each touched pack.
func asSaid(t *testing.T, what string, fell, said, packs, percent int64) {
	t.Helper()
	const member = 64 << 10 // compressed
	t.Logf("%s: %d bytes became free, the plan said %d", what, fell, said)
	if off := max(fell-said, said-fell); off > max(fell*percent/100, packs*member, 1<<10) {
		t.Errorf("%s: %d bytes became free, the plan said %d", what, fell, said)
	}
}
