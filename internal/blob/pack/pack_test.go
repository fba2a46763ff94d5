package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestModel packs random originals, and reads back every range of each of them with the manifests alone.
func TestModel(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, seedtest.Seed(t))
	for range 4 {
		w.fill(60)
	}
	views := map[string]*View{}
	cache := newCache(100 << 10)
	for _, m := range w.packs {
		p, err := w.store.Open(ctx, m.Pack)
		w.check(err)
		r, err := Open(ctx, p, m.Pack)
		w.check(err)
		if got := r.Manifest(); !reflect.DeepEqual(got, m) {
			t.Fatalf("the manifest came back as\n%+v, want\n%+v", got, m)
		}
		if err := Verify(ctx, m.Pack, p, func(d Damage) { t.Error(d) }); err != nil {
			t.Error(err)
		}
		views[m.Pack] = &View{Name: m.Pack, Pack: p, Members: m.Members, cache: cache}
	}
	for _, c := range w.chains {
		for i, e := range c.extents {
			view, raw := views[c.packs[i]], e.Raw
			if e.CopyOf != nil {
				raw = e.CopyOf.Raw
				if e.CopyOf.Pack != "" {
					view = views[e.CopyOf.Pack]
				}
			}
			from := w.rnd.Int64N(e.Size + 1)
			size := w.rnd.Int64N(e.Size - from + 1)
			got, err := view.ReadRange(ctx, raw+from, size)
			if err != nil || !bytes.Equal(got, c.content[e.Offset+from:][:size]) {
				t.Fatalf("%s/%s: %d bytes at %d differ, %v", c.source, c.path, size, e.Offset+from, err)
			}
		}
	}
	if n := cache.items.Size(); n > 100<<10 || n == 0 {
		t.Errorf("the cache holds %d bytes", n)
	}
}

// TestSameInputSameBytes packs the same things twice.
func TestSameInputSameBytes(t *testing.T) {
	var packs [2][]byte
	for i := range packs {
		w := newWorld(t, 42)
		packs[i] = blobtestRead(t, w.store, w.fill(40).Pack)
	}
	if !bytes.Equal(packs[0], packs[1]) {
		t.Error("two packs of the same things differ")
	}
}

func TestUnits(t *testing.T) {
	w := newWorld(t, 1)
	w.fill(150)
	m := w.packs[0]
	starts := map[int64]bool{m.Members[len(m.Members)-1].Raw + m.Members[len(m.Members)-1].RawSize: true}
	for _, member := range m.Members {
		starts[member.Raw] = true
		// A small entry may make a shared member exceed its limit by less than its own size, header and padding.
		if member.RawSize > 2*8<<10+4<<10 {
			t.Errorf("a member of %d raw bytes", member.RawSize)
		}
	}
	for _, v := range m.Versions {
		for _, e := range v.Extents {
			if e.CopyOf != nil || e.Size < 8<<10 {
				continue
			}
			h := newHeader(entryName(v.Source, v.Path, v.Number, v.Root, e.Offset), "", e.Size, v.ModTime, v.Mode)
			if !starts[e.Raw-int64(len(h.append(nil)))] || !starts[e.Raw+e.Size+padding(e.Size)] {
				t.Errorf("large entry %s does not begin and end with a member", v.Path)
			}
		}
	}
}

func TestLargeCutsAtLineEnds(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	v := &blob.Version{Source: "s", Path: "log", Number: 1, ModTime: testTime}
	lw, err := NewBuilder(testOptions()).Large(v, &blob.Extent{Size: int64(len(line)) * 1000})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := io.WriteString(lw, line); err != nil {
			t.Fatal(err)
		}
	}
	unit, err := lw.Close()
	if err != nil {
		t.Fatal(err)
	}
	if len(unit.members) < 10 {
		t.Errorf("only %d members", len(unit.members))
	}
	raw := int64(0)
	for _, m := range unit.members[:len(unit.members)-1] {
		raw += m.raw
		if (raw-lw.start)%100 != 0 {
			t.Errorf("a member ends within a line, at %d", raw)
		}
	}
	if unit.raw != raw+unit.members[len(unit.members)-1].raw || unit.StoredSize() == 0 {
		t.Errorf("the unit has %d raw and %d stored bytes", unit.raw, unit.StoredSize())
	}
}

