package pack

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

// TestSalvage damages a pack of one large entry. Sure must have exactly the members that are as they were written, wherever they
// are, and not others of the same lengths that inflate.
func TestSalvage(t *testing.T) {
	was, manifest := noisePack(t, 1)
	foreign, other := noisePack(t, 2)
	m := manifest.Members
	at := func(data []byte, of []blob.Member, i int) []byte { return data[of[i].Offset : of[i].Offset+of[i].Size] }
	if len(m) < 6 || m[2].Size != m[3].Size || !bytes.Equal(at(was, m, 2)[:memberHeader], at(foreign, other.Members, 2)[:memberHeader]) {
		t.Fatalf("the members are not alike: %+v", m)
	}
	for _, c := range []struct {
		name string
		is   []byte
		lost []int // members that are not sure
		torn []int
		all  int
	}{
		{"as it was", was, nil, nil, len(m)},
		{"a flipped bit", flipped(was, m[2].Offset+m[2].Size/2), []int{2}, []int{2}, len(m) - 1},
		{"a foreign member", slices.Concat(was[:m[2].Offset], at(foreign, other.Members, 2), was[m[3].Offset:]), []int{2}, nil, len(m)},
		{"two that changed places", slices.Concat(was[:m[2].Offset], at(was, m, 3), at(was, m, 2), was[m[4].Offset:]), nil, nil, len(m)},
		{"one that lacks", slices.Concat(was[:m[2].Offset], was[m[3].Offset:]), []int{2}, []int{2}, len(m) - 1},
		{"one twice", slices.Concat(was[:m[3].Offset], at(was, m, 2), was[m[3].Offset:]), nil, nil, len(m)},
		{"the end", was[:m[4].Offset+10], nil, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := blobtest.NewMemory()
			blobtest.Put(t, store, manifest.Pack, c.is)
			p, err := store.Open(t.Context(), manifest.Pack)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Salvage(t.Context(), manifest.Pack, p)
			if err != nil || len(w.All) < c.all || w.HasManifest == (c.all == 0) {
				t.Fatalf("%v, %d members of %d, known %v", err, len(w.All), c.all, w.HasManifest)
			}
			for i, one := range m {
				sure := slices.ContainsFunc(w.Sure, func(s blob.Member) bool { return s.Raw == one.Raw })
				if sure == slices.Contains(c.lost, i) && w.HasManifest {
					t.Errorf("member %d is sure: %v", i, sure)
				}
			}
			if w.HasManifest && len(w.Torn) != len(c.torn) {
				t.Errorf("%d members are torn, want %d", len(w.Torn), len(c.torn))
			}
		})
	}
}

func flipped(data []byte, at int64) []byte {
	data = bytes.Clone(data)
	data[at] ^= 1
	return data
}

// noisePack returns a pack with one entry of random bytes, so that all its members have the same size.
func noisePack(t *testing.T, seed uint64) ([]byte, blob.Manifest) {
	t.Helper()
	store := blobtest.NewMemory()
	w, err := Begin(t.Context(), store, "w", time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC), Options{MemberSize: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 60<<10)
	for i := range data {
		data[i] = byte(1 + r.IntN(255))
		if data[i] == '\n' { // members are cut there
			data[i] = 'n'
		}
	}
	v := blob.Version{Source: "runs", Path: "noise", Number: 1, Root: blob.RefOf(data), Size: int64(len(data)), SHA256: blob.RefOf(data), Mode: 0o600}
	v.Extents = []blob.Extent{{Size: v.Size, SHA256: v.SHA256}}
	if err := w.Put(&v, &v.Extents[0], bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	m, info, err := w.Seal(t.Context(), blob.Manifest{Versions: []blob.Version{v}})
	if err != nil {
		t.Fatal(err)
	}
	return blobtest.Read(t, store, info.Name), m
}
