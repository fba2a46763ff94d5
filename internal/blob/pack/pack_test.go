package pack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

// TestModel packs random originals and wants every range of every one of them back, by the manifests alone.
func TestModel(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, rand.Uint64())
	for range 4 {
		w.fill(60)
	}
	views := map[string]*View{}
	cache := NewCache(100 << 10)
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
		views[m.Pack] = r.View(cache)
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
	if cache.Size() > 100<<10 || cache.Size() == 0 {
		t.Errorf("the cache holds %d bytes", cache.Size())
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
		// A small entry may take a shared member beyond its limit by less than itself, its header and padding.
		if member.RawSize > 2*8<<10+4<<10 {
			t.Errorf("a member of %d raw bytes", member.RawSize)
		}
	}
	for _, v := range m.Versions {
		for _, e := range v.Extents {
			if e.CopyOf != nil || e.Size < 8<<10 {
				continue
			}
			h := newHeader(EntryName(v.Source, v.Path, v.Number, v.Root, e.Offset), "", e.Size, v.ModTime, v.Mode)
			if !starts[e.Raw-int64(len(h.append(nil)))] || !starts[e.Raw+e.Size+padding(e.Size)] {
				t.Errorf("large entry %s does not begin and end with a member", v.Path)
			}
		}
	}
}

func TestLargeCutsAtLineEnds(t *testing.T) {
	b := NewBuilder(testOptions())
	line := strings.Repeat("x", 99) + "\n"
	lw, err := b.Large("s/log", int64(len(line))*1000, testTime, 0o600)
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
		if (raw-lw.Raw())%100 != 0 {
			t.Errorf("a member ends within a line, at %d", raw)
		}
	}
	if unit.RawSize() != raw+unit.members[len(unit.members)-1].raw || unit.StoredSize() == 0 {
		t.Errorf("the unit has %d raw and %d stored bytes", unit.RawSize(), unit.StoredSize())
	}
}

