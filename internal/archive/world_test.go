package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/transcript"
)

var testTime = time.Date(2026, 11, 21, 1, 47, 12, 123456000, time.UTC)

// testOptions decode nothing: the text of an event is its bytes and the number of its part.
func testOptions() Options {
	return Options{
		Command: "test",
		Decode: func(format, role string, raw []byte, part int) (string, error) {
			return fmt.Sprintf("%s/%s/%d:%s", format, role, part, raw), nil
		},
		Layer: func(inner string, r io.Reader) (io.Reader, error) {
			switch inner {
			case "rot":
				return rotLayer{r}, nil
			case "torn":
				return io.MultiReader(io.LimitReader(rotLayer{r}, 12000), iotest.ErrReader(errTorn)), nil
			}
			if from, err := strconv.ParseInt(inner, 10, 64); err == nil { // what follows an offset
				_, err := r.(io.Seeker).Seek(from, io.SeekStart)
				return io.LimitReader(r, 100), err
			}
			return nil, fmt.Errorf("no layer %q", inner)
		},
	}
}

var errTorn = errors.New("torn")

// rotLayer is an inner layer that rotates letters.
type rotLayer struct{ r io.Reader }

func (r rotLayer) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	for i, c := range p[:n] {
		if c >= 'a' && c <= 'z' {
			p[i] = 'a' + (c-'a'+13)%26
		}
	}
	return n, err
}

// world is an archive with what was put into it.
type world struct {
	t   *testing.T
	dir string
	a   *Archive
	now time.Time
	was map[string]*stored // by source, path and number
	sum map[blob.Ref]blob.Copy
}

type stored struct {
	blob.Version
	content []byte
	extents []blob.Extent
	pack    string // of the last extent
}

// newWorld opens an archive as Create makes it, but for its index, which is copied: the schema takes more than what most tests do with it.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "archive"), now: testTime, was: map[string]*stored{}, sum: map[blob.Ref]blob.Copy{}}
	w.check(create(w.dir, testOptions().normal()))
	sqlitetest.Create(t, filepath.Join(w.dir, "index-1.db"))
	w.check(os.Symlink("index-1.db", filepath.Join(w.dir, indexLink)))
	w.open(Write)
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// open opens the archive; the test closes it.
func (w *world) open(mode Mode) *Archive {
	w.t.Helper()
	a := openArchive(w.t, w.dir, mode, testOptions())
	if mode == Write {
		w.a = a
	}
	return a
}

