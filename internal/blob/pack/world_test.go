package pack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
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

// world is a model of what was put into packs: it generates the content, and knows what must be read back.
type world struct {
	t       testing.TB
	rnd     *rand.Rand
	store   *blobtest.Memory
	opts    Options
	now     time.Time
	chains  []*chain
	placed  map[blob.Ref]blob.Copy // where an extent's content stands in sealed packs
	packs   []blob.Manifest
	w       *Writer
	pending blob.Manifest
}

// chain is one version of an original.
type chain struct {
	source, path string
	version      int
	root         blob.Ref
	content      []byte
	extents      []*blob.Extent
	packs        []string // of each extent, "" in the present pack
}

func newWorld(t testing.TB, seed uint64) *world {
	return &world{
		t: t, rnd: rand.New(rand.NewPCG(seed, 7)), store: blobtest.NewMemory(), opts: testOptions(), now: testTime,
		placed: map[blob.Ref]blob.Copy{},
	}
}

func (w *world) begin() {
	w.now = w.now.Add(time.Minute)
	w.w, w.pending = w.open("box1", w.now), blob.Manifest{}
}

// open begins a pack.
func (w *world) open(writer string, now time.Time) *Writer {
	nw, err := Begin(context.Background(), w.store, writer, now, w.opts)
	w.check(err)
	return nw
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// text returns n bytes similar to a transcript, which compress about as well.
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

// extend appends content to a chain; content that a pack has already is added as a copy.
func (w *world) extend(c *chain, content []byte) {
	mtime, at := w.now.Add(time.Duration(len(c.extents))*time.Second), int64(len(c.content))
	c.content = append(c.content, content...)
	v := blob.Version{
		Source: c.source, Path: c.path, Number: c.version, Root: c.root, Size: int64(len(c.content)),
		SHA256: blob.RefOf(c.content), ModTime: mtime, Mode: 0o640, Format: "test", Role: "log", Claim: "a\xff",
		Extents: []blob.Extent{{Offset: at, Size: int64(len(content)), SHA256: blob.RefOf(content)}},
	}
	e := &v.Extents[0]
	known, isKnown := w.placed[e.SHA256]
	of := w.w.FindContent(e)
	switch {
	case isKnown && e.Size > 0:
		e.CopyOf = &known
	case of != nil:
		w.check(w.w.Link(&v, e, of))
	case e.Size >= w.opts.Member() && w.rnd.IntN(2) == 0:
		w.large(&v, content)
	default:
		w.check(w.w.Put(&v, e, bytes.NewReader(content)))
	}
	c.extents, c.packs = append(c.extents, e), append(c.packs, "")
	w.pending.Versions = append(w.pending.Versions, v)
}

// large adds content with a LargeWriter of another Builder.
func (w *world) large(v *blob.Version, content []byte) {
	lw, err := NewBuilder(w.opts).Large(v, &v.Extents[0])
	w.check(err)
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+w.rnd.IntN(20000))
		_, err := lw.Write(rest[:n])
		w.check(err)
		rest = rest[n:]
	}
	unit, err := lw.Close()
	w.check(err)
	_, err = w.w.Append(unit)
	w.check(err)
}

func (w *world) seal() blob.Manifest {
	w.pending.Facts = append(w.pending.Facts, blob.Fact{Kind: "source", Key: "s", Time: w.now, Value: []byte(`{"x":1}`)})
	m, info, err := w.w.Seal(context.Background(), w.pending)
	w.check(err)
	if got := len(blobtestRead(w.t, w.store, m.Pack)); info.Name != m.Pack || info.Size != int64(got) {
		w.t.Errorf("sealed as %+v, %s of %d bytes", info, m.Pack, got)
	}
	w.packs = append(w.packs, m)
	for _, c := range w.chains {
		for i, e := range c.extents {
			if c.packs[i] == "" && e.CopyOf == nil {
				w.placed[e.SHA256] = blob.Copy{Pack: m.Pack, Raw: e.Raw}
			}
			c.packs[i] = cmp.Or(c.packs[i], m.Pack)
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

// hostile is a set of paths that tools handle wrong.
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
