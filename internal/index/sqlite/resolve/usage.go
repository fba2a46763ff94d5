package resolve

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// inLots runs a query that begins with a table k of keys: usage_id and its number.
func (c *Changes) inLots(query string, keys []int64, row func(*sql.Rows) error) error {
	query = "WITH k (id, number) AS (VALUES (?, ?)" + strings.Repeat(", (?, ?)", write.Lot-1) + ") " + query
	args := make([]any, 2*write.Lot)
	for lot := range slices.Chunk(keys, write.Lot) {
		clear(args)
		for i, key := range lot {
			args[2*i], args[2*i+1] = UsageID(key), key
		}
		if err := c.EachBrief(query, row, args...); err != nil {
			return err
		}
	}
	return nil
}

// judgeUsage makes one of several usage rows of one request count. Most keys have one row, which is new and was written as it
// states itself: only the others are looked at more closely. As with events, what counts is first compared only with what is new.
func (c *Changes) judgeUsage() error {
	var again, known []int64
	for _, key := range write.Sorted(c.keys) {
		if c.keys[key] {
			known = append(known, key)
		} else {
			again = append(again, key)
		}
	}
	several, whole, there := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	if err := c.inLots(`SELECT k.number FROM k WHERE (SELECT count(*) FROM (SELECT 1 FROM usage u INDEXED BY usage_public WHERE u.usage_id = k.id LIMIT 2)) > 1`,
		again, write.IntoSet(several)); err != nil {
		return err
	}
	if err := c.inLots("SELECT k.number, u.verdict <> u.stated_verdict OR u.of IS NOT NULL FROM k CROSS JOIN usage u ON u.usage_id = k.id", known, func(r *sql.Rows) error {
		var key int64
		var judged bool
		err := r.Scan(&key, &judged)
		if judged || there[key] {
			whole[key] = true
		}
		there[key] = true
		return err
	}); err != nil {
		return err
	}
	rows, stated, err := c.loadJudgedUsage(write.Sorted(several), " AND u.verdict = 0")
	if err != nil {
		return err
	}
	if err := groups(rows, func(group []duplicate) error {
		if !c.settledUsage(group, stated) {
			whole[stated[group[0].id].key] = true
			return nil
		}
		return c.countUsage(group, stated)
	}); err != nil {
		return err
	}
	if rows, stated, err = c.loadJudgedUsage(write.Sorted(whole), ""); err != nil {
		return err
	}
	if err := groups(rows, func(group []duplicate) error { return c.countUsage(group, stated) }); err != nil {
		return err
	}
	return c.judgeAliases(append(again, write.Sorted(there)...))
}

// settledUsage is settled of usage.
func (c *Changes) settledUsage(group []duplicate, stated map[int64]statedUsage) bool {
	isNew := func(j duplicate) bool { return c.usageBefore >= 0 && j.id > c.usageBefore }
	known := false
	for _, j := range group {
		said := stated[j.id]
		if isNew(j) {
			if !j.newest && j.others {
				return false
			}
			continue
		}
		known = true
		if said.verdict != schema.Counted || !j.newest && !slices.ContainsFunc(group, func(n duplicate) bool {
			other := stated[n.id]
			return isNew(n) && n.newest && n.file == j.file && other.verdict == schema.Counted && other.rank == said.rank && n.place[0] == j.place[0]
		}) {
			return false
		}
	}
	return known || !group[0].others
}

// countUsage makes the first row of a group count, unless it says itself that it does not.
func (c *Changes) countUsage(group []duplicate, stated map[int64]statedUsage) error {
	for i, j := range group {
		verdict := stated[j.id].verdict
		if i > 0 && verdict == schema.Counted {
			verdict = schema.Duplicate
		}
		if verdict == j.was && !stated[j.id].of.Valid {
			continue
		}
		if err := c.Exec("UPDATE usage SET verdict = ?, of = NULL WHERE id = ?", verdict, j.id); err != nil {
			return err
		}
	}
	return nil
}

// judgeAliases makes rows duplicates whose key is an alias of a row that counts, or of an earlier statement of one that does: what a version of a file said of both stays
// true of the one that another version states differently.
func (c *Changes) judgeAliases(keys []int64) error {
	by := map[int64]int64{}
	if err := c.inLots(`SELECT k.number, u.id FROM k CROSS JOIN usage u INDEXED BY usage_alias ON u.alias >> 36 = k.number >> 36 AND u.alias = k.number
		WHERE u.verdict = 0 OR EXISTS (SELECT 1 FROM usage w INDEXED BY usage_public WHERE w.usage_id = u.usage_id AND w.verdict = 0) ORDER BY u.usage_id DESC`, keys, func(r *sql.Rows) error {
		var key, id int64
		err := r.Scan(&key, &id)
		by[key] = id
		return err
	}); err != nil {
		return err
	}
	for _, key := range write.Sorted(by) {
		if err := c.Exec("UPDATE usage SET verdict = ?, of = ? WHERE usage_id = ? AND verdict = ?", schema.Duplicate, by[key], UsageID(key), schema.Counted); err != nil {
			return err
		}
	}
	return nil
}

// statedUsage is what the original of a row to judge states, and the row that it is an alias of so far.
type statedUsage struct {
	key, rank int64
	verdict   int
	of        sql.NullInt64
}

// loadJudgedUsage reads the rows of the keys to judge, or some of them, and what is stated of each.
func (c *Changes) loadJudgedUsage(keys []int64, which string) (rows []duplicate, stated map[int64]statedUsage, err error) {
	stated = map[int64]statedUsage{}
	err = c.inLots(`SELECT u.id, k.number, u.verdict, u.stated_verdict, u.of, u.rank, v.number = (SELECT max(w.number) FROM versions w WHERE w.file = v.file),
		v.number, f.id, coalesce(u.time, 0), s.name || '/' || f.path, u.offset, CASE n.scope WHEN '' THEN 0 ELSE coalesce(n.run, 0) END,
		EXISTS (SELECT 1 FROM usage o WHERE o.usage_id = k.id AND o.verdict > 0)
		FROM k CROSS JOIN usage u ON u.usage_id = k.id`+which+` CROSS JOIN versions v ON v.id = u.version
		CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source CROSS JOIN run_names n ON n.id = u.run_name`, keys, func(r *sql.Rows) error {
		var j duplicate
		var said statedUsage
		var time, offset, run int64
		var path string
		if err := r.Scan(&j.id, &said.key, &j.was, &said.verdict, &said.of, &said.rank, &j.newest, &j.number, &j.file, &time, &path, &offset, &run, &j.others); err != nil {
			return err
		}
		// Where a run's id is unique only in its place, so are its request ids.
		j.group = said.key ^ run<<20
		stated[j.id] = said
		j.prefer = []int64{write.Flag(said.verdict == schema.Counted), said.rank, write.Flag(j.newest)}
		j.place = []any{time, path, offset}
		rows = append(rows, j)
		return nil
	})
	return rows, stated, err
}

// A usage_id is also known by its number. Rows hold the text, because that is what people search for.
func UsageID(key int64) string { return index.FormatID("u", key) }

// UsageKey returns the number of a usage_id.
func UsageKey(id string) (int64, error) {
	key, ok := index.ParseID("u", id)
	if !ok {
		return 0, fmt.Errorf("%q is no id of usage", id)
	}
	return key, nil
}

// usageIDScanner scans a usage_id as its number.
type usageIDScanner struct{ to *int64 }

func (k usageIDScanner) Scan(v any) (err error) {
	id, _ := v.(string)
	*k.to, err = UsageKey(id)
	return err
}
