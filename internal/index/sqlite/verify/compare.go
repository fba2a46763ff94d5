package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"strings"
	"sync"

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
	limit  int // rows whose like was not met yet that are known at a time
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
		open, err := c.differing(mine, theirs, part, &parts)
		if err != nil {
			return err
		}
		if len(open) == 0 {
			continue
		}
		if err := c.each(mine, func(sum uint64, row []any) {
			if open[sum] < 0 {
				open[sum]++
				if wrong++; wrong <= reported {
					c.report(fmt.Sprintf("%s has a row that the packs do not have: %s", c.what, c.key(row)))
				}
			}
		}); err != nil {
			return err
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

// differing returns the hashes of one part of the rows that one side has more often than the other: how much more often theirs has them. Both sides
// are read at the same time and mostly in the same order, so few rows are waiting for their like. The first part is divided when they are too many.
func (c *comparison) differing(mine, theirs rowsOf, part uint64, parts *uint64) (map[uint64]int32, error) {
	type batch struct {
		sums   []uint64
		theirs int32
	}
	batches := make(chan batch)
	var group sync.WaitGroup
	var failed [2]error
	for i, side := range []struct {
		rows   rowsOf
		theirs int32
	}{{mine, -1}, {theirs, 1}} {
		group.Go(func() {
			var sums []uint64
			failed[i] = c.each(side.rows, func(sum uint64, _ []any) {
				if sums = append(sums, sum); len(sums) == cap(sums) {
					batches <- batch{sums, side.theirs}
					sums = make([]uint64, 0, 1024)
				}
			})
			batches <- batch{sums, side.theirs}
		})
	}
	go func() { group.Wait(); close(batches) }()
	open := map[uint64]int32{}
	ours := func(sum uint64) bool { return sum&(*parts-1) == part }
	for b := range batches {
		if part == 0 && b.theirs < 0 {
			c.rows += int64(len(b.sums))
		}
		for _, sum := range b.sums {
			if !ours(sum) {
				continue
			}
			if open[sum] += b.theirs; open[sum] == 0 {
				delete(open, sum)
			}
			for part == 0 && len(open) > c.limit {
				*parts *= 2
				maps.DeleteFunc(open, func(sum uint64, _ int32) bool { return !ours(sum) })
			}
		}
	}
	return open, errors.Join(failed[:]...)
}

// each hashes rows.
func (c *comparison) each(rows rowsOf, yield func(sum uint64, row []any)) error {
	var h maphash.Hash
	h.SetSeed(c.seed)
	return rows(func(row []any) {
		h.Reset()
		for _, v := range row {
			hashValue(&h, v)
		}
		yield(h.Sum64(), row)
	})
}

// hashValue adds a value with its type and length.
func hashValue(h *maphash.Hash, v any) {
	var head [9]byte
	set := func(kind byte, n uint64) {
		head[0] = kind
		binary.LittleEndian.PutUint64(head[1:], n)
		h.Write(head[:])
	}
	switch v := v.(type) {
	case nil:
		h.WriteByte('n')
	case int64:
		set('i', uint64(v))
	case float64:
		set('f', math.Float64bits(v))
	case string:
		set('s', uint64(len(v)))
		h.WriteString(v)
	case []byte:
		set('b', uint64(len(v)))
		h.Write(v)
	default:
		fmt.Fprintf(h, "%T %v\x00", v, v)
	}
}

// query returns the rows of the assertion. A row is valid until the next one.
func (c *comparison) query(ctx context.Context, q sqlx.QueryerContext) rowsOf {
	return func(do func(row []any)) error {
		var row, into []any
		scan := func(r *sqlx.Rows) ([]any, error) {
			if row == nil {
				columns, err := r.Columns()
				if err != nil {
					return nil, err
				}
				row = make([]any, len(columns))
				for i := range row {
					into = append(into, &row[i])
				}
			}
			return row, r.Scan(into...)
		}
		return engine.Each(ctx, q, c.sql, nil, scan, func(row []any) bool {
			do(row)
			return true
		})
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
