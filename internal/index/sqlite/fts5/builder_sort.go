package fts5

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// key is the sort key of a term that some row has.
type key struct {
	prefix uint64 // first eight bytes, big-endian so that they sort as the term does
	number uint32
	list   uint32
}

// sort sorts the terms: a radix sort of their prefixes from the last byte to the first, and then a comparison sort of terms
// with equal prefixes.
func (b *Builder) sort() error {
	var counts [8][256]uint32 // of each byte of the prefix
	b.keys = slices.Grow(b.keys[:0], b.termCount)
	for i := range b.lists {
		l := &b.lists[i]
		for n, count := range l.counts {
			if count == 0 {
				continue
			}
			term := l.At(uint32(n))
			if !isToken(term) {
				return fmt.Errorf("%w: %.80q", ErrTerm, term)
			}
			prefix := prefixOf(term)
			for digit := range counts {
				counts[digit][byte(prefix>>(8*digit))]++
			}
			b.keys = append(b.keys, key{prefix, uint32(n), uint32(i)})
		}
	}
	b.spareKeys = slices.Grow(b.spareKeys[:0], b.termCount)[:b.termCount]
	for digit := range counts {
		sum, starts := uint32(0), &counts[digit]
		for i, n := range starts {
			starts[i], sum = sum, sum+n
		}
		for _, k := range b.keys {
			at := &starts[byte(k.prefix>>(8*digit))]
			b.spareKeys[*at] = k
			*at++
		}
		b.keys, b.spareKeys = b.spareKeys, b.keys
	}
	for start := 0; start < b.termCount; {
		prefix, end := b.keys[start].prefix, start+1
		for end < b.termCount && b.keys[end].prefix == prefix {
			end++
		}
		if end-start > 1 {
			slices.SortFunc(b.keys[start:end], b.compare)
		}
		start = end
	}
	return nil
}

func prefixOf(term []byte) (prefix uint64) {
	if len(term) >= 8 {
		return binary.BigEndian.Uint64(term)
	}
	for i, c := range term {
		prefix |= uint64(c) << (56 - 8*i)
	}
	return prefix
}

// compare orders two terms with equal prefixes; equal terms of several lists are ordered by list. Tokens contain no NUL, so
// a term of less than eight bytes is determined by its prefix.
func (b *Builder) compare(x, y key) int {
	if byte(x.prefix) != 0 {
		if c := bytes.Compare(b.text(x), b.text(y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(x.list, y.list)
}

func (b *Builder) text(k key) []byte { return b.lists[k.list].At(k.number) }

// term returns a term preceded by mainPrefix. It is valid until the next call.
func (b *Builder) term(k key) []byte {
	b.termBuffer = append(b.termBuffer[:0], mainPrefix)
	if byte(k.prefix) != 0 {
		b.termBuffer = append(b.termBuffer, b.text(k)...)
		return b.termBuffer
	}
	b.termBuffer = binary.BigEndian.AppendUint64(b.termBuffer, k.prefix)
	b.termBuffer = b.termBuffer[:9-bits.TrailingZeros64(k.prefix)/8]
	return b.termBuffer
}

// distribute writes the postings of each term next to each other, in term order.
func (b *Builder) distribute() {
	b.ends = slices.Grow(b.ends[:0], b.termCount)
	end := uint32(0)
	for _, k := range b.keys {
		at := &b.lists[k.list].counts[k.number]
		end, *at = end+*at, end
		b.ends = append(b.ends, end)
	}
	if cap(b.postings) < b.positions {
		b.postings = make([]globalPos, b.positions+b.positions/8)
	}
	b.postings, b.starts, b.blocks = b.postings[:cap(b.postings)], b.starts[:0], b.blocks[:0]
	place := globalPos(0)
	for i, r := range b.rows {
		at := b.lists[r.list].counts
		for _, terms := range b.terms[i*b.columns : (i+1)*b.columns] {
			b.starts = append(b.starts, place)
			if len(terms) == 0 {
				continue
			}
			place -= globalPos(1 - terms[0]>>31) // no term before the first one
			for _, n := range terms {
				place += globalPos(1 - n>>31)
				p := &at[n&^Same]
				b.postings[*p] = place
				*p++
			}
			place++
			for len(b.blocks)*blockSize < int(place) {
				b.blocks = append(b.blocks, uint32(len(b.starts)-1))
			}
		}
	}
	b.starts = append(b.starts, place)
}

// startOf returns the index in starts of the row and column of a position.
func (b *Builder) startOf(p globalPos) uint32 {
	i := b.blocks[p/blockSize]
	for b.starts[i+1] <= p {
		i++
	}
	return i
}

// mergePostings merges two adjacent runs of postings in place: those of a term that is in two lists.
func (b *Builder) mergePostings(start, middle, end uint32) {
	b.spare = append(b.spare[:0], b.postings[start:middle]...)
	to, x, y := b.postings[start:end], b.spare, b.postings[middle:end]
	for i := range to {
		if len(y) == 0 || len(x) > 0 && x[0] <= y[0] {
			to[i], x = x[0], x[1:]
		} else {
			to[i], y = y[0], y[1:]
		}
	}
}
