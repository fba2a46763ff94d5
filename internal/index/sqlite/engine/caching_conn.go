package engine

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/lru"
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
	return &CachingConn{Conn: conn, statements: lru.New[string, *cachedStatement](int64(c.maxStatements)), poller: newPoller(inner)}, nil
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
	statements *lru.Map[string, *cachedStatement] // by text
	memory     any                                // see ConnMemory
	version    int64                              // data_version of the database that memory belongs to
	rows       *rowSource                         // nil before the first ExecRows
	poller     *poller                            // nil where the driver must watch contexts itself
}

// Stmt has the interfaces of the driver's statements that this package uses.
type Stmt interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
}

type cachedStatement struct {
	Stmt
	busy   bool
	cached bool // in CachingConn.statements
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
	s, known := c.statements.Get(text)
	if known && !s.busy {
		return s, nil
	}
	stmt, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	q, ok := stmt.(Stmt)
	if !ok {
		return nil, errors.Join(errors.New("the driver has no contexts"), stmt.Close())
	}
	if known { // the cached one is busy; this one is used only once
		return &cachedStatement{Stmt: q}, nil
	}
	s = &cachedStatement{Stmt: q, cached: true}
	return s, drop(c.statements.Put(text, s, 1))
}

// drop closes statements that are no longer cached; those that are busy are closed when they are released.
func drop(statements []*cachedStatement) error {
	var errs []error
	for _, s := range statements {
		s.cached = false
		if !s.busy {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// release returns a statement to the cache, or closes it if it is not cached.
func (c *CachingConn) release(s *cachedStatement) error {
	s.busy = false
	if s.cached {
		return nil
	}
	return s.Close()
}

// Close closes the connection and its statements.
func (c *CachingConn) Close() error {
	dropped := drop(c.statements.Clear())
	if c.rows != nil {
		c.rows.close()
		c.rows = nil
	}
	err := c.Conn.Close()
	c.poller.close()
	return errors.Join(dropped, err)
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
