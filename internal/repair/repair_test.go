package repair

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var rounds = flag.Int("rounds", 30, "of the model")

var ctx = context.Background()

// world is a store, what was put into it, and where else the same bytes may be.
type world struct {
	t       *testing.T
	rnd     *rand.Rand
	now     time.Time
	packs   *blobtest.Memory
	backup  *blobtest.Memory
	names   []string
	chains  []*original
	sources map[string][]byte // by path, what the source still has
	aside   map[string]bool
}

// original is a content, and the packs that it is stored in.
type original struct {
	path    string
	root    blob.Ref
	content []byte
	stored  map[blob.Ref]blob.Copy // extents
	packs   map[string]bool
}

func newWorld(t *testing.T, seed uint64) *world {
	return &world{
		t: t, rnd: rand.New(rand.NewPCG(seed, 11)), now: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC),
		packs: blobtest.NewMemory(), sources: map[string][]byte{}, aside: map[string]bool{},
	}
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) bytes(n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, w.rnd.Uint64())
	}
	return b[:n]
}

// add writes a pack with some new originals, some that grow, and copies of what is there.
func (w *world) add() {
	w.now = w.now.Add(time.Hour)
	writer, err := pack.Begin(ctx, w.packs, "box1", w.now, pack.Options{MemberSize: 4 << 10})
	w.check(err)
	m := blob.Manifest{Facts: []blob.Fact{{Kind: factSource, Key: "s", Time: w.now, Value: []byte(`{"root":"/s"}`)}}}
	var grown []*original
	for range 1 + w.rnd.IntN(6) {
		c := &original{path: fmt.Sprintf("%d.jsonl", len(w.chains)), stored: map[blob.Ref]blob.Copy{}, packs: map[string]bool{}}
		if len(w.chains) > 0 && w.rnd.IntN(2) == 0 {
			c = w.chains[w.rnd.IntN(len(w.chains))]
		}
		if slices.Contains(grown, c) || c.content != nil && len(c.content) == 0 {
			continue
		}
		more := w.bytes(w.rnd.IntN(9000))
		if c.content == nil {
			w.chains = append(w.chains, c)
			c.root, c.content = blob.RefOf(more), []byte{}
		} else if len(more) == 0 {
			continue
		}
		grown = append(grown, c)
		e := blob.Extent{Offset: int64(len(c.content)), Size: int64(len(more)), SHA256: blob.RefOf(more)}
		c.content = append(c.content, more...)
		v := blob.Version{
			Source: "s", Path: c.path, Number: 1, Root: c.root, Size: int64(len(c.content)), SHA256: blob.RefOf(c.content), ModTime: w.now, Mode: 0o600,
			Extents: []blob.Extent{e},
		}
		w.check(writer.Put(&v, &v.Extents[0], bytes.NewReader(more)))
		w.check(writer.Flush()) // each is a unit of its own
		m.Versions = append(m.Versions, v)
	}
	_, info, err := writer.Seal(ctx, m)
	w.check(err)
	w.names = append(w.names, info.Name)
	for _, c := range grown {
		c.packs[info.Name] = true
	}
}

// read returns the bytes of a pack.
func (w *world) read(store blob.Store, name string) []byte {
	p, err := store.Open(ctx, name)
	w.check(err)
	data, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
	w.check(err)
	return data
}

func (w *world) put(store blob.Store, name string, data []byte) {
	up, err := store.Create(ctx)
	w.check(err)
	_, err = up.Write(data)
	w.check(err)
	w.check(up.Commit(ctx, name))
}

// makeBackup makes a backup of all packs, some or none, and a source that has partly changed since.
func (w *world) makeBackup() (whole bool) {
	switch kind := w.rnd.IntN(3); kind {
	case 0, 1:
		whole, w.backup = kind == 0, blobtest.NewMemory()
		for _, name := range w.names {
			if whole || w.rnd.IntN(2) == 0 {
				w.put(w.backup, name, w.read(w.packs, name))
			}
		}
	}
	for _, c := range w.chains {
		switch w.rnd.IntN(5) {
		case 0:
			w.sources[c.path] = c.content
		case 1:
			w.sources[c.path] = append(bytes.Clone(c.content), w.bytes(100)...)
		case 2:
			w.sources[c.path] = w.bytes(len(c.content)) // something else
		}
	}
	return whole
}

