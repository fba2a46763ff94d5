package sqlite

import (
	"sync"

	"github.com/txarchive/txarchive/internal/index"
)

// told is which words of the last lists the table of terms was told of, a bit for each number. It is only ever true of
// what is committed: a commit takes it, and gives it back when it is done.
type told struct {
	mu    sync.Mutex
	lists map[*index.Words][]uint64
}

func (t *told) take() map[*index.Words][]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	lists := t.lists
	t.lists = nil
	return lists
}

func (t *told) put(lists map[*index.Words][]uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lists = lists
}

// fresh returns the words of the rows, parts and facets left out, that the table of terms was not told of, and notes that
// it is. Lists of which there are no rows are forgotten.
func (c *commit) fresh() (all []freshWord) {
	if len(c.rows) == 0 {
		return nil
	}
	lists := map[*index.Words][]uint64{}
	var words *index.Words
	var bits []uint64
	for i := range c.rows {
		r := &c.rows[i]
		if r.words != words {
			words = r.words
			if bits = lists[words]; bits == nil {
				bits = c.told[words]
				bits = append(bits, make([]uint64, words.Len()/64+1-len(bits))...)
				lists[words] = bits
			}
		}
		for _, n := range r.T {
			if n&index.Same == 0 && bits[n/64]&(1<<(n%64)) == 0 {
				bits[n/64] |= 1 << (n % 64)
				all = append(all, newFreshWord(words.At(n)))
			}
		}
	}
	c.told = lists
	return all
}
