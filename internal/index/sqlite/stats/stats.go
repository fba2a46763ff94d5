// Package stats counts what an index holds: totals by format and table (index.Statistics but for Problems), and by source, with event
// types that no parser knew and gaps in numbered events (index.Health).
package stats

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
)

// Reader counts over connections that read. It is safe for use by several goroutines.
type Reader struct{ pool *sqlx.DB }

// New returns a reader over a pool of connections, which stays the caller's.
func New(pool *sqlx.DB) *Reader { return &Reader{pool} }

// formatSum is a statement that returns a format, NULL for files without one, and the numbers of some fields.
type formatSum struct {
	sql string
	to  func(*index.Sums) []any
}

func formatSums() []formatSum {
	return []formatSum{
		{`SELECT v.format, count(*), 0 FROM originals v WHERE NOT EXISTS (SELECT 1 FROM originals w WHERE w.file = v.file AND w.number > v.number) GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Files, new(int64)} }},
		{`SELECT format, sum(size), 0 FROM originals GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Bytes, new(int64)} }},
		{`SELECT format, count(*), 0 FROM runs WHERE counted = 1 AND child = 0 GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Runs, new(int64)} }},
		{`SELECT r.format, count(*), 0 FROM conversations c CROSS JOIN runs r ON r.id = c.run WHERE c.verdict = 0 GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Conversations, new(int64)} }},
		{`SELECT n.format, sum(t.events), sum(t.calls), sum(t.results) FROM transcripts t CROSS JOIN run_names n ON n.id = t.run_name WHERE t.verdict = 0 GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Events, &s.ToolCalls, &s.ToolResults} }},
		{`SELECT s.format, sum(d.input), sum(d.output), sum(d.cache_read), sum(d.cache_write + d.cache_write_1h),
		` + usage.TotalMoney("d.reported") + ` FROM usage_days d CROSS JOIN usage_series s ON s.id = d.series GROUP BY 1`,
			func(s *index.Sums) []any {
				return []any{&s.Input, &s.Output, &s.CacheRead, &s.CacheCreation, &s.ReportedCost}
			}},
		{`SELECT format, count(DISTINCT edge), 0 FROM links WHERE uncounted = 0 GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Links, new(int64)} }},
		{`SELECT n.id, count(*), 0 FROM v_problems p LEFT JOIN names n ON n.name = p.format GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.Problems, new(int64)} }},
		// The size of a pack is distributed by the bytes that originals have in it; equal content is in it once.
		{`WITH shares AS MATERIALIZED (SELECT pack, format, sum(size) AS size FROM (
			SELECT x.pack, min(v.format) AS format, max(x.size) AS size FROM extents x CROSS JOIN versions v ON v.chain = x.chain
			WHERE x.size > 0 GROUP BY x.pack, x.raw) GROUP BY 1, 2)
		SELECT s.format, CAST(round(sum(1.0 * s.size * p.size / (SELECT sum(size) FROM shares w WHERE w.pack = s.pack))) AS INTEGER), 0
		FROM shares s CROSS JOIN packs p ON p.id = s.pack GROUP BY 1`,
			func(s *index.Sums) []any { return []any{&s.StoredBytes, new(int64)} }},
	}
}

// tableSizes counts rows where they are: on leaves, but on all pages of a table without row ids. In the full-text index each
// row has one entry in the table of sizes.
const tableSizes = `SELECT CASE WHEN s.tbl_name LIKE 'fts\_%' ESCAPE '\' THEN 'fts' ELSE s.tbl_name END,
	sum(CASE WHEN s.type = 'table' AND (d.pagetype = 'leaf' OR l.wr) AND (s.tbl_name NOT LIKE 'fts\_%' ESCAPE '\' OR s.tbl_name = 'fts_docsize') THEN d.ncell ELSE 0 END),
	sum(CASE s.type WHEN 'table' THEN d.pgsize ELSE 0 END) AS own, sum(CASE s.type WHEN 'index' THEN d.pgsize ELSE 0 END) AS indexes
	FROM sqlite_schema s CROSS JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.tbl_name CROSS JOIN dbstat d ON d.name = s.name
	WHERE s.rootpage > 0 GROUP BY 1 ORDER BY own + indexes DESC, 1`

// Tables returns the size of each table, the largest first.
func (r *Reader) Tables(ctx context.Context) (all []index.Table, err error) {
	err = engine.Each(ctx, r.pool, tableSizes, nil, func(r *sqlx.Rows) (t index.Table, err error) {
		return t, r.Scan(&t.Name, &t.Rows, &t.Bytes, &t.IndexBytes)
	}, func(t index.Table) bool { all = append(all, t); return true })
	if err != nil {
		return nil, fmt.Errorf("measure tables: %w", engine.Damage(err))
	}
	return all, nil
}

// Totals counts what there is, in total and for each format. Files without a format are in the totals alone.
func (r *Reader) Totals(ctx context.Context) (index.Stats, error) {
	tx, err := engine.BeginRead(ctx, r.pool)
	if err != nil {
		return index.Stats{}, fmt.Errorf("count: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	stats, err := totals(ctx, tx)
	if err != nil {
		return index.Stats{}, fmt.Errorf("count: %w", engine.Damage(err))
	}
	return stats, nil
}

func totals(ctx context.Context, tx *engine.ReadTx) (index.Stats, error) {
	names := map[int64]string{}
	err := engine.Each(ctx, tx, "SELECT id, name FROM names WHERE id IN (SELECT format FROM versions UNION SELECT format FROM runs)", nil,
		func(rows *sqlx.Rows) (n struct {
			id   int64
			name string
		}, err error) {
			return n, rows.Scan(&n.id, &n.name)
		}, func(n struct {
			id   int64
			name string
		}) bool {
			names[n.id] = n.name
			return true
		})
	if err != nil {
		return index.Stats{}, err
	}
	formats := map[string]*index.Sums{"": {}}
	for _, name := range names {
		formats[name] = &index.Sums{}
	}
	for _, q := range formatSums() {
		rows, err := tx.QueryxContext(ctx, q.sql)
		if err != nil {
			return index.Stats{}, err
		}
		if err := addRows(rows, q.to, names, formats); err != nil {
			return index.Stats{}, err
		}
	}
	return sumUp(ctx, tx, formats)
}

func addRows(rows *sqlx.Rows, to func(*index.Sums) []any, names map[int64]string, formats map[string]*index.Sums) error {
	defer rows.Close()
	for rows.Next() {
		var format sql.NullInt64
		var row index.Sums
		if err := rows.Scan(append([]any{&format}, to(&row)...)...); err != nil {
			return err
		}
		add(formats[names[format.Int64]], &row)
	}
	return rows.Err()
}

// sumUp adds the formats up, and converts nano-USD to micro-USD last so that nothing is rounded twice.
func sumUp(ctx context.Context, tx *engine.ReadTx, formats map[string]*index.Sums) (index.Stats, error) {
	stats := index.Stats{Formats: map[string]index.Sums{}}
	for name, s := range formats {
		for _, tokens := range []**int64{&s.Input, &s.Output, &s.CacheRead, &s.CacheCreation, &s.ReportedCost} {
			if *tokens == nil {
				*tokens = new(int64) // the sum of no rows
			}
		}
		add(&stats.Totals, s)
		if name != "" {
			s.ReportedCost = micro(s.ReportedCost)
			stats.Formats[name] = *s
		}
	}
	stats.Totals.ReportedCost = micro(stats.Totals.ReportedCost)
	err := tx.GetContext(ctx, &stats.Totals.StoredBytes, "SELECT coalesce(sum(size), 0) FROM packs")
	return stats, err
}

// micro is usage.Micro of what may be unknown.
func micro(nano *int64) *int64 {
	if nano == nil {
		return nil
	}
	return new(usage.Micro(*nano))
}

// add adds every field of s to sum. Numbers that nobody states remain unknown.
func add(sum, s *index.Sums) {
	for _, f := range []struct{ to, n *int64 }{{&sum.Files, &s.Files}, {&sum.Bytes, &s.Bytes}, {&sum.StoredBytes, &s.StoredBytes},
		{&sum.Runs, &s.Runs}, {&sum.Conversations, &s.Conversations}, {&sum.Events, &s.Events}, {&sum.ToolCalls, &s.ToolCalls},
		{&sum.ToolResults, &s.ToolResults}, {&sum.Links, &s.Links}, {&sum.Problems, &s.Problems}} {
		*f.to += *f.n
	}
	for _, f := range []struct {
		to **int64
		n  *int64
	}{{&sum.Input, s.Input}, {&sum.Output, s.Output}, {&sum.CacheRead, s.CacheRead}, {&sum.CacheCreation, s.CacheCreation},
		{&sum.ReportedCost, s.ReportedCost}} {
		if f.n == nil {
			continue
		}
		if *f.to == nil {
			*f.to = new(int64)
		}
		**f.to += *f.n
	}
}
