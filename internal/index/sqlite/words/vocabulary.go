package words

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// The table terms holds all words, for substring search. Each commit adds the words that may be new as one run: packed blocks
// of words in order. A word may be in several runs, but once in each; joining keeps the runs few. A row for each word would
// cost ten times as much.
const (
	blockSize = 64 << 10 // of words, before they are packed
	runsKept  = 8
)

// runWriter writes the blocks of a run of words.
type runWriter struct {
	t      *write.Tx
	id     int64 // of the next block; 0 when none was written
	words  schema.Packer
	packed []byte
	last   []byte // word
}

// add adds the next word. Words ascend; a repeated one is left out.
func (w *runWriter) add(word []byte) error {
	if bytes.Equal(word, w.last) {
		return nil
	}
	w.last = append(w.last[:0], word...)
	if w.words.Add(word); w.words.Size() < blockSize {
		return nil
	}
	return w.flush()
}

// begin places the run behind all others.
func (w *runWriter) begin() error {
	var last int64
	_, err := w.t.GetDirect("SELECT coalesce(max(id), 0) FROM terms", nil, &last)
	w.id = (last>>schema.RunBits + 1) << schema.RunBits
	return err
}

func (w *runWriter) flush() error {
	if w.words.Size() == 0 {
		return nil
	}
	if w.id == 0 {
		if err := w.begin(); err != nil {
			return err
		}
	}
	w.packed = w.words.Take(w.packed[:0])
	err := w.t.ExecDirect("INSERT INTO terms (id, words) VALUES (?, ?)", w.id, w.packed)
	w.id++
	return err
}

// vocabulary is the table terms.
type vocabulary struct {
	*write.Tx
	block []byte // the last that was read
}

// JoinRuns merges runs when there are too many (see joinRuns).
func JoinRuns(t *write.Tx) error { return joinRuns(t, runsKept) }

// joinRuns merges runs when there are too many: those that are not much larger than all smaller ones together, so that a word
// is written again only when there are half as many again.
func joinRuns(x *write.Tx, kept int) error {
	t := &vocabulary{Tx: x}
	runs, err := t.runs()
	if err != nil || len(runs) <= kept {
		return err
	}
	type size struct{ run, bytes int64 }
	all := make([]size, len(runs))
	for i, run := range runs { // one by one: a statement that groups them would sort all words in memory
		all[i].run = run
		_, err := t.GetDirect("SELECT sum(length(words)) FROM terms WHERE id >= ? AND id < ?", []any{run << schema.RunBits, (run + 1) << schema.RunBits}, &all[i].bytes)
		if err != nil {
			return err
		}
	}
	slices.SortFunc(all, func(a, b size) int { return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.run, b.run)) })
	n, total := 1, all[0].bytes
	for n < len(all) && (all[n].bytes <= 2*total || len(all)-n >= kept) {
		total += all[n].bytes
		n++
	}
	if n == 1 {
		return nil
	}
	runs = runs[:0]
	for _, s := range all[:n] {
		runs = append(runs, s.run)
	}
	to := runWriter{t: x}
	if err := to.begin(); err != nil { // while the runs exist, so that it comes behind them
		return err
	}
	if err := schema.MergeRuns(t.takeBlock, runs, schema.AllWords, to.add); err != nil {
		return err
	}
	return to.flush()
}

func (t *vocabulary) runs() ([]int64, error) { return t.IDs(schema.RunsSQL) }

func (t *vocabulary) dropRuns(runs []int64) error {
	for _, run := range runs {
		if err := t.Exec("DELETE FROM terms WHERE id >= ? AND id < ?", run<<schema.RunBits, (run+1)<<schema.RunBits); err != nil {
			return err
		}
	}
	return nil
}

// nextBlock reads one block at a time.
func (t *vocabulary) nextBlock(after, before int64, _ int, take func(id int64, block []byte)) error {
	var id int64
	found, err := t.Get(schema.NextBlocksSQL, []any{after, before, 1}, &id, engine.Bytes(&t.block))
	if found && err == nil {
		take(id, t.block)
	}
	return err
}

// takeBlock is nextBlock, and deletes the block, so that the merged run reuses its pages.
func (t *vocabulary) takeBlock(after, before int64, most int, take func(id int64, block []byte)) error {
	taken := int64(0)
	err := t.nextBlock(after, before, most, func(id int64, block []byte) { taken = id; take(id, block) })
	if err == nil && taken > 0 {
		err = t.Exec("DELETE FROM terms WHERE id = ?", taken)
	}
	return err
}

// DropUnused writes one run of the words that the full-text index has. Its segments must not have deleted rows.
func DropUnused(x *write.Tx) error {
	t := &vocabulary{Tx: x}
	runs, err := t.runs()
	if err != nil {
		return err
	}
	to := runWriter{t: x}
	s, err := segments{x}.structure()
	if err != nil {
		return err
	}
	living, err := fts5.NewTerms(s.All(), segmentSource{x})
	if err != nil {
		return err
	}
	next := living.Next()
	err = schema.MergeRuns(t.nextBlock, runs, schema.AllWords, func(word []byte) error {
		for next != nil && bytes.Compare(next, word) < 0 {
			next = living.Next()
		}
		if !bytes.Equal(next, word) {
			return living.Err()
		}
		return to.add(word)
	})
	if err := errors.Join(err, living.Err(), to.flush()); err != nil {
		return err
	}
	return t.dropRuns(runs)
}
