package verify

import (
	"context"
	"fmt"
	"iter"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// compareWords compares words, which both yield in order: a large archive has more than a hundred million. Mine may have words
// that the packs do not give any more: those of rows that were taken out, until a purge.
func (c *comparison) compareWords(mine, theirs iter.Seq2[string, error]) error {
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
		for more && err == nil && have < w {
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
	if missing > 0 { // which ones is not shown: they are text of the archive
		c.report(fmt.Sprintf("words: %d missing that the packs have", missing))
	}
	return err
}

// vocabulary yields the words of a connection that withWords has prepared.
func vocabulary(ctx context.Context, q sqlx.QueryerContext) iter.Seq2[string, error] {
	return engine.Stream(ctx, q, "SELECT term FROM temp.words", nil,
		func(r *sqlx.Rows) (w string, err error) { return w, r.Scan(&w) })
}
