package ingest_test

import (
	"context"
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
	"github.com/txarchive/txarchive/internal/seedtest"
)

// life replays the life of a program's directory against an archive. A test changes the directory as the
// program would; ingestAndCheck ingests it and checks what must hold at any time.
type life struct {
	*tree
	world    *world
	format   string
	contents map[string][]string // every content that was ingested, by path
	rand     *rand.Rand
}

// counts are the totals of a format that tests compare. Cost is in micro-USD.
type counts struct{ runs, conversations, events, calls, results, in, out, cost, links, problems int64 }

func newLife(t *testing.T, format string) *life {
	return &life{tree: newTree(t), world: newWorld(t), format: format, contents: map[string][]string{}, rand: seedtest.Rand(t)}
}

func countsOf(s index.Sums) counts {
	return counts{s.Runs, s.Conversations, s.Events, s.ToolCalls, s.ToolResults, value(s.Input), value(s.Output), value(s.ReportedCost), s.Links, s.Problems}
}

// ingestAndCheck ingests the directory and expects the given totals; that every content ever ingested is still stored, byte for byte;
// and that a reindex from the packs gives the same index, in every column.
func (l *life) ingestAndCheck(what string, want counts) {
	l.t.Helper()
	l.ingestShuffled()
	if got := countsOf(l.world.totals().Formats[l.format]); got != want {
		l.t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
	l.recordContents()
	l.checkStored(what)
	l.world.checkReindex(what)
}

// ingestShuffled ingests up to three random files by themselves, then the whole directory; but for a long run it mostly ingests the directory
// alone.
func (l *life) ingestShuffled() {
	l.t.Helper()
	if *cases == 1 && l.rand.IntN(3) > 0 {
		l.world.ingest("home", l.dir, ".")
		return
	}
	paths := slices.Sorted(maps.Keys(l.files()))
	l.rand.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for _, p := range paths[:min(len(paths), l.rand.IntN(4))] {
		l.world.ingest("home", l.dir, p)
	}
	l.world.ingest("home", l.dir, ".")
}

// checkReindex expects a reindex to give the same index: in one of ten states and in the last one of a test, or, in a long run, in each.
func (w *world) checkReindex(what string) {
	w.t.Helper()
	if w.unchecked = what; *cases != 1 || rand.IntN(10) == 0 {
		w.reindexed(what)
	}
}

// reindexed reindexes. Differences compares every row of every view, as the dumps would, which tell what is in the rows that differ;
// only in a long run are they compared whenever they may be.
func (w *world) reindexed(what string) {
	w.t.Helper()
	w.unchecked = ""
	w.reindexes++
	fresh := &world{t: w.t, dir: w.dir}
	fresh.open(fmt.Sprintf("again-%d.db", w.reindexes))
	if _, err := fresh.Reindex(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	alike := true
	if _, err := w.index.Differences(context.Background(), fresh.index, func(problem string) {
		alike = false
		w.t.Errorf("%s (-cases 0 checks every state): %s", what, problem)
	}); err != nil {
		w.t.Fatal(err)
	}
	if !alike || *cases != 1 {
		w.compareDumps(what+": reindex", fresh.dump(), w.dump())
	}
}

// checkFresh expects the same totals from a new archive that ingests only the present state of the directory. It does so every second time, and
// always in a long run.
func (l *life) checkFresh(what string) {
	l.t.Helper()
	if *cases == 1 && l.rand.IntN(2) == 0 {
		return
	}
	l.checkFreshCounts(what, countsOf(l.world.totals().Formats[l.format]))
}

// checkFreshCounts expects the given totals from a new archive that ingests only the present state, after something was lost.
func (l *life) checkFreshCounts(what string, want counts) {
	l.t.Helper()
	fresh := newWorld(l.t)
	fresh.ingest("home", l.dir, ".")
	if got := countsOf(fresh.totals().Formats[l.format]); got != want {
		l.t.Errorf("%s, fresh archive:\n got %+v\nwant %+v", what, got, want)
	}
}

// recordContents adds the present content of all files to contents.
func (l *life) recordContents() {
	l.t.Helper()
	for p, content := range l.files() {
		if all := l.contents[p]; len(all) == 0 || all[len(all)-1] != content {
			l.contents[p] = append(all, content)
		}
	}
}

// files returns the content of all files by path.
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

// checkStored expects each recorded content among the stored versions of its path. A content that has grown since is a prefix
// of a version.
func (l *life) checkStored(what string) {
	l.t.Helper()
	stored := l.world.allVersions()
	for path, contents := range l.contents {
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

// allVersions returns the content of every version of every path.
func (w *world) allVersions() map[string][]string {
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

func (l *life) query(query string, args ...any) []string {
	l.t.Helper()
	return l.world.query(query, args...)
}

// query returns the rows of an SQL query, with columns separated by spaces.
func (w *world) query(query string, args ...any) []string {
	w.t.Helper()
	rows, err := w.reader().Query(query, args...)
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

// checkQuery expects the rows of an SQL query.
func (l *life) checkQuery(what, query string, want ...string) {
	l.t.Helper()
	if got := l.query(query); strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Errorf("%s: %s\n got %q\nwant %q", what, query, got, want)
	}
}

// checkSearch expects a full-text search for words to match a number of rows, counted or not.
func (l *life) checkSearch(words string, want int) {
	l.t.Helper()
	var quoted []string
	for _, word := range strings.Fields(words) {
		quoted = append(quoted, `"`+word+`"`)
	}
	got := l.query("SELECT count(*) FROM fts WHERE fts MATCH ?", "t: ("+strings.Join(quoted, " ")+")")
	if got[0] != fmt.Sprint(want) {
		l.t.Errorf("%q: found in %s rows, want %d", words, got[0], want)
	}
}

// read returns the content of a file.
func (s *tree) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// append appends to a file.
func (s *tree) append(name, more string) {
	s.t.Helper()
	s.write(name, s.read(name)+more)
}

// replace writes a new file and renames it over the old one.
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

// remove deletes a file, or a directory with everything in it.
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
