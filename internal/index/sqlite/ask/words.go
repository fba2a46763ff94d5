package ask

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// Terms yields all words in byte order. Parts of identifiers are not listed apart from the identifiers.
func (db *Reader) Terms(ctx context.Context) iter.Seq2[string, error] {
	return db.words(ctx, schema.AllWords)
}

// TermsOrCut yields the words that contain a text, folded as terms are, and those of at least size bytes that end with a
// prefix of it: they may be fragments of longer words that contain it.
func (db *Reader) TermsOrCut(ctx context.Context, contains string, size int) iter.Seq2[string, error] {
	return db.words(ctx, schema.Containing([]byte(contains), size))
}

// TermsAny yields the words of least to most bytes that contain one of several texts, in one pass over all words.
func (db *Reader) TermsAny(ctx context.Context, contain []string, least, most int) iter.Seq2[string, error] {
	return db.words(ctx, schema.Matching(func(word []byte) bool {
		return least <= len(word) && len(word) <= most &&
			slices.ContainsFunc(contain, func(text string) bool { return bytes.Contains(word, []byte(text)) })
	}))
}

// TermsFrom yields the words that begin with prefix, in byte order.
func (db *Reader) TermsFrom(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return db.words(ctx, schema.WithPrefix([]byte(prefix)))
}

// words yields the words that find matches, in byte order, from one snapshot of the index.
func (db *Reader) words(ctx context.Context, find schema.Finder) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := db.eachWord(ctx, find, func(word []byte) error {
			if !yield(string(word), nil) {
				return engine.ErrStop
			}
			return nil
		})
		if err != nil && err != engine.ErrStop {
			yield("", fmt.Errorf("words: %w", engine.Damage(err)))
		}
	}
}

func (db *Reader) eachWord(ctx context.Context, find schema.Finder, take func(word []byte) error) error {
	tx, err := engine.BeginRead(ctx, db.r)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var runs []int64
	if err := tx.SelectContext(ctx, &runs, schema.RunsSQL); err != nil {
		return err
	}
	read := func(after, before int64, most int, take func(id int64, block []byte)) error {
		rows, err := tx.QueryContext(ctx, schema.NextBlocksSQL, after, before, most)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var block sql.RawBytes // a slice would be copied twice
			if err := rows.Scan(&id, &block); err != nil {
				return err
			}
			take(id, block)
		}
		return rows.Err()
	}
	return schema.MergeRuns(read, runs, find, take)
}
