package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// checkFile checks that a restored file is as it was stored.
func (w *world) checkFile(path, key string) {
	w.t.Helper()
	s := w.was[key]
	data, err := os.ReadFile(path)
	if err != nil || string(data) != string(s.content) {
		w.t.Errorf("%s: %d bytes, not the %d of the original (%v)", key, len(data), s.Size, err)
		return
	}
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(s.ModTime) || uint32(info.Mode().Perm()) != s.Mode {
		w.t.Errorf("%s has mode %v and time %v, not %o and %v", key, info.Mode(), info.ModTime(), s.Mode, s.ModTime)
	}
}

func fillWorld(t *testing.T) *world {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a/log.jsonl", content: text("a", 300)}, file{source: "runs", path: "empty", mode: 0o600},
		file{source: "other", path: "big", content: text("big", 50000), mode: 0o444})
	w.put(file{source: "runs", path: "a/log.jsonl", content: text("a", 800)}, file{source: "other", path: "copy", content: text("big", 50000)},
		file{source: "runs", path: "not utf-8 \xff\xfe", content: "bytes"})
	w.put(file{source: "runs", path: "a/log.jsonl", number: 2, content: "rewritten"})
	return w
}

func TestRestoreAll(t *testing.T) {
	w := fillWorld(t)
	bare := openArchive(t, w.dir, Read, testOptions())
	noIndex := &Archive{}
	for name, a := range map[string]*Archive{"index": bare, "manifests": withoutIndex(t, w, &noIndex)} {
		t.Run(name, func(t *testing.T) {
			dir, got, err := restoreAll(t, a, RestoreOptions{All: true, AllVersions: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(w.was) {
				t.Errorf("%d were restored of %d", len(got), len(w.was))
			}
			for key, s := range w.was {
				path := filepath.Join(dir, s.Source, s.Path)
				if key == "runs/a/log.jsonl@1" {
					path += "@v1"
				}
				w.checkFile(path, key)
			}
			if _, err := os.Stat(filepath.Join(dir, "runs", "a", "log.jsonl@v2")); err == nil {
				t.Error("the newest version has a number")
			}
		})
	}
}

// withoutIndex opens a copy of the packs alone.
func withoutIndex(t *testing.T, w *world, to **Archive) *Archive {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bare")
	if err := os.CopyFS(filepath.Join(dir, "packs"), os.DirFS(filepath.Join(w.dir, "packs"))); err != nil {
		t.Fatal(err)
	}
	opts := testOptions()
	opts.NoIndex = true
	*to = openArchive(t, dir, Read, opts)
	return *to
}

func TestRestoreChoice(t *testing.T) {
	w := fillWorld(t)
	r := w.open(Read)
	for name, c := range map[string]struct {
		o    RestoreOptions
		want string // names, sorted
	}{
		"newest":    {RestoreOptions{All: true}, "other/big other/copy runs/a/log.jsonl runs/empty runs/not utf-8 \xff\xfe"},
		"source":    {RestoreOptions{Source: "other"}, "other/big other/copy"},
		"version":   {RestoreOptions{All: true, Version: 2}, "runs/a/log.jsonl"},
		"path":      {RestoreOptions{Paths: []string{"a/log.jsonl"}}, "runs/a/log.jsonl"},
		"with root": {RestoreOptions{Paths: []string{"runs/a"}}, "runs/a/log.jsonl"},
		"directory": {RestoreOptions{Paths: []string{"a/", "big"}}, "other/big runs/a/log.jsonl"},
		"whole":     {RestoreOptions{Paths: []string{"other"}}, "other/big other/copy"},
		"both":      {RestoreOptions{Source: "runs", Paths: []string{"big", "empty"}}, "runs/empty"},
	} {
		dir, _, err := restoreAll(t, r, c.o)
		if name == "both" && errors.Is(err, index.ErrNotFound) && strings.Contains(err.Error(), `"big"`) {
			err = nil // what the others mean is restored
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for _, path := range strings.Split(list(t, dir), "\n") {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				rel, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, filepath.ToSlash(rel))
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, o := range []RestoreOptions{{Source: "none"}, {Paths: []string{"a/lo"}}, {All: true, Version: 3}, {Runs: []string{"nobody"}}} {
		if _, _, err := restoreAll(t, r, o); !errors.Is(err, index.ErrNotFound) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []RestoreOptions{{}, {All: true, To: w.dir}, {All: true, To: filepath.Join(w.dir, "packs", "x")}} {
		if _, _, err := restoreAll(t, r, o); err == nil {
			t.Errorf("%+v did something", o)
		}
	}
}

// TestRestorePathWork: of the index, a restore of some paths reads the versions that these match, each once, and no others.
func TestRestorePathWork(t *testing.T) {
	w := fillWorld(t)
	w.put(file{source: "runs", path: "a/sub/deep", content: "1"}, file{source: "runs", path: "a-b", content: "2"}, file{source: "runs", path: "a0", content: "3"},
		file{source: "runs", path: "other/big", content: "4"}, file{source: "other", path: "runs/a", content: "5"}, file{source: "other", path: "odd//name", content: "6"})
	r := w.open(Read)
	versions := func(o RestoreOptions, has func(original) bool) (all []string) {
		for v, err := range r.originals(t.Context(), o) {
			if err != nil {
				t.Fatal(err)
			}
			if has(v) {
				all = append(all, fmt.Sprint(v.Source, "/", v.Path, "@", v.Number))
			}
		}
		slices.Sort(all)
		return all
	}
	for _, source := range []string{"", "runs", "other", "none"} {
		for _, paths := range [][]string{{"a"}, {"runs/a"}, {"other/big"}, {"a/", "runs/a/sub", "runs/a"}, {"runs"}, {"."}, {"a", "."}, {"odd//name"}, {"odd"}, {"not utf-8 \xff\xfe"}, {"a/lo"}, {"/a"}} {
			all := RestoreOptions{Source: source, AllVersions: true}
			want := versions(all, func(v original) bool { return underAny(paths, make([]bool, len(paths)), v.Source, v.Path) })
			all.Paths = paths
			if got := versions(all, func(original) bool { return true }); !slices.Equal(got, want) {
				t.Errorf("%q of source %q: read %q, want %q", paths, source, got, want)
			}
		}
	}
}

func TestRestoreOverwrite(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "same", content: "one"}, file{source: "runs", path: "size", content: "two"}, file{source: "runs", path: "bytes", content: "three"},
		file{source: "runs", path: "new", content: "four"}, file{source: "runs", path: "dir", content: "five"}, file{source: "runs", path: "link", content: "six"})
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	w.check(os.WriteFile(outside, []byte("six"), 0o600))
	w.check(os.MkdirAll(filepath.Join(dir, "runs", "dir"), 0o700))
	w.check(os.Symlink(outside, filepath.Join(dir, "runs", "link")))
	for name, content := range map[string]string{"same": "one", "size": "longer", "bytes": "THREE"} {
		w.check(os.WriteFile(filepath.Join(dir, "runs", name), []byte(content), 0o600))
	}
	r := w.open(Read)
	actions := func(o RestoreOptions) string {
		o.All, o.To = true, dir
		_, got, err := restoreAll(t, r, o)
		if err == nil || !errors.Is(err, fs.ErrExist) && !o.Overwrite {
			t.Errorf("%+v: %v", o, err)
		}
		var out []string
		for _, name := range []string{"same", "size", "bytes", "new", "dir", "link"} {
			d := got["runs/"+name+"@1"]
			if (d.Err != nil) != (d.Action == ActionRefused || d.Action == ActionFailed) {
				t.Errorf("%s is %s with %v", name, d.Action, d.Err)
			}
			if name == "dir" && !errors.Is(d.Err, ErrDirectory) {
				t.Errorf("a directory is in the way: %v", d.Err)
			}
			out = append(out, d.Action)
		}
		return strings.Join(out, " ")
	}
	if got := actions(RestoreOptions{DryRun: true}); got != "unchanged refused refused planned refused refused" {
		t.Errorf("dry run: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs", "new")); err == nil {
		t.Error("a dry run has written")
	}
	if got := actions(RestoreOptions{DryRun: true, Overwrite: true}); got != "unchanged planned planned planned refused planned" {
		t.Errorf("dry run of overwriting: %s", got)
	}
	if got := actions(RestoreOptions{}); got != "unchanged refused refused restored refused refused" {
		t.Errorf("careful: %s", got)
	}
	if got := actions(RestoreOptions{Overwrite: true}); got != "unchanged restored restored unchanged refused restored" {
		t.Errorf("overwriting: %s", got)
	}
	w.checkFile(filepath.Join(dir, "runs", "bytes"), "runs/bytes@1")
	if info, err := os.Lstat(filepath.Join(dir, "runs", "link")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link was not replaced: %v", err)
	}
	if strings.Contains(list(t, dir), ".tmp-") {
		t.Error("leftovers")
	}
	missing := filepath.Join(dir, "missing")
	if _, _, err := restoreAll(t, r, RestoreOptions{All: true, DryRun: true, To: missing}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a dry run made the directory")
	}
}

func TestRestoreHostileNames(t *testing.T) {
	w := newWorld(t)
	names := map[string]string{ // and where they go
		"../../escape": "%2E%2E/%2E%2E/escape", "/abs/olute": "%-/abs/olute", "a//b": "a/%-/b", "a/./b": "a/%2E/b", "a/../b": "a/%2E%2E/b",
		"ends/": "ends/%-", "nul\x00byte": "nul%00byte", "new\nline": "new\nline", "100%": "100%", "-rf": "-rf", ".": "%2E",
		".tmp-x": ".tmp-x", "数据库/会话": "数据库/会话", "..dots..": "..dots..", "c:\\x": "c:\\x",
	}
	var files []file
	for name := range names {
		files = append(files, file{source: "runs", path: name, content: "of " + name})
	}
	files = append(files, file{source: "../up", path: "x", content: "source"})
	for _, f := range files {
		w.put(f) // some cannot stand in one pack
	}
	above := t.TempDir()
	dir := filepath.Join(above, "deep", "er", "target")
	_, got, err := restoreAll(t, w.open(Read), RestoreOptions{All: true, To: dir})
	if err != nil {
		t.Error(err)
	}
	for name, want := range names {
		d := got["runs/"+name+"@1"]
		if d.Name != "runs/"+want || d.Action != ActionRestored {
			t.Errorf("%q went to %q: %s, %v", name, d.Name, d.Action, d.Err)
			continue
		}
		w.checkFile(filepath.Join(dir, filepath.FromSlash(d.Name)), "runs/"+name+"@1")
	}
	if d := got["../up/x@1"]; d.Name != "..%2Fup/x" || d.Err != nil {
		t.Errorf("the source went to %q, %v", d.Name, d.Err)
	}
	for _, path := range strings.Split(list(t, above), "\n") {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(path, dir+"/") {
			t.Errorf("outside of the target there is %s", path)
		}
	}
}

// TestRestoreLongNames: earlier versions of files with the longest names, of which only the ends differ, are restored beside them.
func TestRestoreLongNames(t *testing.T) {
	w := newWorld(t)
	ascii, runes := strings.Repeat("a", maxName-1), strings.Repeat("語", maxName/3-1)+"xy"
	names := []string{"d/" + ascii + "1", "d/" + ascii + "2", runes + "1", runes + "2", ascii[:maxName-3]}
	for number := range 3 {
		for _, name := range names {
			w.put(file{source: "runs", path: name, number: number + 1, content: fmt.Sprint(name, number)})
		}
	}
	dir, _, err := restoreAll(t, w.open(Read), RestoreOptions{All: true, AllVersions: true})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, path := range strings.Split(list(t, dir), "\n") {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if !utf8.ValidString(path) {
				t.Errorf("%q", path)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			have[string(content)] = true
		}
	}
	if len(have) != 3*len(names) {
		t.Errorf("%d contents, want %d", len(have), 3*len(names))
	}
	if got, want := suffixed("d/"+ascii[:maxName-3], "@v1"), "d/"+ascii[:maxName-3]+"@v1"; got != want {
		t.Errorf("%s is shortened to %s", want, got)
	}
}

func TestRestoreThroughLinks(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "x"})
	dir, outside := t.TempDir(), t.TempDir()
	w.check(os.Symlink(outside, filepath.Join(dir, "runs")))
	_, got, err := restoreAll(t, w.open(Read), RestoreOptions{All: true, Overwrite: true, To: dir})
	if err == nil || got["runs/a@1"].Action != ActionFailed {
		t.Errorf("%v, %+v", err, got)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

func TestRestoreTwoOfOneName(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "..", content: "hostile"})
	w.put(file{source: "runs", path: "%2E%2E", content: "literal"})
	_, got, err := restoreAll(t, w.open(Read), RestoreOptions{All: true, Overwrite: true})
	if err == nil || got["runs/..@1"].Action == got["runs/%2E%2E@1"].Action {
		t.Errorf("one overwrote the other: %v, %+v", err, got)
	}
}

func TestRestoreDamage(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "good", content: text("good", 100)})
	bad := w.put(file{source: "runs", path: "bad", content: text("bad", 5000)}, file{source: "runs", path: "beside", content: text("beside", 5000)})
	w.damage(bad.Pack, bad.Members[0].Offset+bad.Members[0].Size/2)
	var bare *Archive
	for name, a := range map[string]*Archive{"index": w.open(Read), "manifests": withoutIndex(t, w, &bare)} {
		dir, got, err := restoreAll(t, a, RestoreOptions{All: true})
		if !errors.Is(err, blob.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		for path, want := range map[string]string{"good": ActionRestored, "beside": ActionRestored, "bad": ActionFailed} {
			if d := got["runs/"+path+"@1"]; d.Action != want {
				t.Errorf("%s: %s is %s, %v", name, path, d.Action, d.Err)
			}
		}
		if strings.Contains(list(t, dir), "bad") || strings.Contains(list(t, dir), ".tmp-") {
			t.Errorf("%s: something of the damaged file is there", name)
		}
	}
}

