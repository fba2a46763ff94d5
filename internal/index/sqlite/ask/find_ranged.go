package ask

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// ranged returns the rows of owners that have the words of a condition and begin within the byte ranges of its RangeSQL. Few
// rows of a conversation are within usage that matches, and none may be where another condition excludes those.
func (p *planner) ranged(o ownerSet, c where.Cond) (fts5.Rows, error) {
	words, err := p.textFilter(c)
	if err != nil {
		return nil, err
	}
	text := ""
	if words != nil {
		e, _ := c.Expression()
		text = fmt.Sprint(e, c.Not)
	}
	every := *p
	every.all = true
	all, err := every.findOwners(c)
	if err != nil {
		return nil, err
	}
	if shown := o.rows(); !all.dense && all.rows() <= 2*shown { // the search counts what it left out next
		o = all
	}
	_, _, owners := p.ownersOf(c)
	key := strings.Join([]string{text, owners, c.RangeSQL, fmt.Sprint(c.RangeArgs, len(o.owners))}, "\n")
	if ids, known := p.tx.rows[key]; known {
		return idRows(ids), nil
	}
	few, err := p.fewMatches(o, c, words)
	if err != nil {
		return nil, err
	}
	m := &memoRows{planner: p, key: key, from: c.From, next: math.MaxInt64}
	if c.To > 0 {
		m.next = c.To - 1
	}
	switch {
	case few:
		m.of = &rangedRows{planner: p, of: words.within(o.owners), cond: c, ranges: map[int64]rowRanges{}, next: m.next, size: min(firstBatch, p.listRows)}
	case words == nil:
		m.of = p.rowsOf(o.owners, c)
	case words.negated:
		m.of = except{p.rowsOf(o.owners, c), words.Rows}
	default:
		m.of = both{words.Rows, p.rowsOf(o.owners, c)}
	}
	return m, nil
}

// idRows is a list of rows, descending. It implements fts5.Rows.
type idRows []int64

// Advance implements fts5.Rows.
func (l idRows) Advance(at int64) (int64, error) {
	if i := sort.Search(len(l), func(i int) bool { return l[i] <= at }); i < len(l) {
		return l[i], nil
	}
	return -1, nil
}

// memoRows is other rows. When all were read and they are few, they are cached. It implements fts5.Rows.
type memoRows struct {
	*planner
	of    fts5.Rows
	key   string // "": too many
	from  int64  // earlier rows are not wanted
	next  int64  // rows from this one down were not read; negative: there are none
	found idRows // the last ones that were read
}

// Advance implements fts5.Rows.
func (m *memoRows) Advance(at int64) (int64, error) {
	for {
		if row, _ := m.found.Advance(at); row >= 0 || m.next < 0 {
			return row, nil
		}
		row, err := m.of.Advance(m.next)
		switch {
		case err != nil:
			return -1, err
		case row < 0 || row < m.from:
			if m.next = -1; m.key != "" && m.tx.reserve(len(m.found)) {
				m.tx.rows[m.key] = m.found
			}
			continue
		case len(m.found) == m.fewRows():
			m.key, m.found = "", nil
		}
		m.found, m.next = append(m.found, row), row-1
	}
}

// rangedRows is those of other rows that begin within the byte ranges of RangeSQL. It implements fts5.Rows.
type rangedRows struct {
	*planner
	of     fts5.Rows
	cond   where.Cond
	ranges map[int64]rowRanges // by transcript; nil for one without any
	next   int64               // rows from this one down were not read
	found  idRows              // the last ones that were read
	size   int                 // how many rows to read at once
}

// placesSQL selects where rows begin.
const placesSQL = `SELECT json_group_array(e.id), json_group_array(e.transcript), json_group_array(e.offset)
	FROM json_each(?) j CROSS JOIN events e ON e.id = j.value`

