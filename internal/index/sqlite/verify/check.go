// Package verify finds what is wrong with an index: with itself (Check), and with another index that was made from the same
// packs (Index.Differences). It only reads, over a pool that package sqlite has opened.
package verify

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// check counts the rows that violate an invariant.
type check struct{ sql, problem string }

// checks are the invariants between tables.
func checks() []check {
	return []check{
		{"SELECT count(*) FROM events e WHERE NOT EXISTS (SELECT 1 FROM fts_docsize d WHERE d.id = e.id)", "events that no search finds"},
		{"SELECT count(*) FROM fts_docsize d WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = d.id)", "words without an event"},
		{"SELECT count(*) FROM events e WHERE NOT " + schema.HourMatchesTime(), "events that no date finds"},
		{"SELECT count(*) FROM events e WHERE NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.id = e.transcript)", "events without a transcript"},
		{"SELECT count(*) FROM transcripts t WHERE t.indexed = 1 AND t.rows <> (SELECT count(*) FROM events e WHERE e.transcript = t.id)", "transcripts with a wrong number of rows"},
		{"SELECT count(*) FROM transcripts t WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.id = t.version)", "transcripts without a version"},
		{"SELECT count(*) FROM calls c WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = c.event)", "tool calls without an event"},
		{"SELECT count(*) FROM calls c WHERE c.paths IS NOT NULL AND NOT EXISTS (SELECT 1 FROM call_paths p WHERE p.id = c.paths)", "tool calls without their paths"},
		{"SELECT count(*) FROM results c WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = c.event)", "tool results without an event"},
		{"SELECT count(*) FROM prompts p WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = p.event)", "prompts without an event"},
		{"SELECT count(*) FROM run_claims k WHERE " + schema.IsBrief("k.stated") + noBriefRun("k"), "claims without what they leave out"},
		{"SELECT count(*) FROM transcripts t WHERE " + schema.IsBrief("t.stated") + noBriefRun("t"), "transcripts without what they leave out"},
		{"SELECT count(*) FROM usage u WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.id = u.version)", "usage without a version"},
		{"SELECT count(*) FROM extents x WHERE NOT EXISTS (SELECT 1 FROM packs p WHERE p.id = x.pack)", "extents without a pack"},
		{"SELECT count(*) FROM versions v WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.id = v.file) OR NOT EXISTS (SELECT 1 FROM chains c WHERE c.id = v.chain)", "versions without a file or a chain"},
	}
}

// noBriefRun is the condition that a row of a run's name belongs to no run that has what the row leaves out.
func noBriefRun(row string) string {
	return " AND NOT EXISTS (SELECT 1 FROM run_names n CROSS JOIN runs r ON r.id = n.run WHERE n.id = " + row + ".run_name AND r.brief = 1)"
}

// Index is an index to verify: the pool of its connections that read, and the reader over them.
type Index struct {
	Pool   *sqlx.DB
	Reader *ask.Reader
}

// Check verifies that the index is consistent: the pages of the file, the structure of the full-text index, and the
// references between tables. It reports each problem, and reads the whole file.
func (x Index) Check(ctx context.Context, report func(problem string)) error {
	text := func(rows *sqlx.Rows) (s string, err error) { return s, rows.Scan(&s) }
	err := engine.Each(ctx, x.Pool, "PRAGMA integrity_check(100)", nil, text, func(s string) bool { // it includes that of the full-text index
		if s != "ok" {
			report(s)
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("check index: %w", engine.Damage(err))
	}
	for _, c := range checks() {
		var n int64
		if err := x.Pool.GetContext(ctx, &n, c.sql); err != nil {
			return fmt.Errorf("check index: %w", engine.Damage(err))
		}
		if n > 0 {
			report(fmt.Sprintf("%d %s", n, c.problem))
		}
	}
	for _, err := range x.Reader.TermsAny(ctx, nil, 0, 0) { // it reads all blocks of words, and yields none
		if err != nil {
			return fmt.Errorf("check index: %w", err)
		}
	}
	return nil
}
