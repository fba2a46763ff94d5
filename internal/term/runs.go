package term

import "hash/maphash"

// runs tells of a long identifier which runs of its parts were appended already: looking through all of them for each would
// take seconds for a word of 100 KB. The zero runs is empty.
type runs struct {
	slots []uint64 // where a term begins, above its length; 0 for an empty slot
	count int
}

const runLengthBits = 8 // of a term: MaxTerm and its sign

var runSeed = maphash.MakeSeed()

// reset forgets all, and the room of a word that was longer than most.
func (r *runs) reset() {
	const usual = 1 << 10
	if len(r.slots) > usual {
		r.slots = nil
	}
	clear(r.slots)
	r.count = 0
}

// has reports whether the term with which dst ends, at a place that is not its start, is there, and takes it in otherwise.
func (r *runs) has(dst []byte, at int) bool {
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

// find returns the slot of a term, or the empty one where it belongs.
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
