package term

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// someTerms is how many terms are made at a time.
const someTerms = 40

// quick appends words as Split does, from offset i of text on, until there are some, as long as they are of ASCII, no longer
// than a term and in no blob: nearly all words of most texts. It returns where it stopped. It looks at eight bytes at
// once, since where a word ends cannot be foretold, and a guess that fails costs as much as all else.
func (s *Splitter) quick(t *Terms, text string, i int) int {
	for s.cut == 0 && i < len(text) && len(t.All) < someTerms {
		b := eight(text, i)
		letters, digits := kindsOf(b)
		word := letters | digits
		if (word|b)&0x80 == 0 { // it begins later
			i += bits.TrailingZeros64(word|b&high) >> 3
			continue
		}
		if b&0x80 != 0 {
			break
		}
		if i >= s.clear {
			if s.blob(text, i); s.cut != 0 {
				break
			}
		}
		size := bits.TrailingZeros64(^word&high) >> 3
		if size == 8 || b>>(8*size)&0x80 != 0 {
			end := s.longer(t, text, i)
			if end == i {
				break
			}
			i = end
			continue
		}
		mask := uint64(1)<<(8*size) - 1
		letters, digits = letters&mask, digits&mask
		upper := letters &^ (b << 2)
		from := t.room(size)
		prefix := (b | upper>>2) & mask
		binary.LittleEndian.PutUint64(t.Text[from:from+8], prefix)
		t.Text = t.Text[:from+size]
		t.All = append(t.All, One{prefix, from, from + size, false})
		if mixed(letters, digits, upper) {
			t.shortParts(prefix, size, letters, digits, upper)
		}
		// What comes next mostly begins in the same eight bytes.
		i += size + bits.TrailingZeros64((word|b&high)>>(8*size)|1<<(8*(8-size)))>>3
	}
	return i
}

// shortParts appends the parts of a word of fewer than eight bytes of ASCII, that was appended as a whole, as appendPlainParts
// does: prefix is the word, and the others are the bits of its letters, digits and capitals.
func (t *Terms) shortParts(prefix uint64, size int, letters, digits, upper uint64) {
	inside := uint64(1)<<(8*size) - 1<<8 // all bytes but the first
	cuts := (digits ^ digits<<8 | upper&^(upper<<8) | upper&(upper<<8)&((letters&^upper)>>8)) & inside & high
	n := bits.OnesCount64(cuts) + 1
	beyondF := letters & (prefix + ones*(0x7f-'f'))
	if n >= 6 || n >= 3 && size >= 4 && beyondF == 0 && (upper == 0 || upper == letters) { // random
		return
	}
	var ends [8]int
	for k := range n - 1 {
		ends[k] = bits.TrailingZeros64(cuts) - 7
		cuts &= cuts - 1
	}
	ends[n-1] = 8 * size
	t.Text = slices.Grow(t.Text, shortRuns)
	inner := 0
	for k, start := 0, 0; k < n; k, start = k+1, ends[k] {
		for j := k; j < min(n, k+n-1); j++ {
			kind := Inner
			if k == 0 {
				kind = Leading
			} else if j == n-1 {
				kind = Trailing
			}
			part := uint64(kind) | prefix>>start&(1<<(ends[j]-start)-1)<<8
			if kind == Inner && slices.ContainsFunc(t.All[inner:], func(o One) bool { return o.Prefix == part }) {
				continue
			}
			from := len(t.Text) + 1
			end := from + 1 + (ends[j]-start)>>3
			t.Text[:from][from-1] = Same
			binary.LittleEndian.PutUint64(t.Text[from:from+8], part)
			t.Text = t.Text[:end]
			t.All = append(t.All, One{part, from, end, true})
		}
		if k == 0 {
			inner = len(t.All)
		}
	}
}

// shortRuns is more than the room that the parts of such a word take: fourteen runs of five parts, and eight bytes more.
const shortRuns = 14*(2+8) + 8

// longer is quick for one word of eight bytes and more. It returns its end, which is i when the word is none for quick.
func (s *Splitter) longer(t *Terms, text string, i int) int {
	from := t.room(MaxTerm + 8)
	folded := t.Text[from : from+MaxTerm+16]
	end, caps := i, 0
	var small, digits uint64
	for size := 8; size == 8; end += size {
		if end-i > MaxTerm {
			return i
		}
		b := eight(text, end)
		l, d := kindsOf(b)
		capitals := l &^ (b << 2)
		binary.LittleEndian.PutUint64(folded[end-i:], b|capitals>>2)
		size = bits.TrailingZeros64(^(l|d)&high) >> 3
		if size < 8 {
			if b>>(8*size)&0x80 != 0 {
				return i
			}
			mask := uint64(1)<<(8*size) - 1
			l, d, capitals = l&mask, d&mask, capitals&mask
		}
		caps += bits.OnesCount64(capitals)
		small |= l &^ capitals
		digits |= d
	}
	if end-i > MaxTerm {
		return i
	}
	t.Text = t.Text[:from+end-i]
	t.All = append(t.All, One{binary.LittleEndian.Uint64(folded), from, len(t.Text), false})
	if digits != 0 && (caps > 0 || small != 0) || digits == 0 && small != 0 && (caps > 1 || caps == 1 && kinds[text[i]] != upper) {
		s.parts(t, from, text, i, end)
	}
	return end
}

// parts appends the parts of a word of ASCII that was appended as a whole.
func (s *Splitter) parts(t *Terms, from int, text string, start, end int) {
	whole := len(t.Text)
	t.Text = s.appendPlainParts(t.Text, from, text, word{start: start, end: end})
	if len(t.Text) > whole {
		t.take(whole + 1)
	}
}

// room appends what separates the next term from the one before it, makes room for a term and eight bytes more, and
// returns where it stands.
func (t *Terms) room(size int) int {
	n := len(t.Text)
	if cap(t.Text)-n < size+9 {
		t.Text = slices.Grow(t.Text, size+256)
	}
	if n > 0 && t.Text[n-1] != ' ' {
		t.Text = append(t.Text, ' ')
		n++
	}
	return n
}

// mixed is word.mixed for a word of up to eight bytes of ASCII, by the bits of its letters, digits and capitals.
func mixed(letters, digits, upper uint64) bool {
	if digits != 0 {
		return letters != 0
	}
	return upper != 0 && upper != letters && upper != 0x80
}

// kindsOf tells of eight bytes which are ASCII letters and which digits, by the highest bit of each.
func kindsOf(b uint64) (letters, digits uint64) {
	x := b &^ high
	y := x | ones*0x20
	letters = (y + ones*(0x80-'a')) &^ (y + ones*(0x7f-'z')) & high &^ b
	digits = (x + ones*(0x80-'0')) &^ (x + ones*(0x7f-'9')) & high &^ b
	return letters, digits
}

// eight returns eight bytes of text, the first of them lowest, with zeros behind its end.
func eight(text string, i int) uint64 {
	if len(text)-i < 8 {
		return fewer(text, i)
	}
	return binary.LittleEndian.Uint64([]byte(text[i : i+8]))
}

func fewer(text string, i int) (b uint64) {
	for j := len(text) - 1; j >= i; j-- {
		b = b<<8 | uint64(text[j])
	}
	return b
}
