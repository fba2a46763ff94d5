package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var aparts = flag.Int("aparts", 2, "how many archives TestGrownApart copies, lets grow apart and brings together again")

// TestGrownApart copies an archive, lets both copies archive what grows in other steps, or differently, or is written anew, and brings their
// packs together. One of them may have pruned what it had. Whatever is done then, in any order: all that either copy has stored can be
// restored, nothing is mixed up, the index is what the packs make of it, and files that have grown differently are named.
func TestGrownApart(t *testing.T) {
	for range *aparts {
		r := seedtest.Rand(t)
		t.Run("", func(t *testing.T) { growApart(t, r) })
	}
}

// apart is two copies of an archive, and what they have of the files of one source.
type apart struct {
	t      *testing.T
	rnd    *rand.Rand
	source string
	dirs   [2]string            // the copies; packs come to the first
	now    [2]map[string]string // what stands in the source where the copy is, by name
	stored map[string][]string  // every content that was archived
	merged bool
	differ bool // files may grow differently
	anew   int  // the copy that may archive files that were written anew; 2 for both, if they may grow differently; -1 for none
	rivals bool // versions may have different contents
	steps  []string
}

func growApart(t *testing.T, r *rand.Rand) {
	w := &apart{t: t, rnd: r, source: filepath.Join(t.TempDir(), "awf"), stored: map[string][]string{}, differ: r.IntN(2) == 0, anew: r.IntN(4) - 1}
	w.dirs = [2]string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")}
	defer func() {
		if t.Failed() {
			t.Logf("after %s", strings.Join(w.steps, "; "))
		}
	}()
	w.now[0] = map[string]string{}
	for n := range 1 + r.IntN(3) {
		w.now[0][fmt.Sprintf("storage/transcripts/%08d-0000-4000-8000-%012d.jsonl", n, n)] = ""
	}
	w.now[0]["storage/notes.txt"] = ""
	for range 1 + r.IntN(3) {
		w.grow(0)
	}
	if r.IntN(3) == 0 {
		w.do(0, "gc")
	}
	w.now[1] = maps.Clone(w.now[0])
	copyArchiveTo(t, w.dirs[0], w.dirs[1])
	for range 2 + r.IntN(5) {
		w.grow(r.IntN(2))
		if r.IntN(4) == 0 {
			w.do(r.IntN(2), "gc")
		}
	}
	side := r.IntN(6)
	pruned := side < 2 && w.prune(side)
	w.rivals = pruned // what grows there is a second version, of which the other copy may have another one
	if pruned && r.IntN(2) == 0 {
		w.grow(side)
	}
	w.merge()
	if pruned {
		w.do(0, "source", "add", t.TempDir())
		w.do(0, "prune", "--undo")
	}
	for range 6 {
		w.step()
		w.check()
	}
}

// TestForgetApart: what only one copy of an archive has archived can be forgotten after their packs have come together, also from a state
// that the other copy contradicts.
func TestForgetApart(t *testing.T) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	const secret = "hunter2-and-a-quokka"
	ingest := func(dir, content string) {
		t.Helper()
		written(t, file, []byte(content))
		tx(t, dir, failure.ExitProblems, "ingest", source)
	}
	ingest(one, "begin\n")
	copyArchiveTo(t, one, other)
	ingest(one, "begin\nhere hunter2-")
	ingest(one, "begin\nhere "+secret+"\n")
	ingest(other, "begin\nmuch longer than what the other copy has of it\n")
	copyPacks(t, one, other)
	call(t, other, "source", "add", t.TempDir())
	if !strings.Contains(tx(t, other, failure.ExitCorrupt, "verify"), "differently") {
		t.Error("verify does not say what was grown differently")
	}
	back := filepath.Join(t.TempDir(), "back")
	call(t, other, "restore", "--all", "--all-versions", "--to", back)
	if all := filesIn(t, back); len(all) != 2 || !strings.Contains(fmt.Sprint(all), secret) {
		t.Errorf("restored is %q", all)
	}
	call(t, other, "forget", "--match", secret, "--apply", "--yes")
	nowhere(t, other, []string{secret, "hunter2-"})
}

