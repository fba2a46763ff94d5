package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
)

// Find yields the rows that match a query, newest first. Rows are read in the order of their ids, hour by hour, and are
// held back until no later one can follow, to be sorted by the exact time. What does not count is left out unless page asks
// for it; uncounted rows of runs are included.
func (db *Reader) Find(ctx context.Context, q *query.Tree, page index.Page) iter.Seq2[index.Hit, error] {
	return db.find(ctx, q, page, false)
}

func (db *Reader) find(ctx context.Context, q *query.Tree, page index.Page, keysOnly bool) iter.Seq2[index.Hit, error] {
	return func(yield func(index.Hit, error) bool) {
		f := db.finder(ctx, page)
		f.yield = yield
		f.emit = f.fetch
		if keysOnly {
			f.emit = f.skim
		}
		var buffered []index.Hit
		if page.Limit > 0 && page.Limit <= maxBufferedPage {
			f.yield = func(h index.Hit, _ error) bool { buffered = append(buffered, h); return true }
		}
		err := f.run(db, q)
		for _, h := range buffered {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil && !errors.Is(err, engine.ErrStop) {
			yield(index.Hit{}, fmt.Errorf("find: %w", engine.Damage(err)))
		}
	}
}

// maxBufferedPage is the largest page that is read completely before the first hit is yielded. The connection is free
// then for a caller who reads the texts of hits: opening another one takes two milliseconds.
const maxBufferedPage = 256

// finder is the state of one Find.
type finder struct {
	limits
	ctx     context.Context
	page    index.Page
	yield   func(index.Hit, error) bool
	tx      *snapshot
	after   *key // the last hit of the page before; nil at the beginning
	yielded int  // hits yielded
	found   int  // rows found, including those of earlier pages and those still pending
	err     error
	spills  spills
	hour    int64             // hour that rows are being read from
	pending []key             // rows that later ones may still precede
	emit    func([]key) error // yields hits
}

func (db *Reader) finder(ctx context.Context, page index.Page) *finder {
	return &finder{limits: db.limits, ctx: ctx, page: page}
}

// planner returns a planner for the finder's transaction. limited says that not all hits are wanted.
func (f *finder) planner(limited bool) planner {
	return planner{limits: f.limits, ctx: f.ctx, tx: f.tx, all: f.page.AllVersions, limited: limited, found: &f.found}
}

// key has what hits are sorted by (newest first; within an instant in an order that is the same in every index), and what
// they are ranked by.
type key struct {
	id           int64
	at           int64
	conversation string
	seq          int64
	part, parts  int
	scene        int64
	size         int64 // of the text
}

func (a key) compare(b key) int {
	return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.conversation, b.conversation), cmp.Compare(b.seq, a.seq), cmp.Compare(a.part, b.part))
}

func (a key) cursor() string {
	return fmt.Sprintf("%d/%s:%d.%d", a.at, a.conversation, a.seq, a.part+1)
}

func parseCursor(s string) (*key, error) {
	before, id, _ := strings.Cut(s, "/")
	at, err := strconv.ParseInt(before, 10, 64)
	if conversation, seq, part, ok := schema.ParseEventID(id); ok && err == nil && !strings.Contains(id, "/") {
		return &key{at: at, conversation: conversation, seq: seq, part: part}, nil
	}
	return nil, &index.UnsupportedError{What: "cursor " + strconv.Quote(s), Why: "not a cursor of a search", Hint: "use the cursor that the previous search printed, with the same query and --sort; a date is part of the query: after:7d"}
}

