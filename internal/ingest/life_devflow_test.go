package ingest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const devflowRun = ".devflow/runs/2026-11-01-implement-0a1b2c3d"

// devflowMeta returns a run's metadata. Running runs have totals of zero.
func devflowMeta(status string, turns int) map[string]any {
	m := map[string]any{
		"runId": path.Base(devflowRun), "flowId": "implement", "nodeId": "", "input": map[string]any{"ticket": "TK-421"},
		"startedAt": "2026-11-01T10:00:00.123456789+01:00", "endedAt": "0001-01-01T00:00:00Z", "status": status,
		"totalTokensIn": 0, "totalTokensOut": 0, "totalCost": 0, "turnCount": 0,
	}
	if status != "running" {
		m["endedAt"], m["turnCount"] = "2026-11-01T10:20:00.5+01:00", turns
		m["totalTokensIn"], m["totalTokensOut"], m["totalCost"] = 100*turns, 10*turns, 0.01*float64(turns)
	}
	return m
}

// devflowTranscript returns a transcript of n turns: a question, then answers with one call and its output each. filler lengthens the answers.
func devflowTranscript(n int, filler string) []byte {
	var turns []map[string]any
	for i := range n {
		turn := map[string]any{"id": i + 1, "role": "assistant", "content": fmt.Sprintf("answer %d %s", i, filler), "tokensOut": 10, "timestamp": "2026-11-01T10:05:00+01:00",
			"toolCalls": []any{map[string]any{"id": fmt.Sprint("c", i), "name": "bash", "input": map[string]any{"command": "go test"}, "output": "ok"}}}
		if i == 0 {
			turn = map[string]any{"id": 1, "role": "user", "content": "implement the basilisk", "tokensIn": 100, "timestamp": "2026-11-01T10:01:00+01:00"}
		}
		turns = append(turns, turn)
	}
	return devflowJSON(map[string]any{"runId": path.Base(devflowRun), "metadata": devflowMeta("completed", n), "turns": turns})
}

func devflowJSON(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return b
}

func gzipped(b []byte) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.String()
}

// tarball archives a directory as devflow does, and removes it.
func (s *tree) tarball(dir, name string) {
	s.t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	at := filepath.Join(s.dir, filepath.FromSlash(dir))
	entries, err := os.ReadDir(at)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b := s.read(dir + "/" + e.Name())
		if err := w.WriteHeader(&tar.Header{Name: path.Base(dir) + "/" + e.Name(), Size: int64(len(b)), Mode: 0o644}); err != nil {
			s.t.Fatal(err)
		}
		w.Write([]byte(b))
	}
	w.Close()
	s.write(name, gzipped(out.Bytes()))
	s.remove(dir)
}

