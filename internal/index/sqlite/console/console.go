// Package console runs the statements that people type: one at a time, on a connection of its own that can only read, behind an
// authorizer that refuses what it does not know, and limits on rows, time and memory. It registers the SQL functions that give texts.
package console

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

var _ index.Console = (*Console)(nil)

// The limits of the console.
const (
	// MaxValue is the largest string, blob or row, in bytes.
	MaxValue = 16 << 20
	// maxSQL is the longest statement, in bytes.
	maxSQL = 1 << 20
	// maxMemory is how much memory a statement can take, without the cache, in bytes. It is room for eight values of MaxValue.
	maxMemory = 128 << 20
)

// pragmas let SQLite sort and materialise in temporary files, not in memory.
var pragmas = []string{"busy_timeout(10000)", "cache_size(-32768)", "temp_store(FILE)", "trusted_schema(0)", "query_only(1)"}

// patience is how long a statement that should end may go on without giving a row, once or twice over. SQLite looks between the steps of
// a statement, and one call of instr or replace with long values is one step, of hours.
const patience = time.Second

// Console runs one statement at a time, on a connection that can only read, under an authorizer and limits. It is safe for use by
// several goroutines.
type Console struct {
	dsn  func(pragmas []string, values url.Values) string
	text TextFunc // nil: functions give an error

	mu      sync.Mutex
	session *session // nil before the first statement
	err     error

	running sync.Mutex // held while a statement runs
}

// session is a connection with what its authorizer and functions know of the statement that runs.
type session struct {
	text   TextFunc
	pool   *sql.DB
	ctx    context.Context // of the statement that runs
	denied string          // what the authorizer refused to it
}

// New returns a console, which opens its connection when it is first asked. dsn makes the name of the file with pragmas and parameters.
func New(dsn func(pragmas []string, values url.Values) string, text TextFunc) *Console {
	return &Console{dsn: dsn, text: text}
}

// Close closes the connection. Statements fail from then on.
func (c *Console) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = sql.ErrConnDone
	if c.session == nil {
		return nil
	}
	return c.session.pool.Close()
}

// open opens the connection when it is first needed.
func (c *Console) open() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil || c.err != nil {
		return c.session, c.err
	}
	s := &session{text: c.text}
	d := new(driver.Driver)
	d.RegisterConnectionHook(func(conn driver.ExecQuerierContext, _ string) error {
		r, ok := conn.(driver.AuthorizerRegisterer)
		if !ok {
			return errors.New("the driver has no authorizer")
		}
		return r.RegisterAuthorizer(s.authorize)
	})
	if err := s.registerFunctions(d); err != nil {
		c.err = err
		return nil, err
	}
	s.pool = sql.OpenDB(engine.Connector(d, c.dsn(pragmas, url.Values{"mode": {"ro"}, "_defensive": {"1"}})))
	s.pool.SetMaxOpenConns(1)
	c.session = s
	return s, nil
}

// leave leaves a connection to a statement that does not end. The next one opens another.
func (c *Console) leave() {
	c.mu.Lock()
	c.session = nil
	c.mu.Unlock()
}

// Query runs one statement that reads. Only one runs at a time, so columns and row must not call Query.
func (c *Console) Query(ctx context.Context, q index.Question, columns func([]string) error, row func([]any) error) error {
	if len(q.SQL) > maxSQL {
		return fmt.Errorf("a statement can have at most %d bytes: %w", maxSQL, index.ErrLimit)
	}
	statement, err := single(q.SQL)
	if err != nil {
		return err
	}
	if !q.AllowUnused {
		if err := misnamed(statement, q.Params); err != nil {
			return err
		}
	}
	if q.Time <= 0 {
		q.Time = index.ConsoleTime
	}
	c.running.Lock()
	defer c.running.Unlock()
	timed, cancel := context.WithTimeoutCause(ctx, q.Time, fmt.Errorf("stopped after %v: %w", q.Time, index.ErrLimit))
	defer cancel()
	s, err := c.open()
	if err != nil {
		return err
	}
	s.ctx, s.denied = timed, ""
	left, err := await(timed, func(out *reader) error {
		return s.query(timed, statement, q,
			func(names []string) error { return out.give(func() error { return columns(names) }) },
			func(values []any) error { return out.give(func() error { return row(values) }) })
	})
	if left {
		c.leave()
	}
	return err
}

