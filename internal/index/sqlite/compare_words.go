package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// word is one that a search can find, and where: in which column of the full-text index, or 0 in the list for substrings.
type word struct {
	text   string
	column int
}

func (w word) compare(other word) int {
	return cmp.Or(strings.Compare(w.text, other.text), cmp.Compare(w.column, other.column))
}

// compareWords compares words, which both give in their order: a large archive has more than a hundred million. Mine may know some that
// the packs do not give any more: those of rows that were taken out, until they are purged.
func (c *comparison) compareWords(mine, theirs iter.Seq2[word, error]) error {
	next, stop := iter.Pull2(mine)
	defer stop()
	have, err, more := next()
	forth := func() {
		c.rows++
		have, err, more = next()
	}
	missing := 0
	for w, bad := range theirs {
		if bad != nil {
			return bad
		}
		for more && err == nil && have.compare(w) < 0 {
			forth()
		}
		if err != nil {
			return err
		}
		if !more || have != w {
			missing++
		}
	}
	for more && err == nil {
		forth()
	}
	if missing > 0 { // which they are is nobody's business here
		c.report(fmt.Sprintf("words: %d are lacking that the packs give", missing))
	}
	return err
}

// listed gives the words that substring search knows.
func (db *DB) listed(ctx context.Context) iter.Seq2[word, error] {
	return func(yield func(word, error) bool) {
		for text, err := range db.Terms(ctx, "") {
			if !yield(word{text: text}, err) {
				return
			}
		}
	}
}

// vocabulary gives the words of a connection that withWords has prepared.
func vocabulary(ctx context.Context, q sqlx.QueryerContext) iter.Seq2[word, error] {
	return engine.Stream(ctx, q, "SELECT term, instr('tx', col) FROM temp.words", nil,
		func(r *sqlx.Rows) (w word, err error) { return w, r.Scan(&w.text, &w.column) })
}
