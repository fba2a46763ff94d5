package index

// BloomFilter is a Bloom filter with one hash function: a bit for each hash modulo its size. Nil contains everything. A page is made when its
// first bit is set, since most indexes have few rows, and most scans find little that is new. It is not safe for concurrent use.
type BloomFilter []*bloomPage

type bloomPage [bloomPageBits / 64]uint64

const bloomPageBits = 1 << 12

// NewBloomFilter returns an empty filter of so many bits, a multiple of 4,096.
func NewBloomFilter(bits int) BloomFilter { return make(BloomFilter, bits/bloomPageBits) }

// Add adds a hash and reports whether it may have been there before.
func (f BloomFilter) Add(hash int64) bool {
	if len(f) == 0 {
		return true
	}
	at := uint64(hash) % uint64(bloomPageBits*len(f))
	page := &f[at/bloomPageBits]
	if *page == nil {
		*page = new(bloomPage)
	}
	word, bit := &(*page)[at%bloomPageBits/64], uint64(1)<<(at%64)
	before := *word&bit != 0
	*word |= bit
	return before
}
