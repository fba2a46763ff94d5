package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
)

// span is an entry of a pack, headers and padding included.
type span struct {
	from, to   int64
	live, dead bool // some version that stays has it; one that goes now has it
}

const (
	tarBlock  = 512
	entrySpan = `SELECT x.pack, x.raw, max(x.size), max(v.grave IS NULL AND NOT x.chain IN (SELECT value FROM json_each(?1))), max(x.chain IN (SELECT value FROM json_each(?1)))
		FROM extents x CROSS JOIN versions v ON v.chain = x.chain WHERE x.pack IN (SELECT DISTINCT e.pack FROM json_each(?1) j CROSS JOIN extents e ON e.chain = j.value)
		GROUP BY 1, 2`
)

// Freed says what packs give back when chains are no longer there.
func (db *DB) Freed(ctx context.Context, chains []int64) (f index.Freed, err error) {
	if len(chains) == 0 {
		return f, nil
	}
	ids, err := json.Marshal(chains)
	if err != nil {
		return f, err
	}
	tx, err := db.r.BeginTxx(ctx, nil)
	if err != nil {
		return f, fmt.Errorf("count what is freed: %w", damage(err))
	}
	defer tx.Rollback()
	e := &estate{tx: tx}
	spans := map[int64][]span{}
	if err := e.walk(ctx, entrySpan, func(r *sqlx.Rows) error {
		var pack, raw, size int64
		s := span{}
		err := r.Scan(&pack, &raw, &size, &s.live, &s.dead)
		s.from, s.to = raw-tarBlock, raw+(size+tarBlock-1)/tarBlock*tarBlock
		spans[pack] = append(spans[pack], s)
		return err
	}, string(ids)); err != nil {
		return f, fmt.Errorf("count what is freed: %w", damage(err))
	}
	for pack, all := range spans {
		f.Packs++
		slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		if err := e.walk(ctx, "SELECT raw, raw_size, size FROM members WHERE pack = ? ORDER BY raw", func(r *sqlx.Rows) error {
			var raw, rawSize, size int64
			if err := r.Scan(&raw, &rawSize, &size); err != nil {
				return err
			}
			for len(all) > 0 && all[0].to <= raw {
				all = all[1:]
			}
			freed, again := freedOf(raw, rawSize, size, all)
			f.Bytes += freed
			f.Members += int(flag(again))
			return nil
		}, pack); err != nil {
			return f, fmt.Errorf("count what is freed: %w", damage(err))
		}
	}
	return f, nil
}

// freedOf is what one member gives back: all of it when no entry in it stays, else the share of those that go, and
// then it must be made again.
func freedOf(raw, rawSize, size int64, spans []span) (freed int64, again bool) {
	var dead int64
	live := false
	for _, s := range spans {
		if s.from >= raw+rawSize {
			break
		}
		switch {
		case s.live:
			live = true
		case s.dead:
			dead += min(s.to, raw+rawSize) - max(s.from, raw)
		}
	}
	switch {
	case dead == 0:
		return 0, false
	case !live:
		return size, false
	}
	return size * min(dead, rawSize) / max(rawSize, 1), true
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
