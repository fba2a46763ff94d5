package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Digest returns a hash of the rows of each view, in whatever order they come. Two indexes of the same packs have the
// same digests. It reads every row of every view.
func (db *DB) Digest(ctx context.Context) (map[string]string, error) {
	tx, err := db.r.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, damage(err)
	}
	defer tx.Rollback()
	var views []string
	if err := tx.SelectContext(ctx, &views, `SELECT name FROM sqlite_master WHERE type = 'view' AND name LIKE 'v\_%' ESCAPE '\'`); err != nil {
		return nil, damage(err)
	}
	digests := map[string]string{}
	for _, view := range views {
		var sum rowSum
		err := each(ctx, tx, "SELECT * FROM "+view, nil, func(rows *sqlx.Rows) ([]any, error) { return rows.SliceScan() },
			func(row []any) bool { sum.add(row); return true })
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", view, damage(err))
		}
		digests[view] = sum.String()
	}
	return digests, nil
}

// rowSum adds up the hashes of rows, so that their order does not matter and none can take the place of another.
type rowSum struct {
	rows int64
	sum  [sha256.Size]byte // as a number, the lowest byte first
}

func (s *rowSum) add(row []any) {
	h := sha256.New()
	for _, v := range row {
		fmt.Fprintf(h, "%T %v\x00", v, v)
	}
	carry := 0
	for i, b := range h.Sum(nil) {
		carry += int(s.sum[i]) + int(b)
		s.sum[i] = byte(carry)
		carry >>= 8
	}
	s.rows++
}

func (s *rowSum) String() string {
	return fmt.Sprintf("%d rows %s", s.rows, hex.EncodeToString(s.sum[:]))
}
