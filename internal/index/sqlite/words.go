package sqlite

import (
	"bytes"
	"context"
	"iter"
	"slices"
)

// Terms yields the words that contain a text that is folded as terms are, in the order of their bytes. Parts of
// identifiers stand in the words that they are parts of.
func (db *DB) Terms(ctx context.Context, contains string) iter.Seq2[string, error] {
	match := anyWord
	if contains != "" {
		match = containing([]byte(contains))
	}
	return func(yield func(string, error) bool) { db.words(ctx, match, yield) }
}

// TermsOrLong is Terms and all words of at least size bytes, which may be pieces of longer ones, in one pass.
func (db *DB) TermsOrLong(ctx context.Context, contains string, size int) iter.Seq2[string, error] {
	match := containingOrLong([]byte(contains), size)
	return func(yield func(string, error) bool) { db.words(ctx, match, yield) }
}

// TermsAny yields the words of least to most bytes that contain one of some texts: one look at all words instead of
// one for each text.
func (db *DB) TermsAny(ctx context.Context, contain []string, least, most int) iter.Seq2[string, error] {
	match := those(func(word []byte) bool {
		return least <= len(word) && len(word) <= most &&
			slices.ContainsFunc(contain, func(text string) bool { return bytes.Contains(word, []byte(text)) })
	})
	return func(yield func(string, error) bool) { db.words(ctx, match, yield) }
}

// TermsFrom yields the words that begin so, in the order of their bytes.
func (db *DB) TermsFrom(ctx context.Context, prefix string) iter.Seq2[string, error] {
	match := beginning([]byte(prefix))
	return func(yield func(string, error) bool) { db.words(ctx, match, yield) }
}