func TestBuilderErrors(t *testing.T) {
	b := NewBuilder(testOptions())
	v := &blob.Version{Source: "s", Path: "a", Number: 1, ModTime: testTime}
	ten := &blob.Extent{Size: 10}
	lw, err := b.Large(v, ten)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Large(v, ten); err == nil {
		t.Error("two large entries at a time")
	}
	if _, err := lw.Write(make([]byte, 11)); !errors.Is(err, ErrSize) {
		t.Errorf("too much: %v", err)
	}
	if _, err := lw.Write(make([]byte, 9)); err != nil {
		t.Error(err)
	}
	if _, err := lw.Close(); !errors.Is(err, ErrSize) {
		t.Errorf("too little: %v", err)
	}
	if _, err := lw.Write(nil); err == nil {
		t.Error("written after close")
	}
	for _, size := range []int64{1, 10, 8 << 10, 60 << 10} {
		if _, err := b.Put(v, &blob.Extent{Size: size}, bytes.NewReader(make([]byte, size-1))); !errors.Is(err, ErrSize) {
			t.Errorf("too little of %d bytes: %v", size, err)
		}
	}
	if lw, err = b.Large(v, ten); err != nil {
		t.Fatal(err)
	}
	lw.Abort()
	if unit := b.Flush(); unit != nil {
		t.Errorf("entries that were given up left %+v", unit)
	}
}

// TestLateName sets the root of a second version, which is part of its name, after its content was written.
func TestLateName(t *testing.T) {
	w := newWorld(t, 3)
	w.begin()
	for _, size := range []int{0, 100, 50000} {
		content := w.text(size)
		v := blob.Version{Source: "s", Path: "long/" + strings.Repeat("p", 20*size/100), Number: 2, Size: int64(size), SHA256: blob.RefOf(content), ModTime: testTime}
		v.Extents = []blob.Extent{{Size: v.Size, SHA256: v.SHA256}}
		lw, err := NewBuilder(w.opts).Large(&v, &v.Extents[0])
		w.check(err)
		_, err = lw.Write(content)
		w.check(err)
		v.Root = v.SHA256
		unit, err := lw.Close()
		w.check(err)
		_, err = w.w.Append(unit)
		w.check(err)
		w.pending.Versions = append(w.pending.Versions, v)
	}
	m := w.seal()
	p, err := w.store.Open(context.Background(), m.Pack)
	w.check(err)
	w.check(Verify(context.Background(), m.Pack, p, func(d Damage) { t.Error(d) }))
	v := blob.Version{Source: "s", Path: strings.Repeat("p", 70), Number: 1}
	lw, err := NewBuilder(w.opts).Large(&v, &blob.Extent{})
	w.check(err)
	v.Number, v.Path = 2, v.Path+v.Path
	if _, err := lw.Close(); err == nil {
		t.Error("closed under a name that has no room")
	}
}

