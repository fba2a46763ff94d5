package ask

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
)

// Count returns how many rows match, at most page.Limit. It ignores page.After. Errors: *index.UnsupportedError.
func (db *Reader) Count(ctx context.Context, q *query.Tree, page index.Page) (int64, error) {
	page.After = ""
	f := db.finder(ctx, page)
	tx, err := db.read(ctx)
	if err != nil {
		return 0, fmt.Errorf("count: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	f.tx = tx
	c, err := f.compile(q)
	if err != nil {
		return 0, engine.Damage(err)
	}
	n, err := f.count(c)
	if err != nil {
		return 0, fmt.Errorf("count: %w", engine.Damage(err))
	}
	return n, nil
}

// count counts rows, at most f.page.Limit.
func (f *finder) count(c where.Cond) (int64, error) {
	if err := f.window(&c); err != nil {
		return 0, err
	}
	left := int64(f.page.Limit)
	if left <= 0 {
		left = math.MaxInt64
	}
	total := int64(0)
	visit := func(w scan) error {
		n := int64(len(w.rows))
		if n > 0 && f.page.AllVersions && w.Empty() { // every listed row counts
			n = min(n, left)
			if total, left = total+n, left-n; left <= 0 {
				return engine.ErrStop
			}
			return nil
		}
		sql, args, err := w.statement("1", f.page.AllVersions)
		if err != nil {
			return err
		}
		if err := f.tx.GetContext(f.ctx, &n, "SELECT count(*) FROM ("+sql+" LIMIT ?)", append(args, left)...); err != nil {
			return err
		}
		f.found += int(n)
		if total, left = total+n, left-n; left <= 0 {
			return engine.ErrStop
		}
		return nil
	}
	p := f.planner(f.page.Limit > 0)
	if err := p.run(c, visit); err != nil && !errors.Is(err, engine.ErrStop) {
		return 0, err
	}
	return total, nil
}

// truncate shortens the text of a query with very many words.
func truncate(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ..."
}

// Size returns the number of events that count, of rows that a search covers, with all versions or without, and of problems.
func (db *Reader) Size(ctx context.Context, allVersions bool) (events, rows, problems int64, err error) {
	err = db.r.QueryRowxContext(engine.Polled(ctx), `SELECT
		(SELECT coalesce(sum(events), 0) FROM transcript_sums WHERE verdict = 0),
		(SELECT coalesce(sum(rows), 0) FROM transcript_sums WHERE verdict IN (0, 6) OR ?),
		(SELECT count(DISTINCT p.identity) FROM problems p CROSS JOIN versions v ON v.id = p.version
			WHERE NOT EXISTS (SELECT 1 FROM versions w WHERE w.file = v.file AND w.number > v.number AND w.grave IS NULL))
		+ (SELECT count(*) FROM facts WHERE kind = 'problem' AND value IS NOT NULL)`, allVersions).Scan(&events, &rows, &problems)
	if err != nil {
		err = fmt.Errorf("size: %w", engine.Damage(err))
	}
	return events, rows, problems, err
}

// Thinned returns how many runs have originals whose words a policy has removed from the index.
func (db *Reader) Thinned(ctx context.Context) (runs int64, err error) {
	err = db.r.GetContext(engine.Polled(ctx), &runs, `SELECT count(DISTINCT n.run) FROM graves g CROSS JOIN run_names n ON n.id = g.run_name
		CROSS JOIN versions v ON v.id = g.version WHERE g.action = 'thin' AND g.tier IN ('search', 'payloads') AND v.grave IS NULL`)
	if err != nil {
		err = fmt.Errorf("thinned runs: %w", engine.Damage(err))
	}
	return runs, err
}

// ProblemsBySource returns the number of problems by source: in the newest versions of files, of files that could not be
// archived at all, and of versions without rows, because their pack is damaged or still being adopted. Sources without
// problems are absent.
func (db *Reader) ProblemsBySource(ctx context.Context) (map[string]int64, error) {
	type source struct {
		name string
		n    int64
	}
	all := map[string]int64{}
	err := engine.Each(ctx, db.r, `WITH RECURSIVE formats (id) AS ( -- one search of the index for each, not all of it
			SELECT min(format) FROM versions WHERE format IS NOT NULL AND grave IS NULL
			UNION ALL SELECT (SELECT min(format) FROM versions WHERE format > formats.id AND format IS NOT NULL AND grave IS NULL) FROM formats WHERE formats.id IS NOT NULL)
		SELECT s.name, count(DISTINCT p.identity) FROM problems p CROSS JOIN versions v ON v.id = p.version
		CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source
		WHERE NOT EXISTS (SELECT 1 FROM versions w WHERE w.file = v.file AND w.number > v.number AND w.grave IS NULL) GROUP BY 1
		UNION ALL SELECT substr(key, 1, instr(key, '/') - 1), count(*) FROM facts WHERE kind = 'problem' AND value IS NOT NULL GROUP BY 1
		UNION ALL SELECT s.name, count(*) FROM formats CROSS JOIN versions v ON v.format = formats.id AND v.format IS NOT NULL AND v.grave IS NULL AND v.parser = 0
			CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source GROUP BY 1`, nil,
		func(rows *sqlx.Rows) (s source, err error) { return s, rows.Scan(&s.name, &s.n) },
		func(s source) bool { all[s.name] += s.n; return true })
	if err != nil {
		return nil, fmt.Errorf("problems: %w", engine.Damage(err))
	}
	return all, nil
}

// resultsOf selects results as the view v_tool_calls does.
const resultsOf = `SELECT c.conversation_id, t.seq_base + e.seq, e.part, e.parts, d.conversation_id, u.seq_base + b.seq, b.part, b.parts
	FROM conversations c CROSS JOIN transcripts t ON t.conversation = c.id CROSS JOIN events e ON e.transcript = t.id
	CROSS JOIN calls k ON k.event = e.id
	CROSS JOIN events b ON b.id = coalesce(
		(SELECT y.event FROM results y JOIN events z ON z.id = y.event
			WHERE y.call = k.call AND z.transcript = e.transcript ORDER BY z.verdict, z.seq, z.part LIMIT 1),
		(SELECT y.event FROM results y JOIN events z ON z.id = y.event JOIN transcripts w ON w.id = z.transcript
			WHERE y.call = k.call ORDER BY w.verdict, z.verdict, w.seq_base + z.seq, z.part LIMIT 1))
	CROSS JOIN transcripts u ON u.id = b.transcript CROSS JOIN conversations d ON d.id = u.conversation
	WHERE c.conversation_id = ? AND e.seq BETWEEN ? - t.seq_base AND ? - t.seq_base`

// Results returns the public ids of the rows with the results of calls, by the public ids of the calls, for calls of
// one conversation with from <= seq <= to. Calls without a result are absent.
func (db *Reader) Results(ctx context.Context, conversation string, from, to int64) (map[string]string, error) {
	type place struct {
		conversation string
		seq          int64
		part, parts  int
	}
	results := map[string]string{}
	err := engine.Each(ctx, db.r, resultsOf, []any{conversation, from, to}, func(rows *sqlx.Rows) (p [2]place, err error) {
		return p, rows.Scan(&p[0].conversation, &p[0].seq, &p[0].part, &p[0].parts, &p[1].conversation, &p[1].seq, &p[1].part, &p[1].parts)
	}, func(p [2]place) bool {
		results[schema.EventID(p[0].conversation, p[0].seq, p[0].part, p[0].parts)] = schema.EventID(p[1].conversation, p[1].seq, p[1].part, p[1].parts)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("results of %q: %w", conversation, engine.Damage(err))
	}
	return results, nil
}

// maxScans bounds how many scans are explained.
const maxScans = 8

// Explain describes how a query would be answered: the full-text expression, whether owners are looked up, and SQLite's
// plan for each distinct scan. It runs no query other than for owners.
func (db *Reader) Explain(ctx context.Context, q *query.Tree, page index.Page) ([]string, error) {
	f := db.finder(ctx, page)
	tx, err := db.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	f.tx = tx
	c, err := f.compile(q)
	if err != nil {
		return nil, engine.Damage(err)
	}
	var lines []string
	if match, ok := c.Expression(); ok {
		lines = append(lines, "full-text: "+truncate(match.String()))
	}
	if len(c.OwnerSQL)+len(c.HintSQL) > 0 {
		lines = append(lines, fmt.Sprintf("owners are looked up when the newest %d rows are not enough", db.limits.probe))
	}
	walks := 0
	seen := map[string]bool{}
	p := f.planner(true)
	err = p.run(c, func(w scan) error {
		if walks++; walks > maxScans {
			return engine.ErrStop
		}
		sql, args, err := w.statement(keyColumns, page.AllVersions)
		if err != nil {
			return err
		}
		if seen[sql] {
			return nil
		}
		seen[sql] = true
		lines = append(lines, "walk: "+strings.Join(strings.Fields(sql), " "))
		return engine.Each(ctx, tx, "EXPLAIN QUERY PLAN "+sql+w.orderBy(), args, func(rows *sqlx.Rows) (s string, err error) {
			var id, parent, unused int64
			return s, rows.Scan(&id, &parent, &unused, &s)
		}, func(s string) bool { lines = append(lines, "plan: "+s); return true })
	})
	if err != nil && !errors.Is(err, engine.ErrStop) {
		return nil, fmt.Errorf("explain: %w", engine.Damage(err))
	}
	return lines, nil
}
