package fts5

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"testing"
)

// FuzzEntries: a damaged leaf yields terms or an error.
func FuzzEntries(f *testing.F) {
	f.Add([]byte{0, 0, 0, 8, 2, '0', 'a', 1, 4}, []byte("0a"))
	f.Add([]byte{0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte("0a"))
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := []byte{0, 0, 0, byte(r.IntN(40))}
		for len(b) < 40 {
			b = append(b, byte(r.Uint32())>>r.IntN(8)|byte(r.IntN(2))<<7)
		}
		f.Add(b, []byte("0a"))
	}
	f.Fuzz(func(t *testing.T, leaf, term []byte) {
		e, err := newTermEntries(leaf)
		for err == nil && e.next() {
			if rows := e.rows(); len(e.suffix)+len(rows) > len(leaf) {
				t.Errorf("a term of %d bytes with rows of %d on a leaf of %d", len(e.suffix), len(rows), len(leaf))
			}
		}
		if err == nil {
			err = e.err
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
		on, err := newSeeker(leaf)
		for _, t := range [][]byte{term, append(term, 1), append(term, 0xff)} {
			if err == nil && on.seek(t) {
				on.rows()
			}
		}
		if err = cmp.Or(err, on.err); err != nil && !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
	})
}
