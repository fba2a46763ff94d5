package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Find yields the rows that match a query, newest first. Rows come in the order of their ids, hour by hour;
// each hour is sorted by the exact time. What does not count is left out unless page asks for it; uncounted
// rows of runs are there.
func (db *DB) Find(ctx context.Context, q *query.Tree, page index.Page) iter.Seq2[index.Hit, error] {
	return func(yield func(index.Hit, error) bool) {
		f := finder{ctx: ctx, page: page, yield: yield}
		err := f.run(db, q)
		if err != nil && !errors.Is(err, errStop) {
			yield(index.Hit{}, fmt.Errorf("find: %w", damage(err)))
		}
	}
}

// finder is one Find.
type finder struct {
	ctx   context.Context
	page  index.Page
	yield func(index.Hit, error) bool
	tx    *sqlx.Tx
	from  *key // hits up to and with this one were seen
	n     int  // hits yielded
	err   error
	hour  []key
}

// key is what hits are ordered by: newest first, and inside an instant a way that is the same everywhere.
type key struct {
	id           int64
	at           int64
	conversation string
	seq          int64
	part         int
}

func (a key) compare(b key) int {
	return cmp.Or(cmp.Compare(b.id>>slotBits, a.id>>slotBits), cmp.Compare(b.at, a.at),
		cmp.Compare(a.conversation, b.conversation), cmp.Compare(b.seq, a.seq), cmp.Compare(a.part, b.part))
}

func (a key) cursor() string {
	return fmt.Sprintf("%d/%d/%s:%d.%d", a.id>>slotBits, a.at, a.conversation, a.seq, a.part+1)
}

func parseCursor(s string) (*key, error) {
	parts := strings.SplitN(s, "/", 3)
	if len(parts) == 3 {
		hour, err1 := strconv.ParseInt(parts[0], 10, 64)
		at, err2 := strconv.ParseInt(parts[1], 10, 64)
		conversation, seq, part, ok := parseEventID(parts[2])
		if ok && err1 == nil && err2 == nil && hour >= 0 && hour <= latestHour {
			return &key{hour << slotBits, at, conversation, seq, part}, nil
		}
	}
	return nil, &index.UnsupportedError{What: "cursor " + strconv.Quote(s), Why: "it is none that a search gave"}
}

func (f *finder) run(db *DB, q *query.Tree) (err error) {
	var c cond
	if q != nil {
		if c, err = (compiler{all: f.page.AllVersions}).node(q.Root); err != nil {
			return err
		}
	}
	if f.page.After != "" { // an hour is walked again from its beginning, and what was seen is left out
		if f.from, err = parseCursor(f.page.After); err != nil {
			return err
		}
		if next := f.from.id + 1<<slotBits; c.to == 0 || next < c.to {
			c.to = next
		}
	}
	if f.tx, err = db.r.BeginTxx(f.ctx, nil); err != nil {
		return err
	}
	defer f.tx.Rollback()
	if c.to, err = f.spilled(c.to); err != nil {
		return err
	}
	sql, args := f.statement(c)
	if err := each(f.ctx, f.tx, sql, args, scanKey, f.add); err != nil {
		return err
	}
	if f.err != nil || f.done() {
		return f.err
	}
	return f.flush()
}

// spilled moves the end of a window behind the hours that rows have spilled into: those after a full one.
func (f *finder) spilled(to int64) (int64, error) {
	for to > 0 {
		var full bool
		if err := f.tx.GetContext(f.ctx, &full, "SELECT EXISTS (SELECT 1 FROM events WHERE id = ?)", to-1); err != nil || !full {
			return to, err
		}
		to += 1 << slotBits
	}
	return to, nil
}

// statement walks rows in falling id order: those of the full-text index where the query has words or facets,
// else all events.
func (f *finder) statement(c cond) (string, []any) {
	const columns = "SELECT e.id, coalesce(e.time, e.near, 0), c.conversation_id, t.seq_base + e.seq, e.part FROM "
	const owners = ` CROSS JOIN transcripts t ON t.id = e.transcript CROSS JOIN conversations c ON c.id = t.conversation
		CROSS JOIN runs r ON r.id = c.run WHERE `
	id, sql := "e.id", columns+"events e"+owners
	var where []string
	var args []any
	if match, ok := c.expression(); ok {
		id, sql = "fts.rowid", columns+"fts CROSS JOIN events e ON e.id = fts.rowid"+owners
		where, args = append(where, "fts MATCH ?"), append(args, match)
		c.match, c.not = nil, nil
	}
	if c.from > 0 {
		where, args = append(where, id+" >= ?"), append(args, c.from)
	}
	if c.to > 0 {
		where, args = append(where, id+" < ?"), append(args, c.to)
	}
	rest, more := c.predicate(false, f.page.AllVersions)
	where, args = append(where, rest), append(args, more...)
	return sql + strings.Join(where, " AND ") + visible(f.page.AllVersions) + " ORDER BY " + id + " DESC", args
}

func scanKey(rows *sqlx.Rows) (k key, err error) {
	return k, rows.Scan(&k.id, &k.at, &k.conversation, &k.seq, &k.part)
}

// add takes the next row and says whether to go on.
func (f *finder) add(k key) bool {
	if len(f.hour) > 0 && f.hour[0].id>>slotBits != k.id>>slotBits {
		if f.err = f.flush(); f.err != nil || f.done() {
			return false
		}
	}
	if f.from == nil || f.from.compare(k) < 0 {
		f.hour = append(f.hour, k)
	}
	// An hour may hold a million rows: of those only the first that are still wanted are kept.
	if want := f.page.Limit - f.n; f.page.Limit > 0 && len(f.hour) > 4*want+1024 {
		slices.SortFunc(f.hour, key.compare)
		f.hour = f.hour[:want]
	}
	return true
}

func (f *finder) done() bool { return f.page.Limit > 0 && f.n >= f.page.Limit }

// batch is how many rows are fetched at once.
const batch = 64

// flush yields the hits of an hour.
func (f *finder) flush() error {
	hour := f.hour
	f.hour = f.hour[:0]
	slices.SortFunc(hour, key.compare)
	if want := f.page.Limit - f.n; f.page.Limit > 0 && len(hour) > want {
		hour = hour[:want]
	}
	for chunk := range slices.Chunk(hour, batch) {
		if err := f.fetch(chunk); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) fetch(keys []key) error {
	ids := make([]any, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	events := make(map[int64]index.Event, len(keys))
	err := each(f.ctx, f.tx, selectEvents+"WHERE e.id IN (?"+strings.Repeat(",?", len(keys)-1)+")", ids, scanEvent,
		func(e eventRow) bool { events[e.id] = e.Event; return true })
	if err != nil {
		return err
	}
	for _, k := range keys {
		e, ok := events[k.id]
		if !ok {
			return fmt.Errorf("event %s has no owner: %w", eventID(k.conversation, k.seq, k.part, 2), index.ErrDamaged)
		}
		f.n++
		if !f.yield(index.Hit{Event: e, Cursor: k.cursor()}, nil) {
			return errStop
		}
	}
	return nil
}