func openArchive(t *testing.T, dir string, mode Mode, opts Options) *Archive {
	t.Helper()
	a, err := Open(t.Context(), dir, mode, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// file is an original as a scan finds it.
type file struct {
	source, path string
	number       int // 0 is 1
	content      string
	mode         uint32
}

func (f file) key() string { return fmt.Sprintf("%s/%s@%d", f.source, f.path, f.number) }

// put stores files in one pack and indexes it. A file that begins with its earlier content has grown.
func (w *world) put(files ...file) blob.Manifest {
	w.t.Helper()
	m, size := w.pack(files...)
	w.check(w.a.Index().Commit(w.t.Context(), batch(m, size)))
	return m
}

func batch(m blob.Manifest, size int64) index.Batch {
	facts := []index.FactRow{}
	for _, f := range m.Facts {
		facts = append(facts, index.FactRow{Fact: f, Pack: m.Pack})
	}
	return index.Batch{Facts: facts, Pack: index.NewPackRow(&m, size)}
}

// begin begins a pack.
func (w *world) begin() *pack.Writer {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	pw, err := pack.Begin(w.t.Context(), w.a.Packs(), w.a.WriterID(), w.now, pack.Options{MemberSize: 8 << 10})
	w.check(err)
	return pw
}

// facts stores facts in a pack of their own, without indexing it.
func (w *world) facts(facts ...blob.Fact) {
	w.t.Helper()
	_, _, err := w.begin().Seal(w.t.Context(), blob.Manifest{Facts: facts})
	w.check(err)
}

// pack stores files in one pack, without indexing it.
func (w *world) pack(files ...file) (blob.Manifest, int64) {
	w.t.Helper()
	pw := w.begin()
	var versions []*stored
	for _, f := range files {
		versions = append(versions, w.store(pw, f))
	}
	var manifest blob.Manifest
	for _, s := range versions {
		v := s.Version
		v.Extents = s.extents[len(s.extents)-1:]
		manifest.Versions = append(manifest.Versions, v)
	}
	manifest.Facts = []blob.Fact{{Kind: "source", Key: "runs", Time: w.now, Value: []byte(`{}`)}}
	m, info, err := pw.Seal(w.t.Context(), manifest)
	w.check(err)
	for _, s := range versions {
		s.pack = m.Pack
		e := s.extents[len(s.extents)-1]
		if e.CopyOf == nil {
			w.sum[e.SHA256] = blob.Copy{Pack: m.Pack, Raw: e.Raw}
		}
	}
	return m, info.Size
}

// store adds the new part of a file to a pack, as an entry in a member of its own or as a copy.
func (w *world) store(pw *pack.Writer, f file) *stored {
	if f.number == 0 {
		f.number = 1
	}
	if f.mode == 0 {
		f.mode = 0o640
	}
	s, ok := w.was[f.key()]
	if !ok {
		s = &stored{Version: blob.Version{Source: f.source, Path: f.path, Number: f.number, Root: blob.RefOf([]byte(f.content)), Mode: f.mode}}
		s.Format, s.Role, s.Claim = "test", "log", "."
		w.was[f.key()] = s
	}
	if !strings.HasPrefix(f.content, string(s.content)) {
		w.t.Fatalf("%s has not grown", f.key())
	}
	tail := []byte(f.content[len(s.content):])
	s.extents = append(s.extents, blob.Extent{Offset: int64(len(s.content)), Size: int64(len(tail)), SHA256: blob.RefOf(tail)})
	e := &s.extents[len(s.extents)-1]
	s.content = []byte(f.content)
	s.Size, s.SHA256, s.ModTime = int64(len(s.content)), blob.RefOf(s.content), w.now.Add(time.Duration(len(s.content))*time.Microsecond)
	if at, known := w.sum[e.SHA256]; known && e.Size > 0 {
		e.CopyOf = &at
	} else {
		w.entry(pw, &s.Version, e, tail)
	}
	return s
}

func (w *world) entry(pw *pack.Writer, v *blob.Version, e *blob.Extent, data []byte) {
	w.check(pw.Put(v, e, bytes.NewReader(data)))
	w.check(pw.Flush())
}

// packFile returns the path of a pack.
func (w *world) packFile(name string) string {
	return filepath.Join(w.dir, "packs", filepath.FromSlash(name)+".tar.gz")
}

// flip changes one byte of a pack. It may be that every original can still be read.
func (w *world) flip(name string, at int64) {
	w.alter(name, func(data []byte) { data[at] ^= 0x10 })
}

// damage changes a pack so that the content there is lost.
func (w *world) damage(name string, at int64) {
	w.alter(name, func(data []byte) { blobtest.Damage(data, int(at)) })
}

func (w *world) alter(name string, how func(data []byte)) {
	w.t.Helper()
	data, err := os.ReadFile(w.packFile(name))
	w.check(err)
	how(data)
	w.check(os.WriteFile(w.packFile(name), data, 0o600))
}

// place returns the place of some bytes of an original.
func (w *world) place(a *Archive, source, path string, number int, offset, length int64) index.Place {
	w.t.Helper()
	for v, err := range a.Index().Versions(w.t.Context(), index.VersionFilter{Source: source, Path: path, Number: number}) {
		w.check(err)
		return index.Place{
			VersionKey: index.VersionKey{Source: source, Path: path, Number: number}, Format: v.Format, Role: v.Role, Chain: v.Chain,
			Origin: transcript.Origin{Offset: offset, Length: length},
		}
	}
	w.t.Fatalf("%s/%s is not in the index", source, path)
	return index.Place{}
}

func text(seed string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "{%q:%d,\"x\":\"%x\"}\n", seed, i, blob.RefOf(fmt.Append(nil, seed, i)))
	}
	return b.String()[:n]
}

// restoreAll restores everything with o into a new directory, and returns what was reported by name.
func restoreAll(t *testing.T, a *Archive, o RestoreOptions) (dir string, got map[string]Restored, err error) {
	t.Helper()
	if o.To == "" {
		o.To = filepath.Join(t.TempDir(), "restored")
	}
	got = map[string]Restored{}
	err = a.Restore(t.Context(), o, func(r Restored) { got[fmt.Sprintf("%s/%s@%d", r.Source, r.Path, r.Version)] = r })
	return o.To, got, err
}

func verifyAll(t *testing.T, a *Archive, o VerifyOptions) ([]Finding, VerifyReport, error) {
	t.Helper()
	var all []Finding
	report, err := a.Verify(t.Context(), o, func(f Finding) { all = append(all, f) })
	if int64(len(all)) != report.Findings+report.Notices {
		t.Errorf("%d findings were reported, %d counted", len(all), report.Findings+report.Notices)
	}
	return all, report, err
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withRun stores a transcript of a run. Each edit may change what its parser yields.
func (w *world) withRun(path, content string, edit ...func(*index.Parsed)) blob.Manifest {
	w.t.Helper()
	m, size := w.pack(file{source: "runs", path: path, content: content})
	v := m.Versions[0]
	p := &index.Parsed{
		Subject: index.Subject{
			VersionKey: index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}, Format: "test", Role: "log", Parser: 1,
			Claim: ".", Size: v.Size, SHA256: v.SHA256,
		},
		First: true, Last: true, Until: v.Size, Words: new(lexicon.Words),
		Runs:          []*transcript.Run{{ID: "run of " + path}},
		Conversations: []index.Transcript{{Conversation: transcript.Conversation{ID: "c", Run: "run of " + path}, LastSeq: 1, TotalRows: 1}},
		Rows:          []index.Row{{Labels: &index.Labels{Kind: transcript.KindMessage}, Seq: 1, Parts: 1, Verdict: transcript.Counted, Near: testTime.UnixMicro(), Length: 10, Line: 1}},
	}
	for _, e := range edit {
		e(p)
	}
	b := batch(m, size)
	b.Parsed = []*index.Parsed{p}
	w.check(w.a.Index().Commit(w.t.Context(), b))
	return m
}