// damage damages a few packs and returns their names.
func (w *world) damage() (hurt map[string]bool) {
	hurt = map[string]bool{}
	other := w.read(w.packs, w.names[w.rnd.IntN(len(w.names))])
	for range 1 + w.rnd.IntN(2) {
		name := w.names[w.rnd.IntN(len(w.names))]
		if hurt[name] {
			continue
		}
		data := w.read(w.packs, name)
		opened, err := pack.Open(ctx, blobtest.Bytes(data), name)
		w.check(err)
		harm := blobtest.Corruptions[w.rnd.IntN(len(blobtest.Corruptions))]
		after := harm.Do(w.rnd, bytes.Clone(data), opened.Manifest().Members, other)
		if after == nil { // a pack that is gone is known to the index alone, which this world has not
			after = []byte{}
		}
		w.t.Logf("%s: %s", name, harm.Name)
		w.check(w.packs.Remove(ctx, name))
		w.put(w.packs, name, after)
		if pack.Verify(ctx, name, blobtest.Bytes(after), func(pack.Damage) {}) != nil {
			hurt[name] = true
		}
	}
	return hurt
}

func (w *world) repair(hurt map[string]bool) *Repair {
	r := &Repair{
		Packs: w.packs, Damaged: slices.Sorted(maps.Keys(hurt)), Writer: "box1", Now: func() time.Time { return w.now.Add(time.Hour) },
		Log: slog.New(slog.DiscardHandler), ChainLimit: len(w.names) % 4, // all at a time, or hardly any
		Format: pack.Options{MemberSize: 4 << 10, MaxRecords: len(w.chains) % 3 * 2},
		Quarantine: func(_ context.Context, name string) error {
			w.aside[name] = true
			return nil
		},
		Original: func(root, path string) (File, error) {
			if data, ok := w.sources[path]; ok && root == "/s" {
				return struct {
					io.ReaderAt
					io.Closer
				}{bytes.NewReader(data), io.NopCloser(nil)}, nil
			}
			return nil, fs.ErrNotExist
		},
	}
	if w.backup != nil {
		r.Backup = w.backup
	}
	return r
}

// apply plans and applies a repair.
func (w *world) apply(hurt map[string]bool) {
	r := w.repair(hurt)
	p, err := r.Plan(ctx)
	w.check(err)
	made, err := r.Apply(ctx, p)
	w.check(errors.Join(err, p.Close()))
	for _, name := range made {
		w.wantFewVersions(name, cmp.Or(r.Format.MaxRecords, math.MaxInt))
	}
	for name := range hurt {
		if !w.aside[name] {
			w.t.Errorf("%s was not kept aside", name)
		}
	}
}

// wantFewVersions checks that a new pack has at most that many versions.
func (w *world) wantFewVersions(name string, most int) {
	p, err := w.packs.Open(ctx, name)
	w.check(err)
	opened, err := pack.Open(ctx, p, name)
	w.check(err)
	if n := len(opened.Manifest().Versions); n > most {
		w.t.Errorf("a new pack tells of %d versions, it should not of more than %d", n, most)
	}
}

// readBack returns the present content of each original in the store, which of its bytes are there, and the recorded losses.
func (w *world) readBack() (content map[string][]byte, there map[string][]bool, losses blob.Losses) {
	content, there = map[string][]byte{}, map[string][]bool{}
	library := pack.NewLibrary(w.packs, 1<<20)
	defer library.Close()
	for info, err := range w.packs.List(ctx) {
		w.check(err)
		p, err := w.packs.Open(ctx, info.Name)
		w.check(err)
		if err := pack.Verify(ctx, info.Name, p, func(pack.Damage) {}); err != nil {
			w.t.Errorf("%s is not whole after the repair: %v", info.Name, err)
			continue
		}
		opened, err := pack.Open(ctx, p, info.Name)
		w.check(err)
		m := opened.Manifest()
		for _, f := range m.Facts {
			losses.Add(f, info.Name)
		}
		for _, v := range m.Versions {
			for _, e := range v.Extents {
				at := e
				at.CopyOf = &blob.Copy{Pack: info.Name, Raw: e.Raw}
				if e.CopyOf != nil {
					at.CopyOf = &blob.Copy{Pack: cmp.Or(e.CopyOf.Pack, info.Name), Raw: e.CopyOf.Raw}
				}
				data, err := io.ReadAll(library.Reader(ctx, []blob.Extent{at}))
				if err != nil || blob.RefOf(data) != e.SHA256 {
					w.t.Errorf("%s: extent %d of %s is not what its manifest says: %v", info.Name, e.Offset, v.Path, err)
					continue
				}
				if short := int(e.Offset+e.Size) - len(content[v.Path]); short > 0 {
					content[v.Path], there[v.Path] = append(content[v.Path], make([]byte, short)...), append(there[v.Path], make([]bool, short)...)
				}
				copy(content[v.Path][e.Offset:], data)
				for i := range data {
					there[v.Path][int(e.Offset)+i] = true
				}
			}
		}
	}
	return content, there, losses
}

