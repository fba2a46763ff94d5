package sqlite

import (
	"context"

	"github.com/txarchive/txarchive/internal/index/sqlite/verify"
)

// Check verifies that the index is consistent, as verify.Index does.
func (db *DB) Check(ctx context.Context, report func(problem string)) error {
	return db.verified().Check(ctx, report)
}

// Differences compares the index with another one of the same archive, as verify.Index does, and returns how many rows were compared.
func (db *DB) Differences(ctx context.Context, other *DB, report func(problem string)) (rows int64, err error) {
	return db.verified().Differences(ctx, other.verified(), report)
}

func (db *DB) verified() verify.Index { return verify.Index{Pool: db.r, Reader: db.Reader} }
