package index

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/txarchive/txarchive/internal/term"
)

// Words is a list of terms, each of them once. Rows name terms by their numbers in it, which begin with 0: so a term is
// looked for once on its way in, however often the text is gone over after that.
type Words struct {
	text   []byte
	ends   []uint32
	series *int
}

// Len returns how many terms there are.
func (w *Words) Len() int { return len(w.ends) }

// At returns the term of a number. It must not be changed.
func (w *Words) At(n uint32) []byte {
	start := uint32(0)
	if n > 0 {
		start = w.ends[n-1]
	}
	return w.text[start:w.ends[n]:w.ends[n]]
}

// Append appends the terms of some numbers to b, separated as term.Split does it.
func (w *Words) Append(b []byte, numbers []uint32) []byte {
	for i, n := range numbers {
		switch {
		case n&Same != 0:
			b = append(b, term.Same)
		case i > 0:
			b = append(b, ' ')
		}
		b = append(b, w.At(n&^Same)...)
	}
	return b
}

// Series is equal for lists of which one begins with the other: a number in both means the same.
func (w *Words) Series() any { return w.series }

// Numbering gives terms their numbers: what Words are made with. A number holds for all lists of a series, so that
// originals that are read one after another share them; when a series has become long another begins.
type Numbering struct {
	words Words
	slots []wordSlot
	ahead [termsAhead]wordAhead
	seen  uint32 // nothing: see look
}

// termsAhead is how many terms are looked for at once. Most of the time goes into waiting for memory, and memory answers
// many questions at a time.
const termsAhead = 32

// wordAhead is a term that is about to be looked for.
type wordAhead struct {
	prefix      uint64
	hash        uint64
	start, size int
	same        uint32
}

// wordSlot holds all that tells a short term from others, for looking at a second place in memory costs more than all
// the rest.
type wordSlot struct {
	prefix uint64 // first eight bytes
	number uint32 // plus one, 0 for an empty slot
	length uint16
	told   bool
}

const (
	minSlots  = 1 << 10
	maxSeries = 1 << 17 // terms: some 6 MiB
)

// Start returns whether a new series begins here. It must be called before the first Add and between originals.
func (v *Numbering) Start() bool {
	if v.words.series != nil && len(v.words.ends) < maxSeries {
		return false
	}
	v.words = Words{series: new(int)}
	if v.slots == nil {
		v.slots = make([]wordSlot, minSlots)
	}
	clear(v.slots)
	return true
}

// Words returns the terms that have a number so far.
func (v *Numbering) Words() *Words {
	w := v.words
	return &w
}

// Same is added to the number of a term that stands in the same place as the one before it: a part of an identifier.
const Same = 1 << 31

// Add appends the numbers of terms, which are separated as term.Split does it, to numbers; and to fresh, unless that is
// nil, those of words that no call with fresh had before in this series.
func (v *Numbering) Add(numbers []uint32, terms []byte, fresh *[]uint32) []uint32 {
	n := len(terms)
	terms = append(terms, "        "...) // so that eight bytes can be read at the start of each term
	for start, same := 0, uint32(0); start < n; {
		some := v.ahead[:]
		some, start, same = cut(some, terms, start, n, same)
		v.look(some)
		for i := range some {
			a := &some[i]
			s := v.find(a.hash, a.prefix, terms[a.start:a.start+a.size])
			numbers = append(numbers, s.number-1|a.same)
			if fresh != nil && !s.told && a.same == 0 {
				s.told = true
				*fresh = append(*fresh, s.number-1)
			}
		}
	}
	return numbers
}

// cut fills some with the next terms before n.
func cut(some []wordAhead, terms []byte, start, n int, same uint32) ([]wordAhead, int, uint32) {
	for i := range some {
		if start >= n {
			return some[:i], start, same
		}
		prefix := binary.LittleEndian.Uint64(terms[start:])
		size := termLen(prefix)
		if size < 8 {
			prefix &= 1<<(8*size) - 1
		} else {
			for more := 8; more == 8; size += more {
				more = termLen(binary.LittleEndian.Uint64(terms[start+size:]))
			}
		}
		some[i] = wordAhead{prefix, hashWord(prefix, terms[start:start+size]), start, size, same}
		start += size
		same = 0
		if terms[start] == term.Same {
			same = Same
		}
		start++
	}
	return some, start, same
}

// look reads what find will read: one after the other without waiting, so that it is near by then.
func (v *Numbering) look(some []wordAhead) {
	mask := uint64(len(v.slots) - 1)
	seen := uint32(0)
	for i := range some {
		seen += v.slots[some[i].hash&mask].number
	}
	v.seen = seen
}

// termLen returns how many of eight bytes come before the first that separates terms.
func termLen(b uint64) int {
	const ones = 0x0101010101010101
	return bits.TrailingZeros64((b-ones*(' '+1))&^b&(ones<<7)) >> 3
}

// wordSeed keeps texts from being made to collide. It never reaches the index.
var wordSeed = rand.Uint64()

func hashWord(prefix uint64, term []byte) uint64 {
	h := mix(prefix^uint64(len(term))^wordSeed, 0x9e3779b97f4a7c15)
	for i := 8; i < len(term); i += 8 {
		h = mix(h^binary.LittleEndian.Uint64(term[min(i, len(term)-8):]), 0xd6e8feb86659fd93)
	}
	return h
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// find returns the slot of a term, and makes it one.
func (v *Numbering) find(hash, prefix uint64, term []byte) *wordSlot {
	mask := uint64(len(v.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &v.slots[i]
		if s.number == 0 {
			return v.insert(s, hash, prefix, term)
		}
		if s.prefix == prefix && int(s.length) == len(term) && (len(term) <= 8 || string(v.words.At(s.number - 1)[8:]) == string(term[8:])) {
			return s
		}
	}
}

func (v *Numbering) insert(s *wordSlot, hash, prefix uint64, term []byte) *wordSlot {
	if 2*len(v.words.ends) >= len(v.slots) {
		v.grow()
		return v.find(hash, prefix, term)
	}
	v.words.text = append(v.words.text, term...)
	v.words.ends = append(v.words.ends, uint32(len(v.words.text)))
	*s = wordSlot{prefix: prefix, number: uint32(len(v.words.ends)), length: uint16(len(term))}
	return s
}

func (v *Numbering) grow() {
	old := v.slots
	v.slots = make([]wordSlot, 2*len(old))
	mask := uint64(len(v.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		i := hashWord(s.prefix, v.words.At(s.number-1)) & mask
		for v.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		v.slots[i] = s
	}
}
