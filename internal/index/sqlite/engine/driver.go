// Package engine is SQLite as the rooms of the index use it: connections that keep their statements prepared, rows read from
// them, and what its errors mean. It knows no table.
package engine

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/index"
)

// connector opens connections on a driver value of its own: functions and hooks that one pool has are seen
// by no other, and nothing is registered by name.
type connector struct {
	driver *driver.Driver
	dsn    string
}

// Connector opens connections to what a DSN names.
func Connector(d *driver.Driver, dsn string) sqldriver.Connector {
	configure()
	return connector{d, dsn}
}

func (c connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.driver.Open(c.dsn)
}

func (c connector) Driver() sqldriver.Driver { return c.driver }

// Code is the primary result code of an error of SQLite, 0 for any other error.
func Code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Damage turns errors of SQLite that are about its file into those of package index. That a transaction has ended says that its context has:
// nobody else ends one that is still asked.
func Damage(err error) error {
	means := sentinelOf(err)
	if means == nil || errors.Is(err, means) {
		return err
	}
	return fmt.Errorf("%w: %w", means, err)
}

func sentinelOf(err error) error {
	switch Code(err) {
	case 0:
		if errors.Is(err, sql.ErrTxDone) {
			return context.Canceled
		}
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return index.ErrDamaged
	case sqlite3.SQLITE_FULL:
		return index.ErrFull
	case sqlite3.SQLITE_IOERR:
		if noShmSpace(err) {
			return index.ErrFull
		}
		return index.ErrDisk
	}
	return nil
}

// noShmSpace says that what readers of a log share could not be made: that takes 32 KiB.
func noShmSpace(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// CannotOpen says that SQLite could not open or share a file: also where nothing beside it may be written.
func CannotOpen(err error) bool {
	return Code(err) == sqlite3.SQLITE_CANTOPEN || Code(err) == sqlite3.SQLITE_READONLY || noShmSpace(err)
}
