// Package sqlite keeps the index in one SQLite file. All SQL of the house is here and in migrations/sqlite.
//
// It owns the file, its schema and its connections: one that writes, a pool that only reads, and the fenced
// ones of the console. It promises what package index promises, and that nothing it does is visible outside
// of its own driver values.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	driver "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// DB is an open index. It is safe for use by several goroutines.
type DB struct {
	*ask.Reader // what only reads; over r

	w       *sqlx.DB // one connection; nil when opened to read
	r       *sqlx.DB
	path    string
	options Options

	immutable bool        // nothing can be written beside the file, so nothing will change
	torn      atomic.Bool // a transaction was given up
	console   console

	bulkRows int   // batches of as many rows become segments
	slots    int64 // rows that one hour takes
	words    indexedWords
}

// Options says how to open an index.
type Options struct {
	// ReadOnly opens an index that exists, changes nothing and never waits for a writer.
	ReadOnly bool
	// Text serves the SQL functions of the console; without it they give an error.
	Text TextFunc
	// Unlogged makes an index that nobody else knows of yet. What is written goes into the file alone, once instead of twice, and
	// nothing is undone: transactions go on when their context ends, one that fails costs the index (Torn), and so does
	// a crash until the file was closed and made durable.
	Unlogged bool
}

// Torn says of an Unlogged index whether part of a transaction stands in it, so that it is worth nothing.
func (db *DB) Torn() bool { return db.options.Unlogged && db.torn.Load() }

// Open opens the index at path, creates it when there is none, and brings an older schema up to date.
//
// Errors: index.ErrTooNew when a later program made it, index.ErrDamaged when it is no index any more; for a
// ReadOnly one also fs.ErrNotExist, and index.ErrTooOld when only a writer can bring it up to date.
func Open(ctx context.Context, path string, options Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, options: options, bulkRows: bulkRows, slots: 1 << schema.SlotBits}
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open index %s: %w", path, engine.Damage(err)), db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	if db.options.ReadOnly {
		if _, err := os.Stat(db.path); err != nil {
			return err
		}
		return db.openReader(ctx)
	}
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite itself would let others read
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	pragmas := writerPragmas
	if db.options.Unlogged {
		pragmas = unloggedPragmas
	}
	if info.Size() == 0 {
		pragmas = append(pragmas, returnsPages)
	}
	db.w = writer(db.dsn(pragmas, url.Values{"_txlock": {"immediate"}}))
	if info.Size() == 0 {
		if err := db.create(ctx); err != nil {
			return err
		}
		return db.openReader(ctx)
	}
	return db.openBoth(ctx)
}

// create makes the schema of an empty file. What finds no room is tried again by goose, so it has to be undone here even where nothing else
// can be: it would say that the file is damaged.
func (db *DB) create(ctx context.Context) error {
	if !db.options.Unlogged {
		return migrate(ctx, db.w.DB)
	}
	if _, err := db.w.ExecContext(ctx, "PRAGMA journal_mode = MEMORY"); err != nil {
		return err
	}
	if err := migrate(ctx, db.w.DB); err != nil {
		return err
	}
	_, err := db.w.ExecContext(ctx, "PRAGMA journal_mode = OFF")
	return err
}

// openBoth opens the connection that writes and one that reads beside each other: nearly all of it is that each reads the schema.
// A reader that finds it too old, or nothing to share yet, is opened again when the writer has seen to that.
func (db *DB) openBoth(ctx context.Context) error {
	db.read()
	var reader error
	var beside sync.WaitGroup
	beside.Go(func() { reader = current(ctx, db.r.DB) })
	err := migrate(ctx, db.w.DB)
	if beside.Wait(); err != nil || reader == nil {
		return err
	}
	return errors.Join(db.r.Close(), db.openReader(ctx))
}

func (db *DB) openReader(ctx context.Context) error {
	db.read()
	err := current(ctx, db.r.DB)
	if err == nil || !engine.CannotOpen(err) || hasLog(db.path) {
		return err
	}
	// Nothing can be written there, not even what readers of a log share. So nobody else can have the index open.
	closing := db.r.Close()
	db.immutable = true
	db.read()
	return errors.Join(current(ctx, db.r.DB), closing)
}

// read opens the connections that only read.
func (db *DB) read() {
	pragmas := readerPragmas
	if db.options.Unlogged {
		pragmas = unloggedReaderPragmas
	}
	db.r = readers(db.dsn(pragmas, url.Values{"mode": {"ro"}}))
	db.Reader = ask.New(db.r)
}

// hasLog says whether some of the index stands in the log beside it.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// Close closes every connection. It is an error to use the index afterwards.
func (db *DB) Close() error {
	errs := []error{db.console.close()}
	if db.r != nil {
		errs = append(errs, db.r.Close())
	}
	if db.w != nil {
		errs = append(errs, db.w.Close())
		spare.Store(nil)
	}
	return errors.Join(errs...)
}

// Rest gives back the memory that writing took, when there is little or nothing left to write: the writer's cache, the room in it that
// another index in this process could take for its own (what SQLite keeps is bounded by the sum of all caches), and what the collector
// holds.
func (db *DB) Rest(ctx context.Context) error {
	_, err := db.w.ExecContext(ctx, "PRAGMA cache_size = -1024; PRAGMA shrink_memory")
	spare.Store(nil)
	debug.FreeOSMemory()
	return engine.Damage(err)
}

// Path is where the index lies.
func (db *DB) Path() string { return db.path }

// Pragmas stand in the DSN, so that every connection of a pool has them. More of the writer's cache has not made large ingests faster;
// of less, 16 MB, an ingest of 500 MB writes 8 % more pages and reads 40 % more.
var (
	writerPragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-40960)",
		"temp_store(MEMORY)", "wal_autocheckpoint(8000)", "foreign_keys(0)", "secure_delete(FAST)"}
	// returnsPages is for a file that is made: it shall become smaller without being written anew (giveBack). Said of one that is
	// there, it would be written into it each time.
	returnsPages = "auto_vacuum(INCREMENTAL)"
	// unloggedPragmas are for an index that is built. Without a log its readers wait while a transaction is written, and it waits for them.
	unloggedPragmas = []string{"busy_timeout(600000)", "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-40960)",
		"temp_store(MEMORY)", "foreign_keys(0)", "secure_delete(FAST)"}
	// Readers map nothing and keep little: the system has the file in memory, and what one process takes stays bounded.
	readerPragmas         = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(-2048)", "temp_store(MEMORY)"}
	unloggedReaderPragmas = []string{"busy_timeout(600000)", "query_only(1)", "cache_size(-2048)", "temp_store(MEMORY)"}
)

func (db *DB) dsn(pragmas []string, values url.Values) string {
	values["_pragma"] = pragmas
	if db.immutable {
		values.Set("immutable", "1")
	}
	values.Set("_dqs", "0")
	values.Set("_error_rc", "1")
	return disk.URI(db.path, values.Encode())
}

// How many statements each connection keeps prepared. Preparing one costs a tenth to half a millisecond, more than most of
// them take to run. A commit has some 180.
const (
	readStatements  = 96
	writeStatements = 256
)

// writer is a pool of one.
func writer(dsn string) *sqlx.DB {
	db := engine.Pool(engine.TableConnector(new(driver.Driver), dsn), writeStatements)
	db.SetMaxOpenConns(1)
	return db
}

func readers(dsn string) *sqlx.DB {
	db := engine.Pool(engine.Connector(new(driver.Driver), dsn), readStatements)
	db.SetMaxIdleConns(4)
	return db
}