// TestRepairApart: a repair takes from a backup also what only a state has that the present one contradicts.
func TestRepairApart(t *testing.T) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	ingest := func(dir, content string) {
		t.Helper()
		written(t, file, []byte(content))
		tx(t, dir, failure.ExitProblems, "ingest", source)
	}
	copied := func(line ...string) {
		t.Helper()
		if out, err := exec.Command("cp", line...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	ingest(one, "begin\n")
	copied("-a", one, other)
	ingest(one, "begin\nshorter\n")
	ingest(other, "begin\nmuch longer than what the other copy has of it\n")
	packs, err := filepath.Glob(one + "/packs/*/*/*.gz")
	must(t, err)
	copied("-a", "-n", filepath.Join(one, "packs"), other)
	call(t, other, "source", "add", t.TempDir())
	backup := filepath.Join(t.TempDir(), "backup")
	copied("-a", other, backup)
	last := packs[len(packs)-1]
	must(t, os.Remove(filepath.Join(other, last[strings.Index(last, "/packs/"):])))
	call(t, other, "verify", "--repair", "--from", backup)
	back := filepath.Join(t.TempDir(), "back")
	call(t, other, "restore", "--all", "--all-versions", "--to", back)
	if all := filesIn(t, back); len(all) != 2 || !strings.Contains(fmt.Sprint(all), "begin\nshorter") {
		t.Errorf("restored is %q", all)
	}
}

// TestRewrittenApart: of a file that both copies of an archive have archived anew, the index has one version, and so has every restore, in
// any order of the packs. Both can be restored, and verify names them without asking for an index that would have both.
func TestRewrittenApart(t *testing.T) {
	t.Parallel()
	one, other, source := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "awf")
	file := filepath.Join(source, "storage", "notes.txt")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	archive := func(dir, content string) {
		t.Helper()
		written(t, file, []byte(content))
		call(t, dir, "ingest", "--all", source)
	}
	archive(one, "begin\n")
	copyArchiveTo(t, one, other)
	archive(one, "quokka of the one\n")
	archive(other, "wombat of the other\n")
	for _, dirs := range [][2]string{{one, other}, {other, one}} {
		copyPacks(t, dirs[0], dirs[1])
	}
	var first string
	for _, dir := range []string{one, other} {
		call(t, dir, "source", "add", t.TempDir())
		if out := tx(t, dir, failure.ExitCorrupt, "verify", "--deep"); !strings.Contains(out, "begins differently") || strings.Contains(out, "lacks") {
			t.Errorf("verify says %s", out)
		}
		for _, line := range [][]string{{"restore", "--all"}, {"restore", "--all", "--at", "now"}} {
			back := filepath.Join(t.TempDir(), "back")
			call(t, dir, append(line, "--to", back)...)
			got := fmt.Sprint(filesIn(t, back))
			if first = cmp.Or(first, got); got != first || !strings.Contains(got, "of the o") {
				t.Errorf("%q restores %q, and before %q", line, got, first)
			}
		}
		for _, line := range [][]string{{"restore", "--all", "--all-versions"}, {"restore", "--all", "--all-versions", "--at", "now"}} {
			back := filepath.Join(t.TempDir(), "back")
			call(t, dir, append(line, "--to", back)...)
			if got := fmt.Sprint(filesIn(t, back)); !strings.Contains(got, "of the one") || !strings.Contains(got, "of the other") || !strings.Contains(got, "begin") {
				t.Errorf("%q restores %q", line, got)
			}
		}
	}
	for _, secret := range []string{"quokka", "wombat"} { // of which the index has one
		call(t, one, "forget", "--match", secret, "--apply", "--yes")
		nowhere(t, one, []string{secret})
	}
}

// lines are events of a transcript, or any text, that differ by their side if files grow differently.
func (w *apart) lines(name, have string, side int) string {
	var b strings.Builder
	id := strings.TrimSuffix(filepath.Base(name), ".jsonl")
	for n := strings.Count(have, "\n"); n < strings.Count(have, "\n")+1+w.rnd.IntN(4) && b.Len() < 2000; n++ {
		by := "either"
		if w.differ && w.dirs[1] != "" && w.now[1] != nil {
			by = fmt.Sprintf("side-%d", side)
		}
		fmt.Fprintf(&b, `{"seq":%d,"run_id":%q,"type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-21T%02d:%02d:%02dZ","payload":{"role":"user","blocks":[{"type":"text","text":"%s event %d of %s"}]}}`+"\n",
			n, id, n/3600%24, n/60%60, n%60, by, n, id)
		if w.rnd.IntN(3) == 0 {
			break
		}
	}
	return b.String()
}

