package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
)

// life is a producer's directory and the archive that meets it now and then. A test changes the directory as the
// program would; meet ingests it and checks what must hold at every moment.
type life struct {
	*tree
	w      *world
	format string
	met    map[string][]string // contents that an ingest has met, by path
	rand   *rand.Rand
}

// counts are the numbers of stats that a life is judged by. Cost is in micro-USD.
type counts struct{ runs, conversations, events, calls, results, in, out, cost, links, problems int64 }

func newLife(t *testing.T, format string) *life {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &life{tree: newTree(t), w: newWorld(t), format: format, met: map[string][]string{}, rand: rand.New(rand.NewPCG(seed, 2))}
}

func countsOf(s index.Sums) counts {
	return counts{s.Runs, s.Conversations, s.Events, s.ToolCalls, s.ToolResults, value(s.Input), value(s.Output), value(s.ReportedCost), s.Links, s.Problems}
}

// meet takes what is there and expects the totals; that whatever an ingest has ever met is still stored, byte for byte;
// and that the index can be made again from the packs, to the last column.
func (l *life) meet(what string, want counts) {
	l.t.Helper()
	l.take()
	if got := countsOf(l.w.totals().Formats[l.format]); got != want {
		l.t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
	l.remember()
	l.keepsAll(what)
	l.w.madeAgain(what)
}

// take ingests, some files before the others.
func (l *life) take() {
	l.t.Helper()
	paths := slices.Sorted(maps.Keys(l.files()))
	l.rand.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for _, p := range paths[:min(len(paths), l.rand.IntN(4))] {
		l.w.ingest("home", l.dir, p)
	}
	l.w.ingest("home", l.dir, ".")
}

// madeAgain expects the index to be the same when it is made again.
func (w *world) madeAgain(what string) {
	w.t.Helper()
	w.remade++
	before := w.dump()
	again := &world{t: w.t, dir: w.dir}
	again.open(fmt.Sprintf("again-%d.db", w.remade))
	if _, err := again.Reindex(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.same(what+": reindex", again.dump(), before)
	if _, err := w.index.Differences(context.Background(), again.index, func(problem string) { w.t.Errorf("%s: %s", what, problem) }); err != nil {
		w.t.Fatal(err)
	}
}

// once expects the same totals of an archive that only sees how the directory is now.
func (l *life) once(what string) {
	l.t.Helper()
	l.onceIs(what, countsOf(l.w.totals().Formats[l.format]))
}

// onceIs expects totals of an archive that comes too late.
func (l *life) onceIs(what string, want counts) {
	l.t.Helper()
	late := newWorld(l.t)
	late.ingest("home", l.dir, ".")
	if got := countsOf(late.totals().Formats[l.format]); got != want {
		l.t.Errorf("%s, met only now:\n got %+v\nwant %+v", what, got, want)
	}
}

// remember notes the contents that there are now.
func (l *life) remember() {
	l.t.Helper()
	for p, content := range l.files() {
		if all := l.met[p]; len(all) == 0 || all[len(all)-1] != content {
			l.met[p] = append(all, content)
		}
	}
}

// files gives the contents of all files.
func (s *tree) files() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.dir, p)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// keepsAll looks for each content among the stored versions of its path. One that has grown since is the beginning
// of a version.
func (l *life) keepsAll(what string) {
	l.t.Helper()
	stored := l.w.allStored()
	for path, contents := range l.met {
		for i, content := range contents {
			kept := false
			for _, s := range stored[path] {
				kept = kept || s == content || content != "" && strings.HasPrefix(s, content)
			}
			if !kept {
				l.t.Errorf("%s: content %d of %s is not stored", what, i+1, path)
			}
		}
	}
}

// allStored returns the bytes of every version of every path.
func (w *world) allStored() map[string][]string {
	w.t.Helper()
	all := map[string][]string{}
	for s, err := range w.index.States(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		b, err := io.ReadAll(w.Originals.Reader(context.Background(), s.Extents))
		if err != nil {
			w.t.Fatal(err)
		}
		all[s.Path] = append(all[s.Path], string(b))
	}
	return all
}

func (l *life) ask(query string, args ...any) []string {
	l.t.Helper()
	return l.w.ask(query, args...)
}

// ask gives the rows of a query, columns parted by spaces.
func (w *world) ask(query string, args ...any) []string {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.index.Path()+"?mode=ro")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range to {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, strings.TrimSuffix(fmt.Sprintln(values...), "\n"))
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// answers expects rows of a query.
func (l *life) answers(what, query string, want ...string) {
	l.t.Helper()
	if got := l.ask(query); strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Errorf("%s: %s\n got %q\nwant %q", what, query, got, want)
	}
}

// finds expects words to be found in so many events, counted or not.
func (l *life) finds(words string, want int) {
	l.t.Helper()
	var quoted []string
	for _, word := range strings.Fields(words) {
		quoted = append(quoted, `"`+word+`"`)
	}
	got := l.ask("SELECT count(*) FROM fts WHERE fts MATCH ?", "t: ("+strings.Join(quoted, " ")+")")
	if got[0] != fmt.Sprint(want) {
		l.t.Errorf("%q: found in %s rows, want %d", words, got[0], want)
	}
}

// read gives a file's content.
func (s *tree) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// append writes at the end of a file.
func (s *tree) append(name, more string) {
	s.t.Helper()
	s.write(name, s.read(name)+more)
}

// replace writes a file beside and renames it over the old one.
func (s *tree) replace(name, content string) {
	s.t.Helper()
	s.write(name+".new", content)
	s.move(name+".new", name)
}

// move renames a file or a directory.
func (s *tree) move(from, to string) {
	s.t.Helper()
	target := filepath.Join(s.dir, filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.dir, filepath.FromSlash(from)), target); err != nil {
		s.t.Fatal(err)
	}
}

// remove deletes a file, or a directory with all that is in it.
func (s *tree) remove(name string) {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.dir, filepath.FromSlash(name))); err != nil {
		s.t.Fatal(err)
	}
}

// copyDir copies a directory as a program would: with new times.
func (s *tree) copyDir(from, to string) {
	s.t.Helper()
	files := s.files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if rel, ok := strings.CutPrefix(name, from+"/"); ok {
			s.write(to+"/"+rel, files[name])
		}
	}
}
