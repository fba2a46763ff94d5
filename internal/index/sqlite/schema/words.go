package schema

import (
	"bytes"
	"slices"
	"strings"
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

// Matcher returns where in some words the first is that is looked for, start equal to end when there is none.
type Matcher func(words []byte) (start, end int)

// AnyWord takes every word.
func AnyWord(words []byte) (start, end int) { return 0, max(bytes.IndexByte(words, '\n'), 0) }

// rarest are bytes of words from the rarest on; those of other scripts are rarer than all.
const rarest = "qjzxwvky7968543210bghfpumdclnosirate"

// Containing takes the words that have text in them. It looks for the byte that fewest words have: bytes.Index looks for the
// first one.
func Containing(text []byte) Matcher {
	at := 0
	for i, c := range text {
		if strings.IndexByte(rarest, c) < strings.IndexByte(rarest, text[at]) {
			at = i
		}
	}
	return func(words []byte) (start, end int) {
		for from := at; from < len(words); from++ {
			i := bytes.IndexByte(words[from:], text[at])
			if i < 0 {
				break
			}
			from += i
			if bytes.HasPrefix(words[from-at:], text) {
				return bytes.LastIndexByte(words[:from], '\n') + 1, from + bytes.IndexByte(words[from:], '\n')
			}
		}
		return 0, 0
	}
}

// window is how many bytes are looked through for words of two kinds, before more are.
const window = 4096

// ContainingOrLong takes the words that have text in them, and those of at least size bytes.
func ContainingOrLong(text []byte, size int) Matcher {
	contains := Containing(text)
	return func(words []byte) (start, end int) {
		for at := 0; at < len(words); {
			some := words[at:]
			if len(some) > window {
				some = some[:window+bytes.IndexByte(some[window:], '\n')+1]
			}
			until := len(some)
			start, end := contains(some)
			if end > start {
				until = start
			}
			if from, to := long(some[:until], size); to > from {
				start, end = from, to
			}
			if end > start {
				return at + start, at + end
			}
			at += len(some)
		}
		return 0, 0
	}
}

// long returns the first word of at least size bytes.
func long(words []byte, size int) (start, end int) {
	for at := 0; at+size <= len(words); { // most looks pass by several words
		i := bytes.LastIndexByte(words[at:at+size], '\n')
		if i < 0 {
			return at, at + size + bytes.IndexByte(words[at+size:], '\n')
		}
		at += i + 1
	}
	return 0, 0
}

// Beginning takes the words that begin with a text. They are in order, so most blocks need one look.
func Beginning(text []byte) Matcher {
	return func(words []byte) (start, end int) {
		for {
			i := bytes.Index(words[start:], text)
			if i < 0 {
				return 0, 0
			}
			at := start + i
			end := at + bytes.IndexByte(words[at:], '\n')
			if at == 0 || words[at-1] == '\n' {
				return at, end
			}
			start = end + 1
		}
	}
}

// Those takes the words that a test accepts.
func Those(test func(word []byte) bool) Matcher {
	return func(words []byte) (start, end int) {
		for start < len(words) {
			end := start + bytes.IndexByte(words[start:], '\n')
			if test(words[start:end]) {
				return start, end
			}
			start = end + 1
		}
		return 0, 0
	}
}

// runCursor walks the words of a run that are looked for.
type runCursor struct {
	id, end int64 // of the block that is being read, and of the first that is not of the run
	block   []byte
	words   Unpacker
	rest    []byte // of the words of the block
	word    []byte // nil at the end
}

func (c *runCursor) next(read blocks, match Matcher) error {
	for {
		if start, end := match(c.rest); end > start {
			c.word, c.rest = c.rest[start:end], c.rest[end+1:]
			return nil
		}
		id, block, err := read(c.id, c.end, c.block)
		if err != nil || len(block) == 0 {
			c.word = nil
			return err
		}
		if c.rest, err = c.words.Unpack(block); err != nil {
			return err
		}
		c.id, c.block = id, block
	}
}

// MergeRuns calls take for the words of some runs that are looked for, in order and each once.
func MergeRuns(read blocks, runs []int64, match Matcher, take func(word []byte) error) error {
	var cursors []*runCursor
	step := func(c *runCursor) error {
		if err := c.next(read, match); err != nil {
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
