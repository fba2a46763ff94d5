package index

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/term"
)

// Lexicon gives terms their numbers, to all who read at the same time: so that a term has one number whoever met it, and
// is made room for once. The zero Lexicon is ready.
type Lexicon struct {
	mu      sync.Mutex
	present *register
}

// maxTerms is how many terms there may be before another list begins: some 15 MiB. It may become longer than that, for a
// list goes on until those who use it begin another original; so there is some room left in a table of maxSlots.
const (
	maxSlots = 1 << 19
	maxTerms = maxSlots/2 - 1<<14
)

// list returns the list that is to be added to from now on.
func (l *Lexicon) list() *register {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.present == nil:
		l.present = newRegister(minSlots)
	case l.present.words.Len() >= maxTerms: // the next one will not be smaller
		l.present = newRegister(maxSlots)
	}
	return l.present
}

// register is a list of terms with the table in which they are looked up. Looking takes no lock: what a slot says is true
// from when it says something. Who finds nothing takes the lock and looks again.
type register struct {
	words  *Words
	table  atomic.Pointer[wordTable]
	adding sync.Mutex
}

// wordTable is an open hash table. Terms stand in the order of their hashes, nearly, so that a larger table is filled from one
// end to the other.
type wordTable struct {
	slots []wordSlot
	shift int // of a hash, to get the slot that looking begins with
}

// wordSlot tells a term from others: a short one all by itself, for looking at a second place in memory costs more than
// all the rest. Once others can see the slot, key is written before what, and nothing is written twice.
type wordSlot struct {
	key  uint64 // the first eight bytes; of longer terms, their place in chunks above the first bits of their hash
	what uint64 // number plus one, length, and the last bits of the hash; 0 for an empty slot
}

const (
	minSlots    = 1 << 10
	keyHashBits = 24
	whatBits    = 32 // of a number
	lengthBits  = 16
)

func newRegister(slots int) *register {
	g := &register{words: newWords()}
	g.table.Store(newTable(slots))
	return g
}

// newTable writes to the whole table: a page of it that was read before it is written to is mapped twice, and the second time every core has to
// be told.
func newTable(size int) *wordTable {
	t := &wordTable{make([]wordSlot, size), 65 - bits.Len(uint(size))}
	clear(t.slots)
	return t
}

// find returns the number of a term, plus one; 0 if it has none in this table.
func (g *register) find(t *wordTable, hash, prefix uint64, term []byte) uint32 {
	mask := uint64(len(t.slots) - 1)
	is := isWord(hash, len(term))
	for i := hash >> (t.shift & 63); ; i++ {
		s := &t.slots[i&mask]
		what := atomic.LoadUint64(&s.what)
		if what == 0 {
			return 0
		}
		if what>>whatBits == is && (len(term) <= 8 && s.key == prefix || len(term) > 8 && string(g.words.text(placeOf(s.key, what))) == string(term)) {
			return uint32(what)
		}
	}
}

// short is find for a term of up to eight bytes, as far as it stands where it belongs: most do.
func (t *wordTable) short(hash uint64, one *term.One) uint32 {
	s := &t.slots[hash>>(t.shift&63)]
	what := atomic.LoadUint64(&s.what)
	if size := one.Size(); size > 8 || what>>whatBits != isWord(hash, size) || s.key != one.Prefix {
		return 0
	}
	return uint32(what)
}

// isWord returns what stands above the number in the slot of a term.
func isWord(hash uint64, size int) uint64 {
	return (hash<<lengthBits | uint64(size)) & (1<<(64-whatBits) - 1)
}

// placeOf returns where the text of a long term stands.
func placeOf(key, what uint64) wordPlace {
	return wordPlace(key>>keyHashBits<<wordLengthBits | what>>whatBits&(1<<lengthBits-1))
}

// number returns the number of a term that was not found, plus one, and gives it one if nobody has meanwhile.
func (g *register) number(hash, prefix uint64, term []byte) uint32 {
	g.adding.Lock()
	defer g.adding.Unlock()
	t := g.table.Load()
	if n := g.find(t, hash, prefix, term); n != 0 {
		return n
	}
	n := g.words.Len()
	if 2*n >= len(t.slots) {
		t = t.grow()
		g.table.Store(t)
	}
	place := g.words.add(term)
	s := t.empty(hash)
	if s.key = prefix; len(term) > 8 {
		s.key = uint64(place)>>wordLengthBits<<keyHashBits | hash>>(64-keyHashBits)
	}
	atomic.StoreUint64(&s.what, isWord(hash, len(term))<<whatBits|uint64(n+1))
	return uint32(n + 1)
}

