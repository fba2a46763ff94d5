package ask

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// Measures are those of a plan, for tests that make them small.
type Measures = measures

// NewMeasures are measures.
func NewMeasures(probe int, mostOwned, lookedUp int64, listed, tried int) Measures {
	return Measures{probe: probe, mostOwned: mostOwned, lookedUp: lookedUp, listed: listed, tried: tried}
}

// With is a reader that plans by other measures.
func (db *Reader) With(m Measures) *Reader { return &Reader{db.r, m} }

// Native lets FTS5 itself find rows.
func Native(ctx context.Context, tx *sqlx.Tx, match string) (rows fts5.Rows, close func()) {
	n := &native{ctx: ctx, tx: tx, match: match}
	return n, n.close
}
