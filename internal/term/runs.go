package term

import "hash/maphash"

// runs is a hash set of the runs of parts that a long identifier has yielded so far. A linear search for each of them
// would take seconds for a word of 100 KB. The zero value is an empty set.
type runs struct {
	slots []uint64 // offset of a term << runLengthBits | its length; 0 for an empty slot
	count int
}

const runLengthBits = 8 // enough for MaxTerm and the prefix byte

var runSeed = maphash.MakeSeed()

// reset empties the set, and releases the memory that an unusually long word needed.
func (r *runs) reset() {
	const usual = 1 << 10
	if len(r.slots) > usual {
		r.slots = nil
	}
	clear(r.slots)
	r.count = 0
}

// add inserts the term dst[at:], where at is not 0, and reports whether the set contained it already.
func (r *runs) add(dst []byte, at int) bool {
	if 2*r.count >= len(r.slots) {
		r.grow(dst)
	}
	slot := r.find(dst, dst[at:])
	if *slot != 0 {
		return true
	}
	*slot = uint64(at)<<runLengthBits | uint64(len(dst)-at)
	r.count++
	return false
}

// find returns the slot of a term, or the empty slot where it would be inserted.
func (r *runs) find(dst, term []byte) *uint64 {
	mask := uint64(len(r.slots) - 1)
	for i := maphash.Bytes(runSeed, term); ; i++ {
		s := &r.slots[i&mask]
		if *s == 0 || string(dst[*s>>runLengthBits:][:*s&(1<<runLengthBits-1)]) == string(term) {
			return s
		}
	}
}

func (r *runs) grow(dst []byte) {
	old := r.slots
	r.slots = make([]uint64, max(256, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			*r.find(dst, dst[s>>runLengthBits:][:s&(1<<runLengthBits-1)]) = s
		}
	}
}
