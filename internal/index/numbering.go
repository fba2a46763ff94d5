package index

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
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
// list goes on until those who use it begin another original.
const maxTerms = 1 << 18

// list returns the list that is to be added to from now on.
func (l *Lexicon) list() *register {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.present == nil || l.present.words.Len() >= maxTerms {
		l.present = newRegister()
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

func newRegister() *register {
	g := &register{words: newWords()}
	g.table.Store(newTable(minSlots))
	return g
}

func newTable(size int) *wordTable {
	return &wordTable{make([]wordSlot, size), 65 - bits.Len(uint(size))}
}

// find returns the number of a term, plus one; 0 if it has none in this table.
func (g *register) find(t *wordTable, a *wordAhead, term []byte) uint32 {
	mask := uint64(len(t.slots) - 1)
	is := a.is()
	for i := a.hash >> t.shift; ; i++ {
		s := &t.slots[i&mask]
		what := atomic.LoadUint64(&s.what)
		if what == 0 {
			return 0
		}
		if what>>whatBits == is && (a.size <= 8 && s.key == a.prefix || a.size > 8 && string(g.words.text(placeOf(s.key, what))) == string(term)) {
			return uint32(what)
		}
	}
}

// is returns what stands above the number in the slot of a term.
func (a *wordAhead) is() uint64 {
	return (a.hash<<lengthBits | uint64(a.size)) & (1<<(64-whatBits) - 1)
}

// placeOf returns where the text of a long term stands.
func placeOf(key, what uint64) wordPlace {
	return wordPlace(key>>keyHashBits<<wordLengthBits | what>>whatBits&(1<<lengthBits-1))
}

// number returns the number of a term that was not found, and gives it one if nobody has meanwhile.
func (g *register) number(a *wordAhead, term []byte) uint32 {
	g.adding.Lock()
	defer g.adding.Unlock()
	t := g.table.Load()
	if n := g.find(t, a, term); n != 0 {
		return n - 1
	}
	n := g.words.Len()
	if 2*n >= len(t.slots) {
		t = t.grow()
		g.table.Store(t)
	}
	place := g.words.add(term)
	s := t.empty(a.hash)
	if s.key = a.prefix; a.size > 8 {
		s.key = uint64(place)>>wordLengthBits<<keyHashBits | a.hash>>(64-keyHashBits)
	}
	atomic.StoreUint64(&s.what, a.is()<<whatBits|uint64(n+1))
	return uint32(n)
}

// empty returns where a term of this hash has room.
func (t *wordTable) empty(hash uint64) *wordSlot {
	mask := uint64(len(t.slots) - 1)
	for i := hash >> t.shift; ; i++ {
		if s := &t.slots[i&mask]; s.what == 0 {
			return s
		}
	}
}

// grow returns a larger table of the same. Those who look at the old one miss what comes after, and look again.
func (t *wordTable) grow() *wordTable {
	larger := newTable(2 * len(t.slots))
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
	ahead    [termsAhead]wordAhead
	seen     uint64 // nothing: see look
}

// termsAhead is how many terms are looked for at once. Most of the time goes into waiting for memory, and memory answers
// many questions at a time.
const termsAhead = 32

// wordAhead is a term that is about to be looked for.
type wordAhead struct {
	prefix      uint64 // the first eight bytes, zeros behind a shorter term
	hash        uint64
	start, size int
	same        uint32
}

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

// padding follows terms, so that eight bytes can be read at the start of each.
const padding = "        "

// Add appends the numbers of terms, of less than 64 KiB each and separated as term.Split does it, to numbers.
func (v *Numbering) Add(numbers []uint32, terms []byte) []uint32 {
	n := len(terms)
	terms = append(terms, padding...)
	table := v.register.table.Load()
	for start, same := 0, uint32(0); start < n; {
		some := v.ahead[:]
		some, start, same = cut(some, terms, start, n, same)
		v.look(table, some)
		for i := range some {
			a := &some[i]
			text := terms[a.start : a.start+a.size]
			number := v.register.find(table, a, text)
			if number == 0 {
				number = v.register.number(a, text) + 1
				table = v.register.table.Load()
			}
			numbers = append(numbers, number-1|a.same)
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
		some[i], start = ahead(terms, start, same)
		same = 0
		if terms[start] == term.Same {
			same = Same
		}
		start++
	}
	return some, start, same
}

// ahead returns the term that begins at start, and where it ends.
func ahead(terms []byte, start int, same uint32) (wordAhead, int) {
	prefix := binary.LittleEndian.Uint64(terms[start:])
	size := termLen(prefix)
	if size < 8 {
		prefix &= 1<<(8*size) - 1
	} else {
		for more := 8; more == 8; size += more {
			more = termLen(binary.LittleEndian.Uint64(terms[start+size:]))
		}
	}
	return wordAhead{prefix, hashWord(prefix, terms[start:start+size]), start, size, same}, start + size
}

// look reads what find will read: one after the other without waiting, so that it is near by then.
func (v *Numbering) look(t *wordTable, some []wordAhead) {
	seen := uint64(0)
	for i := range some {
		seen += atomic.LoadUint64(&t.slots[some[i].hash>>t.shift].what)
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
	h := hashPrefix(prefix, uint64(len(term)))
	for i := 8; i < len(term); i += 8 {
		h = mix(h^binary.LittleEndian.Uint64(term[min(i, len(term)-8):]), 0xd6e8feb86659fd93)
	}
	return h
}

// hashPrefix is the hash of terms of up to eight bytes.
func hashPrefix(prefix, size uint64) uint64 {
	return mix(prefix^size^wordSeed, 0x9e3779b97f4a7c15)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
