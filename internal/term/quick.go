package term

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// batchTerms is how many terms Next makes at a time; there may be a few more.
const batchTerms = 40

// quick appends words as Split does, from offset i of text on, until t has a batch of terms. It handles words of
// ASCII that are shorter than 64 bytes and in no blob: nearly all words of most texts. It returns the offset where it
// stopped. All 64 bytes are classified before the first word is taken from them: the end of a word cannot be
// predicted, and a mispredicted branch costs as much as everything else.
func (s *Splitter) quick(t *Terms, text string, i int) int {
	for s.cut == 0 && i < len(text) && len(t.All) < batchTerms {
		if s.escape < i {
			s.escape = nextEscape(text, i)
		}
		if s.escape == i {
			i = skipEscape(text, i)
			continue
		}
		from := len(t.Text)
		words, digits, upper, size := t.fold(text[:s.escape], i)
		end := i + size
		open, slow := end < s.escape, false // open: a word may continue at end; slow: what follows is not handled here
		if open && text[end] >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[end:])
			class := lookup(r).class
			open = class == inWord || class == mark
			if slow = open || class == alone; !slow {
				end += n
			}
		}
		for rest := words; rest != 0; {
			start := bits.TrailingZeros64(rest)
			length := bits.TrailingZeros64(^(rest >> start))
			if open && start+length == size {
				end = i + start
				break
			}
			if length > 1 && afterBackslash(text, i+start) {
				return i + start
			}
			if i+start >= s.clear {
				if s.detectBlob(text, i+start); s.cut != 0 {
					return i + start
				}
			}
			one := t.termAt(from+start, length)
			t.All = append(t.All, one)
			whole := uint64(1)<<length - 1
			digits, upper := digits>>start&whole, upper>>start&whole
			if digits != 0 && digits != whole || digits == 0 && upper > 1 && upper != whole {
				s.parts(t, one, text[i+start:i+start+length], digits, upper)
			}
			rest &^= whole << start
		}
		if words == 0 {
			t.Text = t.Text[:from]
		}
		if slow || end == i {
			return end
		}
		i = end
	}
	return i
}

// fold appends up to 64 bytes of text, from i on, in ASCII lower case, and reserves eight more bytes of capacity. It
// returns how many bytes it appended and, with one bit per byte, which of them belong to words, are digits, and were
// capitals. It stops before the first byte that is not ASCII.
func (t *Terms) fold(text string, i int) (words, digits, upper uint64, size int) {
	from := len(t.Text)
	if cap(t.Text)-from < 64+8 {
		t.Text = slices.Grow(t.Text, 512)
	}
	to := t.Text[from : from+64+8]
	text = text[i:min(i+64, len(text))]
	for size < len(text) {
		b := eight(text, size)
		l, d := kindsOf(b)
		u := l &^ (b << 2)
		binary.LittleEndian.PutUint64(to[size:size+8], b|u>>2)
		words |= bitsOf(l|d) << (size & 63)
		digits |= bitsOf(d) << (size & 63)
		upper |= bitsOf(u) << (size & 63)
		if b&high != 0 {
			size += bits.TrailingZeros64(b&high) >> 3
			before := uint64(1)<<size - 1
			words, digits, upper = words&before, digits&before, upper&before
			break
		}
		size = min(size+8, len(text))
	}
	t.Text = t.Text[:from+size]
	return words, digits, upper, size
}

// bitsOf gathers the highest bits of eight bytes.
func bitsOf(b uint64) uint64 { return b & high >> 7 * 0x0102040810204080 >> 56 }

// parts appends the parts of a word of ASCII that has been appended as a whole, as appendPlainParts does. digits and
// upper have a bit set for each digit and capital of the word.
func (s *Splitter) parts(t *Terms, whole One, word string, digits, upper uint64) {
	inside := uint64(1)<<len(word) - 2 // all characters but the first
	beforeSmall := ^(digits | upper) >> 1 & (inside >> 1)
	cuts := (digits ^ digits<<1 | upper&^(upper<<1) | upper&(upper<<1)&beforeSmall) & inside
	if cuts == 0 || random(word, bits.OnesCount64(cuts)+1) {
		return
	}
	s.cuts = append(s.cuts[:0], 0)
	for ; cuts != 0; cuts &= cuts - 1 {
		s.cuts = append(s.cuts, bits.TrailingZeros64(cuts))
	}
	s.cuts = append(s.cuts, len(word))
	last := len(s.cuts) - 1
	if last > maxParts {
		n := len(t.Text)
		t.Text = s.appendRuns(t.Text, int(whole.Start), word)
		t.addFrom(n + 1)
		return
	}
	letters := ^digits & (1<<len(word) - 1)
	amount := digits&1 != 0 && letters&(letters>>1)&(letters>>2) == 0 // see func amount
	inner := 0
	for i, start := range s.cuts[:last] {
		for j := i + 1; j <= min(last, i+last-1); j++ {
			kind := kindOf(i, j, last)
			if amount && !figures(word[start:], i, j, kind) {
				continue
			}
			t.part(kind, int(whole.Start)+start, int(whole.Start)+s.cuts[j], inner)
		}
		if i == 0 {
			inner = len(t.All)
		}
	}
}

// part appends the part Text[start:end] of a word, unless it is an inner part that All contains already at or after
// inner. The prefix is read from the word rather than from the copy: reading bytes that were just written is slow.
func (t *Terms) part(kind Kind, start, end, inner int) {
	one := t.termAt(start, end-start)
	one = One{one.Prefix<<8 | uint64(kind), uint32(len(t.Text) + 1), uint32(end-start+1) | sameBit}
	if kind == Inner {
		for i := range t.All[inner:] {
			if has := &t.All[inner+i]; has.Prefix == one.Prefix && has.lengthAndSame == one.lengthAndSame && string(t.Of(has)[1:]) == string(t.Text[start:end]) {
				return
			}
		}
	}
	at := len(t.Text)
	t.Text = slices.Grow(t.Text, end-start+10)[:at+2+end-start]
	t.Text[at] = Same
	binary.LittleEndian.PutUint64(t.Text[at+1:at+9:cap(t.Text)], one.Prefix)
	if end-start > 7 {
		copy(t.Text[at+9:], t.Text[start+7:end])
	}
	t.All = append(t.All, one)
}

// kindsOf reports which of eight bytes are ASCII letters and which are digits, in the highest bit of each byte.
func kindsOf(b uint64) (letters, digits uint64) {
	x := b &^ high
	y := x | ones*0x20
	letters = (y + ones*(0x80-'a')) &^ (y + ones*(0x7f-'z')) & high &^ b
	digits = (x + ones*(0x80-'0')) &^ (x + ones*(0x7f-'9')) & high &^ b
	return letters, digits
}

// eight returns eight bytes of text at i in little-endian order, zero-padded at the end of text.
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