// await runs query, and leaves it behind if it does not end when ctx has.
func await(ctx context.Context, query func(*reader) error) (left bool, err error) {
	var out reader
	ended := make(chan error, 1)
	go func() { ended <- query(&out) }()
	select {
	case err := <-ended:
		return false, err
	case <-ctx.Done():
	}
	for given := int64(-1); !left; left = out.leftSince(&given) {
		select {
		case err := <-ended:
			return false, err
		case <-time.After(patience):
		}
	}
	return true, context.Cause(ctx)
}

// reader is who reads what a statement gives.
type reader struct {
	mu    sync.Mutex
	given int64
	left  bool
}

// give calls read unless the reader has left.
func (r *reader) give(read func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return context.Canceled
	}
	r.given++
	return read()
}

// leftSince reports whether nothing was given since it was last called, and then nothing will be. It waits for one who still reads.
func (r *reader) leftSince(given *int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = r.given == *given
	*given = r.given
	return r.left
}

// query runs a statement on the connection of a session.
func (s *session) query(ctx context.Context, statement string, q index.Question, columns func([]string) error, row func([]any) error) error {
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return engine.Damage(err)
	}
	defer conn.Close()
	if err := setLimits(conn); err != nil {
		return err
	}
	var unlimited func()
	if err := conn.Raw(func(c any) error { unlimited = engine.LimitMemory(c, maxMemory); return nil }); err != nil {
		return err
	}
	defer unlimited()
	err = run(ctx, conn, statement, q, columns, row)
	if engine.Code(err) == 0 && ctx.Err() == nil {
		return err
	}
	return s.explain(ctx, conn, statement, err)
}

// setLimits bounds what a statement can ask of the engine.
func setLimits(conn *sql.Conn) error {
	for _, l := range [][2]int{
		{sqlite3.SQLITE_LIMIT_ATTACHED, 0},
		{sqlite3.SQLITE_LIMIT_LENGTH, MaxValue},
		{sqlite3.SQLITE_LIMIT_SQL_LENGTH, maxSQL},
		{sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200},
		{sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
		{sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0},
	} {
		if _, err := driver.Limit(conn, l[0], l[1]); err != nil {
			return fmt.Errorf("limit %d: %w", l[0], err)
		}
	}
	return nil
}

func run(ctx context.Context, conn *sql.Conn, statement string, q index.Question, columns func([]string) error, row func([]any) error) error {
	var params []any
	for name, value := range q.Params {
		params = append(params, sql.Named(name, value))
	}
	rows, err := conn.QueryContext(ctx, statement, params...)
	if engine.Code(err) == 0 && err != nil { // not of the engine: the driver misses the value of a parameter
		return &index.SQLError{Message: err.Error()}
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := columns(names); err != nil {
		return err
	}
	for n := 0; rows.Next(); n++ {
		if q.Rows > 0 && n == q.Rows {
			return fmt.Errorf("stopped after row %d: %w", q.Rows, index.ErrLimit)
		}
		values, to := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// TextFunc returns the text that a function of the console asks for. kind is the name of the function: event_text, event_json,
// receipt_json, call_input, call_input_json or call_output. index.ErrNotFound becomes NULL.
type TextFunc func(ctx context.Context, kind, id string) (string, error)

// functions are the functions of the console beside SQLite's own.
var functions = []string{"event_text", "event_json", "receipt_json", "call_input", "call_input_json", "call_output"}

func (s *session) registerFunctions(d *driver.Driver) error {
	for _, kind := range functions {
		err := d.RegisterScalarFunction(kind, 1, func(_ *driver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
			return s.call(kind, args[0])
		})
		if err != nil {
			return fmt.Errorf("register %s: %w", kind, err)
		}
	}
	return nil
}

// call asks the archive for a text. A panic there becomes an error.
func (s *session) call(kind string, arg sqldriver.Value) (v sqldriver.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("%s: internal error: %v", kind, r)
		}
	}()
	if arg == nil {
		return nil, nil
	}
	id, ok := arg.(string)
	if !ok {
		return nil, fmt.Errorf("%s: an id must be text", kind)
	}
	if s.text == nil {
		return nil, fmt.Errorf("%s: the packs are not open", kind)
	}
	text, err := s.text(s.ctx, kind, id)
	switch {
	case errors.Is(err, index.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", kind, err)
	case len(text) > MaxValue:
		return nil, fmt.Errorf("%s: %s is over %d bytes", kind, id, MaxValue)
	}
	return text, nil
}
