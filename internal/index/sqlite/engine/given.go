package engine

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// GivenColumns is how many values a row that is given may have.
const GivenColumns = 64

// givenTable is what statements read. Its hidden column is the number of what is given to one connection, and it has no rows
// but while a Give runs: no statement can read what is not its own.
const givenTable = "given"

// static is SQLITE_STATIC: a text stays where it is.
const static = 0

// TakingConnector opens connections whose statements read what is given to them.
func TakingConnector(d *driver.Driver, dsn string) sqldriver.Connector {
	configure()
	return takingConnector{connector{d, dsn}}
}

type takingConnector struct{ connector }

func (c takingConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := declareGiven(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func declareGiven(conn any) error {
	db := Handle(conn)
	if db == 0 {
		return errors.New("the driver has no handle")
	}
	t := libc.NewTLS()
	defer t.Close()
	name, err := libc.CString(givenTable)
	if err != nil {
		return err
	}
	defer libc.Xfree(t, name)
	if rc := sqlite3.Xsqlite3_create_module(t, db, name, uintptr(unsafe.Pointer(&givenModule)), 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("declare table %s: code %d", givenTable, rc)
	}
	return nil
}

// Handle is what SQLite calls a connection of the driver, 0 for anything else. The driver does not pass it on.
func Handle(conn any) uintptr {
	if v := reflect.Indirect(reflect.ValueOf(conn)); v.Kind() == reflect.Struct {
		if handle := v.FieldByName("db"); handle.Kind() == reflect.Uintptr {
			return uintptr(handle.Uint())
		}
	}
	return 0
}

// Value is one of a row that is given, NULL when it is zero. It stands by itself: each of an any would have been allocated.
type Value struct {
	text   string // or bytes
	number int64  // or the bits of a float
	kind   kind
}

type kind uint8

const (
	kindNull kind = iota
	kindInteger
	kindFloat
	kindText
	kindBytes
)

// ValueOf is the value of a nil, int, int64, float64, string or []byte. It keeps texts and bytes, and not what they came in.
func ValueOf(v any) (Value, bool) {
	switch v := v.(type) {
	case nil:
		return Value{}, true
	case int:
		return Value{number: int64(v), kind: kindInteger}, true
	case int64:
		return Value{number: v, kind: kindInteger}, true
	case float64:
		return Value{number: int64(math.Float64bits(v)), kind: kindFloat}, true
	case string:
		return Value{text: v, kind: kindText}, true
	case []byte:
		if v == nil {
			return Value{}, true
		}
		return Value{text: unsafe.String(unsafe.SliceData(v), len(v)), kind: kindBytes}, true
	}
	return Value{}, false
}

// Give runs a statement that reads rows as from a table: INSERT INTO t (a, b) SELECT c0, c1 FROM given(?). A row is so many values, c0
// and so on. To bind each value instead takes a third of an insert.
func (c *Cached) Give(ctx context.Context, text string, width int, values []Value) error {
	if c.given == nil {
		c.given = newGiven()
	}
	c.given.width, c.given.values = width, values
	defer c.given.done()
	return c.Run(ctx, text, c.given.args[:])
}

// given is what a statement of one connection reads.
type given struct {
	number int64
	args   [1]sqldriver.NamedValue // the number
	width  int
	values []Value
	at     int // where the row begins

	// Texts of the row, in memory of SQLite's: it may not look into that of Go under the race detector.
	room       uintptr
	size, used int
	outgrown   []uintptr // of the same row
}

// takers are all that can be given something, by their numbers.
var takers = struct {
	sync.Mutex
	last int64
	all  map[int64]*given
}{all: map[int64]*given{}}

func newGiven() *given {
	takers.Lock()
	defer takers.Unlock()
	takers.last++
	g := &given{number: takers.last}
	g.args[0] = sqldriver.NamedValue{Ordinal: 1, Value: g.number}
	takers.all[g.number] = g
	return g
}

func (g *given) close() {
	takers.Lock()
	delete(takers.all, g.number)
	takers.Unlock()
	t := libc.NewTLS()
	defer t.Close()
	g.clear(t)
	libc.Xfree(t, g.room)
	g.room, g.size = 0, 0
}

// roomKept is what a connection keeps for the texts of the next row.
const roomKept = 1 << 18

func (g *given) done() {
	g.values, g.at = nil, 0
	if g.size > roomKept || len(g.outgrown) > 0 {
		t := libc.NewTLS()
		defer t.Close()
		g.clear(t)
		libc.Xfree(t, g.room)
		g.room, g.size = 0, 0
	}
}

// clear forgets the texts of a row.
func (g *given) clear(t *libc.TLS) {
	for _, p := range g.outgrown {
		libc.Xfree(t, p)
	}
	g.outgrown, g.used = g.outgrown[:0], 0
}

// text returns a place for n bytes that stays until the next row, 0 where there is no memory.
func (g *given) text(t *libc.TLS, n int) uintptr {
	if g.used+n > g.size || g.room == 0 {
		if g.room != 0 {
			g.outgrown = append(g.outgrown, g.room)
		}
		g.size = max(2*g.size, n, 1<<14)
		g.room, g.used = libc.Xmalloc(t, types.Size_t(g.size)), 0
		if g.room == 0 {
			g.size = 0
			return 0
		}
	}
	p := g.room + uintptr(g.used)
	g.used += n
	return p
}

// givenModule is sqlite3_module, for reading alone. Nobody can create a table of it: there is no xCreate.
var givenModule = [25]uintptr{
	2: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr, int32, uintptr, uintptr, uintptr) int32
	}{connectGiven})),
	3: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr) int32
	}{planGiven})),
	4: freeGivenMethod, 5: freeGivenMethod,
	6: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr) int32
	}{openGiven})),
	7: freeGivenMethod,
	8: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, int32, uintptr, int32, uintptr) int32
	}{beginGiven})),
	9: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{nextGiven})),
	10: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{givenEnds})),
	11: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr, int32) int32
	}{givenColumn})),
	12: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr) int32
	}{givenRowID})),
}

