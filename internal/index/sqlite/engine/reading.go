package engine

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

// Reading is a transaction that reads one state of a file.
type Reading struct {
	*sqlx.Tx
	conn *sqlx.Conn
}

// Read begins one on a connection of a Pool.
func Read(ctx context.Context, pool *sqlx.DB) (*Reading, error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Reading{tx, conn}, nil
}

// Rollback ends it, and gives the connection back.
func (r *Reading) Rollback() error { return errors.Join(r.Tx.Rollback(), r.conn.Close()) }

// Memory is what the connection remembers of the state that is read: see Remembered.
func (r *Reading) Memory(ctx context.Context, begin func() any) (memory any, err error) {
	return Remembered(ctx, r.Tx, r.conn, begin)
}

// Remembered is what the connection of a transaction remembers: what begin gave, here or in an earlier transaction, as long as
// nobody else has committed since.
func Remembered(ctx context.Context, tx *sqlx.Tx, conn interface{ Raw(func(any) error) error }, begin func() any) (memory any, err error) {
	var version int64 // tells states apart that one connection has seen
	if err := tx.GetContext(ctx, &version, "PRAGMA data_version"); err != nil {
		return nil, err
	}
	return memory, conn.Raw(func(conn any) error {
		c, ok := conn.(*Cached)
		if !ok {
			return errors.New("the connection is of no Pool")
		}
		if c.memory == nil || c.version != version {
			c.memory, c.version = begin(), version
		}
		memory = c.memory
		return nil
	})
}
