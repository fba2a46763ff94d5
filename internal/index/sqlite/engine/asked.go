package engine

import (
	"context"
	sqldriver "database/sql/driver"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A statement ends with its context. database/sql has a goroutine wait for that for each transaction and for each statement, and
// the driver another one: each is begun, wakes a thread, and is told to go before most statements have found their row. That
// took a fifth of a short question. A statement that reads is therefore run with a context that nobody waits for, and SQLite
// asks it, every so many steps of its machine; who goes through the rows asks it at each.

// Asked is ctx for statements of a Pool: they end with it, and nobody waits for that.
func Asked(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return asked{ctx}
}

type asked struct{ context.Context }

// Done hides that the context ends.
func (asked) Done() <-chan struct{} { return nil }

// askedSteps is after how many steps of SQLite's machine a context is asked: some tens of microseconds.
const askedSteps = 1000

// asker is what a connection asks whether to go on.
type asker struct {
	ctx context.Context // of the call that runs; nil: it goes on
	tls *libc.TLS
	db  uintptr
}

// newAsker is nil for what is no connection of the driver.
func newAsker(conn any) *asker {
	if db := Handle(conn); db != 0 {
		return &asker{tls: libc.NewTLS(), db: db}
	}
	return nil
}

func (a *asker) close() {
	if a != nil {
		a.tls.Close()
	}
}

// during runs a call of the driver that ends with a context, and says why when it did. The driver has taken the place that SQLite has
// for who asks when it was given another kind of context, so it is taken back each time.
func (a *asker) during(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sqlite3.Xsqlite3_progress_handler(a.tls, a.db, askedSteps, askContext, uintptr(unsafe.Pointer(a)))
	a.ctx = ctx
	err := call()
	a.ctx = nil
	if err != nil && Code(err) == sqlite3.SQLITE_INTERRUPT && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

var askContext = *(*uintptr)(unsafe.Pointer(&struct {
	f func(*libc.TLS, uintptr) int32
}{func(_ *libc.TLS, p uintptr) int32 {
	if ctx := at[asker](p).ctx; ctx != nil && ctx.Err() != nil {
		return 1
	}
	return 0
}}))

// askedFor returns the context of a call that a connection asks for, and nil for one that the driver sees to.
func (c *Cached) askedFor(ctx context.Context) (within context.Context, is context.Context) {
	if a, ok := ctx.(asked); !ok {
		return ctx, nil
	} else if c.asker == nil {
		return a.Context, nil
	} else {
		return ctx, a.Context
	}
}

// askedRows ask at each row.
type askedRows struct {
	sqldriver.Rows
	asker *asker
	ctx   context.Context
}

// Next implements sqldriver.Rows.
func (r *askedRows) Next(to []sqldriver.Value) error {
	return r.asker.during(r.ctx, func() error { return r.Rows.Next(to) })
}
