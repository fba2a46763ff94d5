package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var walks = flag.Int("walks", 1, "how many walks TestWalk takes")

// TestWalk prunes, thins, brings back, collects, ingests what was pruned, and changes files meanwhile, in any order. After each step
// the index is what the packs make of it, and at the end everything that stands in the source can be had back. Backups that are
// taken at times miss nothing that was taken away on purpose.
func TestWalk(t *testing.T) {
	for range *walks {
		r := seedtest.Rand(t)
		t.Run("", func(t *testing.T) { walk(t, r) })
	}
}

type walker struct {
	t           *testing.T
	rnd         *rand.Rand
	dir, source string
	steps       []string
	known       []string        // runs
	withheld    map[string]bool // files that are not archived, because they have keys
}

func walk(t *testing.T, r *rand.Rand) {
	w := &walker{t: t, rnd: r, dir: filepath.Join(t.TempDir(), "archive"), source: filepath.Join(t.TempDir(), "runs")}
	defer func() {
		if t.Failed() {
			t.Logf("after %s", strings.Join(w.steps, "; "))
		}
	}()
	if r.IntN(2) == 0 {
		w.steps = anySamples(t, r, 4)
		samples(t, w.source, w.steps...)
	} else {
		systems := []string{"awf", "chibi", "devflow", "leslie"}
		for _, i := range r.Perm(len(systems))[:1+r.IntN(2)] {
			must(t, os.CopyFS(filepath.Join(w.source, systems[i]), os.DirFS(filepath.Join(runs, systems[i]))))
		}
		if r.IntN(2) == 0 {
			documents(t, w.source, 2, 12)
		}
	}
	w.do("ingest", "--all", w.source)
	if w.noteWithheld(); len(w.files()) == 0 {
		return
	}
	backup := filepath.Join(t.TempDir(), "backup")
	steps := 8
	if *walks == 1 {
		steps = 4
	}
	for range steps {
		w.step()
		tx(t, w.dir, 0, "verify", "--deep", "--quiet")
		if r.IntN(3) == 0 {
			w.do("backup", "--keep-last", "1", backup)
		}
	}
	w.do("ingest", "--all", "--pruned", w.source)
	tx(t, w.dir, 0, "verify", "--deep", "--quiet")
	back := filepath.Join(t.TempDir(), "back")
	w.do("restore", "--all", "--to", back)
	for _, name := range w.files() {
		want, err := os.ReadFile(filepath.Join(w.source, name))
		must(t, err)
		got, err := os.ReadFile(filepath.Join(back, filepath.Base(w.source), name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes are restored, want %d: %v", name, len(got), len(want), err)
		}
	}
}

// do runs a command that may have nothing to do.
func (w *walker) do(args ...string) {
	w.t.Helper()
	w.steps = append(w.steps, strings.Join(args, " "))
	var said bytes.Buffer
	a := newApp()
	a.in, a.Out, a.Err = strings.NewReader(""), io.Discard, &said
	switch code := execute(w.t.Context(), a, append([]string{"--archive", w.dir}, args...)); code {
	case failure.ExitFine, failure.ExitProblems, failure.ExitNotFound, failure.ExitRefused:
	default:
		w.t.Fatalf("%q: exit %d\n%s", args, code, said.String())
	}
}

func (w *walker) step() {
	switch run := w.anyRun(); w.rnd.IntN(11) {
	case 0, 1:
		w.do("prune", "--run", run, "--run", w.anyRun(), "--allow-empty", "--yes")
	case 2:
		w.do("prune", "--run", run, "--thin", w.one("versions", "search", "payloads", "ledger"), "--yes")
	case 3:
		w.do("prune", "--query", "format:"+w.one("awf", "chibi", "devflow", "leslie", "continue"), "--thin", w.one("versions", "payloads", "ledger"), "--yes")
	case 10:
		w.do("prune", "--query", "after:1970 OR before:1970", "--thin", "versions", "--yes")
	case 4:
		w.do("prune", "--undo")
	case 5:
		w.do("prune", "--undo", run)
	case 6:
		w.do("gc")
	case 7:
		w.do("ingest", "--all", "--pruned", w.source)
	case 8:
		w.change()
		w.do("ingest", "--all", w.source)
	case 9:
		w.do("reindex")
	}
}

// change copies a file to another place, cuts one, or lets one grow by what it has already. A document is mostly written again.
func (w *walker) change() {
	files := w.files()
	name := files[w.rnd.IntN(len(files))]
	content, err := os.ReadFile(filepath.Join(w.source, name))
	must(w.t, err)
	state := documentOf(name, w.rnd.IntN(12))
	switch n := w.rnd.IntN(3); {
	case state != nil && w.rnd.IntN(4) > 0:
		content = state
	case n == 0:
		name = filepath.Join(fmt.Sprintf("copy-%d", len(w.steps)), name)
		must(w.t, os.MkdirAll(filepath.Join(w.source, filepath.Dir(name)), 0o700))
	case n == 1:
		content = content[:w.rnd.IntN(len(content)+1)]
	case n == 2:
		content = append(content, content[w.rnd.IntN(len(content)+1):]...)
	}
	w.steps = append(w.steps, fmt.Sprintf("%s of %d bytes", name, len(content)))
	written(w.t, filepath.Join(w.source, name), content)
}

func (w *walker) files() (all []string) {
	must(w.t, filepath.WalkDir(w.source, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		must(w.t, err)
		path, err = filepath.Rel(w.source, path)
		if !w.withheld[path] && !bytes.HasPrefix(content, []byte("SQLite format 3")) { // whose rows are archived
			all = append(all, path)
		}
		return err
	}))
	return all
}

// noteWithheld finds the files that an ingest left out.
func (w *walker) noteWithheld() {
	w.withheld = map[string]bool{}
	for _, name := range w.files() {
		w.withheld[name] = true
	}
	for _, row := range decode[[]map[string]string](w.t, tx(w.t, w.dir, 0, "sql", "--json", "SELECT path FROM v_files")) {
		delete(w.withheld, row["path"])
	}
}

// anyRun is one of the runs that ever were.
func (w *walker) anyRun() string {
	var rows []struct{ ID string }
	must(w.t, json.Unmarshal([]byte(tx(w.t, w.dir, 0, "sql", "--json", "SELECT run_id AS id FROM v_runs ORDER BY 1")), &rows))
	for _, row := range rows {
		if !slices.Contains(w.known, row.ID) {
			w.known = append(w.known, row.ID)
		}
	}
	if len(w.known) == 0 {
		return "none"
	}
	return w.known[w.rnd.IntN(len(w.known))]
}

func (w *walker) one(of ...string) string { return of[w.rnd.IntN(len(of))] }
