package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// repriceRows is how many records are held in memory at a time.
const repriceRows = 2000

const selectPriced = `SELECT id, time, model, provider, tier, speed, geo, input, output, cache_read, cache_write, cache_write_1h, reasoning,
	calculated, price_model, price_table, price_note FROM usage WHERE id > ? ORDER BY id LIMIT ?`

const updatePriced = "UPDATE usage SET calculated = ?, price_model = ?, price_table = ?, price_note = ? WHERE id = ?"

// repriced is a record with the price that it has.
type repriced struct {
	id int64
	u  transcript.Usage
	as [4]any // calculated, price_model, price_table, price_note
}

// Reprice walks all records, counted or not, and writes those whose price by the book is another than before.
func (db *DB) Reprice(ctx context.Context, book *price.Book) (changed int64, err error) {
	t, err := db.begin(ctx)
	if err != nil {
		return 0, fmt.Errorf("reprice: %w", err)
	}
	defer t.Rollback()
	for last := int64(0); ; {
		batch, err := t.priced(last)
		if err != nil {
			return 0, fmt.Errorf("reprice: %w", engine.Damage(err))
		}
		for _, row := range batch {
			last = row.id
			now := priceColumns(book, &row.u)
			if [4]any(now) == row.as {
				continue
			}
			if _, err := t.exec(updatePriced, append(now, row.id)...); err != nil {
				return 0, fmt.Errorf("reprice: %w", engine.Damage(err))
			}
			changed++
		}
		if len(batch) < repriceRows {
			break
		}
	}
	if err := t.Commit(); err != nil {
		return 0, fmt.Errorf("reprice: %w", engine.Damage(err))
	}
	return changed, nil
}

// priced reads the records after an id, so many at a time.
func (t *tx) priced(last int64) (batch []repriced, err error) {
	err = t.each(selectPriced, func(rows *sql.Rows) error {
		var r repriced
		var calculated sql.NullInt64
		var note [3]sql.NullString
		u := &r.u
		if err := rows.Scan(&r.id, engine.Time(&u.Time), engine.Text(&u.Model), engine.Text(&u.Provider), engine.Text(&u.Tier), engine.Text(&u.Speed), engine.Text(&u.Geo),
			engine.Count(&u.Input), engine.Count(&u.Output), engine.Count(&u.CacheRead), engine.Count(&u.CacheWrite), engine.Count(&u.CacheWrite1h), engine.Count(&u.Reasoning),
			&calculated, &note[0], &note[1], &note[2]); err != nil {
			return err
		}
		if calculated.Valid {
			r.as[0] = calculated.Int64
		}
		for i, n := range note {
			if n.Valid {
				r.as[i+1] = n.String
			}
		}
		batch = append(batch, r)
		return nil
	}, last, repriceRows)
	return batch, err
}