// Advance implements fts5.Rows.
func (r *rangedRows) Advance(at int64) (int64, error) {
	for {
		if row, _ := r.found.Advance(at); row >= 0 {
			return row, nil
		}
		r.next = min(r.next, at)
		var ids []int64
		for len(ids) < r.size {
			row, err := r.of.Advance(r.next)
			if err != nil {
				return -1, err
			}
			if row < 0 || row < r.cond.From {
				break
			}
			ids, r.next = append(ids, row), row-1
		}
		if len(ids) == 0 {
			return -1, nil
		}
		r.size = min(2*r.size, r.listRows)
		if err := r.read(ids); err != nil {
			return -1, err
		}
	}
}

// read finds out which rows begin within ranges.
func (r *rangedRows) read(ids []int64) error {
	var rows [][]int64
	if err := r.eachList(placesSQL, []any{asList(ids)}, func(of [][]int64) { rows = of }); err != nil {
		return err
	}
	var unknown []int64
	for _, t := range rows[1] {
		if _, known := r.ranges[t]; !known {
			r.ranges[t], unknown = nil, append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		if err := r.eachList(rangesOfSQL(r.cond.RangeSQL, "transcript"), append([]any{asList(unknown)}, r.cond.RangeArgs...), func(of [][]int64) {
			r.ranges[of[0][0]] = joined(of[1], of[2])
		}); err != nil {
			return err
		}
	}
	r.found = r.found[:0]
	for i, id := range rows[0] {
		if r.ranges[rows[1][i]].has(rows[2][i]) {
			r.found = append(r.found, id)
		}
	}
	return nil
}

// queryRanged returns the rows of owners, a list of transcripts, that begin within the byte ranges of RangeSQL.
func (p *planner) queryRanged(owners string, c where.Cond, to int64) (ids []int64, err error) {
	// The rows of a transcript are as one value, and a subquery, else SQLite would sort them.
	const rows = `(SELECT group_concat(e.id || ',' || e.offset) FROM events e INDEXED BY events_place WHERE e.transcript = s.transcript
		AND e.offset >= s.least AND e.offset < s.most AND e.id >= ? AND e.id < ?)`
	query := "SELECT s.first, s.behind, coalesce(" + rows + ", '') FROM (" + rangesOfSQL(c.RangeSQL, "min(first) AS least, max(behind) AS most, transcript") + ") s"
	err = p.eachList(query, append([]any{c.From, to, owners}, c.RangeArgs...), func(of [][]int64) {
		ranges := joined(of[0], of[1])
		for at := of[2]; len(at) > 1; at = at[2:] {
			if ranges.has(at[1]) {
				ids = append(ids, at[0])
			}
		}
	})
	return ids, err
}

// rangesOfSQL selects columns and the byte ranges of a RangeSQL, one row for each transcript.
func rangesOfSQL(ranges, columns string) string {
	return "SELECT " + columns + ", json_group_array(first) AS first, json_group_array(behind) AS behind FROM (" + ranges + ") GROUP BY transcript"
}

// eachList calls take for each row of a query, whose three columns are lists of numbers.
func (p *planner) eachList(query string, args []any, take func(of [][]int64)) error {
	var failed error
	err := engine.Each(p.ctx, p.tx, query, args, func(rows *sqlx.Rows) (t [3]string, err error) {
		return t, rows.Scan(&t[0], &t[1], &t[2])
	}, func(texts [3]string) bool {
		lists := make([][]int64, len(texts))
		for i := 0; i < len(texts) && failed == nil; i++ {
			lists[i], failed = fromList(texts[i])
		}
		if failed == nil {
			take(lists)
		}
		return failed == nil
	})
	return cmp.Or(err, failed)
}

// joined returns ranges of bytes from first up to behind as disjoint ones, the greatest first.
func joined(first, behind []int64) (all rowRanges) {
	for i, from := range first {
		all = append(all, [2]int64{from, behind[i] - 1})
	}
	slices.SortFunc(all, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	n := 0
	for _, s := range all {
		if n > 0 && s[0] <= all[n-1][1]+1 {
			all[n-1][1] = max(all[n-1][1], s[1])
		} else {
			all[n], n = s, n+1
		}
	}
	slices.Reverse(all[:n])
	return all[:n]
}
