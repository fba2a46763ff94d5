package ask

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// FTSStore returns an fts5.Store that reads the shadow tables over tx.
func FTSStore(ctx context.Context, tx sqlx.QueryerContext) fts5.Store { return &ftsStore{ctx, tx} }

// ftsStore implements fts5.Store.
type ftsStore struct {
	ctx context.Context
	tx  sqlx.QueryerContext
}

// Records implements fts5.Store.
func (l *ftsStore) Records(ids []int64) (records [][]byte, err error) {
	scan := func(rows *sqlx.Rows) ([]byte, error) {
		var b sql.RawBytes // a []byte would be copied twice
		err := rows.Scan(&b)
		return bytes.Clone(b), err
	}
	take := func(b []byte) bool { records = append(records, b); return true }
	switch n := len(ids); {
	case n == 1:
		err = engine.Each(l.ctx, l.tx, "SELECT block FROM fts_data WHERE id = ?", []any{ids[0]}, scan, take)
	case slices.IsSorted(ids) && ids[n-1]-ids[0] < 2*int64(n):
		return l.readRange(ids)
	default:
		err = engine.Each(l.ctx, l.tx, "SELECT d.block FROM json_each(?) j LEFT JOIN fts_data d ON d.id = j.value", []any{asList(ids)}, scan, take)
	}
	if len(records) == 0 {
		records = make([][]byte, len(ids))
	}
	return records, err
}

// readRange reads records with nearly consecutive ids in one range scan.
func (l *ftsStore) readRange(ids []int64) ([][]byte, error) {
	type record struct {
		id    int64
		block []byte
	}
	records := make([][]byte, len(ids))
	return records, engine.Each(l.ctx, l.tx, "SELECT id, block FROM fts_data WHERE id BETWEEN ? AND ?", []any{ids[0], ids[len(ids)-1]},
		func(rows *sqlx.Rows) (r record, err error) {
			var b sql.RawBytes
			err = rows.Scan(&r.id, &b)
			r.block = bytes.Clone(b)
			return r, err
		},
		func(r record) bool {
			if i, ok := slices.BinarySearch(ids, r.id); ok {
				records[i] = r.block
			}
			return true
		})
}

// separatorSQL selects the page of the last separator that is not greater than a term.
const separatorSQL = "coalesce((SELECT pgno FROM fts_idx WHERE segid = s.value AND term <= unhex(t.value) ORDER BY term DESC LIMIT 1), 0)"

// Separators implements fts5.Store.
func (l *ftsStore) Separators(terms [][]byte, segments []int) (pages []int64, err error) {
	err = l.pairs(separatorSQL, terms, segments, &pages)
	return pages, err
}

// Ranges implements fts5.Store.
func (l *ftsStore) Ranges(texts [][]byte, segments []int) (pages [][]int64, err error) {
	err = l.pairs(`json((SELECT json_group_array(pgno) FROM (SELECT `+separatorSQL+` AS pgno
		UNION ALL SELECT * FROM (SELECT pgno FROM fts_idx WHERE segid = s.value AND term > unhex(t.value) AND term < unhex(t.value || 'ff') ORDER BY term))))`,
		texts, segments, &pages)
	return pages, err
}

// pairs evaluates what for each text t and each segment s. The results come as one value: a result row for each would cost
// more than everything else.
func (l *ftsStore) pairs(what string, texts [][]byte, segments []int, to any) error {
	list, ids := []byte{'['}, make([]int64, len(segments))
	for i, t := range texts {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(hex.AppendEncode(append(list, '"'), t), '"')
	}
	for i, s := range segments {
		ids[i] = int64(s)
	}
	var all []byte
	err := sqlx.GetContext(engine.Polled(l.ctx), l.tx, &all, "SELECT json_group_array("+what+") FROM json_each(?) t CROSS JOIN json_each(?) s", string(append(list, ']')), asList(ids))
	if err != nil {
		return err
	}
	return json.Unmarshal(all, to)
}
