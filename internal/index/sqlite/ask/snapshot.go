package ask

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// snapshot is one state of the index, with what the connection knows of it in its cache.
type snapshot struct {
	*engine.Reading
	*cache
}

// cache is what was read for earlier questions to the same state.
type cache struct {
	shelf  fts5.Cache
	names  map[int64]string
	scenes map[int64]scene
	owners map[int64]owner  // by transcript
	labels map[string]label // by conversation
	filed  *spills
	placed map[int64][]place // by chain: where bytes were found last

	owned  map[string]allOwned     // by statement
	rows   map[string][]int64      // of owners
	begun  map[string]*fts5.RowSet // of beginnings of words
	recent map[[2]int64]recent     // by window
	listed int                     // numbers in all of them but the last
}

// mostListed bounds that.
const mostListed = 1 << 16

// keeps makes room for a list of n, unless that is too long to be kept.
func (m *cache) keeps(n int) bool {
	if m.listed += n; m.listed > mostListed {
		m.owned, m.rows, m.begun, m.listed = map[string]allOwned{}, map[string][]int64{}, map[string]*fts5.RowSet{}, n
	}
	return n <= mostListed
}

// read begins to read.
func (db *Reader) read(ctx context.Context) (*snapshot, error) {
	tx, err := engine.Read(ctx, db.r)
	if err != nil {
		return nil, err
	}
	m, err := connCache(ctx, tx, tx)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return &snapshot{tx, m}, nil
}

// connCache is what the connection that q asks knows in its cache.
func connCache(ctx context.Context, q sqlx.QueryerContext, conn engine.Raw) (*cache, error) {
	m, err := engine.Remembered(ctx, q, conn, func() any {
		return &cache{names: map[int64]string{}, scenes: map[int64]scene{}, owners: map[int64]owner{}, labels: map[string]label{}, placed: map[int64][]place{},
			owned: map[string]allOwned{}, rows: map[string][]int64{}, begun: map[string]*fts5.RowSet{}, recent: map[[2]int64]recent{}}
	})
	if err != nil {
		return nil, err
	}
	return m.(*cache), nil
}

// view reads the full-text index.
func (r *snapshot) view(ctx context.Context) (*fts5.View, error) {
	return r.shelf.View(Leaves(ctx, r))
}
