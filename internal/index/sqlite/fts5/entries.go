package fts5

import (
	"encoding/binary"
	"fmt"
	"math"
)

// entries walks the terms of a leaf in order.
type entries struct {
	leaf   []byte // without its footer
	footer []byte // what is left of it
	at     int    // of the present entry
	begun  bool
	err    error // why next stopped before the end

	shared       int    // bytes that the term has in common with the one before it
	suffix, rows []byte // the rest of the term, and what follows it here
}

func entriesOf(b []byte) (e entries, err error) {
	if len(b) < 4 {
		return e, fmt.Errorf("%w: short leaf", ErrMalformed)
	}
	size := int(binary.BigEndian.Uint16(b[2:]))
	if size < 4 || size > len(b) {
		return e, fmt.Errorf("%w: size of leaf", ErrMalformed)
	}
	return entries{leaf: b[:size], footer: b[size:]}, nil
}

// next goes to the next term.
func (e *entries) next() bool {
	if len(e.footer) == 0 {
		return false
	}
	v, n := varint(e.footer)
	if n == 0 || v == 0 || v >= uint64(len(e.leaf)-e.at) {
		e.err = fmt.Errorf("%w: footer", ErrMalformed)
		return false
	}
	e.footer, e.at = e.footer[n:], e.at+int(v)
	entry := e.leaf[e.at:]
	if v, n := varint(e.footer); n > 0 && v < uint64(len(entry)) {
		entry = entry[:v]
	}
	shared := uint64(0)
	if e.begun {
		shared, n = varint(entry)
		entry = entry[n:]
	}
	length, n := varint(entry)
	if n == 0 || length > uint64(len(entry)-n) || shared > math.MaxInt32 {
		e.err = fmt.Errorf("%w: term", ErrMalformed)
		return false
	}
	e.begun, e.shared = true, int(shared)
	e.suffix, e.rows = entry[n:n+int(length)], entry[n+int(length):]
	return true
}

// last says whether the present term is the last one, so that the next leaf may go on with it.
func (e *entries) last() bool { return len(e.footer) == 0 }
