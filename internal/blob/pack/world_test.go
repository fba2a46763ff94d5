package pack

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

var testTime = time.Date(2024, 11, 21, 1, 47, 12, 123456000, time.UTC)

// testOptions makes small members, so that small tests have many.
func testOptions() Options { return Options{MemberSize: 8 << 10, Rand: zeros{}} }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// world is a model of what was put into packs: it makes the content, and knows what must come back.
type world struct {
	t       testing.TB
	rnd     *rand.Rand
	store   *blobtest.Memory
	opts    Options
	now     time.Time
	chains  []*chain
	placed  map[blob.Ref]blob.Copy // where an extent's content stands
	packs   []blob.Manifest
	w       *Writer
	b       *Builder
	pending blob.Manifest
	waiting []func(base int64) // of the small entries since the last flush
}

// chain is one version of an original.
type chain struct {
	source, path string
	version      int
	root         blob.Ref
	content      []byte
	extents      []blob.Extent // with Copy.Pack filled in
	packs        []string      // of each extent, "" in the present pack
}

func newWorld(t testing.TB, seed uint64) *world {
	t.Logf("seed %d", seed)
	return &world{
		t: t, rnd: rand.New(rand.NewPCG(seed, 7)), store: blobtest.NewMemory(), opts: testOptions(), now: testTime,
		placed: map[blob.Ref]blob.Copy{},
	}
}

func (w *world) begin() {
	up, err := w.store.Create(context.Background())
	w.check(err)
	w.now = w.now.Add(time.Minute)
	w.w, err = NewWriter(up, "box1", w.now, w.opts)
	w.check(err)
	w.b = NewBuilder(w.opts)
	w.pending = blob.Manifest{}
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// text makes n bytes of something like a transcript, that does not compress to nothing.
func (w *world) text(n int) []byte {
	out := make([]byte, 0, n+64)
	for len(out) < n {
		out = fmt.Appendf(out, `{"n":%d,"text":"%x"}`, w.rnd.IntN(1000), w.rnd.Uint64())
		out = append(out, '\n')
	}
	return out[:n]
}

func (w *world) noise(n int) []byte {
	out := make([]byte, 0, n+8)
	for len(out) < n {
		out = binary.LittleEndian.AppendUint64(out, w.rnd.Uint64())
	}
	return out[:n]
}

// add begins a version with this content.
func (w *world) add(source, path string, version int, content []byte) *chain {
	c := &chain{source: source, path: path, version: version, root: blob.RefOf(content)}
	w.chains = append(w.chains, c)
	w.extend(c, content)
	return c
}

// extend puts more content to a chain, as the pipeline would: known content by reference.
func (w *world) extend(c *chain, content []byte) {
	e := blob.Extent{Offset: int64(len(c.content)), Size: int64(len(content)), SHA256: blob.RefOf(content)}
	name := EntryName(c.source, c.path, c.version, c.root, e.Offset)
	at := len(c.extents)
	c.content = append(c.content, content...)
	c.extents, c.packs = append(c.extents, e), append(c.packs, "")
	mtime, mode := w.now.Add(time.Duration(at)*time.Second), uint32(0o640)

	known, isKnown := w.placed[e.SHA256]
	switch {
	case isKnown && known.Pack != "" && e.Size > 0:
		c.extents[at].CopyOf = &known
	case isKnown && e.Size > 0:
		w.flush()
		target := w.w.entries[known.Raw].Name
		w.check(w.b.Link(name, target, mtime, mode))
		c.extents[at].CopyOf = &known
	case len(content) >= w.b.MemberSize():
		w.large(c, at, name, content, mtime, mode)
		w.placed[e.SHA256] = blob.Copy{Raw: c.extents[at].Raw}
	default:
		raw, err := w.b.Small(name, content, mtime, mode)
		w.check(err)
		w.waiting = append(w.waiting, func(base int64) {
			c.extents[at].Raw = base + raw
			w.placed[e.SHA256] = blob.Copy{Raw: base + raw}
		})
		if w.b.Full() {
			w.flush()
		}
	}
	w.record(c, at, mtime, mode)
}

func (w *world) large(c *chain, at int, name string, content []byte, mtime time.Time, mode uint32) {
	lw, err := w.b.Large(name, int64(len(content)), mtime, mode)
	w.check(err)
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+w.rnd.IntN(20000))
		_, err := lw.Write(rest[:n])
		w.check(err)
		rest = rest[n:]
	}
	unit, err := lw.Close()
	w.check(err)
	base, err := w.w.Append(unit)
	w.check(err)
	c.extents[at].Raw = base + lw.Raw()
}

