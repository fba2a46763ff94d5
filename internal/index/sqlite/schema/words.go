package schema

import (
	"bytes"
	"slices"
)

// RunBits of a block's id are its number in its run.
const RunBits = 20

// Statements over the blocks: the runs, and the next block between two ids.
const (
	RunsSQL      = "SELECT DISTINCT id >> 20 FROM terms ORDER BY 1"
	NextBlockSQL = "SELECT id, words FROM terms WHERE id > ? AND id < ? ORDER BY id LIMIT 1"
)

// blocks reads the block with the smallest id between two into memory that may be used again, nothing when there is none. A
// Packer has written it.
type blocks func(after, before int64, into []byte) (id int64, block []byte, err error)

// Finder appends the words of a block that are looked for, in order and each with a line feed.
type Finder func(block, found []byte) ([]byte, error)

// AnyWord takes every word.
func AnyWord(block, found []byte) ([]byte, error) {
	w := walk(block, nil)
	for w.next() {
		found = append(append(found, w.word[:w.length]...), '\n')
	}
	return found, w.err()
}

// Containing takes the words that have a text in them, and those of at least long bytes.
//
// It looks at words as they are packed. One that has the text in what it shares with the word before it is known to have it, and
// in any other the text ends among the word's own bytes: in most of them it cannot, and nothing else is looked at.
func Containing(text []byte, long int) Finder {
	last := endOf(text)
	return func(block, found []byte) ([]byte, error) {
		w := walk(block, nil)
		for end, more := 0, w.ending(last, long); more; { // of the text in the word, 0: it is not in there
			if end == 0 || end > w.shared {
				end = 0
				from := max(0, w.shared-len(text)+1)
				if i := bytes.Index(w.word[from:w.length], text); i >= 0 {
					end = from + i + len(text)
				}
			}
			if end > 0 || w.length >= long {
				found = append(append(found, w.word[:w.length]...), '\n')
			}
			if end > 0 {
				more = w.next()
			} else {
				more = w.ending(last, long)
			}
		}
		return found, w.err()
	}
}

// Those takes the words that a test accepts.
func Those(test func(word []byte) bool) Finder {
	return func(block, found []byte) ([]byte, error) {
		w := walk(block, nil)
		for w.next() {
			if test(w.word[:w.length]) {
				found = append(append(found, w.word[:w.length]...), '\n')
			}
		}
		return found, w.err()
	}
}

// Beginning takes the words that begin with a text.
func Beginning(text []byte) Finder {
	return func(block, found []byte) ([]byte, error) {
		w := walk(block, nil)
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

// runCursor walks the words of a run that are looked for.
type runCursor struct {
	id, end int64 // of the block that is being read, and of the first that is not of the run
	block   []byte
	found   []byte // in it
	rest    []byte // of them
	word    []byte // nil at the end
}

func (c *runCursor) next(read blocks, find Finder) error {
	for {
		if end := bytes.IndexByte(c.rest, '\n'); end >= 0 {
			c.word, c.rest = c.rest[:end], c.rest[end+1:]
			return nil
		}
		id, block, err := read(c.id, c.end, c.block)
		if err != nil || len(block) == 0 {
			c.word = nil
			return err
		}
		if c.found, err = find(block, c.found[:0]); err != nil {
			return err
		}
		c.id, c.block, c.rest = id, block, c.found
	}
}

// MergeRuns calls take for the words of some runs that are looked for, in order and each once.
func MergeRuns(read blocks, runs []int64, find Finder, take func(word []byte) error) error {
	var cursors []*runCursor
	step := func(c *runCursor) error {
		if err := c.next(read, find); err != nil {
			return err
		}
		if c.word == nil {
			cursors = slices.DeleteFunc(cursors, func(o *runCursor) bool { return o == c })
		}
		return nil
	}
	for _, run := range runs {
		c := &runCursor{id: run<<RunBits - 1, end: (run + 1) << RunBits}
		cursors = append(cursors, c)
		if err := step(c); err != nil {
			return err
		}
	}
	var last []byte
	for len(cursors) > 0 {
		c := slices.MinFunc(cursors, func(a, b *runCursor) int { return bytes.Compare(a.word, b.word) })
		if last == nil || !bytes.Equal(last, c.word) {
			last = append(last[:0], c.word...)
			if err := take(c.word); err != nil {
				return err
			}
		}
		if err := step(c); err != nil {
			return err
		}
	}
	return nil
}
