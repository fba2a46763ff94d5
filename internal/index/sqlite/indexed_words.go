package sqlite

import (
	"sync"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// indexedWords keeps which words of the last lists are in the table of terms, one bit per number. It holds only what is
// committed: a commit takes it, and puts it back when it is done.
type indexedWords struct {
	mu    sync.Mutex
	lists map[*index.Words][]uint64
}

func (t *indexedWords) take() map[*index.Words][]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	lists := t.lists
	t.lists = nil
	return lists
}

func (t *indexedWords) put(lists map[*index.Words][]uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lists = lists
}

// terms adds the words of some rows that are not in the table of terms yet, as a run.
func (c *commit) terms(rows *fts5.Builder) error {
	var lists [][]uint64
	for _, list := range rows.Lists() {
		lists = append(lists, c.indexedBits(list.(*index.Words)))
	}
	run := runWriter{t: c.tx}
	err := rows.Terms(func(list int, n uint32, term []byte) error {
		if bits := &lists[list][n/64]; *bits&(1<<(n%64)) == 0 && index.IsWord(term) {
			*bits |= 1 << (n % 64)
			return run.add(term)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return run.flush()
}

// indexedBits returns the bits of a list. Lists of which a commit has no rows are forgotten.
func (c *commit) indexedBits(words *index.Words) []uint64 {
	bits := c.indexing[words]
	if bits == nil {
		bits = c.indexed[words]
	}
	if more := words.Len()/64 + 1 - len(bits); more > 0 {
		bits = append(bits, make([]uint64, more)...)
	}
	c.indexing[words] = bits
	return bits
}
