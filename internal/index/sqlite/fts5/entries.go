package fts5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// termEntries iterates over the terms of a leaf in order.
type termEntries struct {
	leaf    []byte // without its footer
	footer  []byte // its part not read yet
	at      int    // where the current entry begins
	started bool
	err     error // why next stopped before the end

	shared int    // bytes that the term has in common with the one before it
	suffix []byte // the rest of the term
	rest   []byte // of the leaf, after the term
}

func newTermEntries(b []byte) (e termEntries, err error) {
	if len(b) < 4 {
		return e, fmt.Errorf("%w: short leaf", ErrMalformed)
	}
	size := int(binary.BigEndian.Uint16(b[2:]))
	if size < 4 || size > len(b) {
		return e, fmt.Errorf("%w: size of leaf", ErrMalformed)
	}
	return termEntries{leaf: b[:size], footer: b[size:]}, nil
}

// next advances to the next term. Most lengths take one byte.
func (e *termEntries) next() bool {
	if len(e.footer) == 0 {
		return false
	}
	v, n := uint64(e.footer[0]), 1
	if v >= 0x80 {
		v, n = varint(e.footer)
	}
	if n == 0 || v == 0 || v >= uint64(len(e.leaf)-e.at) {
		return e.fail("footer")
	}
	e.footer, e.at = e.footer[n:], e.at+int(v)
	entry := e.leaf[e.at:]
	shared := uint64(0)
	if e.started {
		if shared, n = uint64(entry[0]), 1; shared >= 0x80 {
			shared, n = varint(entry)
		}
		entry = entry[n:]
	}
	length, n := uint64(0x80), 0
	if len(entry) > 0 {
		length, n = uint64(entry[0]), 1
	}
	if length >= 0x80 {
		length, n = varint(entry)
	}
	if n == 0 || length > uint64(len(entry)-n) || shared > math.MaxInt32 {
		return e.fail("term")
	}
	e.started, e.shared, e.suffix, e.rest = true, int(shared), entry[n:n+int(length)], entry[n+int(length):]
	return true
}

func (e *termEntries) fail(what string) bool {
	e.err = fmt.Errorf("%w: %s", ErrMalformed, what)
	return false
}

// rows returns the part of the current term's doclist on the leaf.
func (e *termEntries) rows() []byte {
	end := len(e.leaf)
	if v, n := varint(e.footer); n > 0 && v < uint64(end-e.at) {
		end = e.at + int(v)
	}
	if end -= len(e.leaf) - len(e.rest); end < 0 {
		e.fail("term")
		return nil
	}
	return e.rest[:end]
}

// last reports whether the current term is the last on the leaf, so that the next leaf may continue it.
func (e *termEntries) last() bool { return len(e.footer) == 0 }

// seeker looks up terms on one leaf, in ascending order.
type seeker struct {
	termEntries
	term []byte // the current term; nil before the first, and when all terms are below the wanted one
}

func newSeeker(leaf []byte) (seeker, error) {
	e, err := newTermEntries(leaf)
	return seeker{termEntries: e}, err
}

// seek advances to a term and reports whether it is on the leaf.
func (s *seeker) seek(term []byte) bool {
	shared := 0 // bytes that the current term shares with the wanted one
	if s.term != nil {
		if above := bytes.Compare(s.term, term); above >= 0 {
			return above == 0
		}
		shared = common(s.term, term)
	}
	for s.next() {
		if s.shared > shared {
			continue // it shares more with the term before, which is below the wanted one, and so it is, too
		}
		if s.shared == shared {
			n := common(s.suffix, term[shared:])
			if shared += n; shared < len(term) && (n == len(s.suffix) || s.suffix[n] < term[shared]) {
				continue
			}
		}
		s.term = append(append(s.term[:0], term[:min(s.shared, len(term))]...), s.suffix...)
		return bytes.Equal(s.term, term)
	}
	s.term = nil
	return false
}
