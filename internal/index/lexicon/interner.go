package lexicon

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/term"
)

// Lexicon interns terms for all goroutines that read originals at the same time: a term has one number whichever of
// them sees it first, and is stored once. The zero Lexicon is ready to use.
type Lexicon struct {
	mu      sync.Mutex
	current *dictionary
}

// MaxTerms is how many terms a dictionary may have before a new one begins: some 15 MiB. It may grow beyond that, for
// its users keep it until they begin their next original; a table of maxSlots leaves some room for that.
const (
	maxSlots = 1 << 19
	MaxTerms = maxSlots/2 - 1<<14
)

// dictionary returns the current dictionary.
func (l *Lexicon) dictionary() *dictionary {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.current == nil:
		l.current = newDictionary(minSlots)
	case l.current.words.Len() >= MaxTerms: // the next one will hardly be smaller
		l.current = newDictionary(maxSlots)
	}
	return l.current
}

// dictionary is a list of terms with a hash table to look them up. Lookups take no lock: a slot never changes once it is
// filled. After a miss, the lookup is repeated under the lock before the term is added.
type dictionary struct {
	words  *Words
	table  atomic.Pointer[wordTable]
	adding sync.Mutex
}

// wordTable is a hash table with linear probing. The home slot of a term is the top bits of its hash, so slots are
// nearly in the order of hashes and a larger table is filled from one end to the other.
type wordTable struct {
	slots []wordSlot
	shift int // right shift of a hash that gives its home slot
}

// wordSlot identifies a term. A term of up to eight bytes is held in the slot itself, for a second memory access costs
// more than everything else. In a table that others can read, key is written before meta, and each only once.
type wordSlot struct {
	key  uint64 // the first eight bytes; of longer terms, their place in the chunks above the top bits of their hash
	meta uint64 // low to high: number plus one, length, low bits of the hash; 0 for an empty slot
}

const (
	minSlots    = 1 << 10
	keyHashBits = 24
	numberBits  = 32
	lengthBits  = 16
)

func newDictionary(slots int) *dictionary {
	g := &dictionary{words: newWords()}
	g.table.Store(newTable(slots))
	return g
}

// newTable clears the table explicitly to fault in its pages for writing: a page that is read before it is written is
// mapped twice, and the second time needs a TLB shootdown on every core.
func newTable(size int) *wordTable {
	t := &wordTable{make([]wordSlot, size), 65 - bits.Len(uint(size))}
	clear(t.slots)
	return t
}

// find returns the number of a term plus one, or 0 if it is not in the table.
func (g *dictionary) find(t *wordTable, hash, prefix uint64, term []byte) uint32 {
	mask := uint64(len(t.slots) - 1)
	tag := slotTag(hash, len(term))
	for i := hash >> (t.shift & 63); ; i++ {
		s := &t.slots[i&mask]
		meta := atomic.LoadUint64(&s.meta)
		if meta == 0 {
			return 0
		}
		if meta>>numberBits == tag && (len(term) <= 8 && s.key == prefix || len(term) > 8 && string(g.words.text(textPlace(s.key, meta))) == string(term)) {
			return uint32(meta)
		}
	}
}

// findShort is find for terms of up to eight bytes in their home slot, as most are. Of others it returns 0.
func (t *wordTable) findShort(hash uint64, one *term.One) uint32 {
	s := &t.slots[hash>>(t.shift&63)]
	meta := atomic.LoadUint64(&s.meta)
	if size := one.Size(); size > 8 || meta>>numberBits != slotTag(hash, size) || s.key != one.Prefix {
		return 0
	}
	return uint32(meta)
}

// slotTag returns the bits above the number in wordSlot.meta: the length and the low bits of the hash.
func slotTag(hash uint64, size int) uint64 {
	return (hash<<lengthBits | uint64(size)) & (1<<(64-numberBits) - 1)
}

// textPlace returns the place of the text of a term of over eight bytes.
func textPlace(key, meta uint64) wordPlace {
	return wordPlace(key>>keyHashBits<<wordLengthBits | meta>>numberBits&(1<<lengthBits-1))
}

// intern returns the number plus one of a term that was not found, adding it unless another goroutine has meanwhile.
func (g *dictionary) intern(hash, prefix uint64, term []byte) uint32 {
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
	s := t.emptySlot(hash)
	if s.key = prefix; len(term) > 8 {
		s.key = uint64(place)>>wordLengthBits<<keyHashBits | hash>>(64-keyHashBits)
	}
	atomic.StoreUint64(&s.meta, slotTag(hash, len(term))<<numberBits|uint64(n+1))
	return uint32(n + 1)
}

