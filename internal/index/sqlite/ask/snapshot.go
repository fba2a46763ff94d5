package ask

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// snapshot is a read transaction on one state of the index, with the connection's cache for that state.
type snapshot struct {
	*engine.ReadTx
	*cache
}

// cache has what earlier queries to the same state have read. Every connection has its own.
type cache struct {
	fts     fts5.Cache
	names   map[int64]string
	scenes  map[int64]scene
	owners  map[int64]owner  // by transcript
	labels  map[string]label // by conversation
	spills  *spills
	located map[int64][]place // by chain: extents of the last bytes that were located

	owned         map[string]ownerSets    // by statement and arguments
	rows          map[string][]int64      // of owners
	prefixes      map[string]*fts5.RowSet // of prefix queries
	recent        map[[2]int64]recent     // by window
	cachedNumbers int                     // how many numbers owned, rows and prefixes hold
}

// maxCachedNumbers bounds cachedNumbers.
const maxCachedNumbers = 1 << 16

// reserve makes room to cache a list of n numbers, and reports whether it may be cached: a longer list may not.
func (m *cache) reserve(n int) bool {
	if m.cachedNumbers += n; m.cachedNumbers > maxCachedNumbers {
		m.owned, m.rows, m.prefixes, m.cachedNumbers = map[string]ownerSets{}, map[string][]int64{}, map[string]*fts5.RowSet{}, n
	}
	return n <= maxCachedNumbers
}

// read begins a read transaction.
func (db *Reader) read(ctx context.Context) (*snapshot, error) {
	tx, err := engine.BeginRead(ctx, db.r)
	if err != nil {
		return nil, err
	}
	m, err := connCache(ctx, tx, tx)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return &snapshot{tx, m}, nil
}

// connCache returns the cache of a connection, which q queries and conn is.
func connCache(ctx context.Context, q sqlx.QueryerContext, conn engine.Raw) (*cache, error) {
	m, err := engine.ConnMemory(ctx, q, conn, func() any {
		return &cache{names: map[int64]string{}, scenes: map[int64]scene{}, owners: map[int64]owner{}, labels: map[string]label{}, located: map[int64][]place{},
			owned: map[string]ownerSets{}, rows: map[string][]int64{}, prefixes: map[string]*fts5.RowSet{}, recent: map[[2]int64]recent{}}
	})
	if err != nil {
		return nil, err
	}
	return m.(*cache), nil
}

// view returns a view of the full-text index.
func (r *snapshot) view(ctx context.Context) (*fts5.View, error) {
	return r.fts.View(FTSStore(ctx, r))
}
