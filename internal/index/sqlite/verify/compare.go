package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// Differences compares two indexes of one archive: every row of every view, and every word of the other. It reports each
// difference by the first columns of its row, which are ids, never with a text of the archive; of many differences in one
// view only the first ones. It returns how many rows were compared. Its memory grows with the size of neither.
func (x Index) Differences(ctx context.Context, other Index, report func(problem string)) (rows int64, err error) {
	unseen := unseen()
	views, err := viewNames(ctx, other.Pool)
	if err != nil {
		return 0, err
	}
	c := comparison{seed: maphash.MakeSeed(), limit: comparedRows, report: report}
	for _, v := range views {
		unseen = append(unseen, assertion{v, "SELECT * FROM " + v})
	}
	for _, q := range unseen {
		c.assertion = q
		if err := c.compare(c.query(ctx, x.Pool), c.query(ctx, other.Pool)); err != nil {
			return c.rows, fmt.Errorf("compare %s: %w", q.what, engine.Damage(err))
		}
	}
	var graves int
	if err := other.Pool.GetContext(ctx, &graves, "SELECT count(*) FROM graves"); err != nil {
		return c.rows, engine.Damage(err)
	}
	if graves == 0 { // else the other may still have words of what it left out, which a purge has deleted here
		if err := c.compareWords(x.Reader.Terms(ctx), other.Reader.Terms(ctx)); err != nil {
			return c.rows, fmt.Errorf("compare words: %w", engine.Damage(err))
		}
	}
	err = withWords(ctx, x.Pool, func(mine sqlx.QueryerContext) error {
		return withWords(ctx, other.Pool, func(theirs sqlx.QueryerContext) error {
			return c.compareWords(vocabulary(ctx, mine), vocabulary(ctx, theirs))
		})
	})
	if err != nil {
		return c.rows, fmt.Errorf("compare words: %w", engine.Damage(err))
	}
	return c.rows, nil
}

func viewNames(ctx context.Context, q sqlx.QueryerContext) ([]string, error) {
	var names []string
	err := sqlx.SelectContext(ctx, q, &names, `SELECT name FROM sqlite_schema WHERE type = 'view' AND name LIKE 'v\_%' ESCAPE '\' ORDER BY name`)
	return names, engine.Damage(err)
}

// withWords calls do with a connection on which temp.words lists the words of an index.
func withWords(ctx context.Context, pool *sqlx.DB, do func(sqlx.QueryerContext) error) (err error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// Only its own temporary schema can be written: the file is open for reading.
	const begin = "PRAGMA query_only = 0; CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'fts', 'row')"
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	defer func() {
		_, failed := conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE temp.words; PRAGMA query_only = 1")
		err = errors.Join(err, failed)
	}()
	return do(conn)
}

// assertion is a query that both indexes must answer alike.
type assertion struct{ what, sql string }

// unseen returns assertions about what no view shows and answers depend on.
func unseen() []assertion {
	return []assertion{
		{"sums", "SELECT verdict, events, rows FROM transcript_sums WHERE events <> 0 OR rows <> 0"}, // a sum without transcripts remains, with nothing in it
		{"hours", "SELECT " + schema.HourMatchesTime() + ", time, near FROM events e"},
	}
}

// reported is how many differing rows are reported for each view.
const reported = 20

// comparison compares rows in any order.
type comparison struct {
	assertion
	seed   maphash.Seed
	limit  int // rows of theirs that are known at a time
	rows   int64
	report func(string)
}

// comparedRows is how many rows are compared at a time, in some 60 MB. More take several passes, each over a part of them.
const comparedRows = 1 << 21

// rowsOf calls do with one row after another.
type rowsOf func(do func(row []any)) error

func (c *comparison) compare(mine, theirs rowsOf) error {
	wrong, missing := 0, 0
	for part, parts := uint64(0), uint64(1); part < parts; part++ {
		ours := func(sum uint64) bool { return sum&(parts-1) == part }
		open := map[uint64]int32{} // rows of theirs that mine has not shown yet
		if err := c.each(theirs, func(sum uint64, _ []any) {
			if ours(sum) {
				open[sum]++
			}
			for part == 0 && len(open) > c.limit {
				parts *= 2
				maps.DeleteFunc(open, func(sum uint64, _ int32) bool { return !ours(sum) })
			}
		}); err != nil {
			return err
		}
		if err := c.each(mine, func(sum uint64, row []any) {
			switch {
			case !ours(sum):
				return
			case open[sum] == 0:
				if wrong++; wrong <= reported {
					c.report(fmt.Sprintf("%s has a row that the packs do not have: %s", c.what, c.key(row)))
				}
			case open[sum] == 1:
				delete(open, sum)
			default:
				open[sum]--
			}
			c.rows++
		}); err != nil {
			return err
		}
		if len(open) == 0 {
			continue
		}
		if err := c.each(theirs, func(sum uint64, row []any) {
			if open[sum] > 0 {
				open[sum]--
				if missing++; missing <= reported {
					c.report(fmt.Sprintf("%s lacks a row that the packs have: %s", c.what, c.key(row)))
				}
			}
		}); err != nil {
			return err
		}
	}
	if more := max(0, wrong-reported) + max(0, missing-reported); more > 0 {
		c.report(fmt.Sprintf("%s: %d more rows differ", c.what, more))
	}
	return nil
}

// each hashes rows.
func (c *comparison) each(rows rowsOf, yield func(sum uint64, row []any)) error {
	var h maphash.Hash
	h.SetSeed(c.seed)
	return rows(func(row []any) {
		h.Reset()
		for _, v := range row {
			fmt.Fprintf(&h, "%T %v\x00", v, v)
		}
		yield(h.Sum64(), row)
	})
}

// query returns the rows of the assertion.
func (c *comparison) query(ctx context.Context, q sqlx.QueryerContext) rowsOf {
	return func(do func(row []any)) error {
		rows, err := q.QueryxContext(ctx, c.sql)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, err := rows.SliceScan()
			if err != nil {
				return err
			}
			do(row)
		}
		return rows.Err()
	}
}

// key identifies a row by its first columns, which are ids.
func (c *comparison) key(row []any) string {
	var parts []string
	for _, v := range row[:min(2, len(row))] {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, " ")
}
