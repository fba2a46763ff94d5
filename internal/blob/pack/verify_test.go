package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// smallWorld makes a pack of a few members with everything that a pack can contain.
func smallWorld(t testing.TB) (*world, blob.Manifest, []byte) {
	w := newWorld(t, 11)
	w.opts.MemberSize = minMemberSize
	w.begin()
	w.add("other", "first", 1, []byte("elsewhere"))
	w.seal()
	w.begin()
	w.add("s", "empty", 1, nil)
	a := w.add("s", "a.jsonl", 1, w.text(300))
	w.extend(a, w.text(200))
	w.check(w.w.Flush())
	w.add("s", "copy of a", 1, a.content[:300])
	w.add("s", "copy of other", 1, []byte("elsewhere"))
	w.check(w.w.Flush())
	w.add("s", "large.jsonl", 1, w.text(12000))
	w.add("s", "noise", 1, w.noise(100))
	m := w.seal()
	return w, m, blobtestRead(t, w.store, m.Pack)
}

func verify(t testing.TB, name string, data []byte) ([]Damage, error) {
	t.Helper()
	var damages []Damage
	err := Verify(context.Background(), name, blobtest.Bytes(data), func(d Damage) { damages = append(damages, d) })
	if (err != nil) != (len(damages) > 0) || err != nil && !errors.Is(err, blob.ErrCorrupt) {
		t.Fatalf("%d damages and %v", len(damages), err)
	}
	return damages, err
}

// readableExtents returns which of the pack's own extents can still be read, and fails if one returns wrong bytes.
func readableExtents(t testing.TB, w *world, m blob.Manifest, data []byte) map[string]bool {
	t.Helper()
	got := map[string]bool{}
	for _, c := range w.chains {
		for i, e := range c.extents {
			if c.packs[i] != m.Pack || e.CopyOf != nil {
				continue
			}
			b, err := (&View{Pack: blobtest.Bytes(data), Members: m.Members}).ReadRange(context.Background(), e.Raw, e.Size)
			if err != nil && !errors.Is(err, blob.ErrCorrupt) {
				t.Fatal(err)
			}
			if err == nil && !bytes.Equal(b, c.content[e.Offset:][:e.Size]) {
				t.Fatalf("%s at %d reads wrong", c.path, e.Offset)
			}
			if err == nil && e.Size > 0 {
				got[fmt.Sprint(c.path, e.Offset)] = true
			}
		}
	}
	return got
}

// TestAnyFlippedBitIsFound flips a bit of every byte, all eight in headers and trailer.
func TestAnyFlippedBitIsFound(t *testing.T) {
	w, m, data := smallWorld(t)
	all := len(readableExtents(t, w, m, data))
	if damages, err := verify(t, m.Pack, data); err != nil {
		t.Fatalf("undamaged: %v %v", damages, err)
	}
	heads := map[int64]bool{}
	for _, member := range m.Members {
		for i := range int64(memberHeader) {
			heads[member.Offset+i] = true
		}
	}
	free := 0
	for at := range data {
		bits := []int{at % 8}
		if heads[int64(at)] || at > len(data)-trailerSize {
			bits = []int{0, 1, 2, 3, 4, 5, 6, 7}
		}
		for _, bit := range bits {
			bad := bytes.Clone(data)
			bad[at] ^= 1 << bit
			damages, err := verify(t, m.Pack, bad)
			if err == nil {
				t.Fatalf("bit %d of byte %d is flipped and nobody says so", bit, at)
			}
			// Whatever cannot be read must be named as lost.
			lost := map[string]bool{}
			for _, d := range damages {
				for _, l := range d.Lost {
					lost[l.Path] = true
				}
			}
			left := readableExtents(t, w, m, bad)
			if len(left) == all {
				free++
			}
			for _, c := range w.chains {
				for i, e := range c.extents {
					if c.packs[i] == m.Pack && e.CopyOf == nil && e.Size > 0 && !left[fmt.Sprint(c.path, e.Offset)] && !lost[c.path] {
						t.Fatalf("byte %d: %s cannot be read and is not named in %v", at, c.path, damages)
					}
				}
			}
		}
	}
	t.Logf("%d bytes, %d flips left all content readable", len(data), free)
}

// TestTruncation cuts a pack at every length.
func TestTruncation(t *testing.T) {
	w, m, data := smallWorld(t)
	for n := range data {
		damages, err := verify(t, m.Pack, data[:n])
		if err == nil {
			t.Fatalf("a pack of %d bytes is fine with %d", len(data), n)
		}
		if _, err := Open(context.Background(), blobtest.Bytes(data[:n]), ""); !errors.Is(err, blob.ErrCorrupt) {
			t.Fatalf("opened with %d bytes: %v", n, err)
		}
		readableExtents(t, w, m, data[:n])
		// When only the trailer is cut, nothing is lost and that is known.
		for _, d := range damages {
			if n >= len(data)-trailerSize && len(d.Lost)+len(d.Readable) > 0 {
				t.Fatalf("cut to %d of %d: %v", n, len(data), d)
			}
		}
	}
}

