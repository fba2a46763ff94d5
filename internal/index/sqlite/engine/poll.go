package engine

import (
	"context"
	sqldriver "database/sql/driver"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A statement ends when its context does. database/sql watches each transaction and each statement with a goroutine, and the
// driver with one more: each wakes a thread and is stopped before most statements have found their row, which took a fifth
// of the time of a short query. Statements that read therefore run with a context that nobody watches: SQLite polls it
// every pollSteps steps of its virtual machine, and polledRows polls it for each row.

// Polled returns ctx for statements of a Pool: they end when it does, by polling instead of a watching goroutine.
func Polled(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return polled{ctx}
}

type polled struct{ context.Context }

// Done hides the end of the context from database/sql and the driver.
func (polled) Done() <-chan struct{} { return nil }

// pollSteps is after how many steps of SQLite's virtual machine the context is polled: some tens of microseconds.
const pollSteps = 1000

// poller interrupts statements of one connection whose context has ended.
type poller struct {
	ctx context.Context // of the running call; nil: never interrupt
	tls *libc.TLS
	db  uintptr
}

// newPoller returns nil if conn is not a connection of the driver.
func newPoller(conn any) *poller {
	if db := Handle(conn); db != 0 {
		return &poller{tls: libc.NewTLS(), db: db}
	}
	return nil
}

func (a *poller) close() {
	if a != nil {
		a.tls.Close()
	}
}

// run runs a call of the driver and interrupts it when ctx ends; it then returns the context's error. It sets SQLite's
// progress handler each time, because the driver replaces it when it is given another kind of context.
func (a *poller) run(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sqlite3.Xsqlite3_progress_handler(a.tls, a.db, pollSteps, checkContext, uintptr(unsafe.Pointer(a)))
	a.ctx = ctx
	err := call()
	a.ctx = nil
	if err != nil && Code(err) == sqlite3.SQLITE_INTERRUPT && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

var checkContext = *(*uintptr)(unsafe.Pointer(&struct {
	f func(*libc.TLS, uintptr) int32
}{func(_ *libc.TLS, p uintptr) int32 {
	if ctx := deref[poller](p).ctx; ctx != nil && ctx.Err() != nil {
		return 1
	}
	return 0
}}))

// splitPolled returns the context for the driver, and the one to poll: nil where the driver watches the context itself.
func (c *CachingConn) splitPolled(ctx context.Context) (within context.Context, is context.Context) {
	if a, ok := ctx.(polled); !ok {
		return ctx, nil
	} else if c.poller == nil {
		return a.Context, nil
	} else {
		return ctx, a.Context
	}
}

// polledRows polls the context at each row.
type polledRows struct {
	sqldriver.Rows
	poller *poller
	ctx    context.Context
}

// Next implements sqldriver.Rows.
func (r *polledRows) Next(to []sqldriver.Value) error {
	return r.poller.run(r.ctx, func() error { return r.Rows.Next(to) })
}
