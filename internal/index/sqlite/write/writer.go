// Package write is the connection that writes, and its transactions: what all that writes shares. It owns the schema's version,
// how rows are inserted and buffered, row ids, interned names and texts, the sums of usage, which follow from the records
// whenever a transaction commits, and what a connection remembers of the keys that tables may have.
//
// It knows nothing of what is written: that is in words, resolve, commit and sqlite.
package write

import (
	sqldriver "database/sql/driver"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	driver "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// Writer is the connection that writes.
type Writer struct {
	*sqlx.DB // a pool of one
	DSN      string
	unlogged bool
	torn     atomic.Bool
}

// Open opens a file that exists. It connects when it is first asked. Without a log (unlogged) nothing can be undone, and
// transactions ignore the end of their context.
func Open(path string, empty, unlogged bool) *Writer {
	pragmas := writerPragmas
	if unlogged {
		pragmas = unloggedPragmas
	}
	if empty {
		pragmas = append(slices.Clip(pragmas), ReturnsPages)
	}
	w := &Writer{DSN: DSN(path, pragmas, url.Values{"_txlock": {"immediate"}}), unlogged: unlogged}
	w.DB = Pool(engine.TableConnector(new(driver.Driver), w.DSN))
	return w
}

// writeStatements is how many prepared statements the connection keeps. Preparing one takes 0.1 to 0.5 ms, more than most of
// them take to run. A commit has some 180.
const writeStatements = 256

// Pool returns a pool of one connection.
func Pool(c sqldriver.Connector) *sqlx.DB {
	db := engine.Pool(c, writeStatements)
	db.SetMaxOpenConns(1)
	return db
}

// Tear notes that part of a change that cannot be undone may be in the file.
func (w *Writer) Tear() { w.torn.Store(true) }

// Torn reports whether a file without a log holds part of a transaction.
func (w *Writer) Torn() bool { return w.unlogged && w.torn.Load() }

// Pragmas are in the DSN, so that every connection of a pool has them. A larger writer cache has not made large ingests faster;
// with a smaller one of 16 MB an ingest of 500 MB writes 8 % more pages and reads 40 % more.
var (
	writerPragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-40960)",
		"temp_store(MEMORY)", "wal_autocheckpoint(8000)", "foreign_keys(0)", "secure_delete(FAST)"}
	// unloggedPragmas are for an index that is built. Without a log its readers wait for a transaction to be written, and the
	// writer waits for readers.
	unloggedPragmas = []string{"busy_timeout(600000)", "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-40960)",
		"temp_store(MEMORY)", "foreign_keys(0)", "secure_delete(FAST)"}
)

// ReturnsPages is the pragma of new files: it lets them shrink without VACUUM. On an existing file, each connection would write
// it to the file again.
const ReturnsPages = "auto_vacuum(INCREMENTAL)"

// DSN names a file and the pragmas of its connections.
func DSN(path string, pragmas []string, values url.Values) string {
	values["_pragma"] = pragmas
	values.Set("_dqs", "0")
	values.Set("_error_rc", "1")
	return disk.URI(path, values.Encode())
}