// TestCopyUnit copies all units of a pack to another unchanged.
func TestCopyUnit(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 5)
	old := w.fill(50)
	p, err := w.store.Open(ctx, old.Pack)
	w.check(err)
	nw := w.open("gc", w.now)
	unit, err := CopyUnit(ctx, old.Pack, p, old.Members)
	w.check(err)
	base, err := nw.Append(unit)
	w.check(err)
	if base != 0 || nw.offset != old.Members[len(old.Members)-1].Offset+old.Members[len(old.Members)-1].Size {
		t.Errorf("the copy begins at %d and has %d bytes", base, nw.offset)
	}
	m, info, err := nw.Seal(ctx, blob.Manifest{Versions: old.Versions, Facts: old.Facts, Replaces: []string{old.Pack}})
	w.check(err)
	q, err := w.store.Open(ctx, info.Name)
	w.check(err)
	w.check(Verify(ctx, info.Name, q, func(d Damage) { t.Error(d) }))
	if !reflect.DeepEqual(m.Members, old.Members) {
		t.Error("the members differ from those that were copied")
	}
	bad := append([]blob.Member{}, old.Members...)
	bad[0].SHA256[0] ^= 1
	if _, err := CopyUnit(ctx, old.Pack, p, bad); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("a member with another hash: %v", err)
	}
}

// abc returns a version of the source s with the content "abc".
func abc(path string) blob.Version {
	sum := blob.RefOf([]byte("abc"))
	return blob.Version{Source: "s", Path: path, Number: 1, Root: sum, Size: 3, SHA256: sum, Mode: 0o600, ModTime: testTime, Extents: []blob.Extent{{Size: 3, SHA256: sum}}}
}

// smallUnit makes a unit of such versions.
func smallUnit(t *testing.T, paths ...string) *Unit {
	t.Helper()
	b := NewBuilder(testOptions())
	for _, path := range paths {
		v := abc(path)
		if _, err := b.Put(&v, &v.Extents[0], strings.NewReader("abc")); err != nil {
			t.Fatal(err)
		}
	}
	return b.Flush()
}

