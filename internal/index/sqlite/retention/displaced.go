package retention

import (
	"context"
	"encoding/json"
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

// isDisplaced asks whether another original has the place of one whose ledger stands.
const isDisplaced = `SELECT EXISTS (SELECT 1 FROM sources s CROSS JOIN files f ON f.source = s.id AND f.path = ? CROSS JOIN versions v ON v.file = f.id AND v.number = ?
	CROSS JOIN chains c ON c.id = v.chain WHERE s.name = ? AND c.root <> ?) AND EXISTS (SELECT 1 FROM facts WHERE kind = 'ledger' AND key = ? AND value IS NOT NULL)`

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
		var yes bool
		key := index.LedgerKey(&blob.Version{Source: t.Source, Path: t.Path, Number: t.Number, Root: t.Root})
		if err := r.pool.GetContext(ctx, &yes, isDisplaced, t.Path, t.Number, t.Source, t.Root[:], key); err != nil {
			return nil, fmt.Errorf("read what was displaced: %w", engine.Damage(err))
		}
		if yes {
			all = append(all, index.Displaced{Tombstone: t, Time: f.Time.UnixMicro()})
		}
	}
	return all, nil
}
