package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tx is a write transaction with its caches: interned names, the next row ids, and rows and sums that are not written yet.
type tx struct {
	*sqlx.Tx
	conn        *sql.Conn    // that the transaction is on
	torn        *atomic.Bool // of the index
	ended       bool         // it was committed
	ctx         context.Context
	unending    context.Context     // ctx without its end: for statements that are over at once
	args        []driver.NamedValue // of exec, used again
	names       *names
	texts       map[usageTexts]int64
	next        map[string]int64              // next row id of a table
	pendingSums map[pendingSumKey]*pendingSum // of usage that was added
	freshRows   int
	block       []byte // of words, the last that was read

	buffer *writeBuffer // nil where nothing is buffered
}

func (db *DB) begin(ctx context.Context) (*tx, error) {
	conn, err := db.w.Connx(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", engine.Damage(err))
	}
	// database/sql rolls back by itself when the context of a transaction ends. Rows that inserters hand to the driver after
	// that would be written outside of any transaction.
	unending := context.WithoutCancel(ctx)
	if db.options.Unlogged { // what is written could not be undone: it ends before there is a transaction, or not at all
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(fmt.Errorf("begin: %w", err), conn.Close())
		}
		ctx = unending
	}
	t, err := conn.BeginTxx(unending, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin: %w", engine.Damage(err)), conn.Close())
	}
	return &tx{Tx: t, conn: conn.Conn, torn: &db.torn, ctx: ctx, unending: unending,
		names: &names{ids: map[string]int64{}, scenes: map[index.Labels]int64{}, sayings: map[*index.Labels]int64{}}, texts: map[usageTexts]int64{}, next: map[string]int64{}, pendingSums: map[pendingSumKey]*pendingSum{}}, nil
}

// Rollback rolls back unless the transaction was committed, and releases the connection.
func (t *tx) Rollback() error {
	if !t.ended {
		t.torn.Store(true)
	}
	return errors.Join(t.Tx.Rollback(), t.conn.Close())
}

// end commits without updating sums, and releases the connection.
func (t *tx) end() error {
	err := t.Tx.Commit()
	t.ended = err == nil
	return errors.Join(engine.Damage(err), t.conn.Close())
}

// exec runs a statement, bypassing database/sql. A context that has ended keeps it from starting but does not interrupt it: see
// execLong.
func (t *tx) exec(query string, args ...any) error {
	if err := t.flushBuffer(); err != nil {
		return err
	}
	return t.execDirect(query, args...)
}

// execDirect is exec for statements that touch no table with buffered rows.
func (t *tx) execDirect(query string, args ...any) error {
	t.args = t.args[:0]
	for i, v := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(v)
		if err != nil {
			return fmt.Errorf("%.60q: argument %d: %w", query, i+1, err)
		}
		t.args = append(t.args, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return t.withConn(func(c *engine.CachingConn) error { return c.Run(t.unending, query, t.args) })
}

// execLong runs a statement that may take long. The end of the context interrupts it.
func (t *tx) execLong(query string, args ...any) error {
	if err := t.flushBuffer(); err != nil {
		return err
	}
	_, err := t.ExecContext(t.ctx, query, args...)
	return engine.Damage(err)
}

// get scans one row into dest and reports whether there was one.
func (t *tx) get(query string, args []any, dest ...any) (bool, error) {
	if err := t.flushBuffer(); err != nil {
		return false, err
	}
	return t.getDirect(query, args, dest...)
}

// getDirect is get for queries that read no table with buffered rows.
func (t *tx) getDirect(query string, args []any, dest ...any) (bool, error) {
	if err := t.ctx.Err(); err != nil {
		return false, err
	}
	err := t.QueryRowContext(t.unending, query, args...).Scan(dest...)
	if err == sql.ErrNoRows {
		return false, nil
	}
	return err == nil, engine.Damage(err)
}

// exists reports whether a query has a row.
func (t *tx) exists(query string, args ...any) (bool, error) {
	var n int
	return t.get(query, args, &n)
}

// each calls row for every row of a query.
func (t *tx) each(query string, row func(*sql.Rows) error, args ...any) error {
	return t.scan(t.ctx, query, row, args)
}

// eachBrief is each for short queries, which it does not interrupt: making them interruptible would cost more than they do.
func (t *tx) eachBrief(query string, row func(*sql.Rows) error, args ...any) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return t.scan(t.unending, query, row, args)
}

func (t *tx) scan(ctx context.Context, query string, row func(*sql.Rows) error, args []any) error {
	if err := t.flushBuffer(); err != nil {
		return err
	}
	return t.eachDirect(ctx, query, row, args)
}

