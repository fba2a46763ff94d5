// Package sqlite keeps the index in one SQLite file. It owns the file, its schema (migrations/sqlite) and its connections: one
// that writes, a pool that only reads, and one for the console.
//
// What writes is here: commits, upkeep (Tidy, Optimize, Purge) and the state of this machine. What only reads is in the
// sub-packages, by contract: ask, catalog, retention, stats, usage, verify and console. DB embeds their readers. All SQL of the
// program is in this tree.
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
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
	"github.com/txarchive/txarchive/internal/index/sqlite/console"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/retention"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/stats"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
)

// The other readers are embedded under names of their own.
type (
	catalogReader   = catalog.Reader
	retentionReader = retention.Reader
	statsReader     = stats.Reader
	usageReader     = usage.Reader
)

// DB is an open index. It is safe for use by several goroutines.
type DB struct {
	*ask.Reader // the readers ask r
	*catalogReader
	*retentionReader
	*statsReader
	*usageReader

	w       *sqlx.DB // one connection; nil when opened to read
	r       *sqlx.DB
	path    string
	options Options

	immutable bool        // nothing can be written beside the file, so nothing will change
	torn      atomic.Bool // a transaction was given up
	console   *console.Console

	bulkRows int   // batches of as many rows become segments
	slots    int64 // rows that one hour takes
	words    indexedWords
}

// Options says how to open an index.
type Options struct {
	// ReadOnly opens an index that exists. It changes nothing and never waits for a writer.
	ReadOnly bool
	// Text gives the texts that SQL functions of the console return; without it they fail.
	Text TextFunc
	// Unlogged writes an index that nobody else knows of yet, without any journal: every page is written once instead of twice,
	// and nothing can be undone. Transactions ignore the end of their context, and one that fails costs the index (Torn), as
	// does a crash before the file has been closed and made durable.
	Unlogged bool
}

// Torn reports whether an Unlogged index holds part of a transaction and must be dropped.
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
	db.console = console.New(db.dsn, options.Text)
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
		db.read() // who reads first connects: to see that it can would be to parse the schema once more
		return db.create(ctx)
	}
	return db.openBoth(ctx)
}

// create applies the schema to an empty file. goose tries a migration again that found the disk full, so it must be possible to
// undo one even in an Unlogged index: the second attempt would report the file as damaged.
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

// openBoth opens the writing connection and a reading one concurrently, because nearly all of the time goes into each of them
// reading the schema. A reader that finds the schema too old, or no shared memory yet, is opened again once the writer has seen
// to that.
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
	if err == nil || !engine.CannotOpen(err) {
		return err
	}
	for _, file := range []string{"", "-wal", "-shm"} { // which SQLite does not name
		if denied := disk.Denied(db.path + file); denied != nil {
			return denied
		}
	}
	if hasLog(db.path) {
		return fmt.Errorf("%w: its write-ahead log is not empty, and who reads that must be able to write to %s", err, filepath.Dir(db.path))
	}
	// Nothing can be written there, not even the shared memory that readers of a WAL need. So nobody else can have the index
	// open.
	closing := db.r.Close()
	db.immutable = true
	db.read()
	return errors.Join(current(ctx, db.r.DB), closing)
}

// read opens the pool of connections that only read.
func (db *DB) read() {
	pragmas := readerPragmas
	if db.options.Unlogged {
		pragmas = unloggedReaderPragmas
	}
	db.readBy(readers(db.dsn(pragmas, url.Values{"mode": {"ro"}})))
}

// readBy makes a pool the one that every reader asks.
func (db *DB) readBy(pool *sqlx.DB) {
	db.r = pool
	db.Reader, db.usageReader, db.retentionReader = ask.New(pool), usage.New(pool), retention.New(pool)
	db.catalogReader, db.statsReader = catalog.New(pool), stats.New(pool)
}

// hasLog reports whether the write-ahead log beside the file holds any of the index.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// Close closes all connections. The index must not be used afterwards.
func (db *DB) Close() error {
	errs := []error{db.console.Close()}
	if db.r != nil {
		errs = append(errs, db.r.Close())
	}
	if db.w != nil {
		errs = append(errs, db.w.Close())
		spare.Store(nil)
	}
	return errors.Join(errs...)
}

// Rest gives back the memory that writing took, for when little or nothing is left to write: the writer's page cache, the spare
// builder and the collector's free pages. SQLite bounds what it keeps by the sum of all caches, so the share of this cache
// would otherwise go to another index in the process.
func (db *DB) Rest(ctx context.Context) error {
	_, err := db.w.ExecContext(ctx, "PRAGMA cache_size = -1024; PRAGMA shrink_memory")
	spare.Store(nil)
	debug.FreeOSMemory()
	return engine.Damage(err)
}

// TextFunc gives the texts that SQL functions of the console ask for: see console.TextFunc.
type TextFunc = console.TextFunc

// Query runs one statement that reads, on a connection of its own: see console.Console.
func (db *DB) Query(ctx context.Context, q index.Question, columns func([]string) error, row func([]any) error) error {
	return db.console.Query(ctx, q, columns, row)
}

// Path returns the path of the index file.
func (db *DB) Path() string { return db.path }

// Pragmas are in the DSN, so that every connection of a pool has them. A larger writer cache has not made large ingests faster;
// with a smaller one of 16 MB an ingest of 500 MB writes 8 % more pages and reads 40 % more.
var (
	writerPragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-40960)",
		"temp_store(MEMORY)", "wal_autocheckpoint(8000)", "foreign_keys(0)", "secure_delete(FAST)"}
	// returnsPages is for new files: it lets them shrink without VACUUM (giveBack). On an existing file, each connection would
	// write it to the file again.
	returnsPages = "auto_vacuum(INCREMENTAL)"
	// unloggedPragmas are for an index that is built. Without a log its readers wait for a transaction to be written, and the
	// writer waits for readers.
	unloggedPragmas = []string{"busy_timeout(600000)", "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-40960)",
		"temp_store(MEMORY)", "foreign_keys(0)", "secure_delete(FAST)"}
	// Readers map no memory and keep small caches: the operating system caches the file, and the memory of one process stays
	// bounded.
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

// Prepared statements that each connection keeps. Preparing one takes 0.1 to 0.5 ms, more than most of them take to run. A
// commit has some 180.
const (
	readStatements  = 96
	writeStatements = 256
)

// writer returns a pool of one connection.
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
