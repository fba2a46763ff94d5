package main

import (
	"database/sql"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/migrations"
)

// writing is a command that writes, with what it begins from.
type writing struct {
	name   string
	from   string                  // archive, "" for none
	beside string                  // another directory that it writes to: a backup, a target
	line   func(b string) []string // b is a copy of beside
	over   []string                // what a repetition says that finds nothing left to do
	loose  bool                    // what it writes lies outside of archives, and is not made durable
	unwell bool                    // the archive does not verify before
	room   int                     // for plans of prune
	deep   bool                    // the index must say what the packs say, whatever happened
	same   func(t *testing.T, b, calm string)
}

// some are all commands, or in a short campaign one at random.
func some(t *testing.T, r *rand.Rand, all bool) []writing {
	t.Helper()
	prepared.once.Do(func() {
		root, err := os.MkdirTemp("", "txarchive-commands")
		must(t, err)
		prepared.root, prepared.commands = root, commands(t, root)
	})
	w := slices.Clone(prepared.commands)
	if !all {
		i := r.IntN(len(w))
		w = w[i : i+1]
	}
	return w
}

// prepared are the archives of commands, which the first test that wants them makes; TestMain removes them.
var prepared struct {
	once     sync.Once
	root     string
	commands []writing
}

// commands are all that write, each from an archive below root in which it has work.
func commands(t *testing.T, root string) []writing {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	source, base := filepath.Join(root, "runs"), filepath.Join(root, "base")
	must(t, os.CopyFS(filepath.Join(source, "awf"), os.DirFS(filepath.Join(runs, "awf"))))
	all := []*leaky{newLeaky(source, 1), newLeaky(source, 2), newLeaky(source, 3)}
	for range 9 { // so many packs that gc merges
		for _, l := range all {
			l.write(t, r, 1+r.IntN(20))
		}
		call(t, base, "ingest", source)
	}
	id := func(l *leaky) string {
		return runNamed(t, base, l.id)
	}
	backup := filepath.Join(root, "backup")
	call(t, base, "backup", backup)
	copied := func(name string) string {
		copyArchiveTo(t, base, filepath.Join(root, name))
		return filepath.Join(root, name)
	}
	parts := filepath.Join(root, "parts.json") // a plan of many originals
	call(t, base, "prune", "--query", "after:1970", "--allow-empty", "--plan", parts)
	every, kinds := filepath.Join(root, "every"), filepath.Join(root, "kinds") // of all formats, with parents, titles and models in each other's originals
	fewRuns(t, filepath.Join(kinds, "runs"))
	samples(t, kinds, kin...)
	loaded(t, every, kinds)
	var half []string // parents without children, children without parents
	for i, run := range runIDs(t, every) {
		if i%2 == 0 {
			half = append(half, "--run", run)
		}
	}
	planned := func(name string, line ...string) string {
		file := filepath.Join(root, name)
		call(t, every, append([]string{"prune", "--allow-empty", "--plan", file}, line...)...)
		return file
	}
	whole, halved, dropped := planned("whole.json", "--query", "after:1970"), planned("half.json", half...), planned("drop.json", append(half, "--drop-ledger")...)
	thinner := planned("thin.json", append(half, "--thin", "payloads")...)
	rest := filepath.Join(root, "rest")
	copyArchiveTo(t, every, rest)
	call(t, rest, "prune", "--apply", halved)
	pruned, more, old, gone := copied("pruned"), copied("more"), copied("old"), copied("gone")
	call(t, pruned, "prune", "--yes", "--run", id(all[0]))
	call(t, gone, "prune", "--apply", parts)
	oldIndex(t, old)
	rewritten, without, docs := filepath.Join(root, "rewritten"), filepath.Join(root, "without"), filepath.Join(root, "docs")
	for _, n := range []int{2, 5, 3, 7, 5, 9} { // one content comes twice
		documents(t, docs, 3, n)
		call(t, rewritten, "ingest", docs)
	}
	earlier := filepath.Join(root, "earlier.json")
	call(t, rewritten, "prune", "--query", "format:continue", "--thin", "versions", "--plan", earlier)
	copyArchiveTo(t, rewritten, without)
	call(t, without, "prune", "--apply", earlier)
	call(t, more, "tag", "add", id(all[0]), "first")
	followed := filepath.Join(root, "followed") // it has a pack with nothing but facts
	call(t, followed, "source", "add", source)
	lone, hurt := filepath.Join(root, "lone"), filepath.Join(root, "hurt") // of a source that is gone, so that some is lost
	must(t, os.CopyFS(lone, os.DirFS(filepath.Join(source, "awf"))))
	call(t, hurt, "ingest", lone)
	all[0].write(t, r, 2000)
	must(t, os.RemoveAll(lone))
	must(t, os.CopyFS(lone, os.DirFS(filepath.Join(source, "awf"))))
	call(t, hurt, "ingest", lone)
	must(t, os.RemoveAll(lone))
	flipPacks(t, hurt)
	mended := copied("mended") // of a source that has all of it
	flipPacks(t, mended)
	if code, _, _ := inside(t.Context(), mended, "", "verify"); code != failure.ExitCorrupt { // which remembers it
		t.Fatalf("verify of damaged packs: exit %d", code)
	}
	moved := filepath.Join(root, "away") // so that the source gives nothing back
	must(t, os.CopyFS(moved, os.DirFS(source)))
	all[1].file = filepath.Join(moved, awfTranscripts, filepath.Base(all[1].file))
	all[1].write(t, r, 30)
	written(t, filepath.Join(moved, "awf/storage/states/new.json"), []byte(`{"id":"new"}`))
	must(t, os.RemoveAll(source))
	must(t, os.Rename(moved, source))
	full := func(t *testing.T, b, _ string) { call(t, base, "backup", "verify", b, "--full") }
	plain := func(line ...string) func(string) []string { return func(string) []string { return line } }
	return []writing{
		{name: "init", line: plain("init")},
		{name: "ingest", line: plain("ingest", source)},
		{name: "first load", from: followed, line: plain("ingest")},
		{name: "growth", from: base, line: plain("ingest", source)},
		{name: "migrate", from: old, unwell: true, line: plain("ingest", source)},
		{name: "reindex", from: base, line: plain("reindex")},
		{name: "prune", from: base, line: plain("prune", "--yes", "--run", id(all[0])), over: []string{"is already pruned"}},
		{name: "prune in parts", from: base, room: 1, line: plain("prune", "--apply", parts)},
		{name: "prune all in parts", from: every, room: 1, deep: true, line: plain("prune", "--apply", whole)},
		{name: "prune half in parts", from: every, room: 1, deep: true, line: plain("prune", "--apply", halved)},
		{name: "thin half in parts", from: every, room: 1, deep: true, line: plain("prune", "--apply", thinner)},
		{name: "drop half in parts", from: every, room: 1, deep: true, line: plain("prune", "--apply", dropped)},
		{name: "undo half in parts", from: rest, room: 1, deep: true, line: plain("prune", "--undo"), over: []string{"not found", "nothing"}},
		{name: "gc half", from: rest, deep: true, line: plain("gc")},
		{name: "undo in parts", from: gone, room: 1, line: plain("prune", "--undo"), over: []string{"not found", "nothing"}},
		{name: "undo", from: pruned, line: plain("prune", "--undo"), over: []string{"not found", "nothing"}},
		{name: "thin", from: base, line: plain("prune", "--yes", "--run", id(all[1]), "--thin", "search"), over: []string{": not found", "is already pruned"}},
		{name: "thin versions", from: rewritten, room: 1, deep: true, line: plain("prune", "--apply", earlier)},
		{name: "undo versions", from: without, room: 1, deep: true, line: plain("prune", "--undo"), over: []string{"not found", "nothing"}},
		{name: "gc versions", from: without, deep: true, line: plain("gc")},
		{name: "gc", from: pruned, line: plain("gc")},
		{name: "forget", from: base, line: plain("forget", "--match", all[2].marks[3], "--apply", "--yes"), over: []string{"nothing in the archive matches"}},
		{name: "repair", from: hurt, unwell: true, line: plain("verify", "--repair", "--yes")},
		{name: "mend", from: mended, unwell: true, line: plain("ingest", source)},
		{name: "tag", from: base, line: plain("tag", "add", id(all[0]), "first")},
		{name: "pin", from: base, line: plain("pin", id(all[0]), "--reason", "demo")},
		{name: "backup", from: base, beside: filepath.Join(root, "none"), line: func(b string) []string { return []string{"backup", b} }, same: full},
		{name: "backup again", from: more, beside: backup, line: func(b string) []string { return []string{"backup", b, "--moved", "--keep-last", "1"} },
			same: func(t *testing.T, b, _ string) { call(t, more, "backup", "verify", b) }},
		{name: "backup restore", from: base, beside: backup, line: func(b string) []string {
			return []string{"backup", "restore", b, "--to", b + "-again"}
		}, same: func(t *testing.T, b, _ string) {
			if got, want := dumpViews(t, b+"-again"), dumpViews(t, base); !slices.Equal(got, want) {
				t.Errorf("restored: %s", firstDifference(got, want))
			}
		}},
		{name: "restore", from: base, loose: true, beside: filepath.Join(root, "none"), line: func(b string) []string { return []string{"restore", "--all", "--to", b} },
			same: func(t *testing.T, b, calm string) {
				got, want := filesIn(t, b), filesIn(t, calm)
				maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(filepath.Base(name), disk.TempPrefix) })
				if !maps.Equal(got, want) {
					t.Errorf("restored are %d files, want %d", len(got), len(want))
				}
			}},
	}
}