// eachDirect is scan for queries that read no table with buffered rows.
func (t *tx) eachDirect(ctx context.Context, query string, row func(*sql.Rows) error, args []any) error {
	rows, err := t.QueryContext(ctx, query, args...)
	if err != nil {
		return engine.Damage(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return engine.Damage(rows.Err())
}

// ids returns the numbers that a query yields, each once, in ascending order.
func (t *tx) ids(query string, args ...any) ([]int64, error) {
	set := map[int64]bool{}
	err := t.each(query, intoSet(set), args...)
	return sorted(set), err
}

// intoSet returns a callback of each that collects numbers.
func intoSet(set map[int64]bool) func(*sql.Rows) error {
	return func(r *sql.Rows) error {
		var id int64
		if err := r.Scan(&id); err != nil {
			return err
		}
		set[id] = true
		return nil
	}
}

func sorted[V any](set map[int64]V) []int64 { return slices.Sorted(maps.Keys(set)) }

// id returns the next free row id of a table. All row ids of a commit come from here.
func (t *tx) id(table string) (int64, error) {
	n, ok := t.next[table]
	if !ok {
		if _, err := t.getDirect("SELECT coalesce(max(id), 0) FROM "+table, nil, &n); err != nil {
			return 0, err
		}
	}
	n++
	t.next[table] = n
	return n, nil
}

// eachBeside is each for short queries that do not read run_claims, transcripts or conversations.
func (t *tx) eachBeside(query string, row func(*sql.Rows) error, args ...any) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if err := t.flushFiles(); err != nil {
		return err
	}
	return t.eachDirect(t.unending, query, row, args)
}

// fillTemp replaces the content of a temporary table of one integer column.
func (t *tx) fillTemp(table string, values []int64) error {
	if err := t.execDirect("CREATE TEMP TABLE IF NOT EXISTS " + table + " (id INTEGER PRIMARY KEY)"); err != nil {
		return err
	}
	if err := t.execDirect("DELETE FROM temp." + table); err != nil {
		return err
	}
	b := inserter{t: t, into: "OR IGNORE INTO temp." + table, columns: columnList("id")}
	for _, v := range values {
		if err := b.add(v); err != nil {
			return err
		}
	}
	return b.flush()
}

// names caches the ids of interned strings and scenes.
type names struct {
	ids     map[string]int64
	scenes  map[index.Labels]int64
	sayings map[*index.Labels]int64 // the same by pointer, for labels that rows share
}

// name returns the id of an interned string, nil for "".
func (t *tx) name(s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	return t.nameID(s)
}

func (t *tx) nameID(s string) (int64, error) {
	if id, ok := t.names.ids[s]; ok {
		return id, nil
	}
	var id int64
	ok, err := t.getDirect("SELECT id FROM names WHERE name = ?", []any{s}, &id)
	if err != nil {
		return 0, err
	}
	if !ok {
		if id, err = t.id("names"); err != nil {
			return 0, err
		}
		if err := t.execDirect("INSERT INTO names (id, name) VALUES (?, ?)", id, s); err != nil {
			return 0, err
		}
	}
	t.names.ids[s] = id
	return id, nil
}

// scene returns the id of the labels that a row shares with many others.
func (t *tx) scene(r *index.Row) (id int64, err error) {
	if id, ok := t.names.sayings[r.Labels]; ok {
		return id, nil
	}
	if id, err = t.sceneNamed(r.Labels); err == nil {
		t.names.sayings[r.Labels] = id
	}
	return id, err
}

func (t *tx) sceneNamed(s *index.Labels) (id int64, err error) {
	if id, ok := t.names.scenes[*s]; ok {
		return id, nil
	}
	var args []any
	for _, name := range [...]string{string(s.Kind), s.Role, s.Type, s.Tool} {
		id := int64(0)
		if name != "" {
			if id, err = t.nameID(name); err != nil {
				return 0, err
			}
		}
		args = append(args, id)
	}
	if id, err = t.sceneOf(append(args, s.Agent, s.Model, s.Flow, s.Step)...); err == nil {
		t.names.scenes[*s] = id
	}
	return id, err
}

// sceneOf returns the id of the scene with these columns, and inserts one that is new.
func (t *tx) sceneOf(columns ...any) (id int64, err error) {
	ok, err := t.getDirect("SELECT id FROM scenes WHERE kind = ? AND role = ? AND type = ? AND tool = ? AND agent = ? AND model = ? AND flow = ? AND step = ?", columns, &id)
	if ok || err != nil {
		return id, err
	}
	if id, err = t.id("scenes"); err != nil {
		return 0, err
	}
	err = t.execDirect("INSERT INTO scenes (id, kind, role, type, tool, agent, model, flow, step) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", append([]any{id}, columns...)...)
	return id, err
}

// null returns nil, which is NULL, for "".
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nullNative(id *index.NativeID) any {
	if id.IsUUID {
		return id.UUID[:]
	}
	return null(id.Text)
}

func nullTime(t transcript.Time) any {
	if !t.Valid {
		return nil
	}
	return t.UnixMicro
}

func nullZone(t transcript.Time) any {
	if !t.Valid {
		return nil
	}
	return int64(t.Offset)
}

func nullCount(c transcript.Count) any {
	if !c.Known {
		return nil
	}
	return c.N
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// eventOf returns how a link refers to the event that states it: the hash and the native id of its rows, nils for "".
func eventOf(format, id string) (event, native any) {
	if id == "" {
		return nil, nil
	}
	n := index.ParseNativeID(id)
	return index.EventHash(format, id), nullNative(&n)
}
