package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

const nextBlockSQL = "SELECT id, words FROM terms WHERE id > ? AND id < ? ORDER BY id LIMIT 1"

// blocks reads the block with the smallest id between two, no words when there is none.
type blocks func(after, before int64) (id int64, words []byte, err error)

// matcher returns where in some words the first is that is looked for, start equal to end when there is none.
type matcher func(words []byte) (start, end int)

// anyWord takes every word.
func anyWord(words []byte) (start, end int) { return 0, max(bytes.IndexByte(words, '\n'), 0) }

// rarest are bytes of words from the rarest on; those of other scripts are rarer than all.
const rarest = "qjzxwvky7968543210bghfpumdclnosirate"

// containing takes the words that have text in them. It looks for the byte that fewest words have: bytes.Index looks for the
// first one.
func containing(text []byte) matcher {
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

// containingOrLong takes the words that have text in them, and those of at least size bytes.
func containingOrLong(text []byte, size int) matcher {
	contains := containing(text)
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

// beginning takes the words that begin with a text. They are in order, so most blocks need one look.
func beginning(text []byte) matcher {
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

// those takes the words that a test accepts.
func those(test func(word []byte) bool) matcher {
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
	rest    []byte
	word    []byte // nil at the end
}

func (c *runCursor) next(read blocks, match matcher) error {
	for {
		if start, end := match(c.rest); end > start {
			c.word, c.rest = c.rest[start:end], c.rest[end+1:]
			return nil
		}
		id, words, err := read(c.id, c.end)
		if err != nil || len(words) == 0 {
			c.word = nil
			return err
		}
		c.id, c.rest = id, words
	}
}

// mergeRuns calls take for the words of some runs that are looked for, in order and each once.
func mergeRuns(read blocks, runs []int64, match matcher, take func(word []byte) error) error {
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
		c := &runCursor{id: run<<runBits - 1, end: (run + 1) << runBits}
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

// words yields the words that are looked for, in the order of their bytes, as they are in one state of the index.
func (db *DB) words(ctx context.Context, match matcher, yield func(string, error) bool) {
	err := func() error {
		tx, err := db.r.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var runs []int64
		if err := tx.SelectContext(ctx, &runs, runsSQL); err != nil {
			return err
		}
		read := func(after, before int64) (id int64, words []byte, err error) {
			err = tx.QueryRowContext(ctx, nextBlockSQL, after, before).Scan(&id, &words)
			if err == sql.ErrNoRows {
				return 0, nil, nil
			}
			return id, words, err
		}
		return mergeRuns(read, runs, match, func(word []byte) error {
			if !yield(string(word), nil) {
				return errStop
			}
			return nil
		})
	}()
	if err != nil && err != errStop {
		yield("", fmt.Errorf("words: %w", damage(err)))
	}
}
