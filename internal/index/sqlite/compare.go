package sqlite

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// Differences compares all that two indexes of one archive say: every row of every view, and every word that the
// other knows. What differs goes to report, by the first columns of its row, never with a text of the
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
		if err := c.compare(c.query(ctx, db.r), c.query(ctx, other.r)); err != nil {
			return c.rows, fmt.Errorf("compare %s: %w", q.what, engine.Damage(err))
		}
	}
	var graves int
	if err := other.r.GetContext(ctx, &graves, "SELECT count(*) FROM graves"); err != nil {
		return c.rows, engine.Damage(err)
	}
	if graves == 0 { // else the other may still know words of what it left out, which a purge has taken here
		c.assertion = assertion{what: theWords}
		if err := c.compare(db.wordRows(ctx), other.wordRows(ctx)); err != nil {
			return c.rows, err
		}
	}
	err = withWords(ctx, db, func(mine sqlx.QueryerContext) error {
		return withWords(ctx, other, func(theirs sqlx.QueryerContext) error {
			c.assertion = assertion{theWords, "SELECT term, col FROM temp.words"}
			return c.compare(c.query(ctx, mine), c.query(ctx, theirs))
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
	{"sums", "SELECT verdict, events, rows FROM transcript_sums"},
	{"hours", "SELECT " + schema.FiledRight + ", time, near FROM events e"},
}

// theWords are those that a search can find. An index may know some that the packs do not give any more: those of rows
// that were taken out, until they are purged.
const theWords = "words"

// reported is how many rows that differ a comparison names for each view.
const reported = 20

// comparison is one of many rows, in whatever order they come.
type comparison struct {
	assertion
	seed   maphash.Seed
	rows   int64
	report func(string)
}

// rowsOf calls do with one row after another.
type rowsOf func(do func(row []any)) error

func (c *comparison) compare(mine, theirs rowsOf) error {
	open := map[uint64]int32{} // rows of theirs that mine has not shown yet
	err := c.each(theirs, func(sum uint64, _ []any) { open[sum]++ })
	if err != nil {
		return err
	}
	wrong, missing := 0, 0
	err = c.each(mine, func(sum uint64, row []any) {
		c.rows++
		if open[sum] > 0 {
			if open[sum]--; open[sum] == 0 {
				delete(open, sum)
			}
			return
		}
		if c.what == theWords {
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
		err = c.each(theirs, func(sum uint64, row []any) {
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

// query gives the rows of the assertion.
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

// wordRows gives the words that substring search knows.
func (db *DB) wordRows(ctx context.Context) rowsOf {
	return func(do func(row []any)) error {
		for word, err := range db.Terms(ctx, "") {
			if err != nil {
				return err
			}
			do([]any{word})
		}
		return nil
	}
}

// key names a row by its first columns, which are ids.
func (c *comparison) key(row []any) string {
	if c.what == theWords {
		return "one word" // of a text, which is nobody's business here
	}
	var parts []string
	for _, v := range row[:min(2, len(row))] {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, " ")
}