// empty returns where a term of this hash has room.
func (t *wordTable) empty(hash uint64) *wordSlot {
	mask := uint64(len(t.slots) - 1)
	for i := hash >> (t.shift & 63); ; i++ {
		if s := &t.slots[i&mask]; s.what == 0 {
			return s
		}
	}
}

// grow returns a table of the same, four times as large up to maxSlots: so there is little to move. Those who look at the old one miss what comes after, and look again.
func (t *wordTable) grow() *wordTable {
	larger := newTable(max(2*len(t.slots), min(4*len(t.slots), maxSlots)))
	for _, s := range t.slots {
		if s.what == 0 {
			continue
		}
		hash := s.key << (64 - keyHashBits)
		if size := s.what >> whatBits & (1<<lengthBits - 1); size <= 8 {
			hash = hashPrefix(s.key, size)
		}
		*larger.empty(hash) = s
	}
	return larger
}

// Numbering numbers the terms of one who reads.
type Numbering struct {
	shared   *Lexicon
	register *register
	terms    term.Terms
	hashes   [termsAhead]uint64
	seen     uint64 // nothing: see look
}

// termsAhead is how many terms are looked for at once. Most of the time goes into waiting for memory, and memory answers
// many questions at a time.
const termsAhead = 64

// NewNumbering returns a Numbering with numbers that all of a Lexicon have in common.
func NewNumbering(l *Lexicon) *Numbering { return &Numbering{shared: l} }

// Start returns whether another list begins here. It must be called before the first Add and between originals.
func (v *Numbering) Start() bool {
	g := v.shared.list()
	if g == v.register {
		return false
	}
	v.register = g
	return true
}

// Words returns the list that the numbers since Start are of.
func (v *Numbering) Words() *Words { return v.register.words }

// Add appends the numbers of terms, which are separated as term.Split does it, to numbers.
func (v *Numbering) Add(numbers []uint32, terms []byte) []uint32 {
	v.terms.Set(terms)
	return v.Number(numbers, &v.terms)
}

// Number appends the numbers of terms, of less than 64 KiB each, to numbers.
func (v *Numbering) Number(numbers []uint32, terms *term.Terms) []uint32 {
	table := v.register.table.Load()
	for some := range slices.Chunk(terms.All, termsAhead) {
		hashes := v.hashes[:len(some)]
		for i := range some {
			one := &some[i]
			size := one.Size()
			hash := hashPrefix(one.Prefix, uint64(size))
			if size > 8 {
				hash = hashRest(hash, terms.Of(one))
			}
			hashes[i] = hash
		}
		v.look(table, hashes)
		v.lookAtLong(table, hashes, some)
		for i := range some {
			one, hash := &some[i], hashes[i]
			number := table.short(hash, one)
			if number == 0 {
				number = v.register.find(table, hash, one.Prefix, terms.Of(one))
			}
			if number == 0 {
				number = v.register.number(hash, one.Prefix, terms.Of(one))
				table = v.register.table.Load()
			}
			numbers = append(numbers, (number-1)|one.Same())
		}
	}
	return numbers
}

// look reads what find will read: one after the other without waiting, so that it is near by then.
func (v *Numbering) look(t *wordTable, hashes []uint64) {
	seen := uint64(0)
	for _, hash := range hashes {
		seen += atomic.LoadUint64(&t.slots[hash>>(t.shift&63)].what)
	}
	v.seen = seen
}

// lookAtLong reads the beginnings of what long terms will be compared with.
func (v *Numbering) lookAtLong(t *wordTable, hashes []uint64, terms []term.One) {
	seen, words := byte(0), v.register.words
	for i, hash := range hashes {
		size := terms[i].Size()
		if size <= 8 {
			continue
		}
		s := &t.slots[hash>>(t.shift&63)]
		what := atomic.LoadUint64(&s.what)
		if what>>whatBits == isWord(hash, size) {
			seen += words.text(placeOf(s.key, what))[0]
		}
	}
	v.seen += uint64(seen)
}

// wordSeed keeps texts from being made to collide. It never reaches the index.
var wordSeed = rand.Uint64()

// hashRest is the hash of a longer term, from that of its first eight bytes.
func hashRest(h uint64, term []byte) uint64 {
	for i := 8; i < len(term); i += 8 {
		h = mix(h^binary.LittleEndian.Uint64(term[min(i, len(term)-8):]), 0xd6e8feb86659fd93)
	}
	return h
}

// hashPrefix is the hash of a term of up to eight bytes, and what that of a longer one begins with.
func hashPrefix(prefix, size uint64) uint64 {
	return mix(prefix^size^wordSeed, 0x9e3779b97f4a7c15)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
