package stats

import (
	"context"
	"iter"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

var _ index.Health = (*Reader)(nil)

// stocksSQL goes over all originals once, however many sources there are: files have no index by source. size is that of the newest
// version, in whose row SQLite finds the maximum. When a version was archived is in its row, unless that is older than the column: packs
// are also written by gc, which archives nothing.
const stocksSQL = `WITH stored AS MATERIALIZED (SELECT f.source, count(*) AS files, sum(v.size) AS bytes, sum(v.versions) AS versions
	FROM (SELECT file, max(number), size, count(*) AS versions FROM originals GROUP BY file) v CROSS JOIN files f ON f.id = v.file GROUP BY 1),
packed AS MATERIALIZED (SELECT f.source, max(coalesce(nullif(v.archived, 0), (SELECT max(p.created) FROM extents x CROSS JOIN packs p ON p.id = x.pack
	WHERE x.chain = v.chain))) AS last FROM versions v CROSS JOIN files f ON f.id = v.file GROUP BY 1)
SELECT s.name, coalesce(o.files, 0), coalesce(o.bytes, 0), coalesce(o.versions, 0), p.last
	FROM sources s LEFT JOIN stored o ON o.source = s.id LEFT JOIN packed p ON p.source = s.id ORDER BY 1`

// SourceStats yields what is stored of each source.
func (r *Reader) SourceStats(ctx context.Context) iter.Seq2[index.SourceStats, error] {
	return engine.Stream(ctx, r.pool, stocksSQL, nil, func(rows *sqlx.Rows) (h index.SourceStats, err error) {
		var stored *int64
		err = rows.Scan(&h.Source, &h.Files, &h.Bytes, &h.Versions, &stored)
		if stored != nil {
			h.LastStored = time.UnixMicro(*stored).UTC()
		}
		return h, err
	})
}

const unknownSQL = `SELECT (SELECT name FROM names WHERE id = r.format), coalesce(c.version, r.version, ''),
	coalesce((SELECT n.name FROM scenes s CROSS JOIN names n ON n.id = s.type WHERE s.id = e.scene), ''), count(*), min(r.run_id)
	FROM fts CROSS JOIN events e ON e.id = fts.rowid CROSS JOIN transcripts t ON t.id = e.transcript
	CROSS JOIN conversations c ON c.id = t.conversation CROSS JOIN runs r ON r.id = c.run
	WHERE fts MATCH ? AND t.verdict = 0 GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3`

// Unknown yields the event types that no parser knew.
func (r *Reader) Unknown(ctx context.Context) iter.Seq2[index.UnknownType, error] {
	return engine.Stream(ctx, r.pool, unknownSQL, []any{where.Facet("kind", "unknown", false).String()}, func(rows *sqlx.Rows) (u index.UnknownType, err error) {
		return u, rows.Scan(&u.Format, &u.Version, &u.Type, &u.Events, &u.Run)
	})
}

// gapsSQL examines the newest version of each original. The order of lines does not matter, because lines written at the same
// time may be swapped. Numbering may begin anywhere, because a producer may have cut the beginning off. Numbers that nobody
// counts to are not event numbers: their differences would overflow.
const gapsSQL = `WITH numbered AS MATERIALIZED (
	SELECT DISTINCT t.version, e.attributes ->> '$.seq' AS seq FROM transcripts t CROSS JOIN events e ON e.transcript = t.id
	WHERE t.verdict IN (0, 6) AND e.attributes IS NOT NULL AND json_type(e.attributes, '$.seq') = 'integer'
		AND e.attributes ->> '$.seq' BETWEEN -1099511627776 AND 1099511627776
), beside AS (
	SELECT version, lag(seq) OVER (PARTITION BY version ORDER BY seq) AS before, seq FROM numbered
)
SELECT s.name, f.path, v.number, (SELECT name FROM names WHERE id = v.format),
	coalesce((SELECT r.run_id FROM transcripts t JOIN conversations c ON c.id = t.conversation JOIN runs r ON r.id = c.run
		WHERE t.version = v.id ORDER BY t.id LIMIT 1), ''), count(*), sum(b.seq - b.before - 1), min(b.before), min(b.seq)
	FROM beside b JOIN versions v ON v.id = b.version JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source
	WHERE b.seq > b.before + 1 AND NOT EXISTS (SELECT 1 FROM originals w WHERE w.file = v.file AND w.number > v.number)
	GROUP BY v.id ORDER BY 1, 2`

// Gaps yields the originals with gaps in the numbers of their events.
func (r *Reader) Gaps(ctx context.Context) iter.Seq2[index.Gap, error] {
	return engine.Stream(ctx, r.pool, gapsSQL, nil, func(rows *sqlx.Rows) (g index.Gap, err error) {
		return g, rows.Scan(&g.Key.Source, &g.Key.Path, &g.Key.Number, engine.Text(&g.Format), &g.Run, &g.Gaps, &g.Missing, &g.After, &g.Seq)
	})
}
