package ingest_test

import (
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCasesGrow writes the logs of some cases piece by piece, cut anywhere, and expects the result of a single ingest.
func TestCasesGrow(t *testing.T) {
	t.Parallel()
	r, content := drawCases(t)
	s, w := newTree(t), newWorld(t)
	at := map[string]int{}
	const steps = 3
	for step := range steps {
		for _, name := range slices.Sorted(maps.Keys(content)) {
			whole, before := content[name], at[name]
			switch {
			case step == steps-1:
				at[name] = len(whole)
			case claimOf(name, whole).Log:
				end := max(before+r.IntN(len(whole)-before+1), told(name, whole))
				if claimOf(name, whole[:end]) == claimOf(name, whole) { // a line of another program may hide what it is until the next one
					at[name] = end
				}
			}
			if at[name] > before || step == steps-1 && whole == "" {
				s.write(name, whole[:at[name]])
			}
		}
		w.ingest("home", s.dir, ".")
	}
	once := newWorld(t)
	once.ingest("home", s.dir, ".")
	w.compareDumps("grown", w.dump(), once.dump())
}

// TestCasesTorn ingests the logs of some cases cut in the middle of their first lines, which identify them, then the whole logs, and
// expects the result of a reindex: nothing is left of the first guess.
func TestCasesTorn(t *testing.T) {
	t.Parallel()
	r, content := drawCases(t)
	s, w := newTree(t), newWorld(t)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		whole := content[name]
		if first, _, _ := strings.Cut(whole, "\n"); claimOf(name, whole).Log {
			if whole = first; r.IntN(3) > 0 { // else only the end of the line is missing, so its object is whole
				whole = first[:r.IntN(len(first)+1)]
			}
		}
		s.write(name, whole)
	}
	w.ingest("home", s.dir, ".")
	for name, whole := range content {
		s.write(name, whole)
	}
	w.ingest("home", s.dir, ".")
	w.reindexed("whole")
}

// TestCasesContinued ingests the logs of some cases without the line feeds at their ends. Then their programs go on, some with a line feed
// first, some in the same line, which is another one then. It expects the result of a reindex, and of an index that adopts the packs.
func TestCasesContinued(t *testing.T) {
	t.Parallel()
	r, content := drawCases(t)
	s, w := newTree(t), newWorld(t)
	for name, whole := range content {
		if claimOf(name, whole).Log {
			content[name] = strings.TrimRight(whole, "\n")
		}
		s.write(name, content[name])
	}
	w.ingest("home", s.dir, ".")
	other := &world{t: t, dir: w.dir}
	other.open("behind.db")
	if _, err := other.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, name := range slices.Sorted(maps.Keys(content)) {
			if whole := content[name]; claimOf(name, whole).Log {
				lines := strings.Split(whole, "\n")
				content[name] += []string{"\n", "", " ", "\r"}[r.IntN(4)] + lines[r.IntN(len(lines))] + []string{"\n", ""}[r.IntN(2)]
				s.write(name, content[name])
			}
		}
		w.ingest("home", s.dir, ".")
		w.checkReindex("continued")
		if _, err := other.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.compareDumps("adopted", other.dump(), w.dump())
	}
}

// drawCases returns a source of random numbers, and the files of the cases that it draws.
func drawCases(t *testing.T) (*rand.Rand, map[string]string) {
	t.Helper()
	r := seedtest.Rand(t)
	return r, caseFiles(t, r)
}

// caseFiles returns the files of cases, each case in its own directory, except those in which a later line may identify
// the first ones: of a fifth of the cases, which r draws, or of all of them (-cases 0, or without r).
func caseFiles(t *testing.T, r *rand.Rand) map[string]string {
	t.Helper()
	all, err := filepath.Glob("format/*/testdata/*/in")
	if err != nil || len(all) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	content := map[string]string{}
	for _, in := range all {
		if *cases == 1 && r != nil && r.IntN(5) > 0 {
			continue
		}
		files := &tree{t: t, dir: in}
		for name, b := range files.files() {
			if base := path.Base(name); base != "chat.jsonl" && base != "agent-0ld.jsonl" {
				content[strings.TrimPrefix(filepath.ToSlash(in), "format/")+"/"+name] = b
			}
		}
	}
	return content
}

// formatClaim is a claim and the name of its format: the first lines of two formats may be alike, and so may their claims.
type formatClaim struct {
	format.Claim
	of string
}

func claimOf(name, content string) (best formatClaim) {
	head := format.Head{Path: name, Size: int64(len(content)), Bytes: []byte(content[:min(len(content), format.HeadSize)])}
	for _, f := range all.Formats() {
		if c := f.Detect(head); c.Strength > best.Strength {
			best = formatClaim{c, f.Name()}
		}
	}
	return best
}

// told returns the length of the first lines, in bytes, that identify a file. A shorter file is stored without a format, and as a separate
// version.
func told(name, content string) int {
	for end, c := range content {
		if c == '\n' && claimOf(name, content[:end+1]) == claimOf(name, content) {
			return end + 1
		}
	}
	return len(content)
}