func (f *finder) run(db *Reader, q *query.Tree) error {
	tx, err := db.read(f.ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	f.tx = tx
	c, err := f.compile(q)
	if err != nil {
		return err
	}
	if err := f.window(&c); err != nil {
		return err
	}
	visit := func(w scan) error {
		sql, args, err := w.statement(keyColumns, f.page.AllVersions)
		if err != nil {
			return err
		}
		if err := engine.Each(f.ctx, f.tx, sql+w.orderBy(), args, scanKey, f.add); err != nil {
			return err
		}
		if f.err == nil && f.isFull() {
			return engine.ErrStop
		}
		return f.err
	}
	p := f.planner(f.page.Limit > 0 || f.page.First)
	if err := p.run(c, visit); err != nil {
		return err
	}
	return f.flush(math.MinInt64)
}

// window widens the bounds of a condition to all row ids that its rows may have because hours were full.
func (f *finder) window(c *where.Cond) (err error) {
	if f.spills, err = f.tx.readSpills(f.ctx); err == nil {
		c.From, c.To = f.spills.window(c.From, c.To)
	}
	return err
}

// compile turns the query into a condition, and the page's cursor into the upper bound of its window. The hour of the
// cursor is read again from its beginning; add skips what earlier pages had.
func (f *finder) compile(q *query.Tree) (c where.Cond, err error) {
	if q != nil {
		if c, err = where.Events(q.Root, f.page.AllVersions); err != nil {
			return c, err
		}
	}
	if f.page.After == "" {
		return c, nil
	}
	if f.after, err = parseCursor(f.page.After); err != nil {
		return c, err
	}
	if next := (schema.HourOf(f.after.at) + 1) << schema.SlotBits; c.To == 0 || next < c.To {
		c.To = next
	}
	return c, nil
}

// keyColumns are the columns of a key.
const keyColumns = "e.id, coalesce(e.time, e.near, 0), c.conversation_id, t.seq_base + e.seq, e.part, e.parts, e.scene, e.text_bytes"

func scanKey(rows *sqlx.Rows) (k key, err error) {
	return k, rows.Scan(&k.id, &k.at, &k.conversation, &k.seq, &k.part, &k.parts, &k.scene, &k.size)
}

// add adds the next row and reports whether to go on.
func (f *finder) add(k key) bool {
	f.found++
	if hour := k.id >> schema.SlotBits; hour != f.hour {
		f.hour = hour
		if f.err = f.flush(f.spills.latest(hour)); f.err != nil || f.isFull() {
			return false
		}
	}
	if f.after == nil || f.after.compare(k) < 0 {
		f.pending = append(f.pending, k)
	}
	// A million rows may have the same time: only the first ones that are still wanted are kept.
	if want := f.page.Limit - f.yielded; f.page.Limit > 0 && len(f.pending) > 4*want+1024 {
		slices.SortFunc(f.pending, key.compare)
		f.pending = f.pending[:want]
	}
	return true
}

func (f *finder) isFull() bool { return f.page.Limit > 0 && f.yielded >= f.page.Limit }

// batch is how many rows one statement fetches.
const batch = 64

// flush yields the pending hits that are later than latest, the latest time that rows to come may have.
func (f *finder) flush(latest int64) error {
	var ready []key
	pending := f.pending
	f.pending = pending[:0]
	for _, k := range pending {
		if k.at > latest {
			ready = append(ready, k)
		} else {
			f.pending = append(f.pending, k)
		}
	}
	slices.SortFunc(ready, key.compare)
	if want := f.page.Limit - f.yielded; f.page.Limit > 0 && len(ready) > want {
		ready = ready[:want]
	}
	for chunk := range slices.Chunk(ready, batch) {
		if err := f.emit(chunk); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) fetch(keys []key) error {
	ids := make([]int64, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	rows, err := f.tx.events(f.ctx, "WHERE e.id IN (SELECT value FROM json_each(?))", asList(ids))
	if err != nil {
		return err
	}
	events := make(map[int64]*index.Event, len(keys))
	for i := range rows {
		events[rows[i].id] = &rows[i].Event
	}
	for _, k := range keys {
		e, ok := events[k.id]
		if !ok {
			return fmt.Errorf("event %s has no owner: %w", schema.EventID(k.conversation, k.seq, k.part, 2), index.ErrDamaged)
		}
		f.yielded++
		if !f.yield(index.Hit{Event: *e, Cursor: k.cursor(), Row: k.id}, nil) {
			return engine.ErrStop
		}
	}
	return nil
}

// asList encodes numbers as JSON, so that they are one parameter of a statement whose text does not depend on their number.
func asList(ids []int64) string {
	b := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}
