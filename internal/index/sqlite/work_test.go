package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"testing"

	"github.com/jmoiron/sqlx"
	"modernc.org/libc"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// work is what a connection was asked to do. It is the same on every machine and under any load, so tests can compare
// it where they could not compare times.
type work struct {
	prepared   int // statements: each takes as long as many executions
	statements int // executed
	rows       int // handed back
	steps      int // of SQLite's virtual machine; what FTS5 does inside is left out
	touched    int // pages looked at, FTS5's too
	written    int // pages written to the log
}

func (w work) String() string {
	return fmt.Sprintf("%d prepared, %d statements, %d rows, %d steps, %d pages touched, %d written", w.prepared, w.statements, w.rows, w.steps, w.touched, w.written)
}

// least is the smaller of two works in each respect.
func least(a, b work) work {
	return work{min(a.prepared, b.prepared), min(a.statements, b.statements), min(a.rows, b.rows), min(a.steps, b.steps), min(a.touched, b.touched), min(a.written, b.written)}
}

// within fails where n units of got cost more than factor times what base units of want cost. pages is the factor for
// pages, which trees that are higher, and keys that lie in pages of their own, make a few more.
func (w work) within(t *testing.T, what string, n int, want work, base int, factor, pages float64) {
	t.Helper()
	for _, k := range []struct {
		name     string
		got, was int
		factor   float64
	}{
		{"prepared", w.prepared, want.prepared, factor}, {"statements", w.statements, want.statements, factor}, {"rows", w.rows, want.rows, factor}, {"steps", w.steps, want.steps, factor},
		{"pages touched", w.touched, want.touched, pages}, {"pages written", w.written, want.written, pages},
	} {
		a, b := float64(k.got)/float64(n), float64(k.was)/float64(base)
		if a > b*k.factor {
			t.Errorf("%s: %.1f %s, and %.1f in the small case: %.2f times as much, at most %.2f is right\n%v\n%v", what, a, k.name, b, a/b, k.factor, w, want)
		}
	}
}

// counter counts what the connections that it opens do.
type counter struct {
	sqldriver.Connector
	pool *sqlx.DB
	work *work
	tls  *libc.TLS
}

func newCounter(t *testing.T, old *sqlx.DB, dsn string) *counter {
	t.Helper()
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	c := &counter{Connector: engine.TableConnector(new(driver.Driver), dsn), work: &work{}, tls: libc.NewTLS()}
	t.Cleanup(c.tls.Close)
	return c
}

// countWrites puts a counting connection in the place of the one that writes.
func countWrites(t *testing.T, db *DB) *counter {
	t.Helper()
	c := newCounter(t, db.w.DB, db.w.DSN)
	c.pool = write.Pool(c)
	db.w.DB = c.pool
	return c
}

// countReads puts one counting connection in the place of those that read.
func countReads(t *testing.T, db *DB) *counter {
	t.Helper()
	c := newCounter(t, db.r, db.dsn(readerPragmas, url.Values{"mode": {"ro"}}))
	c.pool = engine.Pool(c, readStatements)
	c.pool.SetMaxOpenConns(1)
	db.readBy(c.pool)
	return c
}

// of is the work of do.
func (c *counter) of(t *testing.T, do func() error) work {
	t.Helper()
	pages := func() {
		conn, err := c.pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.Raw(func(conn any) error { return conn.(*engine.CachingConn).Conn.(*countedConn).pages() }); err != nil {
			t.Fatal(err)
		}
	}
	pages() // of what went before
	*c.work = work{}
	if err := do(); err != nil {
		t.Fatal(err)
	}
	pages()
	return *c.work
}

func (c *counter) Connect(ctx context.Context) (sqldriver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := inner.(engine.Conn)
	if !ok {
		return nil, errors.Join(errors.New("the driver has no contexts"), inner.Close())
	}
	return &countedConn{conn, c}, nil
}

type countedConn struct {
	engine.Conn
	c *counter
}

// pages adds the pages since the last call.
func (c *countedConn) pages() error {
	for _, k := range []struct {
		op driver.DBStatusOp
		to *int
	}{{driver.DBStatusCacheHit, &c.c.work.touched}, {driver.DBStatusCacheMiss, &c.c.work.touched}, {driver.DBStatusCacheWrite, &c.c.work.written}} {
		n, _, err := c.Conn.(driver.DBStatus).Status(k.op, true)
		if err != nil {
			return err
		}
		*k.to += n
	}
	return nil
}

func (c *countedConn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	stmt, err := c.Conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	inner, ok := stmt.(engine.Stmt)
	if !ok {
		return nil, errors.Join(errors.New("the driver has no contexts"), stmt.Close())
	}
	c.c.work.prepared++
	return &countedStmt{inner, c.c}, nil
}

func (c *countedConn) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	stmt, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := stmt.(*countedStmt).ExecContext(ctx, args)
	return result, errors.Join(err, stmt.Close())
}

func (c *countedConn) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	stmt, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.(*countedStmt).QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	rows.(*countedRows).done = stmt.Close
	return rows, nil
}

type countedStmt struct {
	engine.Stmt
	c *counter
}

// steps adds what the statement has done since the last call. The driver does not tell, so it is asked of the statement's
// handle.
func (s *countedStmt) steps() {
	handle := reflect.Indirect(reflect.ValueOf(s.Stmt)).FieldByName("pstmt").Uint()
	if handle != 0 { // of a script, whose statements are gone already
		s.c.work.steps += int(sqlite3.Xsqlite3_stmt_status(s.c.tls, uintptr(handle), sqlite3.SQLITE_STMTSTATUS_VM_STEP, 1))
	}
}

func (s *countedStmt) ExecContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	s.c.work.statements++
	defer s.steps()
	return s.Stmt.ExecContext(ctx, args)
}

func (s *countedStmt) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	s.c.work.statements++
	rows, err := s.Stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return &countedRows{Rows: rows, s: s, done: func() error { return nil }}, nil
}

type countedRows struct {
	sqldriver.Rows
	s    *countedStmt
	done func() error
}

func (r *countedRows) Next(dest []sqldriver.Value) error {
	err := r.Rows.Next(dest)
	if err == nil {
		r.s.c.work.rows++
	} else if err != io.EOF {
		return err
	}
	return err
}

func (r *countedRows) Close() error {
	r.s.steps()
	err := r.Rows.Close()
	return errors.Join(err, r.done())
}