// flipPacks damages two packs of an archive.
func flipPacks(t *testing.T, dir string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "packs/*/*/*"))
	must(t, err)
	for _, i := range []int{0, len(packs) / 2} {
		data, err := os.ReadFile(packs[i])
		must(t, err)
		blobtest.Damage(data, len(data)/3)
		written(t, packs[i], data)
	}
}

// filesIn are the files below a directory with their contents.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return all
}

// oldIndex gives an archive an index that the newest migration has not met.
func oldIndex(t *testing.T, dir string) {
	t.Helper()
	withoutIndex(t, dir)
	files, err := fs.Glob(migrations.SQLite, "sqlite/*.sql")
	must(t, err)
	db, err := sql.Open("sqlite", filepath.Join(dir, "index-1.db"))
	must(t, err)
	_, err = db.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now'))); INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`)
	must(t, err)
	for i, file := range files[:len(files)-1] {
		text, err := fs.ReadFile(migrations.SQLite, file)
		must(t, err)
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		_, err = db.Exec(up)
		must(t, err)
		_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", i+1)
		must(t, err)
	}
	must(t, db.Close())
	must(t, os.Symlink("index-1.db", filepath.Join(dir, "index.db")))
}

// bench is one try of a command: copies of what it begins from.
type bench struct {
	*writing
	dir, beside string
	straight    bool // the command is repeated with nothing in between, which may know the packs that were left
}

