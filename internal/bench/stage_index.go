package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// discard receives the pages of segments and discards them.
type discard struct{ bytes int64 }

func (d *discard) Page(_ int64, data []byte) error {
	d.bytes += int64(len(data))
	return nil
}

func (d *discard) Separator([]byte, int64) error { return nil }

// wordedRow is a row with the word list that its term numbers refer to.
type wordedRow struct {
	row   *index.Row
	words *lexicon.Words
}

// segments builds the full-text segment of each batch and discards it.
func (s *stageRun) segments(context.Context) error {
	builder := fts5.NewBuilder(1)
	for _, batch := range s.batches {
		var rows []wordedRow
		for _, p := range batch.Parsed {
			for i := range p.Rows {
				rows = append(rows, wordedRow{&p.Rows[i], p.Words})
			}
		}
		slices.SortStableFunc(rows, func(a, b wordedRow) int { return cmp.Compare(a.row.Near, b.row.Near) })
		if err := s.add("build segments", func() error { return buildSegment(builder, rows) }); err != nil {
			return err
		}
	}
	return nil
}

func buildSegment(builder *fts5.Builder, rows []wordedRow) error {
	builder.Reset()
	for id, r := range rows {
		if err := builder.Add(int64(id), r.words, r.row.T); err != nil {
			return err
		}
	}
	_, err := builder.Write(&discard{})
	return err
}

// commits commits the batches to a new index, first without their words, then complete.
func (s *stageRun) commits(ctx context.Context) error {
	for _, name := range []string{"commit without words", "commit"} {
		dir := filepath.Join(s.dir, "committed")
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
			return err
		}
		db, err := sqlite.Open(ctx, filepath.Join(dir, "index.db"), sqlite.Options{})
		if err != nil {
			return err
		}
		if err := errors.Join(s.commit(ctx, db, name), db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *stageRun) commit(ctx context.Context, db *sqlite.DB, name string) error {
	whole := name == "commit"
	for _, batch := range s.batches {
		if !whole {
			batch = wordless(batch)
		}
		if err := s.add(name, func() error { return db.Commit(ctx, batch) }); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	if err := s.add("log into index", func() error { return db.Optimize(ctx) }); err != nil {
		return err
	}
	stats, err := db.Totals(ctx)
	if err == nil && !reflect.DeepEqual(stats.Totals, s.totals) {
		err = fmt.Errorf("the batches give %+v, and gave %+v when they were recorded", stats.Totals, s.totals)
	}
	return err
}

// wordless returns a batch without searchable words.
func wordless(b index.Batch) index.Batch {
	parsed := make([]*index.Parsed, len(b.Parsed))
	for i, p := range b.Parsed {
		q := *p
		q.Rows = slices.Clone(p.Rows)
		for j := range q.Rows {
			q.Rows[j].T = nil
		}
		parsed[i] = &q
	}
	b.Parsed = parsed
	return b
}
