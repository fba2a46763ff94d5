package engine

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/jmoiron/sqlx"
)

// ReadTx is a transaction that reads one state of a file. Its statements end with the context that they are given, its own end is
// Rollback.
type ReadTx struct{ conn *sqlx.Conn }

var _ sqlx.QueryerContext = (*ReadTx)(nil)

// BeginRead begins one on a connection of a Pool.
func BeginRead(ctx context.Context, pool *sqlx.DB) (*ReadTx, error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	r := &ReadTx{conn}
	if err := r.run("BEGIN"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return r, nil
}

// run begins and ends: neither waits for anything.
func (r *ReadTx) run(statement string) error {
	return r.conn.Raw(func(conn any) error {
		c, ok := conn.(*CachingConn)
		if !ok {
			return errNoPool
		}
		return c.Run(context.Background(), statement, nil)
	})
}

// errNoPool is a mistake of whoever opened the connection.
var errNoPool = errors.New("the connection is of no Pool")

// Rollback ends it, and gives the connection back. One that does not end is given up.
func (r *ReadTx) Rollback() error {
	err := r.run("ROLLBACK")
	if err != nil {
		err = errors.Join(err, r.conn.Raw(func(any) error { return sqldriver.ErrBadConn }))
	}
	return errors.Join(err, r.conn.Close())
}

// QueryContext is that of database/sql.
func (r *ReadTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return r.conn.QueryContext(Polled(ctx), query, args...)
}

// QueryxContext is that of sqlx.
func (r *ReadTx) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	return r.conn.QueryxContext(Polled(ctx), query, args...)
}

// QueryRowxContext is that of sqlx.
func (r *ReadTx) QueryRowxContext(ctx context.Context, query string, args ...any) *sqlx.Row {
	return r.conn.QueryRowxContext(Polled(ctx), query, args...)
}

// GetContext is that of sqlx.
func (r *ReadTx) GetContext(ctx context.Context, to any, query string, args ...any) error {
	return r.conn.GetContext(Polled(ctx), to, query, args...)
}

// SelectContext is that of sqlx.
func (r *ReadTx) SelectContext(ctx context.Context, to any, query string, args ...any) error {
	return r.conn.SelectContext(Polled(ctx), to, query, args...)
}

// Raw is that of database/sql.
func (r *ReadTx) Raw(do func(conn any) error) error { return r.conn.Raw(do) }

// Raw hands out the connection of the driver, as database/sql does.
type Raw interface {
	Raw(do func(conn any) error) error
}

// ConnMemory is what a connection remembers, which q asks: what begin gave, here or earlier, as long as nobody else has committed
// since.
func ConnMemory(ctx context.Context, q sqlx.QueryerContext, conn Raw, create func() any) (memory any, err error) {
	var version int64 // tells states apart that one connection has seen
	if err := sqlx.GetContext(Polled(ctx), q, &version, "PRAGMA data_version"); err != nil {
		return nil, err
	}
	return memory, conn.Raw(func(conn any) error {
		c, ok := conn.(*CachingConn)
		if !ok {
			return errNoPool
		}
		if c.memory == nil || c.version != version {
			c.memory, c.version = create(), version
		}
		memory = c.memory
		return nil
	})
}