func (w *writing) bench(t *testing.T, root string) *bench {
	t.Helper()
	must(t, os.RemoveAll(root))
	b := &bench{writing: w, dir: filepath.Join(root, "archive"), beside: filepath.Join(root, "beside")}
	if w.from != "" {
		copyArchiveTo(t, w.from, b.dir)
	}
	if _, err := os.Stat(w.beside); w.beside != "" && err == nil {
		must(t, os.CopyFS(b.beside, os.DirFS(w.beside)))
	}
	return b
}

func (b *bench) args() []string { return b.line(b.beside) }

// undisturbed is what the command gives when nothing happens.
type undisturbed struct {
	views  []string
	beside string
}

func (w *writing) calm(t *testing.T) undisturbed {
	t.Helper()
	b := w.bench(t, t.TempDir())
	call(t, b.dir, b.args()...)
	return undisturbed{dumpViews(t, b.dir), b.beside}
}

// settled repeats the command after something happened, and wants what comes of it undisturbed.
func (b *bench) settled(t *testing.T, what string, want undisturbed) {
	t.Helper()
	if !b.unwell && !b.straight {
		b.sound(t, what)
	}
	code, stdout, stderr := inside(t.Context(), b.dir, "", b.args()...)
	if code != 0 && !slices.ContainsFunc(b.over, func(s string) bool { return strings.Contains(stderr, s) }) {
		t.Fatalf("%s: again: exit %d\n%s%s", what, code, stdout, stderr)
	}
	b.sound(t, what+", then again")
	if got := dumpViews(t, b.dir); !slices.Equal(got, want.views) {
		t.Fatalf("%s: the views differ from an undisturbed archive (%d rows against %d); first:\n%s", what, len(got), len(want.views), firstDifference(got, want.views))
	}
	if b.same != nil {
		b.same(t, b.beside, want.beside)
	}
}

// sound wants the archive to verify, unless there is none yet.
func (b *bench) sound(t *testing.T, what string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(b.dir, "packs")); err != nil && b.from == "" {
		return
	}
	verify := []string{"verify"}
	if b.deep {
		inside(t.Context(), b.dir, "", "prune", "--undo", "none") // knows the packs then that a crash has left
		verify = append(verify, "--deep")
	}
	if code, stdout, stderr := inside(t.Context(), b.dir, "", verify...); code != 0 {
		t.Fatalf("%s: verify: exit %d\n%s%s", what, code, stdout, stderr)
	}
}
