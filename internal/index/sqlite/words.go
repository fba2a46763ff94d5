package sqlite

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
)

func scanText(rows *sqlx.Rows) (s string, err error) { return s, rows.Scan(&s) }

// Terms yields the words that contain a text that is folded as terms are, in the order of their bytes. Parts of
// identifiers stand in the words that they are parts of.
func (db *DB) Terms(ctx context.Context, contains string) iter.Seq2[string, error] {
	return db.words(ctx, "instr(term, ?) > 0", contains)
}

// TermsOrLong is Terms and all words of at least size bytes, which may be pieces of longer ones, in one pass.
func (db *DB) TermsOrLong(ctx context.Context, contains string, size int) iter.Seq2[string, error] {
	return db.words(ctx, "instr(term, ?) > 0 OR octet_length(term) >= ?", contains, size)
}

// TermsAny yields the words of least to most bytes that contain one of some texts: one look at all words instead of
// one for each text.
func (db *DB) TermsAny(ctx context.Context, contain []string, least, most int) iter.Seq2[string, error] {
	var where []string
	args := []any{least, most}
	for _, c := range contain {
		where, args = append(where, "instr(term, ?) > 0"), append(args, c)
	}
	if len(where) == 0 {
		return func(func(string, error) bool) {}
	}
	return db.words(ctx, "octet_length(term) BETWEEN ? AND ? AND "+balanced(where, " OR "), args...)
}

// TermsFrom yields the words that begin so, in the order of their bytes.
func (db *DB) TermsFrom(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return stream(ctx, db.r, "SELECT term FROM terms WHERE term >= ? AND term < ?", []any{prefix, prefix + "\U0010ffff"}, scanText)
}

// shelves cut all words into stretches of about the same length, so that several cores can look at them.
var shelves = strings.Split(" 0 2 4 6 8 a b c d e f g i l m o p r s t u w \u0080", " ")

// ahead is how many chunks of a stretch may wait to be taken.
const ahead, chunkWords = 4, 256

// words yields the words that meet a condition, in the order of their bytes. All of them have to be looked at, which is
// done on all cores.
func (db *DB) words(ctx context.Context, where string, args ...any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()
		room := make(chan struct{}, runtime.GOMAXPROCS(0))
		found := make([]chan wordChunk, len(shelves))
		for i := range found {
			found[i] = make(chan wordChunk, ahead)
		}
		group.Go(func() {
			for i := range shelves {
				room <- struct{}{}
				group.Go(func() {
					defer func() { <-room }()
					defer close(found[i])
					db.shelf(ctx, i, where, args, found[i])
				})
			}
		})
		for _, chunks := range found {
			for c := range chunks {
				for _, w := range c.words {
					if !yield(w, nil) {
						return
					}
				}
				if c.err != nil {
					yield("", fmt.Errorf("words: %w", damage(c.err)))
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield("", err)
		}
	}
}

type wordChunk struct {
	words []string
	err   error
}

// shelf sends the words of one stretch.
func (db *DB) shelf(ctx context.Context, i int, where string, args []any, to chan<- wordChunk) {
	send := func(c wordChunk) bool {
		select {
		case to <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	sql, all := "SELECT term FROM terms WHERE term >= ?", []any{shelves[i]}
	if i+1 < len(shelves) {
		sql, all = sql+" AND term < ?", append(all, shelves[i+1])
	}
	var words []string
	err := each(ctx, db.r, sql+" AND ("+where+")", append(all, args...), scanText, func(w string) bool {
		if words = append(words, w); len(words) < chunkWords {
			return true
		}
		full := words
		words = nil
		return send(wordChunk{words: full})
	})
	if ctx.Err() == nil {
		send(wordChunk{words, err})
	}
}