// grow lets files of a side grow and archives them there. What is alike on both sides is the same text, cut anywhere.
func (w *apart) grow(side int) {
	for _, name := range slices.Sorted(maps.Keys(w.now[side])) {
		have := w.now[side][name]
		if have != "" && w.rnd.IntN(3) == 0 {
			continue
		}
		if w.writesAnew(side, name) && w.rnd.IntN(4) == 0 {
			w.now[side][name] = w.lines(fmt.Sprintf("%d-%s", len(w.steps), filepath.Base(name)), "", side)
			continue
		}
		if other := w.now[1-side][name]; !w.merged && len(other) > len(have) && strings.HasPrefix(other, have) && w.rnd.IntN(2) == 0 {
			cut := len(have) + 1 + w.rnd.IntN(len(other)-len(have))
			w.now[side][name] = other[:cut]
			continue
		}
		if i := strings.LastIndex(have, "\n"); i+1 < len(have) {
			whole := w.now[1-side][name] // whose line is cut
			if !strings.HasPrefix(whole, have) {
				whole = have + "\n"
			}
			have = whole[:len(have)+1+strings.IndexByte(whole[len(have):], '\n')]
		}
		w.now[side][name] = have + w.lines(name, have, side)
	}
	w.ingest(side)
}

// writesAnew reports whether a file may be written anew. Where copies do not differ, a line that is cut is completed as on the other side.
func (w *apart) writesAnew(side int, name string) bool {
	return w.now[1] != nil && (w.anew == side || w.anew == 2 && w.differ) && strings.HasSuffix(w.now[1-side][name], "\n")
}

// ingest archives what a side has, in the first copy if the packs have come together.
func (w *apart) ingest(side int) {
	must(w.t, os.RemoveAll(w.source))
	for name, content := range w.now[side] {
		file := filepath.Join(w.source, name)
		must(w.t, os.MkdirAll(filepath.Dir(file), 0o700))
		written(w.t, file, []byte(content))
		past := time.Now().Add(-time.Hour - time.Duration(w.rnd.IntN(1000))*time.Second)
		must(w.t, os.Chtimes(file, past, past))
	}
	to := side
	if w.merged {
		to = 0
	}
	w.do(to, "ingest", w.source)
	for name, content := range w.now[side] {
		// An older state is another version, of whose number the other copy may archive another one.
		w.rivals = w.rivals || w.merged && slices.ContainsFunc(w.stored[name], func(s string) bool { return !strings.HasPrefix(content, s) })
		if !slices.Contains(w.stored[name], content) {
			w.stored[name] = append(w.stored[name], content)
		}
	}
}

// merge brings the packs of the other copy to the first.
func (w *apart) merge() {
	if w.rnd.IntN(2) == 0 {
		w.dirs[0], w.dirs[1], w.now[0], w.now[1] = w.dirs[1], w.dirs[0], w.now[1], w.now[0]
		if w.anew == 0 || w.anew == 1 {
			w.anew = 1 - w.anew
		}
	}
	w.steps = append(w.steps, "merge")
	from := filepath.Join(w.dirs[1], "packs")
	must(w.t, filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, path)
		must(w.t, err)
		to := filepath.Join(w.dirs[0], "packs", name)
		must(w.t, os.MkdirAll(filepath.Dir(to), 0o700))
		b, err := os.ReadFile(path)
		must(w.t, err)
		if _, err := os.Stat(to); err != nil {
			written(w.t, to, b)
		}
		return nil
	}))
	w.merged = true
}

