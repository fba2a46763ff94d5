// Package engine wraps SQLite for the packages of the index: connections that cache prepared statements, helpers to scan
// rows, and the meaning of SQLite's errors. It knows no table.
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

// connector opens connections on a driver value of its own, so that functions and hooks of one pool are not visible to
// others, and nothing is registered globally.
type connector struct {
	driver *driver.Driver
	dsn    string
}

// Connector returns a connector that opens connections to a DSN.
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

// Code returns the primary result code of an SQLite error, 0 for any other error.
func Code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Damage maps SQLite errors that concern the file to those of package index, and sql.ErrTxDone to context.Canceled: nothing
// else ends a transaction that is still in use.
func Damage(err error) error {
	means := sentinelOf(err)
	if means == nil || errors.Is(err, means) {
		return err
	}
	return fmt.Errorf("%w: %w", means, err)
}

// sentinelOf returns the error that err stands for, nil for none.
func sentinelOf(err error) error {
	switch Code(err) {
	case 0:
		if errors.Is(err, sql.ErrTxDone) {
			return context.Canceled
		}
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT: // rows of the packs contradict those in the index
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

// noShmSpace reports that there was no space for the shared memory file of the WAL, which takes 32 KiB.
func noShmSpace(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// CannotOpen reports that SQLite could not open or share a file, which includes that it may not create files beside it.
func CannotOpen(err error) bool {
	return Code(err) == sqlite3.SQLITE_CANTOPEN || Code(err) == sqlite3.SQLITE_READONLY || noShmSpace(err)
}
