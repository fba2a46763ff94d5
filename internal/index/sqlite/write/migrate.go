package write

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/pressly/goose/v3"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/migrations"
)

const schemaVersion = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"

// latest is the version of the newest migration that this program has.
var latest = sync.OnceValues(func() (int64, error) {
	names, err := fs.Glob(migrations.SQLite, "sqlite/*.sql")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, name := range names {
		v, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		newest = max(newest, v)
	}
	return newest, nil
})

// version reads the version of the schema, 0 for a file that has none. db must be a Pool of the engine.
func version(ctx context.Context, db *sql.DB) (v int64, err error) {
	err = db.QueryRowContext(engine.Polled(ctx), schemaVersion).Scan(&v)
	if engine.Code(err) == sqlite3.SQLITE_ERROR { // no such table: nothing was ever applied
		return 0, nil
	}
	return v, err
}

// Current returns nil if the schema is exactly the one that this program knows.
func Current(ctx context.Context, db *sql.DB) error {
	_, err := compared(ctx, db)
	return err
}

// compared returns the version of the schema, and an error if it is not the one that this program knows.
func compared(ctx context.Context, db *sql.DB) (have int64, err error) {
	want, err := latest()
	if err != nil {
		return 0, err
	}
	have, err = version(ctx, db)
	switch {
	case err != nil:
		return 0, err
	case have > want:
		return have, fmt.Errorf("schema %d, known is %d: %w", have, want, index.ErrTooNew)
	case have < want:
		return have, fmt.Errorf("schema %d, needed is %d: %w", have, want, index.ErrTooOld)
	}
	return have, nil
}

// Migrate brings the schema up to date. If it is, that costs one SELECT. A file that has none gets the newest at once: the
// migrations take four times as long, most of it for tables that one makes and another changes.
func (w *Writer) Migrate(ctx context.Context) error {
	have, err := compared(ctx, w.DB.DB)
	switch {
	case !errors.Is(err, index.ErrTooOld):
		return err
	case have == 0:
		return w.create(ctx)
	}
	return w.upgrade(ctx)
}

// create applies the schema to a file that has none. It may have the table of migrations: earlier programs made that before the first of them, which
// could fail.
func (w *Writer) create(ctx context.Context) error {
	tx, err := w.DB.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS goose_db_version;\n"+migrations.SQLiteSchema); err != nil {
		return errors.Join(fmt.Errorf("apply schema: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

// upgrade applies the migrations that are missing.
func (w *Writer) upgrade(ctx context.Context) error {
	files, err := fs.Sub(migrations.SQLite, "sqlite")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, w.DB.DB, files,
		goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
