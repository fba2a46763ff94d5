package ingest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// world is an archive without the command line: packs, an index and an ingester.
type world struct {
	t     *testing.T
	dir   string
	index *sqlite.DB
	*ingest.Ingester
	reindexes int     // calls of reindexed
	unchecked string  // the last state, if checkReindex left it out
	read      *sql.DB // see reader
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.open("index.db")
	return w
}

// open opens an index over the packs, and creates it if it does not exist.
func (w *world) open(name string) {
	w.t.Helper()
	db := sqlitetest.Open(w.t, filepath.Join(w.dir, name))
	w.t.Cleanup(func() {
		if w.unchecked != "" && w.index == db && !w.t.Failed() {
			w.reindexed(w.unchecked)
		}
	})
	packs := local.New(nil, filepath.Join(w.dir, "packs"))
	w.index, w.read = db, nil
	w.Ingester = &ingest.Ingester{Packs: packs, Originals: pack.NewLibrary(packs, 1<<20), Index: db, Formats: all.Formats(), Writer: "test"}
}

func (w *world) ingest(name, dir, below string) *ingest.Report {
	w.t.Helper()
	r, err := w.Run(context.Background(), []source.Root{{Source: name, Dir: dir, Below: below}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range r.Problems {
		if p.Stage == "detect" || p.Stage == "parse" {
			w.t.Errorf("a format panicked: %v", p)
		}
	}
	return r
}

// reader is a connection to the present index that is none of the program. It is kept, for most of what a question of a test takes is
// to read the schema.
func (w *world) reader() *sql.DB {
	w.t.Helper()
	if w.read == nil {
		db, err := sql.Open("sqlite", "file:"+w.index.Path()+"?mode=ro")
		if err != nil {
			w.t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		w.t.Cleanup(func() { db.Close() })
		w.read = db
	}
	return w.read
}

// views is every view of the contract.
var views = []string{"v_runs", "v_conversations", "v_steps", "v_events", "v_tool_calls", "v_usage", "v_receipts", "v_links", "v_files",
	"v_problems", "v_cost_daily"}

// dump returns the content of all views, sorted.
func (w *world) dump() string {
	w.t.Helper()
	db := w.reader()
	var out strings.Builder
	for _, view := range views {
		rows, err := db.Query("SELECT * FROM " + view)
		if err != nil {
			w.t.Fatalf("%s: %v", view, err)
		}
		columns, _ := rows.Columns()
		var lines []string
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				w.t.Fatalf("%s: %v", view, err)
			}
			var line strings.Builder
			for i, v := range values {
				fmt.Fprintf(&line, " %s=%v", columns[i], *v.(*any))
			}
			lines = append(lines, line.String())
		}
		if err := rows.Err(); err != nil {
			w.t.Fatalf("%s: %v", view, err)
		}
		rows.Close()
		slices.Sort(lines)
		for _, l := range lines {
			fmt.Fprintln(&out, view+l)
		}
	}
	return out.String()
}

// compareDumps fails with the first lines that only one of two dumps has.
func (w *world) compareDumps(what, got, want string) {
	w.t.Helper()
	if got == want {
		return
	}
	g, n := strings.Split(got, "\n"), strings.Split(want, "\n")
	shown := 0
	seen := map[string]int{}
	for _, l := range n {
		seen[l]++
	}
	for _, l := range g {
		if seen[l]--; seen[l] < 0 && shown < 6 {
			w.t.Errorf("%s: only now:\n%s", what, l)
			shown++
		}
	}
	for l, c := range seen {
		if c > 0 && shown < 12 {
			w.t.Errorf("%s: lacks:\n%s", what, l)
			shown++
		}
	}
	w.t.FailNow()
}

func (w *world) totals() index.Stats {
	w.t.Helper()
	s, err := w.index.Totals(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func runs(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("../../testdata/runs", name))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// want has the totals of the shipped examples, counted independently.
var want = map[string]index.Sums{
	"awf":         {Runs: 7, Events: 91, ToolCalls: 14, ToolResults: 4, Input: ptr(1901), Output: ptr(6920), Links: 2},
	"flow-studio": {Runs: 7, Events: 216, ToolCalls: 41, ToolResults: 41, Input: ptr(42764), Output: ptr(12284), ReportedCost: ptr(548835)},
	"chibi":       {Runs: 5, Events: 71, ToolCalls: 11, ToolResults: 11, Input: ptr(22639), Output: ptr(2632), Links: 3},
	"leslie":      {Runs: 5, Events: 26, ToolCalls: 6, ToolResults: 5, ReportedCost: ptr(431200), Links: 3},
	"devflow":     {Runs: 7, Events: 75, ToolCalls: 65, ToolResults: 65, Input: ptr(9845), Output: ptr(10364), ReportedCost: ptr(1295700)},
}

// wantMessages is the number of events with a message, among other parts, in the examples of each format.
var wantMessages = map[string]string{"awf": "23", "flow-studio": "93", "chibi": "27", "leslie": "14", "devflow": "71"}

func ptr(n int64) *int64 { return &n }

func value(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

func checkTotals(t *testing.T, name string, got index.Sums) {
	t.Helper()
	w := want[name]
	for _, n := range []struct {
		what      string
		got, want int64
	}{
		{"runs", got.Runs, w.Runs}, {"events", got.Events, w.Events}, {"tool calls", got.ToolCalls, w.ToolCalls},
		{"tool results", got.ToolResults, w.ToolResults}, {"input", value(got.Input), value(w.Input)}, {"output", value(got.Output), value(w.Output)},
		{"cost", value(got.ReportedCost), value(w.ReportedCost)}, {"links", got.Links, w.Links}, {"problems", got.Problems, w.Problems},
	} {
		if n.got != n.want {
			t.Errorf("%s: %d %s, want %d", name, n.got, n.what, n.want)
		}
	}
}

func TestExamples(t *testing.T) {
	for name := range want {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ingest(name, runs(t, name), ".")
			checkTotals(t, name, w.totals().Formats[name])
			if got := w.query("SELECT sum(messages) FROM v_runs WHERE counted"); got[0] != wantMessages[name] {
				t.Errorf("%s messages, want %s", got[0], wantMessages[name])
			}
			const held = "SELECT sum(events), sum(messages), sum(tool_calls), sum(tool_results) FROM %s WHERE counted"
			if got, want := w.query(fmt.Sprintf(held, "v_conversations")), w.query(fmt.Sprintf(held, "v_runs")); got[0] != want[0] {
				t.Errorf("conversations that count hold %s, runs %s", got[0], want[0])
			}
			before := w.dump()
			packs := w.packs()
			if r := w.ingest(name, runs(t, name), "."); r.Packs != 0 || r.Unchanged != r.Files {
				t.Errorf("a second ingest: %+v", r)
			}
			w.compareDumps("second ingest", w.dump(), before)
			if w.packs() != packs {
				t.Error("a second ingest wrote a pack")
			}
			w.open("again.db")
			if _, err := w.Reindex(context.Background()); err != nil {
				t.Fatal(err)
			}
			w.compareDumps("reindex", w.dump(), before)
		})
	}
}

func (w *world) packs() string {
	var names []string
	filepath.WalkDir(filepath.Join(w.dir, "packs"), func(p string, _ os.DirEntry, err error) error {
		names = append(names, p)
		return err
	})
	return strings.Join(names, "\n")
}

// TestAnyOrder ingests the files of all examples in random order, some of them one by one (-cases 0: half of them), and expects the result of a single ingest.
func TestAnyOrder(t *testing.T) {
	whole := newWorld(t)
	whole.ingest("runs", runs(t, ""), ".")
	for name := range want {
		checkTotals(t, name, whole.totals().Formats[name])
	}
	before := whole.dump()
	r := seedtest.Rand(t)
	var files []string
	root := runs(t, "")
	filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(root, p)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	w := newWorld(t)
	rest := len(files) * 5 / 6
	if *cases != 1 {
		rest = len(files) / 2
	}
	for len(files) > rest {
		n := min(1+r.IntN(60), len(files))
		for _, f := range files[:n] {
			w.ingest("runs", root, f)
			if r.IntN(4) > 0 {
				break
			}
		}
		files = files[1:]
	}
	w.ingest("runs", root, ".")
	w.compareDumps("any order", w.dump(), before)
}

// failing is a format that panics at the word "bug".
type failing struct{}

func (failing) Name() string                             { return "failing" }
func (failing) Version() int                             { return 1 }
func (failing) Text(string, []byte, int) (string, error) { return "", nil }
func (failing) Detect(h format.Head) format.Claim {
	if bytes.HasPrefix(h.Bytes, []byte("bug")) {
		panic("in Detect")
	}
	if !strings.HasSuffix(h.Path, ".failing") {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: "text", Root: path.Dir(h.Path)}
}

func (failing) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		b, err := io.ReadAll(in.Reader)
		if bytes.Contains(b, []byte("bug")) {
			panic("in Parse")
		}
		yield(&transcript.Event{Run: string(b), Kind: transcript.KindMessage, Origin: transcript.Origin{Line: 1, Length: int64(len(b))}}, err)
	}
}