// emptySlot returns the first empty slot for a hash.
func (t *wordTable) emptySlot(hash uint64) *wordSlot {
	mask := uint64(len(t.slots) - 1)
	for i := hash >> (t.shift & 63); ; i++ {
		if s := &t.slots[i&mask]; s.meta == 0 {
			return s
		}
	}
}

// grow returns a larger table with the same terms: four times as large up to maxSlots, so that few slots are moved in
// all. Readers of the old table miss later terms and then look again under the lock.
func (t *wordTable) grow() *wordTable {
	larger := newTable(max(2*len(t.slots), min(4*len(t.slots), maxSlots)))
	for _, s := range t.slots {
		if s.meta == 0 {
			continue
		}
		hash := s.key << (64 - keyHashBits)
		if size := s.meta >> numberBits & (1<<lengthBits - 1); size <= 8 {
			hash = hashPrefix(s.key, size)
		}
		*larger.emptySlot(hash) = s
	}
	return larger
}

// Interner gives the terms of one goroutine their numbers in a shared Lexicon.
type Interner struct {
	shared *Lexicon
	dict   *dictionary
	terms  term.Terms
	hashes [prefetchTerms]uint64
	sink   uint64 // keeps the loads of prefetch from being optimised away
}

// prefetchTerms is how many terms are looked up together. Lookups mostly wait for memory, which serves many loads at a
// time.
const prefetchTerms = 64

// NewInterner returns an Interner for a Lexicon. Start must be called before the first term.
func NewInterner(l *Lexicon) *Interner { return &Interner{shared: l} }

// Start switches to the Lexicon's current dictionary and reports whether it is another one than before. It must be called
// before the first term, and may be called between originals.
func (v *Interner) Start() bool {
	g := v.shared.dictionary()
	if g == v.dict {
		return false
	}
	v.dict = g
	return true
}

// Words returns the list of terms to which the numbers since Start refer.
func (v *Interner) Words() *Words { return v.dict.words }

// Append appends the numbers of terms, separated as by term.Split, to numbers.
func (v *Interner) Append(numbers []uint32, terms []byte) []uint32 {
	v.terms.Set(terms)
	return v.AppendTerms(numbers, &v.terms)
}

// AppendTerms appends the numbers of terms, each shorter than 64 KiB, to numbers.
func (v *Interner) AppendTerms(numbers []uint32, terms *term.Terms) []uint32 {
	table := v.dict.table.Load()
	for some := range slices.Chunk(terms.All, prefetchTerms) {
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
		v.prefetch(table, hashes)
		v.prefetchLong(table, hashes, some)
		for i := range some {
			one, hash := &some[i], hashes[i]
			number := table.findShort(hash, one)
			if number == 0 {
				number = v.dict.find(table, hash, one.Prefix, terms.Of(one))
			}
			if number == 0 {
				number = v.dict.intern(hash, one.Prefix, terms.Of(one))
				table = v.dict.table.Load()
			}
			numbers = append(numbers, (number-1)|one.Same())
		}
	}
	return numbers
}

// prefetch loads the home slots of hashes. The loads are independent of each other, so that their cache misses overlap.
func (v *Interner) prefetch(t *wordTable, hashes []uint64) {
	total := uint64(0)
	for _, hash := range hashes {
		total += atomic.LoadUint64(&t.slots[hash>>(t.shift&63)].meta)
	}
	v.sink = total
}

// prefetchLong loads the first bytes of the texts that terms of over eight bytes will be compared with.
func (v *Interner) prefetchLong(t *wordTable, hashes []uint64, terms []term.One) {
	seen, words := byte(0), v.dict.words
	for i, hash := range hashes {
		size := terms[i].Size()
		if size <= 8 {
			continue
		}
		s := &t.slots[hash>>(t.shift&63)]
		meta := atomic.LoadUint64(&s.meta)
		if meta>>numberBits == slotTag(hash, size) {
			seen += words.text(textPlace(s.key, meta))[0]
		}
	}
	v.sink += uint64(seen)
}

// wordSeed is a random seed against texts that are crafted to collide. It does not influence the index.
var wordSeed = rand.Uint64()

// hashRest returns the hash of a term of over eight bytes. h is the hash of its first eight.
func hashRest(h uint64, term []byte) uint64 {
	for i := 8; i < len(term); i += 8 {
		h = mix(h^binary.LittleEndian.Uint64(term[min(i, len(term)-8):]), 0xd6e8feb86659fd93)
	}
	return h
}

// hashPrefix returns the hash of a term of up to eight bytes. For a longer term it is the input of hashRest.
func hashPrefix(prefix, size uint64) uint64 {
	return mix(prefix^size^wordSeed, 0x9e3779b97f4a7c15)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