// TestLifeDevflow follows a run from its start into the archive and back.
func TestLifeDevflow(t *testing.T) {
	t.Parallel()
	const (
		meta  = devflowRun + "/metadata.json"
		plain = devflowRun + "/transcript.json"
		gz    = plain + ".gz"
		tgz   = ".devflow/archive/2026-11/2026-11-01-implement-0a1b2c3d.tar.gz"
	)
	l := newLife(t, "devflow")
	l.write(meta, string(devflowJSON(devflowMeta("running", 0))))
	// Turns are in memory only; zeros of a running run state nothing.
	l.ingestAndCheck("running", counts{runs: 1})
	l.checkFresh("running")
	l.checkSearch("tk 421", 1)

	// It ends: the transcript is written first, and metadata over the old ones. The write is met half done.
	whole := string(devflowTranscript(5, ""))
	l.write(plain, whole[:300])
	l.ingestAndCheck("torn", counts{runs: 1, problems: 1})
	l.checkFresh("torn")
	l.write(plain, whole)
	l.write(meta, string(devflowJSON(devflowMeta("completed", 5))))
	// Five turns, four with a call and its output; totals of the metadata: 500, 50, 5 cents.
	want := counts{runs: 1, conversations: 1, events: 5, calls: 4, results: 4, in: 500, out: 50, cost: 50000}
	l.ingestAndCheck("completed", want)
	l.checkFresh("completed")
	l.checkQuery("completed", "SELECT status, outcome FROM v_runs WHERE counted", "completed succeeded")

	// Saved again with more turns, over 100 KB: the .gz is written and the .json removed. It is the same
	// conversation, said at greater length.
	large := devflowTranscript(8, strings.Repeat("words ", 4000))
	if len(large) <= 102400 {
		t.Fatalf("%d bytes are not enough for a .gz", len(large))
	}
	l.write(gz, gzipped(large))
	l.remove(plain)
	l.write(meta, string(devflowJSON(devflowMeta("completed", 8))))
	want = counts{runs: 1, conversations: 1, events: 8, calls: 7, results: 7, in: 800, out: 80, cost: 80000}
	l.ingestAndCheck("compressed", want)
	l.checkFresh("compressed")
	l.checkQuery("versions", "SELECT verdict, events FROM v_conversations WHERE NOT path LIKE '%metadata%' AND verdict <> 'uncounted' ORDER BY path",
		"duplicate 5", "counted 8")

	// Retention: the directory becomes an archive, and comes back.
	kept := map[string]string{meta: l.read(meta), gz: l.read(gz)}
	l.tarball(devflowRun, tgz)
	l.ingestAndCheck("archived", want)
	l.checkFresh("archived")
	l.checkQuery("archived", "SELECT status, input_tokens FROM v_runs WHERE counted", "completed 800")
	for name, content := range kept {
		l.write(name, content)
	}
	l.ingestAndCheck("restored", want)
	l.checkFresh("restored")
	l.remove(tgz)
	l.ingestAndCheck("archive removed", want)
	l.checkFresh("archive removed")
	// The question stands in .json, .gz and archive; the archive's copy and the first .json are found, too, as
	// what does not count.
	l.checkQuery("one counts", "SELECT count(*) FROM v_events WHERE counted AND role = 'user'", "1")
}

// TestLifeDevflowTornAgain is interrupted while it saves a run again: the earlier version counts until the file is
// complete.
func TestLifeDevflowTornAgain(t *testing.T) {
	t.Parallel()
	const plain = devflowRun + "/transcript.json"
	l := newLife(t, "devflow")
	l.write(devflowRun+"/metadata.json", string(devflowJSON(devflowMeta("completed", 3))))
	l.write(plain, string(devflowTranscript(3, "")))
	want := counts{runs: 1, conversations: 1, events: 3, calls: 2, results: 2, in: 300, out: 30, cost: 30000}
	l.ingestAndCheck("completed", want)
	next := string(devflowTranscript(4, ""))
	l.write(plain, next[:len(next)/2])
	want.problems = 1
	l.ingestAndCheck("torn", want)
	l.checkFreshCounts("torn", counts{runs: 1, in: 300, out: 30, cost: 30000, problems: 1})
	l.write(plain, next)
	l.write(devflowRun+"/metadata.json", string(devflowJSON(devflowMeta("completed", 4))))
	want = counts{runs: 1, conversations: 1, events: 4, calls: 3, results: 3, in: 400, out: 40, cost: 40000}
	l.ingestAndCheck("whole", want)
	l.checkFresh("whole")
}

