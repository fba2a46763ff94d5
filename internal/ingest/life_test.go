package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
)

// tree is a source whose files a test writes as a program would.
type tree struct {
	t   *testing.T
	dir string
	now time.Time
}

func newTree(t *testing.T) *tree {
	return &tree{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
}

// write writes a file and gives it a new modification time, old enough to be trusted.
func (s *tree) write(name, content string) {
	s.t.Helper()
	p := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o640); err != nil {
		s.t.Fatal(err)
	}
	s.date(name)
}

// date gives a file a new modification time, old enough to be trusted.
func (s *tree) date(name string) {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	if err := os.Chtimes(filepath.Join(s.dir, filepath.FromSlash(name)), s.now, s.now); err != nil {
		s.t.Fatal(err)
	}
}

const (
	runA = "11111111-1111-4111-8111-111111111111"
	runB = "22222222-2222-4222-8222-222222222222"
)

// awfLine returns one event of an AWF transcript.
func awfLine(run string, seq int, text string) string {
	return fmt.Sprintf(`{"seq":%d,"run_id":%q,"type":"message.user","path":"flow","iteration":0,"timestamp":"2026-11-01T10:%02d:%02d.5Z","payload":{"role":"user","blocks":[{"type":"text","fidelity":"router","text":%q}]}}`,
		seq, run, seq/60, seq%60, text) + "\n"
}

func awfLines(run string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		b.WriteString(awfLine(run, i, fmt.Sprintf("message number %d", i)))
	}
	return b.String()
}

// versions returns the content of every version of a path, oldest first.
func (w *world) versions(path string) []string {
	w.t.Helper()
	var all []string
	for s, err := range w.index.States(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Path != path {
			continue
		}
		b, err := io.ReadAll(w.Originals.Reader(context.Background(), s.Extents))
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, string(b))
	}
	return all
}

// checkVersions expects a number of AWF events, the content of each version of a path, and that a reindex gives the same index.
func (w *world) checkVersions(what, path string, events int64, versions ...string) {
	w.t.Helper()
	if got := w.totals().Formats["awf"].Events; got != events {
		w.t.Errorf("%s: %d events, want %d", what, got, events)
	}
	if got := w.versions(path); strings.Join(got, "\x00") != strings.Join(versions, "\x00") {
		w.t.Errorf("%s: %d versions stored of %s, want %d with the bytes that were written", what, len(got), path, len(versions))
	}
	w.checkReindex(what)
}

const transcriptA = "storage/transcripts/" + runA + ".jsonl"

func TestGrowth(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	ten := awfLines(runA, 1, 10)
	s.write(transcriptA, ten)
	w.ingest("awf", s.dir, ".")
	w.checkVersions("ten", transcriptA, 10, ten)

	torn := ten + awfLines(runA, 11, 15) + awfLine(runA, 16, "half a line")[:60]
	s.write(transcriptA, torn)
	r := w.ingest("awf", s.dir, ".")
	if r.Grown != 1 || r.RawBytes != int64(len(torn)-len(ten)) || r.Events != 5 {
		t.Errorf("growth stored more than the tail: %+v", r)
	}
	if n := w.totals().Formats["awf"].Problems; n != 1 {
		t.Errorf("%d problems for a torn line, want 1", n)
	}
	w.checkVersions("torn", transcriptA, 15, torn)

	whole := ten + awfLines(runA, 11, 15) + awfLine(runA, 16, "half a line")
	s.write(transcriptA, whole)
	if r := w.ingest("awf", s.dir, "."); r.Events != 1 {
		t.Errorf("a completed line gave %d rows, want 1", r.Events)
	}
	if n := w.totals().Formats["awf"].Problems; n != 0 {
		t.Errorf("%d problems after the line was completed", n)
	}
	w.checkVersions("whole", transcriptA, 16, whole)

	once := newWorld(t)
	once.ingest("awf", s.dir, ".")
	w.compareDumps("growth against one go", w.dump(), once.dump())
}

func TestRewriteTruncateDeleteRename(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	first := awfLines(runA, 1, 10)
	s.write(transcriptA, first)
	w.ingest("awf", s.dir, ".")
	rewritten := awfLines(runA, 1, 4) + awfLine(runA, 5, "another fifth") + awfLines(runA, 6, 12)
	s.write(transcriptA, rewritten)
	if r := w.ingest("awf", s.dir, "."); r.Rewritten != 1 {
		t.Errorf("a rewrite: %+v", r)
	}
	w.checkVersions("rewritten", transcriptA, 12, first, rewritten)
	truncated := awfLines(runA, 1, 3)
	s.write(transcriptA, truncated)
	w.ingest("awf", s.dir, ".")
	w.checkVersions("truncated", transcriptA, 3, first, rewritten, truncated)

	moved := "storage/transcripts/" + runB + ".jsonl"
	if err := os.Rename(filepath.Join(s.dir, transcriptA), filepath.Join(s.dir, moved)); err != nil {
		t.Fatal(err)
	}
	r := w.ingest("awf", s.dir, ".")
	if r.Copies != 1 || r.StoredBytes > 2000 {
		t.Errorf("a renamed file was stored anew: %+v", r)
	}
	w.checkVersions("renamed", moved, 3, truncated)
	if err := os.RemoveAll(filepath.Join(s.dir, "storage")); err != nil {
		t.Fatal(err)
	}
	before := w.dump()
	w.ingest("awf", s.dir, ".")
	w.compareDumps("deleted", w.dump(), before)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	r = w.ingest("awf", s.dir, ".")
	if len(r.Missing) != 1 || r.Packs != 0 {
		t.Errorf("a missing root: %+v", r)
	}
	w.compareDumps("missing", w.dump(), before)
}