// TestExtraAndMissingBytes inserts, removes and moves parts of a pack.
func TestExtraAndMissingBytes(t *testing.T) {
	_, m, data := smallWorld(t)
	second := m.Members[1].Offset
	for name, test := range map[string]struct {
		data []byte
		lost string // the only original that may be lost
	}{
		"after":          {append(bytes.Clone(data), "junk"...), ""},
		"before":         {append([]byte("junk"), data...), ""},
		"between":        {append(append(bytes.Clone(data[:second]), "junk"...), data[second:]...), ""},
		"twice":          {append(bytes.Clone(data), data...), ""},
		"member missing": {append(bytes.Clone(data[:second]), data[second+m.Members[1].Size:]...), "large.jsonl"},
		"byte missing":   {append(bytes.Clone(data[:second+40]), data[second+41:]...), "large.jsonl"},
	} {
		damages, err := verify(t, m.Pack, test.data)
		if err == nil {
			t.Errorf("%s: nobody says so", name)
		}
		for _, d := range damages {
			for _, l := range d.Lost {
				if l.Path != test.lost && test.lost != "" || test.lost == "" {
					t.Errorf("%s: %v", name, d)
				}
			}
		}
	}
}

func TestDamageNamesWhatItCosts(t *testing.T) {
	_, m, data := smallWorld(t)
	large := m.Members[2] // the first of the large entry
	for i, member := range m.Members {
		if member.RawSize > large.RawSize {
			large = m.Members[i]
		}
	}
	bad := bytes.Clone(data)
	bad[large.Offset+large.Size/2] ^= 4
	damages, _ := verify(t, m.Pack, bad)
	if len(damages) != 1 || len(damages[0].Lost) != 1 {
		t.Fatalf("got %v", damages)
	}
	d := damages[0]
	if d.Offset != large.Offset || d.Size != large.Size || d.Lost[0].Path != "large.jsonl" || d.Lost[0].Size >= 12000 || d.Lost[0].Size == 0 {
		t.Errorf("got %v", d)
	}
}

func TestWrongName(t *testing.T) {
	_, m, data := smallWorld(t)
	other := m.Pack[:len(m.Pack)-1] + "x"
	damages, err := verify(t, other, data)
	if err == nil || len(damages) != 1 || len(damages[0].Lost) != 0 {
		t.Errorf("%v, %v", damages, err)
	}
	if _, err := Open(context.Background(), blobtest.Bytes(data), other); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("opened under another name: %v", err)
	}
}

// TestSalvageOfCut salvages a pack without manifest and trailer.
func TestSalvageOfCut(t *testing.T) {
	w, m, data := smallWorld(t)
	last := m.Members[len(m.Members)-1]
	cut := bytes.Clone(data[:last.Offset+last.Size])
	cut[m.Members[0].Offset+30] ^= 0xff
	p := blobtest.Bytes(cut)
	found, err := Salvage(context.Background(), "", p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range found.Entries {
		content, err := (&View{Pack: p, Members: found.All}).ReadRange(context.Background(), e.Raw, e.Size)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range w.chains {
			if entryName(c.source, c.path, 1, c.root, 0) == e.Name && bytes.Equal(content, c.content) {
				got[c.path] = true
			}
		}
	}
	if !got["large.jsonl"] || !got["noise"] || got["a.jsonl"] {
		t.Errorf("salvaged %v", got)
	}
	damages, _ := verify(t, m.Pack, cut)
	readable := strings.Join(damages[len(damages)-1].Readable, " ")
	if !strings.Contains(readable, "s/large.jsonl") || strings.Contains(readable, "a.jsonl@") {
		t.Errorf("readable: %s", readable)
	}
}

// TestLostMembersOfManyKinds damages random members of random packs, and checks that Verify reports exactly what is lost.
func TestLostMembersOfManyKinds(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t))
	m := w.fill(60)
	data := blobtestRead(t, w.store, m.Pack)
	for range 60 {
		bad := bytes.Clone(data)
		for range 1 + w.rnd.IntN(3) {
			member := m.Members[w.rnd.IntN(len(m.Members))]
			bad[member.Offset+w.rnd.Int64N(member.Size)] ^= byte(1 + w.rnd.IntN(255))
		}
		damages, err := verify(t, m.Pack, bad)
		if err == nil {
			continue // two flips undid each other
		}
		lost := map[string]bool{}
		for _, d := range damages {
			for _, l := range d.Lost {
				lost[l.Entry] = true
			}
		}
		left := readableExtents(t, w, m, bad)
		for _, c := range w.chains {
			for _, e := range c.extents {
				if e.CopyOf == nil && e.Size > 0 && left[fmt.Sprint(c.path, e.Offset)] == lost[entryName(c.source, c.path, c.version, c.root, e.Offset)] && w.newest(c) == 1 {
					t.Errorf("%s at %d: readable %v, in %v", c.path, e.Offset, !lost[c.path], damages)
				}
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	_, m, data := smallWorld(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(data[m.Members[1].Offset:])
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Verify(context.Background(), "", blobtest.Bytes(data), func(Damage) {})
		if err != nil && !errors.Is(err, blob.ErrCorrupt) && !errors.Is(err, blob.ErrTooNew) {
			t.Error(err)
		}
	})
}
