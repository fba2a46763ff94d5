package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// repriceRows is how many records are held in memory at a time.
const repriceRows = 2000

func selectPriced() string {
	return `SELECT u.id, u.time, u.input, u.output, u.cache_read, u.cache_write, u.cache_write_1h, u.reasoning, u.requests, u.calculated, ` +
		write.TextList("x") + ` FROM usage u ` + schema.JoinUsageTexts + `WHERE u.id > ? ORDER BY u.id LIMIT ?`
}

const updatePriced = "UPDATE usage SET calculated = ?, texts = ? WHERE id = ?"

// repriced is a record with its present price.
type repriced struct {
	id         int64
	u          transcript.Usage
	calculated any
	texts      write.UsageTexts
}

// Reprice walks all records, counted or not, and updates those whose price by the book differs. It returns how many.
func (db *DB) Reprice(ctx context.Context, book *price.Book) (changed int64, err error) {
	t, err := db.w.Begin(ctx)
	if err != nil {
		return 0, fmt.Errorf("reprice: %w", err)
	}
	defer t.Rollback()
	for last := int64(0); ; {
		batch, err := nextPriced(t, last)
		if err != nil {
			return 0, fmt.Errorf("reprice: %w", engine.Damage(err))
		}
		for _, row := range batch {
			last = row.id
			texts := row.texts
			calculated := texts.Price(book, &row.u)
			if calculated == row.calculated && texts == row.texts {
				continue
			}
			id, err := t.TextsID(texts)
			if err != nil {
				return 0, fmt.Errorf("reprice: %w", engine.Damage(err))
			}
			if err := t.Exec(updatePriced, calculated, id, row.id); err != nil {
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

// nextPriced reads the next records after an id.
func nextPriced(t *write.Tx, last int64) (batch []repriced, err error) {
	err = t.Each(selectPriced(), func(rows *sql.Rows) error {
		var r repriced
		var calculated sql.NullInt64
		u, s := &r.u, &r.texts
		if err := rows.Scan(append([]any{&r.id, engine.Time(&u.Time), engine.Count(&u.Input), engine.Count(&u.Output), engine.Count(&u.CacheRead), engine.Count(&u.CacheWrite),
			engine.Count(&u.CacheWrite1h), engine.Count(&u.Reasoning), engine.Count(&u.Requests), &calculated}, s.Dest()...)...); err != nil {
			return err
		}
		u.Model, u.Provider, u.Tier, u.Speed, u.Geo = s[0], s[1], s[2], s[3], s[4]
		if calculated.Valid {
			r.calculated = calculated.Int64
		}
		batch = append(batch, r)
		return nil
	}, last, repriceRows)
	return batch, err
}
