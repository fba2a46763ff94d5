package schema

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// RunBits is how many low bits of a block's id are its number within its run. A run is a sorted sequence of blocks.
const RunBits = 20

// Statements over the blocks: all runs, and the next blocks between two ids.
const (
	RunsSQL       = "SELECT DISTINCT id >> 20 FROM terms ORDER BY 1"
	NextBlocksSQL = "SELECT id, words FROM terms WHERE id > ? AND id < ? ORDER BY id LIMIT ?"
)

// blocks calls take for the blocks with the smallest ids between after and before: at least one, if there is any, and at
// most most. A block is valid until take returns.
type blocks func(after, before int64, most int, take func(id int64, block []byte)) error

// Finder appends the matching words of a block to found, in order and each with a line feed.
type Finder func(block, found []byte) ([]byte, error)

// AllWords is a Finder that matches every word.
func AllWords(block, found []byte) ([]byte, error) {
	w := newWordCursor(block)
	for w.next() {
		found = append(append(found, w.word[:w.length]...), '\n')
	}
	return found, w.err()
}

// Containing returns a Finder for the words that contain a text, and for those of at least long bytes that end with a
// prefix of it.
//
// It searches packed words. A word that shares the text with the word before contains it; in any other word the text must
// end among the word's own bytes. For most words the last two bytes of the text rule that out, and they are skipped.
func Containing(text []byte, long int) Finder {
	last := endOf(text)
	return func(block, found []byte) ([]byte, error) {
		w := newWordCursor(block)
		for end, more := 0, w.nextEnding(last, long); more; { // end is where the text ends in the word, 0: it does not contain it
			if end == 0 || end > w.shared {
				end = 0
				from := max(0, w.shared-len(text)+1)
				if i := bytes.Index(w.word[from:w.length], text); i >= 0 {
					end = from + i + len(text)
				}
			}
			if end > 0 || w.length >= long && endsIn(w.word[:w.length], text) {
				found = append(append(found, w.word[:w.length]...), '\n')
			}
			if end > 0 {
				more = w.next()
			} else {
				more = w.nextEnding(last, long)
			}
		}
		return found, w.err()
	}
}

// endsIn reports whether a word ends with a proper prefix of a text.
func endsIn(word, text []byte) bool {
	for n := min(len(text)-1, len(word)); n > 0; n-- {
		if word[len(word)-1] == text[n-1] && bytes.HasSuffix(word, text[:n]) {
			return true
		}
	}
	return false
}

// Matching returns a Finder for the words that a test accepts.
func Matching(test func(word []byte) bool) Finder {
	return func(block, found []byte) ([]byte, error) {
		w := newWordCursor(block)
		for w.next() {
			if test(w.word[:w.length]) {
				found = append(append(found, w.word[:w.length]...), '\n')
			}
		}
		return found, w.err()
	}
}

// WithPrefix returns a Finder for the words that begin with a text.
func WithPrefix(text []byte) Finder {
	return func(block, found []byte) ([]byte, error) {
		w := newWordCursor(block)
		for begins := false; w.next(); {
			if w.shared < len(text) {
				begins = bytes.HasPrefix(w.word[:w.length], text)
			}
			if begins {
				found = append(append(found, w.word[:w.length]...), '\n')
			}
		}
		return found, w.err()
	}
}

// runCursor iterates over the matching words of a run.
type runCursor struct {
	id, end   int64  // ids of the last block that was read, and of the first one after the run
	found     []byte // words, in the form of a Finder
	rest      []byte // of them
	word      []byte
	readAhead int // blocks to read at once
}

// maxReadAhead bounds how many blocks of a run are searched at once.
const maxReadAhead = 16

// merge reads runs. It reads one block while others are searched, as long as few of their words match.
type merge struct {
	read  blocks
	find  Finder
	slots [maxReadAhead]struct {
		block, found []byte
		err          error
	}
}

// next advances to the next matching word of a run and reports whether there is one.
func (m *merge) next(c *runCursor) (bool, error) {
	for {
		if end := bytes.IndexByte(c.rest, '\n'); end >= 0 {
			c.word, c.rest = c.rest[:end], c.rest[end+1:]
			return true, nil
		}
		if more, err := m.fill(c); !more || err != nil {
			return false, err
		}
	}
}

// fill searches the next blocks of a run, on all cores.
func (m *merge) fill(c *runCursor) (more bool, err error) {
	var group sync.WaitGroup
	n, size := 0, 0
	err = m.read(c.id, c.end, c.readAhead, func(id int64, block []byte) {
		s := &m.slots[n]
		s.block, c.id = append(s.block[:0], block...), id
		n, size = n+1, size+len(block)
		search := func() { s.found, s.err = m.find(s.block, s.found[:0]) }
		if c.readAhead == 1 {
			search()
		} else {
			group.Go(search)
		}
	})
	group.Wait()
	c.found = c.found[:0]
	for i := range m.slots[:n] {
		s := &m.slots[i]
		c.found, err = append(c.found, s.found...), cmp.Or(err, s.err)
	}
	if c.rest = c.found; len(c.found) < size/8 {
		c.readAhead = min(2*c.readAhead, maxReadAhead)
	} else {
		c.readAhead = 1
	}
	return n > 0, err
}

// MergeRuns calls take for the matching words of some runs, in order and each once.
func MergeRuns(read blocks, runs []int64, find Finder, take func(word []byte) error) error {
	m := &merge{read: read, find: find}
	var cursors []*runCursor // ordered by their current words
	insert := func(c *runCursor) error {
		more, err := m.next(c)
		if more {
			at, _ := slices.BinarySearchFunc(cursors, c.word, func(o *runCursor, word []byte) int { return bytes.Compare(o.word, word) })
			cursors = slices.Insert(cursors, at, c)
		}
		return err
	}
	for _, run := range runs {
		if err := insert(&runCursor{id: run<<RunBits - 1, end: (run + 1) << RunBits, readAhead: 1}); err != nil {
			return err
		}
	}
	var last []byte
	for len(cursors) > 0 {
		c := cursors[0]
		cursors = slices.Delete(cursors, 0, 1)
		if last == nil || !bytes.Equal(last, c.word) {
			last = append(last[:0], c.word...)
			if err := take(c.word); err != nil {
				return err
			}
		}
		if err := insert(c); err != nil {
			return err
		}
	}
	return nil
}
