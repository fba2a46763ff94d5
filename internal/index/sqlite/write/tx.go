package write

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

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// Tx is a write transaction with its caches: interned names, the next row ids, and rows and sums that are not written yet.
type Tx struct {
	inner       *sqlx.Tx
	conn        *sql.Conn    // that the transaction is on
	torn        *atomic.Bool // of the index
	ended       bool         // it was committed
	wrote       bool         // perhaps something
	ctx         context.Context
	unending    context.Context     // ctx without its end: for statements that are over at once
	args        []driver.NamedValue // of Exec, used again
	names       *names
	texts       map[UsageTexts]int64
	next        map[string]int64              // next row id of a table
	pendingSums map[pendingSumKey]*pendingSum // of usage that was added
	freshRows   int

	Buffer *Buffer // nil where nothing is buffered
}

// Begin begins a transaction.
func (w *Writer) Begin(ctx context.Context) (*Tx, error) {
	conn, err := w.Connx(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", engine.Damage(err))
	}
	// database/sql rolls back by itself when the context of a transaction ends. Rows that inserters hand to the driver after
	// that would be written outside of any transaction.
	unending := context.WithoutCancel(ctx)
	if w.unlogged { // what is written could not be undone: it ends before there is a transaction, or not at all
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(fmt.Errorf("begin: %w", err), conn.Close())
		}
		ctx = unending
	}
	t, err := conn.BeginTxx(unending, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin: %w", engine.Damage(err)), conn.Close())
	}
	return &Tx{inner: t, conn: conn.Conn, torn: &w.torn, ctx: ctx, unending: unending, names: newNames(), texts: map[UsageTexts]int64{},
		next: map[string]int64{}, pendingSums: map[pendingSumKey]*pendingSum{}}, nil
}

// Rollback rolls back unless the transaction was committed, and releases the connection.
func (t *Tx) Rollback() error {
	if !t.ended {
		t.torn.Store(true)
	}
	return errors.Join(t.inner.Rollback(), t.conn.Close())
}

// memory returns the value attached to the connection: the result of create, from this call or an earlier one, as long as no other
// connection has committed since.
func (t *Tx) memory(create func() any) (any, error) {
	m, err := engine.ConnMemory(t.unending, t.inner, t.conn, create)
	return m, engine.Damage(err)
}

// Exec runs a statement, bypassing database/sql. A context that has ended keeps it from starting but does not interrupt it: see
// ExecLong.
func (t *Tx) Exec(query string, args ...any) error {
	if err := t.Flush(); err != nil {
		return err
	}
	return t.ExecDirect(query, args...)
}

// ExecDirect is Exec for statements that touch no table with buffered rows.
func (t *Tx) ExecDirect(query string, args ...any) error {
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

// ExecLong runs a statement that may take long. The end of the context interrupts it.
func (t *Tx) ExecLong(query string, args ...any) error {
	if err := t.Flush(); err != nil {
		return err
	}
	t.wrote = true
	_, err := t.inner.ExecContext(t.ctx, query, args...)
	return engine.Damage(err)
}

// Get scans one row into dest and reports whether there was one.
func (t *Tx) Get(query string, args []any, dest ...any) (bool, error) {
	if err := t.Flush(); err != nil {
		return false, err
	}
	return t.GetDirect(query, args, dest...)
}

// GetDirect is Get for queries that read no table with buffered rows.
func (t *Tx) GetDirect(query string, args []any, dest ...any) (bool, error) {
	if err := t.ctx.Err(); err != nil {
		return false, err
	}
	err := t.inner.QueryRowContext(t.unending, query, args...).Scan(dest...)
	if err == sql.ErrNoRows {
		return false, nil
	}
	return err == nil, engine.Damage(err)
}

// Exists reports whether a query has a row.
func (t *Tx) Exists(query string, args ...any) (bool, error) {
	var n int
	return t.Get(query, args, &n)
}

// Each calls row for every row of a query.
func (t *Tx) Each(query string, row func(*sql.Rows) error, args ...any) error {
	return t.scan(t.ctx, query, row, args)
}

// EachBrief is Each for short queries, which it does not interrupt: making them interruptible would cost more than they do.
func (t *Tx) EachBrief(query string, row func(*sql.Rows) error, args ...any) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return t.scan(t.unending, query, row, args)
}

func (t *Tx) scan(ctx context.Context, query string, row func(*sql.Rows) error, args []any) error {
	if err := t.Flush(); err != nil {
		return err
	}
	return t.rows(ctx, query, row, args)
}

// EachDirect is EachBrief for queries that read no table with buffered rows.
func (t *Tx) EachDirect(query string, row func(*sql.Rows) error, args ...any) error {
	return t.rows(t.unending, query, row, args)
}

func (t *Tx) rows(ctx context.Context, query string, row func(*sql.Rows) error, args []any) error {
	rows, err := t.inner.QueryContext(ctx, query, args...)
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

// Queryer returns what readers of other rooms ask within the transaction, with the context that they must ask it with. No rows
// of their tables may be buffered.
func (t *Tx) Queryer() (context.Context, sqlx.QueryerContext) { return t.unending, t.inner }

// IDs returns the numbers that a query yields, each once, in ascending order.
func (t *Tx) IDs(query string, args ...any) ([]int64, error) {
	set := map[int64]bool{}
	err := t.Each(query, IntoSet(set), args...)
	return Sorted(set), err
}

// IntoSet returns a callback of Each that collects numbers.
func IntoSet(set map[int64]bool) func(*sql.Rows) error {
	return func(r *sql.Rows) error {
		var id int64
		if err := r.Scan(&id); err != nil {
			return err
		}
		set[id] = true
		return nil
	}
}

// Sorted returns the keys of a set in ascending order.
func Sorted[V any](set map[int64]V) []int64 { return slices.Sorted(maps.Keys(set)) }

// NextID returns the next free row id of a table. All row ids of a commit come from here.
func (t *Tx) NextID(table string) (int64, error) {
	n, ok := t.next[table]
	if !ok {
		if _, err := t.GetDirect("SELECT coalesce(max(id), 0) FROM "+table, nil, &n); err != nil {
			return 0, err
		}
	}
	n++
	t.next[table] = n
	return n, nil
}

// EachBeside is Each for short queries that do not read run_claims, transcripts or conversations.
func (t *Tx) EachBeside(query string, row func(*sql.Rows) error, args ...any) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if err := t.flushFiles(); err != nil {
		return err
	}
	return t.EachDirect(query, row, args...)
}

// FillTemp replaces the content of a temporary table of one integer column.
func (t *Tx) FillTemp(table string, values []int64) error {
	if err := t.ExecDirect("CREATE TEMP TABLE IF NOT EXISTS " + table + " (id INTEGER PRIMARY KEY)"); err != nil {
		return err
	}
	if err := t.ExecDirect("DELETE FROM temp." + table); err != nil {
		return err
	}
	b := t.Inserter("OR IGNORE INTO temp."+table, "id")
	for _, v := range values {
		if err := b.Add(v); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Lot is how many keys one statement looks up.
const Lot = 64
