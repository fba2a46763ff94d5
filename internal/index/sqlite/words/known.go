package words

import (
	"sync"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// Known keeps which words of the last lists are in the table of terms, one bit per number. It holds only what is
// committed: a commit takes it (Begin), and puts it back when it is done (Keep).
type Known struct {
	mu    sync.Mutex
	lists map[*lexicon.Words][]uint64
}

// Begin begins a commit.
func (k *Known) Begin() *Adding {
	k.mu.Lock()
	defer k.mu.Unlock()
	lists := k.lists
	k.lists = nil
	return &Adding{of: k, before: lists, after: map[*lexicon.Words][]uint64{}}
}

// Forget has all words told again: some may have been deleted from the table.
func (k *Known) Forget() { k.put(nil) }

func (k *Known) put(lists map[*lexicon.Words][]uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lists = lists
}

// Adding is what one commit adds to Known. Lists of which it has no rows are forgotten.
type Adding struct {
	of            *Known
	before, after map[*lexicon.Words][]uint64
}

// Keep remembers the words, once they are committed.
func (x *Adding) Keep() { x.of.put(x.after) }

// terms adds the words of some rows that are not in the table of terms yet, as a run.
func (x *Adding) terms(t *write.Tx, rows *fts5.Builder) error {
	var lists [][]uint64
	for _, list := range rows.Lists() {
		lists = append(lists, x.bits(list.(*lexicon.Words)))
	}
	run := runWriter{t: t}
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

// bits returns the bits of a list.
func (x *Adding) bits(words *lexicon.Words) []uint64 {
	bits := x.after[words]
	if bits == nil {
		bits = x.before[words]
	}
	if more := words.Len()/64 + 1 - len(bits); more > 0 {
		bits = append(bits, make([]uint64, more)...)
	}
	x.after[words] = bits
	return bits
}