// TestMirror grows a transcript and its debug mirror in turn: whoever is ahead counts, and nothing counts twice.
func TestMirror(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const mirror = "elsewhere/mirror.jsonl"
	bad := "not json at all\n"
	for i, step := range []struct{ file, content string }{
		{transcriptA, awfLines(runA, 1, 3) + bad},
		{mirror, awfLines(runA, 1, 3) + bad},
		{transcriptA, awfLines(runA, 1, 3) + bad + awfLines(runA, 4, 6)},
		{mirror, awfLines(runA, 1, 3) + bad + awfLines(runA, 4, 8)},
		{transcriptA, awfLines(runA, 1, 3) + bad + awfLines(runA, 4, 9)},
		{mirror, awfLines(runA, 1, 3) + bad + awfLines(runA, 4, 9)},
	} {
		s.write(step.file, step.content)
		w.ingest("awf", s.dir, ".")
		events := int64([]int{3, 3, 6, 8, 9, 9}[i])
		w.checkVersions(fmt.Sprint("step ", i), step.file, events, step.content)
	}
	if n := w.totals().Formats["awf"].Problems; n != 1 {
		t.Errorf("%d problems for a bad line that stands in a file and its mirror, want 1", n)
	}
	once := newWorld(t)
	once.ingest("awf", s.dir, ".")
	w.compareDumps("mirror against one go", w.dump(), once.dump())
}

// TestLargeFile stores a file of several extents, which leaves in several packs, and grows it.
func TestLargeFile(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	var b bytes.Buffer
	filler := strings.Repeat("all work and no play ", 40000)
	n := 0
	for b.Len() < 26<<20 {
		n++
		b.WriteString(awfLine(runA, n, filler))
	}
	s.write(transcriptA, b.String())
	r := w.ingest("awf", s.dir, ".")
	if r.Packs < 2 || r.New+r.Grown != 1 {
		t.Errorf("a file of 26 MiB: %+v", r)
	}
	b.WriteString(awfLine(runA, n+1, "the end"))
	s.write(transcriptA, b.String())
	if r := w.ingest("awf", s.dir, "."); r.RawBytes > 1000 || r.Events != 1 {
		t.Errorf("growth of a large file: %+v", r)
	}
	w.checkVersions("large", transcriptA, int64(n+1), b.String())
}

// TestAdopt loses the index's knowledge of a pack, as a crash between pack and transaction does.
func TestAdopt(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(transcriptA, awfLines(runA, 1, 5))
	w.ingest("awf", s.dir, ".")
	s.write(transcriptA, awfLines(runA, 1, 9))
	s.write("storage/states/"+runA+".json", `{"WorkflowID":"`+runA+`","WorkflowName":"flow","Status":"completed","States":{}}`)
	other := newWorld(t)
	other.dir = w.dir
	other.open("behind.db")
	if n, err := other.Adopt(context.Background()); n != 1 || err != nil {
		t.Fatalf("adopted %d packs: %v", n, err)
	}
	w.ingest("awf", s.dir, ".")
	if r := other.ingest("awf", s.dir, "."); r.Adopted != 1 || r.Packs != 0 {
		t.Errorf("the other index: %+v", r)
	}
	w.compareDumps("adopted", other.dump(), w.dump())
}

// TestDamagedUnknownPack gives an archive a pack that the index does not know and that is damaged: it is named, and the
// rest goes on.
func TestDamagedUnknownPack(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(transcriptA, awfLines(runA, 1, 5))
	w.ingest("awf", s.dir, ".")
	pack := filepath.Join(w.dir, "packs/2026/01/20260101T000000.000000Z-other-0123456789abcdef.tar.gz")
	if err := os.MkdirAll(filepath.Dir(pack), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pack, []byte("no pack at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	behind := newWorld(t)
	behind.dir = w.dir
	behind.open("behind.db")
	behind.Index = &refused{Index: behind.index}
	if _, err := behind.Run(t.Context(), nil); !errors.Is(err, index.ErrDisk) || errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("what the index refuses is taken for a damaged pack: %v", err)
	}
	s.write(transcriptA, awfLines(runA, 1, 6))
	r := w.ingest("awf", s.dir, ".")
	if r.Events != 1 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Reason, "0123456789abcdef") {
		t.Errorf("%+v", r)
	}
}

// refused is an index that refuses the first batch.
type refused struct {
	ingest.Index
	done bool
}

func (r *refused) Commit(ctx context.Context, b index.Batch) error {
	if !r.done {
		r.done = true
		return index.ErrDisk
	}
	return r.Index.Commit(ctx, b)
}