var freeGivenMethod = *(*uintptr)(unsafe.Pointer(&struct {
	f func(*libc.TLS, uintptr) int32
}{freeGiven}))

// at is what SQLite has an address of.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// givenCursor is sqlite3_vtab_cursor. takers keeps what it points to.
type givenCursor struct {
	_    uintptr // its table, which SQLite puts here
	rows uintptr // *given
}

func connectGiven(t *libc.TLS, db, _ uintptr, _ int32, _, table, _ uintptr) int32 {
	var s strings.Builder
	s.WriteString("CREATE TABLE x (")
	for i := range GivenColumns {
		fmt.Fprintf(&s, "c%d, ", i)
	}
	s.WriteString("number HIDDEN)")
	text, err := libc.CString(s.String())
	if err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(t, text)
	if rc := sqlite3.Xsqlite3_declare_vtab(t, db, text); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return allocateGiven[sqlite3.Tsqlite3_vtab](t, table)
}

func openGiven(t *libc.TLS, _, cursor uintptr) int32 { return allocateGiven[givenCursor](t, cursor) }

func allocateGiven[T any](t *libc.TLS, to uintptr) int32 {
	var v T
	p := libc.Xcalloc(t, 1, types.Size_t(unsafe.Sizeof(v)))
	if p == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	*at[uintptr](to) = p
	return sqlite3.SQLITE_OK
}

func freeGiven(t *libc.TLS, p uintptr) int32 {
	libc.Xfree(t, p)
	return sqlite3.SQLITE_OK
}

// planGiven asks for the number.
func planGiven(_ *libc.TLS, _, plan uintptr) int32 {
	p := at[sqlite3.Tsqlite3_index_info](plan)
	for i := range uintptr(p.FnConstraint) {
		c := at[sqlite3.Tsqlite3_index_constraint](p.FaConstraint + i*unsafe.Sizeof(sqlite3.Tsqlite3_index_constraint{}))
		if c.FiColumn == GivenColumns && c.Fop == sqlite3.SQLITE_INDEX_CONSTRAINT_EQ && c.Fusable != 0 {
			use := at[sqlite3.Tsqlite3_index_constraint_usage](p.FaConstraintUsage + i*unsafe.Sizeof(sqlite3.Tsqlite3_index_constraint_usage{}))
			use.FargvIndex, use.Fomit = 1, 1
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_CONSTRAINT
}

func beginGiven(t *libc.TLS, cursor uintptr, _ int32, _ uintptr, _ int32, args uintptr) int32 {
	number := sqlite3.Xsqlite3_value_int64(t, *at[uintptr](args))
	takers.Lock()
	g := takers.all[number]
	takers.Unlock()
	if g == nil {
		return sqlite3.SQLITE_MISUSE
	}
	g.at = 0
	at[givenCursor](cursor).rows = uintptr(unsafe.Pointer(g))
	return sqlite3.SQLITE_OK
}

func givenAt(cursor uintptr) *given { return at[given](at[givenCursor](cursor).rows) }

func nextGiven(t *libc.TLS, cursor uintptr) int32 {
	g := givenAt(cursor)
	g.at += g.width
	g.clear(t)
	return sqlite3.SQLITE_OK
}

func givenEnds(_ *libc.TLS, cursor uintptr) int32 {
	if g := givenAt(cursor); g.at+g.width > len(g.values) {
		return 1
	}
	return 0
}

func givenColumn(t *libc.TLS, cursor, to uintptr, column int32) int32 {
	g := givenAt(cursor)
	v := &g.values[g.at+int(column)]
	switch v.kind {
	case kindInteger:
		sqlite3.Xsqlite3_result_int64(t, to, v.number)
	case kindFloat:
		sqlite3.Xsqlite3_result_double(t, to, math.Float64frombits(uint64(v.number)))
	case kindText, kindBytes:
		p := g.text(t, len(v.text))
		if p == 0 {
			return sqlite3.SQLITE_NOMEM
		}
		copy(unsafe.Slice(at[byte](p), len(v.text)), v.text)
		if v.kind == kindText {
			sqlite3.Xsqlite3_result_text(t, to, p, int32(len(v.text)), static)
		} else {
			sqlite3.Xsqlite3_result_blob(t, to, p, int32(len(v.text)), static)
		}
	}
	return sqlite3.SQLITE_OK
}

func givenRowID(_ *libc.TLS, cursor, to uintptr) int32 {
	*at[int64](to) = int64(givenAt(cursor).at)
	return sqlite3.SQLITE_OK
}
