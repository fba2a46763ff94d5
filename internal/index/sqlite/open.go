// Package sqlite keeps the index in one SQLite file. It owns the file, its connections, its upkeep (Tidy, Optimize, Purge,
// Reprice) and the state of this machine.
//
// What reads is in sub-packages, by contract: ask, catalog, retention, stats, usage, verify and console. DB embeds their readers.
// What writes is in commit, and below it resolve, words and write. All SQL of the program is in this tree.
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

	"github.com/jmoiron/sqlx"
	driver "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
	"github.com/txarchive/txarchive/internal/index/sqlite/commit"
	"github.com/txarchive/txarchive/internal/index/sqlite/console"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/retention"
	"github.com/txarchive/txarchive/internal/index/sqlite/stats"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
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

	w       *write.Writer // nil when opened to read
	r       *sqlx.DB
	path    string
	options Options

	immutable bool // nothing can be written beside the file, so nothing will change
	console   *console.Console

	commits commit.Options
	words   words.Known
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
func (db *DB) Torn() bool { return db.w != nil && db.w.Torn() }

// Open opens the index at path, creates it when there is none, and brings an older schema up to date.
//
// Errors: index.ErrTooNew when a later program made it, index.ErrDamaged when it is no index any more; for a
// ReadOnly one also fs.ErrNotExist, and index.ErrTooOld when only a writer can bring it up to date.
func Open(ctx context.Context, path string, options Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, options: options}
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
	db.w = write.Open(db.path, info.Size() == 0, db.options.Unlogged)
	if info.Size() == 0 {
		db.read() // who reads first connects: to see that it can would be to parse the schema once more
		return db.w.Migrate(ctx)
	}
	return db.openBoth(ctx)
}

// openBoth opens the writing connection and a reading one concurrently, because nearly all of the time goes into each of them
// reading the schema. A reader that finds the schema too old, or no shared memory yet, is opened again once the writer has seen
// to that.
func (db *DB) openBoth(ctx context.Context) error {
	db.read()
	var reader error
	var beside sync.WaitGroup
	beside.Go(func() { reader = write.Current(ctx, db.r.DB) })
	err := db.w.Migrate(ctx)
	if beside.Wait(); err != nil || reader == nil {
		return err
	}
	return errors.Join(db.r.Close(), db.openReader(ctx))
}

func (db *DB) openReader(ctx context.Context) error {
	db.read()
	err := write.Current(ctx, db.r.DB)
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
	return errors.Join(write.Current(ctx, db.r.DB), closing)
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
		words.Rest()
	}
	return errors.Join(errs...)
}

// Rest gives back the memory that writing took, for when little or nothing is left to write: the writer's page cache, the spare
// builder and the collector's free pages. SQLite bounds what it keeps by the sum of all caches, so the share of this cache
// would otherwise go to another index in the process.
func (db *DB) Rest(ctx context.Context) error {
	_, err := db.w.ExecContext(ctx, "PRAGMA cache_size = -1024; PRAGMA shrink_memory")
	words.Rest()
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

var (
	// Readers map no memory and keep small caches: the operating system caches the file, and the memory of one process stays
	// bounded.
	readerPragmas         = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(-2048)", "temp_store(MEMORY)"}
	unloggedReaderPragmas = []string{"busy_timeout(600000)", "query_only(1)", "cache_size(-2048)", "temp_store(MEMORY)"}
)

func (db *DB) dsn(pragmas []string, values url.Values) string {
	if db.immutable {
		values.Set("immutable", "1")
	}
	return write.DSN(db.path, pragmas, values)
}

// readStatements is how many prepared statements each reading connection keeps.
const readStatements = 96

func readers(dsn string) *sqlx.DB {
	db := engine.Pool(engine.Connector(new(driver.Driver), dsn), readStatements)
	db.SetMaxIdleConns(4)
	return db
}
