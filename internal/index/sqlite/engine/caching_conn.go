package engine

import (
	"container/list"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/jmoiron/sqlx"
)

// Pool returns a pool whose connections keep up to statements prepared statements each.
func Pool(c sqldriver.Connector, statements int) *sqlx.DB {
	return sqlx.NewDb(sql.OpenDB(cachingConnector{c, statements}), "sqlite3")
}

// cachingConnector opens connections that cache prepared statements.
type cachingConnector struct {
	sqldriver.Connector
	maxStatements int
}

func (c cachingConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := inner.(Conn)
	if !ok {
		return nil, errors.Join(errors.New("the driver has no contexts"), inner.Close())
	}
	return &CachingConn{Conn: conn, maxStatements: c.maxStatements, statements: map[string]*list.Element{}, recent: list.New(), poller: newPoller(inner)}, nil
}

// Conn has the interfaces of the driver's connections that database/sql uses.
type Conn interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.Pinger
	sqldriver.SessionResetter
	sqldriver.Validator
}

// CachingConn caches prepared statements, the most recently used ones. Like every connection it must not be used
// concurrently. A statement whose rows are still being read is prepared once more for another use.
type CachingConn struct {
	Conn
	maxStatements int
	statements    map[string]*list.Element // *cachedStatement by text
	recent        *list.List               // most recently used first
	memory        any                      // see ConnMemory
	version       int64                    // data_version of the database that memory belongs to
	rows          *rowSource               // nil before the first ExecRows
	poller        *poller                  // nil where the driver must watch contexts itself
}

// Stmt has the interfaces of the driver's statements that this package uses.
type Stmt interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
}

type cachedStatement struct {
	Stmt
	text string
	busy bool
}

// QueryContext runs a query with a cached statement.
func (c *CachingConn) QueryContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	ctx, asks := c.splitPolled(ctx)
	if asks == nil {
		return c.query(ctx, text, args)
	}
	var rows sqldriver.Rows
	err := c.poller.run(asks, func() (err error) {
		rows, err = c.query(ctx, text, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &polledRows{rows, c.poller, asks}, nil
}

func (c *CachingConn) query(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	s.busy = true
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, c.release(s))
	}
	return &cachedRows{Rows: rows, release: func() error { return c.release(s) }}, nil
}

// Run runs a cached statement that returns no rows.
func (c *CachingConn) Run(ctx context.Context, text string, args []sqldriver.NamedValue) error {
	s, err := c.statement(ctx, text)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(ctx, args)
	return errors.Join(err, c.release(s))
}

func (c *CachingConn) statement(ctx context.Context, text string) (*cachedStatement, error) {
	if e := c.statements[text]; e != nil {
		if s := e.Value.(*cachedStatement); !s.busy {
			c.recent.MoveToFront(e)
			return s, nil
		}
	}
	stmt, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	q, ok := stmt.(Stmt)
	if !ok {
		return nil, errors.Join(errors.New("the driver has no contexts"), stmt.Close())
	}
	s := &cachedStatement{Stmt: q, text: text}
	if c.statements[text] != nil { // the cached one is busy; this one is used only once
		return s, nil
	}
	c.statements[text] = c.recent.PushFront(s)
	return s, c.trim()
}

// trim closes the least recently used statements.
func (c *CachingConn) trim() error {
	for e := c.recent.Back(); e != nil && c.recent.Len() > c.maxStatements; {
		s, before := e.Value.(*cachedStatement), e.Prev()
		if !s.busy && e != c.recent.Front() {
			c.recent.Remove(e)
			delete(c.statements, s.text)
			if err := s.Close(); err != nil {
				return err
			}
		}
		e = before
	}
	return nil
}

// release returns a statement to the cache, or closes it if it is not cached.
func (c *CachingConn) release(s *cachedStatement) error {
	s.busy = false
	if e := c.statements[s.text]; e != nil && e.Value == s {
		return nil
	}
	return s.Close()
}

// Close closes the connection and its statements.
func (c *CachingConn) Close() error {
	var errs []error
	for e := c.recent.Front(); e != nil; e = e.Next() {
		errs = append(errs, e.Value.(*cachedStatement).Close())
	}
	clear(c.statements)
	c.recent.Init()
	if c.rows != nil {
		c.rows.close()
		c.rows = nil
	}
	err := c.Conn.Close()
	c.poller.close()
	return errors.Join(append(errs, err)...)
}

// cachedRows releases its statement when it is closed.
type cachedRows struct {
	sqldriver.Rows
	release func() error
}

func (r *cachedRows) Close() error {
	if r.release == nil {
		return nil
	}
	release := r.release
	r.release = nil
	return errors.Join(r.Rows.Close(), release())
}