func (w *world) flush() {
	unit := w.b.Flush()
	if unit == nil {
		return
	}
	base, err := w.w.Append(unit)
	w.check(err)
	for _, place := range w.waiting {
		place(base)
	}
	w.waiting = nil
}

// record remembers that the pack added extent at of c. The places are filled in by seal.
func (w *world) record(c *chain, at int, mtime time.Time, mode uint32) {
	w.pending.Versions = append(w.pending.Versions, blob.Version{
		Source: c.source, Path: c.path, Number: c.version, Root: c.root, Size: int64(len(c.content)),
		SHA256: blob.RefOf(c.content), ModTime: mtime, Mode: mode, Format: "test", Role: "log", Claim: "a\xff",
		Extents: []blob.Extent{{Offset: c.extents[at].Offset}},
	})
}

func (w *world) seal() blob.Manifest {
	w.flush()
	w.pending.Facts = append(w.pending.Facts, blob.Fact{Kind: "source", Key: "s", Time: w.now, Value: []byte(`{"x":1}`)})
	for i, v := range w.pending.Versions {
		for _, c := range w.chains {
			if c.source != v.Source || c.path != v.Path || c.version != v.Number {
				continue
			}
			j := slices.IndexFunc(c.extents, func(e blob.Extent) bool { return e.Offset == v.Extents[0].Offset })
			w.pending.Versions[i].Extents = []blob.Extent{c.extents[j]}
		}
	}
	m, info, err := w.w.Seal(context.Background(), w.pending)
	w.check(err)
	if got := len(blobtestRead(w.t, w.store, m.Pack)); info.Name != m.Pack || info.Size != int64(got) {
		w.t.Errorf("sealed as %+v, %s of %d bytes", info, m.Pack, got)
	}
	w.packs = append(w.packs, m)
	for sum, where := range maps.All(w.placed) {
		if where.Pack == "" {
			where.Pack = m.Pack
			w.placed[sum] = where
		}
	}
	for _, c := range w.chains {
		for i := range c.extents {
			if c.packs[i] == "" {
				c.packs[i] = m.Pack
			}
		}
	}
	return m
}

func blobtestRead(t testing.TB, store *blobtest.Memory, name string) []byte {
	t.Helper()
	p, err := store.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// hostile is a set of paths that tools trip over.
var hostile = []string{
	"plain.jsonl", "../../escape", "/abs/olute", "a//b", "with space", "-rf", "--help", "new\nline", "tab\there", "quote'\"\\x",
	"数据库/会话.jsonl", "not utf-8 \xff\xfe", "a/./b", "x@ba7816bf.0000000000000012", "100%", "*?[]", "trailing ", ".hidden",
	"very/long/" + longPart + "/" + longPart + ".jsonl", longPart + longPart + longPart, "very/" + longPart + "\xff/" + longPart,
}

const longPart = "a-rather-long-name-as-generated-by-some-tool-for-a-session-0123456789-0123456789-0123456789"

// fill makes one pack of n random operations.
func (w *world) fill(n int) blob.Manifest {
	w.begin()
	for range n {
		switch op := w.rnd.IntN(10); {
		case op < 2 && len(w.chains) > 0: // grow
			if c := w.chains[w.rnd.IntN(len(w.chains))]; len(c.content) > 0 { // nothing grows from an empty version
				w.extend(c, w.text(1+w.rnd.IntN(3000)))
			}
		case op < 3 && len(w.chains) > 0: // a copy of what some chain began with
			c := w.chains[w.rnd.IntN(len(w.chains))]
			w.add("copies", fmt.Sprintf("%d/%s", len(w.chains), c.path), 1, c.content[:c.extents[0].Size])
		case op < 4 && len(w.chains) > 0: // rewritten
			c := w.chains[w.rnd.IntN(len(w.chains))]
			w.add(c.source, c.path, w.newest(c)+1, w.text(1+w.rnd.IntN(3000)))
		case op < 6:
			w.add("big", fmt.Sprintf("f%d/large.jsonl", len(w.chains)), 1, w.text(8<<10+w.rnd.IntN(60000)))
		case op < 7:
			w.add("big", fmt.Sprintf("f%d/noise.bin", len(w.chains)), 1, w.noise(w.rnd.IntN(30000)))
		default:
			path := hostile[w.rnd.IntN(len(hostile))]
			w.add("runs", fmt.Sprintf("d%d/%s", len(w.chains), path), 1, w.text(w.rnd.IntN(2000)))
		}
	}
	return w.seal()
}

func (w *world) newest(c *chain) int {
	n := 0
	for _, other := range w.chains {
		if other.source == c.source && other.path == c.path {
			n = max(n, other.version)
		}
	}
	return n
}