func (w *apart) do(side int, args ...string) {
	w.t.Helper()
	w.steps = append(w.steps, fmt.Sprint(side, " ", strings.Join(args, " ")))
	code, stdout, stderr := inside(w.t.Context(), w.dirs[side], "", args...)
	if code != failure.ExitFine && code != failure.ExitProblems && !(w.differ && w.merged && code == failure.ExitCorrupt && args[0] == "reindex") &&
		!(code == failure.ExitNotFound && slices.Contains(args, "--undo")) { // what the other copy has of it is there
		w.t.Fatalf("%s: exit %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
}

func (w *apart) step() {
	switch w.rnd.IntN(8) {
	case 0:
		w.grow(0)
	case 1:
		w.ingest(w.rnd.IntN(2))
	case 2, 3:
		w.do(0, "gc")
	case 4:
		w.do(0, "reindex")
	case 5:
		w.do(0, "backup", w.dirs[0]+"-backup")
	case 6:
		w.merged = false
		w.grow(1)
		w.merged = true
		from, to := w.dirs[1], w.dirs[0]
		if out, err := exec.Command("cp", "-a", "-n", filepath.Join(from, "packs"), to).CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %s", err, out)
		}
		w.steps = append(w.steps, "merge")
	case 7:
		pruned := w.prune(0)
		if w.rnd.IntN(2) == 0 {
			w.do(0, "gc", "--grace", "7d")
		}
		if pruned {
			w.do(0, "prune", "--undo")
		}
	}
}

// prune prunes the runs of a copy, and reports whether there are any: what copies have grown differently may not be searchable.
func (w *apart) prune(side int) bool {
	code, stdout, stderr := inside(w.t.Context(), w.dirs[side], "", "prune", "--query", "format:awf", "--allow-empty", "--yes")
	if code != failure.ExitFine && code != failure.ExitNotFound {
		w.t.Fatalf("prune: exit %d\n%s", code, stderr)
	}
	w.steps = append(w.steps, "prune")
	return code == failure.ExitFine && !strings.HasPrefix(stdout, "Nothing to prune")
}

// check compares what can be restored with all that was ever archived.
func (w *apart) check() {
	w.t.Helper()
	w.do(0, "source", "add", w.t.TempDir()) // the packs of the other copy are adopted
	code, stdout, stderr := inside(w.t.Context(), w.dirs[0], "", "verify", "--deep", "--json")
	var report struct {
		List []struct{ Kind, Path, Reason, Hint string }
	}
	must(w.t, json.Unmarshal([]byte(stdout), &report))
	conflict := map[string]bool{}
	for _, f := range report.List {
		switch {
		case f.Kind == "leftover" || f.Kind == "unindexed":
		case f.Kind == "conflict" && (w.differ || w.rivals):
			conflict[f.Path] = true
		default:
			w.t.Errorf("verify: %+v", f)
		}
	}
	if code != failure.ExitFine && len(conflict) == 0 {
		w.t.Errorf("verify: exit %d\n%s%s", code, stdout, stderr)
	}
	heads := map[string][]string{} // contents that no other continues
	for name, all := range w.stored {
		for _, c := range all {
			if !slices.ContainsFunc(all, func(o string) bool { return o != c && strings.HasPrefix(o, c) }) {
				heads[name] = append(heads[name], c)
			}
		}
	}
	later := time.Now().Add(time.Hour).Format(time.RFC3339)
	for _, line := range [][]string{{"restore", "--all"}, {"restore", "--all", "--at", later}, {"restore", "--all", "--all-versions", "--at", later}} {
		back := filepath.Join(w.t.TempDir(), "back")
		code, stdout, stderr := inside(w.t.Context(), w.dirs[0], "", append(line, "--to", back)...)
		if code != failure.ExitFine {
			w.t.Errorf("%q: exit %d\n%s%s", line, code, stdout, stderr)
		}
		got := map[string][]string{}
		for name, content := range filesIn(w.t, back) {
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "awf/"), "@")
			got[name] = append(got[name], content)
		}
		for name, want := range heads {
			for _, g := range got[name] {
				if !slices.Contains(w.stored[name], g) {
					w.t.Errorf("%q: %s was never stored with these %d bytes", line, name, len(g))
				}
			}
			if len(line) < 4 || line[2] != "--all-versions" {
				if len(got[name]) != 1 || len(want) == 1 && w.sameVersion(name) && got[name][0] != want[0] {
					w.t.Errorf("%q: %d of %s, %d stored", line, len(got[name]), name, len(want))
				}
				continue
			}
			for _, c := range want {
				if !slices.Contains(got[name], c) {
					w.t.Errorf("%q: %s of %d bytes is not restored", line, name, len(c))
				}
			}
		}
	}
	for name, all := range heads {
		if base := "storage/" + filepath.Base(name); w.differ && len(all) > 1 && !conflict[name] && !bytes.Contains([]byte(stdout), []byte(base)) && w.sameVersion(name) {
			w.t.Errorf("verify does not say that %s has grown differently", name)
		}
	}
	if w.t.Failed() {
		w.t.FailNow()
	}
}

// sameVersion reports whether the heads of a file are states of one version.
func (w *apart) sameVersion(name string) bool {
	out := call(w.t, w.dirs[0], "sql", "--json", "SELECT max(version) AS v FROM v_files WHERE path = '"+name+"'")
	return strings.Contains(out, `"v":1`)
}