// TestLifeDevflowTornArchive ingests a half-written archive. Its artifacts come first; it may be truncated inside one of them.
func TestLifeDevflowTornArchive(t *testing.T) {
	t.Parallel()
	const tgz = ".devflow/archive/2026-11/2026-11-01-implement-0a1b2c3d.tar.gz"
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, file := range []struct{ name, content string }{
		{"artifacts/spec.md", "# the spec of the hydra\n" + strings.Repeat("words ", 200)},
		{"metadata.json", string(devflowJSON(devflowMeta("completed", 3)))},
		{"transcript.json", string(devflowTranscript(3, ""))},
	} {
		if err := w.WriteHeader(&tar.Header{Name: path.Base(devflowRun) + "/" + file.name, Size: int64(len(file.content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(file.content))
	}
	w.Close()
	l := newLife(t, "devflow")
	l.write(tgz, gzipped(out.Bytes()[:900]))
	l.ingestAndCheck("torn", counts{problems: 1})
	l.checkSearch("hydra", 1)
	whole := gzipped(out.Bytes())
	l.write(tgz, whole[:len(whole)-3])
	want := counts{runs: 1, conversations: 1, events: 3, calls: 2, results: 2, in: 300, out: 30, cost: 30000, problems: 1}
	l.ingestAndCheck("all but the end", want)
	l.write(tgz, whole)
	want.problems = 0
	l.ingestAndCheck("whole", want)
	l.checkFresh("whole")
}

// TestLifeDevflowElsewhere has runs below a base directory of another name: other files of the project belong to no format.
func TestLifeDevflowElsewhere(t *testing.T) {
	t.Parallel()
	l := newLife(t, "devflow")
	at := func(name string) string { return "project/" + strings.TrimPrefix(name, ".devflow/") }
	l.write("project/main.go", "package main\n")
	l.write("project/docs/secret.txt", "not yours")
	l.write("project/archive/old.zip", "PK")
	l.write(at(devflowRun)+"/metadata.json", string(devflowJSON(devflowMeta("completed", 3))))
	l.write(at(devflowRun)+"/transcript.json", string(devflowTranscript(3, "")))
	l.write(at(devflowRun)+"/artifacts/spec.md", "# the spec of the hydra")
	l.write(at(devflowRun)+"/artifacts/files/a.bin", "\x00\x01")
	r := l.world.ingest("home", l.dir, ".")
	if r.Ignored != 3 {
		t.Errorf("%d files left alone, want 3: %v", r.Ignored, l.query("SELECT path FROM v_files"))
	}
	l.checkQuery("whole runs", "SELECT path FROM v_files WHERE NOT path LIKE '%.json' ORDER BY path", at(devflowRun)+"/artifacts/files/a.bin", at(devflowRun)+"/artifacts/spec.md")
	want := counts{runs: 1, conversations: 1, events: 3, calls: 2, results: 2, in: 300, out: 30, cost: 30000}
	if got := countsOf(l.world.totals().Formats["devflow"]); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	l.checkSearch("hydra", 1)
	// Archived, its archive is the only thing that is devflow's in there.
	l.tarball(at(devflowRun), "project/archive/2026-11/2026-11-01-implement-0a1b2c3d.tar.gz")
	l.world.ingest("home", l.dir, ".")
	if got := countsOf(l.world.totals().Formats["devflow"]); got != want {
		t.Errorf("archived: got %+v, want %+v", got, want)
	}
	late := newWorld(t)
	late.ingest("home", l.dir, ".")
	if got := countsOf(late.totals().Formats["devflow"]); got != want {
		t.Errorf("archived, met only now: got %+v, want %+v", got, want)
	}
	for path := range late.allVersions() {
		if !slices.Contains([]string{"project/archive/old.zip", "project/archive/2026-11/2026-11-01-implement-0a1b2c3d.tar.gz"}, path) {
			t.Errorf("%s was archived", path)
		}
	}
}

// TestTwoRunsInADirectory: devflow writes one id into both documents of a run, so metadata with another id belongs to another run, whose usage
// counts wherever the file is.
func TestTwoRunsInADirectory(t *testing.T) {
	t.Parallel()
	l := newLife(t, "devflow")
	l.write(devflowRun+"/transcript.json", string(devflowTranscript(2, "")))
	other := devflowMeta("completed", 3)
	other["runId"] = "2026-11-01-implement-ffffffff"
	l.write(devflowRun+"/metadata.json", string(devflowJSON(other)))
	l.ingestAndCheck("mixed", counts{runs: 2, conversations: 1, events: 2, calls: 1, results: 1, in: 500, out: 50, cost: 50000})
	l.checkFresh("mixed")
}