// beginPack begins a pack with the entries s/a and s/d/x.
func beginPack(t *testing.T, store blob.Store) *Writer {
	t.Helper()
	w, err := Begin(context.Background(), store, "box1", testTime, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(smallUnit(t, "a", "d/x")); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestNameTaken adds entries to a pack that tar could not extract together with those that are there.
func TestNameTaken(t *testing.T) {
	w := beginPack(t, blobtest.NewMemory())
	for _, paths := range [][]string{{"a"}, {"b", "a"}, {"a/b"}, {"d"}, {"e/f", "d"}, {"g", "a/b"}} {
		if _, err := w.Append(smallUnit(t, paths...)); !errors.Is(err, ErrNameTaken) {
			t.Errorf("%q: %v", paths, err)
		}
		v := abc(paths[0])
		if len(paths) > 1 {
			continue
		}
		if err := w.Put(&v, &v.Extents[0], nil); !errors.Is(err, ErrNameTaken) {
			t.Errorf("put %q: %v", paths, err)
		}
		if err := w.Link(&v, &v.Extents[0], w.FindContent(&v.Extents[0])); !errors.Is(err, ErrNameTaken) || v.Extents[0].CopyOf != nil {
			t.Errorf("link %q: %v", paths, err)
		}
	}
	for _, paths := range [][]string{{"b", "b"}, {"e/f", "e"}, {"g", "g/h"}} {
		b := NewBuilder(testOptions())
		first, second := abc(paths[0]), abc(paths[1])
		if _, err := b.Put(&first, &first.Extents[0], strings.NewReader("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(&second, &second.Extents[0], nil); !errors.Is(err, ErrNameTaken) {
			t.Errorf("%q in one unit: %v", paths, err)
		}
		if unit := b.Flush(); len(unit.Entries) != 1 {
			t.Errorf("%q: %+v", paths, unit.Entries)
		}
	}
	// Names that were refused are still available.
	if _, err := w.Append(smallUnit(t, "b", "e", "g/h")); err != nil {
		t.Error(err)
	}
	v := abc("l")
	if err := w.Link(&v, &v.Extents[0], &blob.Extent{Raw: 1}); err != nil {
		t.Error(err)
	}
	if _, _, err := w.Seal(context.Background(), blob.Manifest{Versions: []blob.Version{v}}); err == nil {
		t.Error("a link to nothing")
	}
}

// TestManyLinks puts so many copies into one pack that a single member with all their headers would be too large to read.
func TestManyLinks(t *testing.T) {
	store := blobtest.NewMemory()
	w := beginPack(t, store)
	long := strings.Repeat(longPart+"/", 10)
	versions := []blob.Version{abc(long + "a")}
	if err := w.Put(&versions[0], &versions[0].Extents[0], strings.NewReader("abc")); err != nil {
		t.Fatal(err)
	}
	for i := range 11_000 {
		v := abc(fmt.Sprintf("%s%d", long, i))
		if err := w.Link(&v, &v.Extents[0], &versions[0].Extents[0]); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, v)
	}
	_, info, err := w.Seal(context.Background(), blob.Manifest{Versions: versions})
	if err != nil {
		t.Fatal(err)
	}
	p, err := store.Open(context.Background(), info.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(context.Background(), info.Name, p, func(d Damage) { t.Error(d) }); err != nil {
		t.Error(err)
	}
}

func TestSealRefuses(t *testing.T) {
	store := blobtest.NewMemory()
	sum := blob.RefOf([]byte("abc"))
	version := func(path string, number int, e blob.Extent) blob.Manifest {
		v := abc(path)
		v.Number, v.Extents = number, []blob.Extent{e}
		return blob.Manifest{Versions: []blob.Version{v}}
	}
	for name, m := range map[string]blob.Manifest{
		"nothing":           {},
		"number":            version("a", 0, blob.Extent{Size: 3, SHA256: sum, Raw: 512}),
		"raw":               version("a", 1, blob.Extent{Size: 3, SHA256: sum, Raw: 513}),
		"size":              version("a", 1, blob.Extent{Size: 2, SHA256: sum, Raw: 512}),
		"name":              version("b", 1, blob.Extent{Size: 3, SHA256: sum, Raw: 512}),
		"copy without link": version("b", 1, blob.Extent{Size: 3, SHA256: sum, CopyOf: &blob.Copy{Raw: 512}}),
		"copy of no pack":   version("b", 1, blob.Extent{Size: 3, SHA256: sum, CopyOf: &blob.Copy{Pack: "../x", Raw: 512}}),
	} {
		_, _, err := beginPack(t, store).Seal(context.Background(), m)
		if err == nil || errors.Is(err, ErrEmpty) != (name == "nothing") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names := blobtestNames(t, store); len(names) != 0 {
		t.Errorf("there are packs %q", names)
	}
}

func blobtestNames(t *testing.T, store blob.Store) []string {
	t.Helper()
	return blobtest.Names(t, store)
}

// brokenStore has uploads that fail a write.
type brokenStore struct {
	blob.Store
	left int
}

func (s brokenStore) Create(ctx context.Context) (blob.Upload, error) {
	up, err := s.Store.Create(ctx)
	return &brokenUpload{up, s.left}, err
}

type brokenUpload struct {
	blob.Upload
	left int
}

var errBroken = errors.New("disk full")

func (u *brokenUpload) Write(p []byte) (int, error) {
	if u.left--; u.left < 0 {
		return 0, errBroken
	}
	return u.Upload.Write(p)
}

func TestWriteErrorDropsThePack(t *testing.T) {
	for n := range 3 {
		store := blobtest.NewMemory()
		w, err := Begin(context.Background(), brokenStore{store, n}, "box1", testTime, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"a", "b"} {
			if _, err := w.Append(smallUnit(t, path)); err != nil && !errors.Is(err, errBroken) {
				t.Error(err)
			}
		}
		_, _, err = w.Seal(context.Background(), blob.Manifest{Facts: []blob.Fact{{Kind: "a", Key: "b", Value: []byte("1")}}})
		if !errors.Is(err, errBroken) {
			t.Errorf("sealed after write %d failed: %v", n, err)
		}
		if names := blobtestNames(t, store); len(names) != 0 {
			t.Errorf("there are packs %q", names)
		}
	}
}
