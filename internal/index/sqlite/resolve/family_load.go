package resolve

import (
	"database/sql"
	"encoding/json"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/transcript"
)

// families loads the touched runs whose formats have a resolver. elect resolves them, once the claims of the originals on the
// runs are merged.
func (c *Changes) families(merged map[int64]*transcript.Run) (map[int64]*family, error) {
	all := map[int64]*family{}
	if c.resolvers == nil {
		return all, nil
	}
	err := c.EachBeside(`SELECT r.id, f.name FROM temp.touched_runs t CROSS JOIN runs r ON r.id = t.id JOIN names f ON f.id = r.format`,
		func(r *sql.Rows) error {
			var id int64
			var format string
			if err := r.Scan(&id, &format); err != nil {
				return err
			}
			if c.Resolver(format).Resolve != nil {
				all[id] = &family{run: id, format: format, Family: transcript.Family{Run: merged[id]}}
				if merged[id] == nil {
					all[id].Run = &transcript.Run{}
				}
			}
			return nil
		})
	if err != nil || len(all) == 0 {
		return all, err
	}
	if err := loadStated(c, all, "receipts", "AND x.verdict = 0", func(f *family, id int64, r *transcript.Receipt) {
		f.Receipts, f.receipts = append(f.Receipts, r), append(f.receipts, id)
	}); err != nil {
		return nil, err
	}
	if err := c.loadUsage(all); err != nil {
		return nil, err
	}
	if err := loadStated(c, all, "steps", "", func(f *family, id int64, s *transcript.Step) {
		f.Steps, f.steps = append(f.Steps, s), append(f.steps, id)
	}); err != nil {
		return nil, err
	}
	if err := c.loadHints(all); err != nil {
		return nil, err
	}
	return all, c.loadRelated(all)
}

// statedRows returns the rest of a query for the stated records of a table in families, in an order that does not depend on
// when they came.
func statedRows(table, join, where string) string {
	return ` FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN ` + table + ` x ON x.run_name = n.id CROSS JOIN versions v ON v.id = x.version CROSS JOIN files f ON f.id = v.file
		CROSS JOIN sources s ON s.id = f.source ` + join + ` WHERE x.stated IS NOT NULL ` + where + `
		ORDER BY n.run, f.path, s.name, v.number, x.offset, x.id`
}

// loadStated reads the stated records of one table for families.
func loadStated[T any](c *Changes, all map[int64]*family, table, where string, add func(*family, int64, *T)) error {
	return c.EachBeside("SELECT n.run, x.id, x.stated"+statedRows(table, "", where), func(r *sql.Rows) error {
		var run, id int64
		var stated []byte
		if err := r.Scan(&run, &id, &stated); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		record := new(T)
		if err := json.Unmarshal(stated, record); err != nil {
			return err
		}
		add(f, id, record)
		return nil
	})
}

// loadUsage reads the usage that the originals of families state, and what the rows have now.
func (c *Changes) loadUsage(all map[int64]*family) error {
	return c.EachBeside(`SELECT n.run, n.scope <> '', x.id, x.usage_id, x.stated, x.stated_verdict, coalesce(x.native_conversation, n.native_id), coalesce(w.agent, ''),
		coalesce(w.engine, ''), coalesce(w.flow, ''), coalesce(w.step, ''), coalesce(w.model, ''), coalesce(w.provider, ''), x.time, x.tz`+
		statedRows("usage", "CROSS JOIN usage_texts w ON w.id = x.texts", ""), func(r *sql.Rows) error {
		var run int64
		var local bool
		var stated []byte
		var row familyUsage
		w := &row.said
		if err := r.Scan(&run, &local, &row.id, usageIDScanner{&row.key}, &stated, &w.verdict, &w.conversation, &w.agent, &w.engine, &w.flow, &w.step, &w.model, &w.provider,
			engine.Time(&w.time), engine.Zone(&w.time)); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		if local {
			c.keys[row.key] = true // the request's identity depends on which run its name means
		}
		u := &transcript.Usage{}
		if err := json.Unmarshal(stated, u); err != nil {
			return err
		}
		f.Usage, f.usage = append(f.Usage, u), append(f.usage, row)
		return nil
	})
}

func (c *Changes) loadHints(all map[int64]*family) error {
	return c.EachBeside(`SELECT n.run, n.native_id, h.key, h.value, h.version FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN hints h ON h.run_name = n.id ORDER BY 1, 3, 4, 2, 5`, func(r *sql.Rows) error {
		var run, version int64
		h := &transcript.Hint{}
		if err := r.Scan(&run, &h.Run, &h.Key, &h.Value, &version); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		if n := len(f.Hints); n > 0 && *f.Hints[n-1] == *h {
			h = f.Hints[n-1] // of another version
		} else {
			f.Hints = append(f.Hints, h)
		}
		if f.hints == nil {
			f.hints = map[int64][]*transcript.Hint{}
		}
		f.hints[version] = append(f.hints[version], h)
		return nil
	})
}

// loadRelated reads the hints of the runs that families were forked from or are children of. What a fork has copied from a run
// remains a copy when that run is pruned: its ledger has the hints, and its usage counts there.
func (c *Changes) loadRelated(all map[int64]*family) error {
	// Of many copies of two originals each states the link, and each the hints: each relation is taken once.
	return c.EachBeside(`WITH related AS MATERIALIZED (SELECT DISTINCT t.id AS run, p.id AS name, p.native_id AS native FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN links l ON l.to_id = n.native_id AND l.format = n.format AND l.to_scope = n.scope AND l.to_type IN ('run', 'conversation') AND l.kind IN ('fork', 'parent')
		CROSS JOIN run_names p ON p.native_id = l.from_id AND p.format = l.format AND p.scope = l.from_scope AND p.run <> n.run
		CROSS JOIN runs r ON r.id = p.run AND (r.counted = 1 OR `+hasGrave+`))
		SELECT DISTINCT x.run, x.native, h.key, h.value FROM related x LEFT JOIN hints h ON h.run_name = x.name ORDER BY 1, 2, 3, 4`, func(r *sql.Rows) error {
		var run int64
		var native string
		var key, value sql.NullString
		if err := r.Scan(&run, &native, &key, &value); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		if f.Related == nil {
			f.Related = map[string][]*transcript.Hint{}
		}
		if !key.Valid {
			f.Related[native] = append(f.Related[native], []*transcript.Hint{}...)
			return nil
		}
		f.Related[native] = append(f.Related[native], &transcript.Hint{Run: native, Key: key.String, Value: value.String})
		return nil
	})
}
