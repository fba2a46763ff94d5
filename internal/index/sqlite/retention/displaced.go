package retention

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// unplaced selects the tombstones of plans that lie on no version. Few do: paths need not be in SQL.
const unplaced = `SELECT d.kind, d.key, d.time, d.value FROM facts d WHERE d.kind = 'tombstone' AND d.value IS NOT NULL AND d.value ->> '$.redacted' IS NULL
	AND coalesce(d.value ->> '$.plan', ?1) <> ?1 AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.grave = d.key)`

// displacedLedger selects the pack with the ledger of an original whose place another one has taken.
const displacedLedger = `SELECT l.pack FROM sources s CROSS JOIN files f ON f.source = s.id AND f.path = ? CROSS JOIN versions v ON v.file = f.id AND v.number = ?
	CROSS JOIN chains c ON c.id = v.chain CROSS JOIN facts l ON l.kind = 'ledger' AND l.key = ? AND l.value IS NOT NULL WHERE s.name = ? AND c.root <> ?`

// Displaced returns the tombstones of originals whose place another original has taken.
func (r *Reader) Displaced(ctx context.Context) (all []index.Displaced, err error) {
	var found []blob.Fact
	if err := engine.Each(ctx, r.pool, unplaced, []any{blob.PlanForget}, func(rows *sqlx.Rows) (f blob.Fact, err error) {
		var micro int64
		var value string
		err = rows.Scan(&f.Kind, &f.Key, &micro, &value)
		f.Time, f.Value = time.UnixMicro(micro), json.RawMessage(value)
		return f, err
	}, func(f blob.Fact) bool { found = append(found, f); return true }); err != nil {
		return nil, fmt.Errorf("read what was displaced: %w", engine.Damage(err))
	}
	for _, f := range found {
		t, err := blob.ParseTombstone(f)
		if err != nil || t.Number == 0 {
			continue // verify reports malformed facts
		}
		d := index.Displaced{Tombstone: t, Time: f.Time.UnixMicro()}
		key := index.LedgerKey(&blob.Version{Source: t.Source, Path: t.Path, Number: t.Number, Root: t.Root})
		switch err := r.pool.GetContext(ctx, &d.Ledger, displacedLedger, t.Path, t.Number, key, t.Source, t.Root[:]); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, fmt.Errorf("read what was displaced: %w", engine.Damage(err))
		default:
			all = append(all, d)
		}
	}
	return all, nil
}
