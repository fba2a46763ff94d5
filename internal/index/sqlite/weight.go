package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
)

// Members gives the members of packs, by pack and place.
func (db *DB) Members(ctx context.Context, packs []int64) (map[int64][]blob.Member, error) {
	ids, err := json.Marshal(packs)
	if err != nil {
		return nil, err
	}
	type row struct {
		pack int64
		blob.Member
	}
	all := map[int64][]blob.Member{}
	err = each(ctx, db.r, `SELECT m.pack, m.raw, m.raw_size, m.offset, m.size FROM json_each(?) j CROSS JOIN members m ON m.pack = j.value ORDER BY m.pack, m.raw`,
		[]any{string(ids)}, func(rows *sqlx.Rows) (x row, err error) {
			return x, rows.Scan(&x.pack, &x.Raw, &x.RawSize, &x.Offset, &x.Size)
		}, func(x row) bool {
			all[x.pack] = append(all[x.pack], x.Member)
			return true
		})
	if err != nil {
		return nil, fmt.Errorf("read members: %w", damage(err))
	}
	return all, nil
}

// WordBytes shares the size of the full-text index out by the text that it was made of.
func (db *DB) WordBytes(ctx context.Context, runs []string) (map[string]int64, error) {
	ids, err := json.Marshal(runs)
	if err != nil {
		return nil, err
	}
	bytes := map[string]int64{}
	err = each(ctx, db.r, `WITH whole AS (SELECT (SELECT coalesce(sum(length(block)), 0) FROM fts_data) AS stored,
		(SELECT coalesce(sum(text_bytes), 0) FROM events) AS text)
		SELECT r.run_id, CAST(1.0 * coalesce(sum(e.text_bytes), 0) * whole.stored / max(whole.text, 1) AS INTEGER)
		FROM whole, json_each(?) j CROSS JOIN runs r ON r.run_id = j.value CROSS JOIN run_names n ON n.run = r.id
		CROSS JOIN transcripts t ON t.run_name = n.id CROSS JOIN events e ON e.transcript = t.id GROUP BY 1`, []any{string(ids)},
		func(rows *sqlx.Rows) (x struct {
			run string
			n   int64
		}, err error) {
			return x, rows.Scan(&x.run, &x.n)
		}, func(x struct {
			run string
			n   int64
		}) bool {
			bytes[x.run] = x.n
			return true
		})
	if err != nil {
		return nil, fmt.Errorf("count words: %w", damage(err))
	}
	return bytes, nil
}