// checkRepaired compares the store after a repair with what was stored before.
func (w *world) checkRepaired(hurt map[string]bool, whole bool) {
	content, there, losses := w.readBack()
	for _, c := range w.chains {
		v := blob.Version{Source: "s", Path: c.path, Number: 1, Root: c.root}
		lost, touched := losses.Of(&v), false
		for name := range c.packs {
			touched = touched || hurt[name]
		}
		told := there[c.path]
		if short := len(c.content) - len(told); short > 0 {
			if whole || !touched {
				w.t.Errorf("%s has lost its last %d bytes", c.path, short)
			}
		}
		for i, ok := range told {
			switch {
			case ok && i < len(c.content) && content[c.path][i] == c.content[i]:
			case ok:
				w.t.Fatalf("%s: byte %d is given back as one that it never was", c.path, i)
			case whole || !touched:
				w.t.Fatalf("%s: byte %d is gone, and need not be", c.path, i)
			case !blob.Covers(lost, int64(i), 1):
				w.t.Fatalf("%s: byte %d is gone, and no loss says so: %+v", c.path, i, lost)
			}
		}
		for _, l := range lost {
			if l.Offset < int64(len(told)) && told[l.Offset] {
				w.t.Errorf("%s: a loss of what is there: %+v", c.path, l)
			}
		}
	}
}

// TestModel damages a few packs in every way and repairs them, with and without a backup and sources. Then every pack must be
// whole; what can be read must be what was stored; what cannot must be recorded as lost, and must have been neither undamaged nor
// backed up; and another repair must have nothing to do.
func TestModel(t *testing.T) {
	for range *rounds {
		w := newWorld(t, seedtest.Seed(t))
		for range 2 + w.rnd.IntN(3) {
			w.add()
		}
		whole := w.makeBackup()
		hurt := w.damage()
		w.apply(hurt)
		w.checkRepaired(hurt, whole)
		again, err := w.repair(nil).Plan(ctx)
		w.check(err)
		if !again.Empty() {
			t.Errorf("a second repair wants to do more: %+v", again)
		}
		w.check(again.Close())
		if t.Failed() {
			t.FailNow()
		}
	}
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		found []segment
		want  []span
	}{
		{nil, []span{{0, 10}}},
		{[]segment{{offset: 0, size: 10}}, nil},
		{[]segment{{offset: 2, size: 3}}, []span{{0, 2}, {5, 10}}},
		{[]segment{{offset: 0, size: 6}, {offset: 2, size: 2}, {offset: 6, size: 1}}, []span{{7, 10}}},
		{[]segment{{offset: 0, size: 0}, {offset: 8, size: 5}}, []span{{0, 8}}},
	} {
		if got := gaps(c.found, span{0, 10}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("gaps of %v are %v, want %v", c.found, got, c.want)
		}
	}
}

func TestContiguousRanges(t *testing.T) {
	members := []blob.Member{{Raw: 0, RawSize: 4}, {Raw: 4, RawSize: 2}, {Raw: 8, RawSize: 1}, {Raw: 9, RawSize: 3}}
	if got, want := contiguousRanges(members), []span{{0, 6}, {8, 12}}; !reflect.DeepEqual(got, want) {
		t.Errorf("runs are %v, want %v", got, want)
	}
}