// TestRestoreBesideForget: while an original is being read, another process redacts it, as forget does. What is restored is what the index
// says then. An original that has changed without that is corrupt, and one that is removed is not found.
func TestRestoreBesideForget(t *testing.T) {
	const place = "UPDATE extents SET (pack, raw, sha256) = (SELECT x.pack, x.raw, x.sha256 FROM extents x, versions v, files f WHERE x.chain = v.chain AND f.id = v.file AND f.path = 'redacted' AND x.offset = extents.offset);"
	const hash = "UPDATE versions SET sha256 = (SELECT v.sha256 FROM versions v, files f WHERE f.id = v.file AND f.path = 'redacted');"
	for name, c := range map[string]struct {
		change string
		want   error
	}{
		"redacted": {place + hash, nil},
		"damaged":  {place, blob.ErrCorrupt},
		"removed":  {place + "UPDATE versions SET grave = 'tombstone'", index.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			const window, size = 64 << 10, 2 * (64 << 10) // the second window is located after the change
			w.put(file{source: "runs", path: "a", content: text("secret", size)})
			w.put(file{source: "runs", path: "redacted", content: text("marked", size)})
			r := w.open(Read)
			r.window = window
			r.library = pack.NewLibrary(&movingStore{Store: r.packs, move: func() { alter(t, r.Index().Path(), c.change) }}, 0)
			dir, got, err := restoreAll(t, r, RestoreOptions{Paths: []string{"a"}})
			if !errors.Is(err, c.want) {
				t.Fatalf("%+v, %v", got, err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "runs", "a")); c.want == nil && (err != nil || string(b) != text("marked", size)) {
				t.Errorf("%d bytes, %v", len(b), err)
			}
		})
	}
}

