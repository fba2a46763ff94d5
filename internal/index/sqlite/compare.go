package sqlite

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Differences compares all that two indexes of one archive say: every row of every view, and how often each word
// stands in how many events. What differs goes to report, by the first columns of its row, never with a text of the
// archive; of many differences in one view the first ones. It returns how many rows were compared. It needs some 30
// bytes of memory for each row of the largest view.
func (db *DB) Differences(ctx context.Context, other *DB, report func(problem string)) (rows int64, err error) {
	unseen := slices.Clone(unseen)
	views, err := viewNames(ctx, other.r)
	if err != nil {
		return 0, err
	}
	c := comparison{seed: maphash.MakeSeed(), report: report}
	for _, v := range views {
		unseen = append(unseen, assertion{v, "SELECT * FROM " + v})
	}
	for _, q := range unseen {
		c.assertion = q
		if err := c.compare(ctx, db.r, other.r); err != nil {
			return c.rows, fmt.Errorf("compare %s: %w", q.what, damage(err))
		}
	}
	err = withWords(ctx, db, func(mine sqlx.QueryerContext) error {
		return withWords(ctx, other, func(theirs sqlx.QueryerContext) error {
			c.assertion = assertion{"words", "SELECT term, col, doc, cnt FROM temp.words"}
			return c.compare(ctx, mine, theirs)
		})
	})
	if err != nil {
		return c.rows, fmt.Errorf("compare words: %w", damage(err))
	}
	return c.rows, nil
}

func viewNames(ctx context.Context, q sqlx.QueryerContext) ([]string, error) {
	var names []string
	err := sqlx.SelectContext(ctx, q, &names, `SELECT name FROM sqlite_schema WHERE type = 'view' AND name LIKE 'v\_%' ESCAPE '\' ORDER BY name`)
	return names, damage(err)
}

// withWords gives a connection on which temp.words counts the words of an index.
func withWords(ctx context.Context, db *DB, do func(sqlx.QueryerContext) error) (err error) {
	conn, err := db.r.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// Only its own temporary schema can be written: the file is open for reading.
	const begin = "PRAGMA query_only = 0; CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'fts', 'col')"
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	defer func() {
		_, failed := conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE temp.words; PRAGMA query_only = 1")
		err = errors.Join(err, failed)
	}()
	return do(conn)
}

// assertion is something that an index says, the same whenever it is made.
type assertion struct{ what, sql string }

// unseen are what no view shows and answers lean on.
var unseen = []assertion{
	{"words", "SELECT term FROM terms"},
	{"sums", "SELECT verdict, events, rows FROM transcript_sums"},
	{"hours", "SELECT id >> 20, time, near FROM events"},
}

// reported is how many rows that differ a comparison names for each view.
const reported = 20

// comparison is one of many rows, in whatever order they come.
type comparison struct {
	assertion
	seed   maphash.Seed
	rows   int64
	report func(string)
}

func (c *comparison) compare(ctx context.Context, mine, theirs sqlx.QueryerContext) error {
	open := map[uint64]int32{} // rows of theirs that mine has not shown yet
	err := c.each(ctx, theirs, func(sum uint64, _ []any) { open[sum]++ })
	if err != nil {
		return err
	}
	wrong, missing := 0, 0
	err = c.each(ctx, mine, func(sum uint64, row []any) {
		c.rows++
		if open[sum] > 0 {
			if open[sum]--; open[sum] == 0 {
				delete(open, sum)
			}
			return
		}
		if wrong++; wrong <= reported {
			c.report(fmt.Sprintf("%s has a row that the packs do not give: %s", c.what, c.key(row)))
		}
	})
	if err != nil {
		return err
	}
	if len(open) > 0 {
		err = c.each(ctx, theirs, func(sum uint64, row []any) {
			if open[sum] > 0 {
				open[sum]--
				if missing++; missing <= reported {
					c.report(fmt.Sprintf("%s lacks a row that the packs give: %s", c.what, c.key(row)))
				}
			}
		})
	}
	if more := max(0, wrong-reported) + max(0, missing-reported); more > 0 {
		c.report(fmt.Sprintf("%s: %d more rows differ", c.what, more))
	}
	return err
}

// each hashes the rows of a query.
func (c *comparison) each(ctx context.Context, q sqlx.QueryerContext, yield func(sum uint64, row []any)) error {
	var h maphash.Hash
	h.SetSeed(c.seed)
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
		h.Reset()
		for _, v := range row {
			fmt.Fprintf(&h, "%T %v\x00", v, v)
		}
		yield(h.Sum64(), row)
	}
	return rows.Err()
}

// key names a row by its first columns, which are ids.
func (c *comparison) key(row []any) string {
	if c.what == "words" {
		return "one word" // of a text, which is nobody's business here
	}
	var parts []string
	for _, v := range row[:min(2, len(row))] {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, " ")
}
