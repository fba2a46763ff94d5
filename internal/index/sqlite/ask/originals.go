package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/query"
)

// Originals returns the versions with matching rows, those with the newest rows first or, with oldest, those with the
// oldest, and the number of matching rows. It fetches no rows.
func (db *Reader) Originals(ctx context.Context, q *query.Tree, page index.Page, oldest bool) (all []index.VersionKey, rows int64, err error) {
	page.After, page.Limit = "", 0
	f := db.finder(ctx, page)
	var held []originalHit
	if f.tx, err = db.read(ctx); err == nil {
		defer f.tx.Rollback()
		if held, rows, err = f.originals(q, oldest); err == nil {
			all, err = f.versionKeys(held)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("find originals: %w", engine.Damage(err))
	}
	return all, rows, nil
}

// originalHit is a transcript with matching rows: its version, and the time of its first row in the order that was asked for.
type originalHit struct {
	transcript, version int64
	at                  int64
	conversation        string
	rows                int64
}

// originals returns the versions with matching rows, each with the first of its transcripts, in order.
func (f *finder) originals(q *query.Tree, oldest bool) (held []originalHit, rows int64, err error) {
	c, err := f.compile(q)
	if err != nil {
		return nil, 0, err
	}
	if err := f.window(&c); err != nil {
		return nil, 0, err
	}
	first, order := "max", func(a, b originalHit) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.conversation, b.conversation))
	}
	if oldest {
		first, order = "min", func(a, b originalHit) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.conversation, a.conversation))
		}
	}
	of := map[int64]originalHit{}
	p := f.planner(false)
	err = p.run(c, func(w scan) error {
		sql, args, err := w.statement("t.id, t.version, "+first+"(coalesce(e.time, e.near, 0)), c.conversation_id, count(*)", f.page.AllVersions)
		if err != nil {
			return err
		}
		return engine.Each(f.ctx, f.tx, sql+" GROUP BY t.id", args, func(r *sqlx.Rows) (h originalHit, err error) {
			return h, r.Scan(&h.transcript, &h.version, &h.at, &h.conversation, &h.rows)
		}, func(h originalHit) bool {
			rows += h.rows
			if was, ok := of[h.version]; !ok || order(h, was) < 0 {
				of[h.version] = h
			}
			return true
		})
	})
	if err != nil && !errors.Is(err, engine.ErrStop) {
		return nil, 0, err
	}
	return slices.SortedFunc(maps.Values(of), func(a, b originalHit) int { return cmp.Or(order(a, b), cmp.Compare(a.version, b.version)) }), rows, nil
}

const nameVersions = `SELECT v.id, s.name, f.path, v.number FROM json_each(?) j CROSS JOIN versions v ON v.id = j.value
	CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source`

// versionKeys returns the keys of versions.
func (f *finder) versionKeys(held []originalHit) ([]index.VersionKey, error) {
	ids := make([]int64, len(held))
	at := make(map[int64]int, len(held))
	for i, h := range held {
		ids[i], at[h.version] = h.version, i
	}
	type version struct {
		id int64
		index.VersionKey
	}
	all := make([]index.VersionKey, len(held))
	err := engine.Each(f.ctx, f.tx, nameVersions, []any{asList(ids)}, func(r *sqlx.Rows) (v version, err error) {
		return v, r.Scan(&v.id, &v.Source, &v.Path, &v.Number)
	}, func(v version) bool { all[at[v.id]] = v.VersionKey; return true })
	return all, err
}