func TestRestoreStops(t *testing.T) {
	w := fillWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := w.open(Read).Restore(ctx, RestoreOptions{All: true, To: t.TempDir()}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRestoreAt restores every state that was archived at some time, whatever was archived later.
func TestRestoreAt(t *testing.T) {
	w := newWorld(t)
	const name = "runs/a/log.jsonl"
	var times []time.Time
	var states []string
	put := func(number int, content string) {
		m := w.put(file{source: "runs", path: "a/log.jsonl", number: number, content: content}, file{source: "runs", path: fmt.Sprintf("other%d", len(states)), content: content})
		times, states = append(times, m.Created), append(states, content)
	}
	put(1, text("a", 300))
	put(1, text("a", 800))
	put(2, "rewritten")
	put(2, "rewritten, and grown")
	r := w.open(Read)
	for i, at := range times {
		dir, got, err := restoreAll(t, r, RestoreOptions{All: true, At: at})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != i+2 {
			t.Errorf("at %v: %d files, want %d", at, len(got), i+2)
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != states[i] {
			t.Errorf("at %v: %q, want %q (%v)", at, b, states[i], err)
		}
	}
	if _, _, err := restoreAll(t, r, RestoreOptions{All: true, At: times[0].Add(-time.Second)}); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("before everything: %v", err)
	}
}

// TestRestoreRoots restores each source to where it came from, without overwriting other files.
func TestRestoreRoots(t *testing.T) {
	w := fillWorld(t)
	r := w.open(Read)
	runs, other := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	mine := filepath.Join(runs, "empty")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := RestoreOptions{
		All: true, Roots: map[string]string{"runs": runs, "other": other},
		Apart: func(v blob.Version) bool { return v.Path == "copy" },
	}
	actions := map[string]string{}
	err := r.Restore(t.Context(), o, func(d Restored) { actions[d.Source+"/"+d.Path] = d.Action })
	if err == nil || actions["runs/empty"] != ActionRefused || actions["other/copy"] != ActionFailed {
		t.Errorf("%v, %v", actions, err)
	}
	w.checkFile(filepath.Join(runs, "a", "log.jsonl"), "runs/a/log.jsonl@2")
	w.checkFile(filepath.Join(other, "big"), "other/big@1")
	if b, err := os.ReadFile(mine); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(w.dir, "packs"), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(w.dir, "inside"), link, filepath.Join(link, "new")} {
		o.Roots = map[string]string{"runs": dir}
		if err := r.Restore(t.Context(), o, nil); !errors.Is(err, ErrInside) {
			t.Errorf("restored into the archive, to %s: %v", dir, err)
		}
		if err := r.Restore(t.Context(), RestoreOptions{All: true, To: dir}, nil); !errors.Is(err, ErrInside) {
			t.Errorf("restored all into the archive, to %s: %v", dir, err)
		}
	}
}

// TestRestoreWhileTheCatalogGoesOn: workers read originals while the catalog is rebuilt for the next span.
func TestRestoreWhileTheCatalogGoesOn(t *testing.T) {
	w := fillWorld(t)
	noIndex := &Archive{}
	a := withoutIndex(t, w, &noIndex)
	c, err := a.readCatalog(t.Context(), noLimit, func(pack string, err error) { t.Errorf("%s: %v", pack, err) })
	w.check(err)
	var found []original
	for _, v := range c.sorted() {
		found = append(found, a.packedOriginal(c, v, nil))
	}
	for _, p := range c.packs { // as advance leaves it for a moment
		p.listed = false
	}
	c.contents = pack.ContentIndex{}
	clear(c.versions)
	if len(found) != len(w.was) {
		t.Errorf("%d originals of %d", len(found), len(w.was))
	}
	for _, o := range found {
		if data, err := io.ReadAll(o.read(t.Context())); err != nil || int64(len(data)) != o.Size {
			t.Errorf("%s/%s@%d: %d bytes of %d, %v", o.Source, o.Path, o.Number, len(data), o.Size, err)
		}
	}
}

// TestRestoreInTheOrderOfThePacks checks that originals are read in the order of the packs, with and without an index: in the order of
// names, a member would be inflated for nearly every one of a million small originals.
func TestRestoreInTheOrderOfThePacks(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.put(file{"s", fmt.Sprint("f", i*7%20), 1, fmt.Sprint("content ", i), 0o600}, file{"s", fmt.Sprint("g", i*3%20), 1, fmt.Sprint("other ", i), 0o600})
	}
	opts := testOptions()
	opts.NoIndex = true
	for _, a := range []*Archive{w.open(Read), openArchive(t, w.dir, Read, opts)} {
		r := &restorer{archive: a, opts: RestoreOptions{All: true, To: t.TempDir()}, targets: map[string]*target{}, names: newNameSet()}
		jobs := make(chan job)
		var err error
		go func() {
			defer close(jobs)
			err = r.dispatch(t.Context(), jobs)
		}()
		var places []blob.Copy
		for j := range jobs {
			places = append(places, j.place)
		}
		if err = errors.Join(err, r.close()); err != nil || len(places) != 40 || !slices.IsSortedFunc(places, blob.Copy.Compare) || places[0] == places[39] {
			t.Errorf("they are read at %v, %v", places, err)
		}
	}
}