// TestFormatsThatFail: a panic of a format is reported with the file, whose bytes are stored, and the other files are archived.
func TestFormatsThatFail(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	w.Formats = []format.Format{failing{}}
	s.write("a/good.failing", "good")
	s.write("a/half.failing", "a bug comes")
	s.write("a/unknown", "bug")
	s.write("b/unknown", "bug")
	report := func() string {
		r, err := w.Run(t.Context(), []source.Root{{Source: "home", Dir: s.dir, Below: "."}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range r.Problems {
			reason, _, _ := strings.Cut(p.Reason, " at ")
			fmt.Fprintf(&b, "%s %s: %s\n", p.Stage, p.Path, reason)
		}
		return fmt.Sprintf("%d new, %d ignored\n%s", r.New, r.Ignored, b.String())
	}
	const detect = "detect b/unknown: a bug in txarchive's reader of failing, please report it: string\n"
	if got, want := report(), "3 new, 1 ignored\ndetect a/unknown: a bug in txarchive's reader of failing, please report it: string\n"+detect+
		"parse a/half.failing: a bug in txarchive's reader of failing, please report it: string\n"; got != want {
		t.Errorf("first\n%s\nwant\n%s", got, want)
	}
	if got, want := report(), "0 new, 1 ignored\n"+detect; got != want {
		t.Errorf("again\n%s\nwant\n%s", got, want)
	}
	if got := w.dump(); !strings.Contains(got, " kind=failed ") || !strings.Contains(got, "native_id=good ") {
		t.Error(got)
	}
	w.Formats = all.Formats()
	if got, want := report(), "0 new, 1 ignored\n"; got != want {
		t.Errorf("with other formats\n%s\nwant\n%s", got, want)
	}
}

// doubting is a format that panics when it is asked about a file of another one, or about a file in a zip.
type doubting struct{ failing }

func (doubting) Name() string                    { return "doubting" }
func (doubting) Detect(format.Head) format.Claim { return format.Claim{} }
func (doubting) Withholds(format.Head) bool      { panic("in Withholds") }
func (doubting) InZip(string) bool               { panic("in InZip") }

// TestFormatsThatDoubt: such a panic is reported with the file, and the claims of the other formats hold.
func TestFormatsThatDoubt(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	w.Formats = []format.Format{failing{}, doubting{}}
	s.write("a/good.failing", "good")
	var b strings.Builder
	z := zip.NewWriter(&b)
	if _, err := z.Create("conversations.json"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s.write("b/export.zip", b.String())
	r, err := w.Run(t.Context(), []source.Root{{Source: "home", Dir: s.dir, Below: "."}})
	if err != nil {
		t.Fatal(err)
	}
	var bad []string
	for _, p := range r.Problems {
		if bug := (*format.Bug)(nil); errors.As(p.Err, &bug) && bug.Format == "doubting" {
			bad = append(bad, p.Path)
		}
	}
	slices.Sort(bad)
	if fmt.Sprint(bad) != "[a/good.failing b/export.zip]" || r.New != 1 || !strings.Contains(w.dump(), "native_id=good ") {
		t.Errorf("%+v", r)
	}
}

// broken is the format failing in a release that no longer knows its files, and lenient one that would take them.
type (
	broken  struct{ failing }
	lenient struct{ failing }
)

func (broken) Version() int                    { return 2 }
func (broken) Detect(format.Head) format.Claim { panic("in Detect") }
func (lenient) Name() string                   { return "lenient" }
func (lenient) Detect(format.Head) format.Claim {
	return format.Claim{Strength: format.Likely, Role: "text"}
}

// TestFormatsThatBreak: a file that is archived does not become another format's because its own panics in a new release.
func TestFormatsThatBreak(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	w.Formats = []format.Format{failing{}, lenient{}}
	s.write("a/good.failing", "good")
	w.ingest("home", s.dir, ".")
	w.Formats = []format.Format{broken{}, lenient{}}
	r, err := w.Run(t.Context(), []source.Root{{Source: "home", Dir: s.dir, Below: "."}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != 1 || r.Problems[0].Stage != "detect" || r.Unchanged != 1 {
		t.Errorf("%+v", r)
	}
	if got := w.query("SELECT format FROM v_runs"); fmt.Sprint(got) != "[failing]" {
		t.Errorf("it is now of %v", got)
	}
}

// unresolving is a format whose resolver panics.
type unresolving struct{ failing }

func (unresolving) Resolve(*transcript.Family) { panic("in Resolve") }

// TestFormatsThatDoNotResolve: such a panic is reported once, and what was parsed is in the index.
func TestFormatsThatDoNotResolve(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	w.Formats = []format.Format{unresolving{}}
	s.write("a/one.failing", "one")
	s.write("a/two.failing", "two")
	r, err := w.Run(t.Context(), []source.Root{{Source: "home", Dir: s.dir, Below: "."}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != 1 || r.Problems[0].Stage != "resolve" || r.Problems[0].Path == "" || r.New != 2 || r.Events != 2 {
		t.Errorf("%+v", r)
	}
	if got := w.dump(); !strings.Contains(got, "native_id=one ") || !strings.Contains(got, "native_id=two ") {
		t.Error(got)
	}
}

// TestOwnArchive ingests, with All, a directory that contains the archive, then the archive, and a directory in it: the archive does not
// store itself.
func TestOwnArchive(t *testing.T) {
	w := newWorld(t)
	home := filepath.Dir(w.dir)
	if err := os.WriteFile(filepath.Join(home, "note.txt"), []byte("a note"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.ArchiveDir, w.All = w.dir, true
	for range 2 {
		w.ingest("home", home, ".")
	}
	check := func() {
		t.Helper()
		if got := w.dump(); strings.Contains(got, "packs/") || strings.Contains(got, "path=2026/") || !strings.Contains(got, "note.txt") {
			t.Errorf("it took itself:\n%s", got)
		}
	}
	check()
	for _, root := range []source.Root{{Source: "home", Dir: home, Below: filepath.Base(w.dir)}, {Source: "own", Dir: w.dir, Below: "."}, {Source: "packs", Dir: filepath.Join(w.dir, "packs"), Below: "."}} {
		r, err := w.Run(t.Context(), []source.Root{root})
		if err != nil || len(r.Problems) != 1 || r.Problems[0].Stage != "scan" || r.Files > 0 {
			t.Errorf("%s: %+v, %v", root.Source, r, err)
		}
	}
	check()
}