func TestLargeErrors(t *testing.T) {
	b := NewBuilder(testOptions())
	lw, err := b.Large("s/a", 10, testTime, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Large("s/b", 1, testTime, 0o600); err == nil {
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
	if _, err := b.Small("s/a", make([]byte, b.MemberSize()), testTime, 0o600); !errors.Is(err, ErrSize) {
		t.Errorf("a small entry that is large: %v", err)
	}
	for _, name := range []string{"", "/a", "a/", "a\x00"} {
		if _, err := b.Small(name, nil, testTime, 0); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	lw, err = b.Large("s/a", 10, testTime, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	lw.Abort()
	if unit := b.Flush(); unit != nil {
		t.Errorf("an aborted entry left %+v", unit)
	}
}

// TestRename names a second version by the hash of what is just being read.
func TestRename(t *testing.T) {
	w := newWorld(t, 3)
	w.begin()
	for _, size := range []int{0, 100, 50000} {
		content := w.text(size)
		path := "long/" + strings.Repeat("p", 20*size/100)
		lw, err := w.b.Large(EntryName("s", path, 2, blob.Ref{}, 0), int64(size), testTime, 0o600)
		w.check(err)
		_, err = lw.Write(content)
		w.check(err)
		root := blob.RefOf(content)
		if err := lw.Rename("other"); size > 1000 && err == nil {
			t.Error("renamed to a name without PAX records")
		}
		w.check(lw.Rename(EntryName("s", path, 2, root, 0)))
		unit, err := lw.Close()
		w.check(err)
		base, err := w.w.Append(unit)
		w.check(err)
		w.pending.Versions = append(w.pending.Versions, blob.Version{
			Source: "s", Path: path, Number: 2, Root: root, Size: int64(size), SHA256: root, ModTime: testTime,
			Extents: []blob.Extent{{Size: int64(size), SHA256: root, Raw: base + lw.Raw()}},
		})
	}
	m := w.seal()
	p, err := w.store.Open(context.Background(), m.Pack)
	w.check(err)
	w.check(Verify(context.Background(), m.Pack, p, func(d Damage) { t.Error(d) }))
}

// TestCopyUnit moves all units of a pack into another as they are.
func TestCopyUnit(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 5)
	old := w.fill(50)
	p, err := w.store.Open(ctx, old.Pack)
	w.check(err)
	up, err := w.store.Create(ctx)
	w.check(err)
	nw, err := NewWriter(up, "gc", w.now, w.opts)
	w.check(err)
	unit, err := CopyUnit(ctx, old.Pack, p, old.Members)
	w.check(err)
	base, err := nw.Append(unit)
	w.check(err)
	if base != 0 || nw.Size() != old.Members[len(old.Members)-1].Offset+old.Members[len(old.Members)-1].Size {
		t.Errorf("the copy begins at %d and has %d bytes", base, nw.Size())
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

// smallUnit makes a unit of entries with the content "abc".
func smallUnit(t *testing.T, names ...string) *Unit {
	t.Helper()
	b := NewBuilder(testOptions())
	for _, name := range names {
		if _, err := b.Small(name, []byte("abc"), testTime, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b.Flush()
}

// beginPack begins a pack with the entries s/a and s/d/x.
func beginPack(t *testing.T, store blob.Store) *Writer {
	t.Helper()
	up, err := store.Create(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(up, "box1", testTime, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(smallUnit(t, "s/a", "s/d/x")); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAppendRefuses(t *testing.T) {
	w := beginPack(t, blobtest.NewMemory())
	for _, names := range [][]string{{"s/a"}, {"s/b", "s/b"}, {"s/a/b"}, {"s/d"}, {"s"}, {"s/e/f", "s/e"}, {"s/g", "s/g/h"}, {".txarchive/x"}} {
		if _, err := w.Append(smallUnit(t, names...)); !errors.Is(err, ErrNameTaken) {
			t.Errorf("%q: %v", names, err)
		}
	}
	link := NewBuilder(testOptions())
	if err := link.Link("s/l", "s/none", testTime, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(link.Flush()); err == nil {
		t.Error("a link to nothing")
	}
	// What was refused is free.
	if _, err := w.Append(smallUnit(t, "s/b", "s/e", "s/g/h", "s/l/m")); err != nil {
		t.Error(err)
	}
}

func TestSealRefuses(t *testing.T) {
	store := blobtest.NewMemory()
	abc := blob.RefOf([]byte("abc"))
	version := func(path string, number int, e blob.Extent) blob.Manifest {
		return blob.Manifest{Versions: []blob.Version{{Source: "s", Path: path, Number: number, Root: abc, Size: 3, SHA256: abc, Extents: []blob.Extent{e}}}}
	}
	for name, m := range map[string]blob.Manifest{
		"nothing":           {},
		"number":            version("a", 0, blob.Extent{Size: 3, SHA256: abc, Raw: 512}),
		"raw":               version("a", 1, blob.Extent{Size: 3, SHA256: abc, Raw: 513}),
		"size":              version("a", 1, blob.Extent{Size: 2, SHA256: abc, Raw: 512}),
		"name":              version("b", 1, blob.Extent{Size: 3, SHA256: abc, Raw: 512}),
		"copy without link": version("b", 1, blob.Extent{Size: 3, SHA256: abc, CopyOf: &blob.Copy{Raw: 512}}),
		"copy of no pack":   version("b", 1, blob.Extent{Size: 3, SHA256: abc, CopyOf: &blob.Copy{Pack: "../x", Raw: 512}}),
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

// brokenUpload fails a write.
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
		up, err := store.Create(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(&brokenUpload{up, n}, "box1", testTime, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"s/a", "s/b"} {
			b := NewBuilder(testOptions())
			if _, err := b.Small(name, nil, testTime, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Append(b.Flush()); err != nil && !errors.Is(err, errBroken) {
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
