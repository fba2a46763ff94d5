package index

import "testing"

func TestBloomFilter(t *testing.T) {
	const bits = 2 * bloomPageBits
	h := NewBloomFilter(bits)
	for _, hash := range []int64{0, -1, bits - 1, 1 << 40, 5} {
		before := hash == bits-1 || hash == 1<<40 // cannot be told from -1 and from 0
		if h.Add(hash) != before {
			t.Errorf("%d: there before, %v", hash, !before)
		}
		if !h.Add(hash) {
			t.Errorf("%d is gone", hash)
		}
	}
	if !BloomFilter(nil).Add(1) {
		t.Error("what is not known may be anything")
	}
}