// TestCasesLearned archives the files of some cases without any format, or as what they are not, then with the formats, and expects the same
// result as with formats from the start, also if the source is gone. It omits databases and zips, which formats split, and files that formats skip.
func TestCasesLearned(t *testing.T) {
	t.Parallel()
	_, content := drawCases(t)
	s, once := newTree(t), newWorld(t)
	for name, content := range content {
		if !strings.HasPrefix(content, "SQLite format 3\x00") && !strings.HasPrefix(content, "PK") {
			s.write(name, content)
		}
	}
	once.All = true
	once.ingest("home", s.dir, ".")
	want := once.dump()
	for name := range s.files() {
		if !strings.Contains(want, " path="+name+" ") {
			s.remove(name)
		}
	}
	known := once.Formats
	for what, before := range map[string][]format.Format{"no formats": nil, "an impostor": {&impostor{formats: known}}} {
		w, gone := newWorld(t), newWorld(t)
		for _, w := range []*world{w, gone} {
			w.All, w.Formats = true, before
			w.ingest("home", s.dir, ".")
			w.Formats = known
		}
		w.ingest("home", s.dir, ".")
		w.compareDumps("learned after "+what, w.dump(), want)
		moved := s.dir + " moved"
		if err := os.Rename(s.dir, moved); err != nil {
			t.Fatal(err)
		}
		gone.ingest("home", s.dir, ".")
		gone.compareDumps("learned from the packs after "+what, gone.dump(), want)
		gone.reindexed("learned from the packs after " + what)
		if err := os.Rename(moved, s.dir); err != nil {
			t.Fatal(err)
		}
		for _, w.Formats = range [][]format.Format{known, append(slices.Clone(known), failing{})} {
			if r := w.ingest("home", s.dir, "."); r.Unchanged != r.Files {
				t.Errorf("%d files, %d of them unchanged", r.Files, r.Unchanged)
			}
		}
	}
}

// TestCasesLearnedToSplit archives databases and zips as files of no format, then with the formats that split them, and expects the runs that there
// are with formats from the start.
func TestCasesLearnedToSplit(t *testing.T) {
	t.Parallel()
	s, once, w := newTree(t), newWorld(t), newWorld(t)
	for name, content := range caseFiles(t, nil) {
		if strings.HasPrefix(content, "SQLite format 3\x00") || strings.HasPrefix(content, "PK") {
			s.write(name, content)
		}
	}
	runs := func(w *world) []string {
		return w.query("SELECT format || ' ' || native_id || ' ' || events FROM v_runs ORDER BY 1")
	}
	once.ingest("home", s.dir, ".")
	known := w.Formats
	w.All, w.Formats = true, nil
	w.ingest("home", s.dir, ".")
	w.All, w.Formats = false, known
	w.ingest("home", s.dir, ".")
	if got, want := runs(w), runs(once); len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("%d runs, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
	if r := w.ingest("home", s.dir, "."); r.Unchanged != r.Files {
		t.Errorf("%d files, %d of them unchanged", r.Files, r.Unchanged)
	}
}

// impostor claims what is of any of some formats, under the name of one of them.
type impostor struct {
	failing
	formats []format.Format
}

func (*impostor) Name() string { return "pi" }

func (i *impostor) Detect(h format.Head) format.Claim {
	for _, f := range i.formats {
		if c := f.Detect(h); c.Strength > format.None && !c.Skip && c.Role != format.Other {
			return format.Claim{Strength: format.Certain, Role: "text"}
		}
	}
	return format.Claim{}
}

func (*impostor) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		yield(&transcript.Event{Run: in.Path, Kind: transcript.KindMessage, Origin: transcript.Origin{Line: 1, Length: in.Size}}, nil)
	}
}

// TestCasesGrowWork: of sound logs that grow line by line, each ingest makes rows of the new lines alone. It omits the logs of Aider, Grok
// and Windsurf and saved output: a new line may belong to the last message, and rows without times have that of the file.
func TestCasesGrowWork(t *testing.T) {
	t.Parallel()
	logs := map[string]map[string]string{} // by format
	for name, whole := range caseFiles(t, nil) {
		of, _, _ := strings.Cut(name, "/")
		if of == "aider" || of == "grok" || of == "windsurf" || strings.Contains(name, "/testdata/stream") || strings.Contains(name, "/broken/") {
			continue
		}
		if claimOf(name, whole).Log && strings.Count(whole, "\n") > 8 && told(name, whole) < len(whole)/2 {
			if logs[of] == nil {
				logs[of] = map[string]string{}
			}
			logs[of][name] = strings.TrimRight(whole, "\n") + "\n"
		}
	}
	if len(logs) < 15 {
		t.Errorf("logs of %d formats", len(logs))
	}
	const steps = 4
	made := func(formats ...string) (grown, once int64) {
		s, w := newTree(t), newWorld(t)
		for step := range steps {
			for _, of := range formats {
				for name, whole := range logs[of] {
					lines := strings.SplitAfter(whole, "\n")
					s.write(name, strings.Join(lines[:len(lines)-steps+step], ""))
				}
			}
			grown += w.ingest("home", s.dir, ".").Events
		}
		return grown, newWorld(t).ingest("home", s.dir, ".").Events
	}
	formats := slices.Sorted(maps.Keys(logs))
	if grown, once := made(formats...); grown != once {
		t.Errorf("%d rows were made of logs that grow in %d steps, %d at once", grown, steps, once)
		for _, of := range formats {
			if grown, once := made(of); grown != once {
				t.Errorf("%s: %d rows were made of %d logs, %d at once", of, grown, len(logs[of]), once)
			}
		}
	}
}
