package engine

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/jmoiron/sqlx"
)

// ReadTx is a read transaction on one snapshot of the database. Its statements end with their contexts; Rollback ends the
// transaction.
type ReadTx struct{ conn *sqlx.Conn }

var _ sqlx.QueryerContext = (*ReadTx)(nil)

// BeginRead begins a ReadTx on a connection of a Pool.
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

// run runs BEGIN or ROLLBACK. Neither waits, so they need no context.
func (r *ReadTx) run(statement string) error {
	return r.conn.Raw(func(conn any) error {
		c, ok := conn.(*CachingConn)
		if !ok {
			return errNoPool
		}
		return c.Run(context.Background(), statement, nil)
	})
}

// errNoPool reports a programming error: the connection was not opened by Pool.
var errNoPool = errors.New("the connection is of no Pool")

// Rollback ends the transaction and returns the connection to the pool. If that fails, the connection is discarded.
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

// Raw implements Raw.
func (r *ReadTx) Raw(do func(conn any) error) error { return r.conn.Raw(do) }

// Raw gives access to the driver's connection, as sql.Conn does.
type Raw interface {
	Raw(do func(conn any) error) error
}

// ConnMemory returns the value attached to a connection, which q queries and conn is: the result of create, from this call
// or an earlier one, as long as no other connection has committed since.
func ConnMemory(ctx context.Context, q sqlx.QueryerContext, conn Raw, create func() any) (memory any, err error) {
	var version int64 // changes when another connection commits
	if err := sqlx.GetContext(Polled(ctx), q, &version, "PRAGMA data_version"); err != nil {
		return nil, err
	}
	err = conn.Raw(func(conn any) error {
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
	return memory, err
}
