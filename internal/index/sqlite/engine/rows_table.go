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

// MaxColumns is how many values a row of ExecRows may have.
const MaxColumns = 64

// rowsTable is the name of the virtual table (a table-valued function) with the rows of ExecRows. Its hidden column is the
// number of the connection's row source. It has rows only while ExecRows runs, so no statement can read rows of another.
const rowsTable = "given"

// static is SQLITE_STATIC: SQLite need not copy a text.
const static = 0

// TableConnector returns a connector whose connections have the virtual table of ExecRows.
func TableConnector(d *driver.Driver, dsn string) sqldriver.Connector {
	configure()
	return tableConnector{connector{d, dsn}}
}

type tableConnector struct{ connector }

func (c tableConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := declareTable(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func declareTable(conn any) error {
	db := Handle(conn)
	if db == 0 {
		return errors.New("the driver has no handle")
	}
	t := libc.NewTLS()
	defer t.Close()
	name, err := libc.CString(rowsTable)
	if err != nil {
		return err
	}
	defer libc.Xfree(t, name)
	if rc := sqlite3.Xsqlite3_create_module(t, db, name, uintptr(unsafe.Pointer(&tableModule)), 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("declare table %s: code %d", rowsTable, rc)
	}
	return nil
}

// Handle returns the sqlite3 handle of a connection of the driver, 0 for anything else. The driver does not export it.
func Handle(conn any) uintptr {
	if v := reflect.Indirect(reflect.ValueOf(conn)); v.Kind() == reflect.Struct {
		if handle := v.FieldByName("db"); handle.Kind() == reflect.Uintptr {
			return uintptr(handle.Uint())
		}
	}
	return 0
}

// Value is a value of a row of ExecRows. The zero Value is NULL. It is a struct because values in an any would be allocated.
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

// ValueOf returns the Value of a nil, int, int64, float64, string or []byte. It refers to the memory of texts and bytes, but
// not to the interface value.
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

// ExecRows runs a statement that reads rows from a virtual table: INSERT INTO t (a, b) SELECT c0, c1 FROM given(?). A row is
// width values, c0 and so on. Binding each value instead would take a third of the time of an insert.
func (c *CachingConn) ExecRows(ctx context.Context, text string, width int, values []Value) error {
	if c.rows == nil {
		c.rows = newRowSource()
	}
	c.rows.width, c.rows.values = width, values
	defer c.rows.reset()
	return c.Run(ctx, text, c.rows.args[:])
}

// rowSource has the rows that a statement of one connection reads.
type rowSource struct {
	number int64
	args   [1]sqldriver.NamedValue // the number
	width  int
	values []Value
	at     int // where the current row begins

	// Texts of the row, in C memory: SQLite must not read Go memory under the race detector.
	buffer     uintptr
	size, used int
	outgrown   []uintptr // earlier buffers with texts of the same row
}

// rowSources are the row sources of all connections, by number.
var rowSources = struct {
	sync.Mutex
	last int64
	all  map[int64]*rowSource
}{all: map[int64]*rowSource{}}

func newRowSource() *rowSource {
	rowSources.Lock()
	defer rowSources.Unlock()
	rowSources.last++
	g := &rowSource{number: rowSources.last}
	g.args[0] = sqldriver.NamedValue{Ordinal: 1, Value: g.number}
	rowSources.all[g.number] = g
	return g
}

func (g *rowSource) close() {
	rowSources.Lock()
	delete(rowSources.all, g.number)
	rowSources.Unlock()
	t := libc.NewTLS()
	defer t.Close()
	g.freeTexts(t)
	libc.Xfree(t, g.buffer)
	g.buffer, g.size = 0, 0
}

// maxKeptBuffer is the largest buffer that a connection keeps for later rows.
const maxKeptBuffer = 1 << 18

func (g *rowSource) reset() {
	g.values, g.at = nil, 0
	if g.size > maxKeptBuffer || len(g.outgrown) > 0 {
		t := libc.NewTLS()
		defer t.Close()
		g.freeTexts(t)
		libc.Xfree(t, g.buffer)
		g.buffer, g.size = 0, 0
	}
}

// freeTexts frees the texts of a row.
func (g *rowSource) freeTexts(t *libc.TLS) {
	for _, p := range g.outgrown {
		libc.Xfree(t, p)
	}
	g.outgrown, g.used = g.outgrown[:0], 0
}

// allocText allocates n bytes that are valid until the next row. It returns 0 when out of memory.
func (g *rowSource) allocText(t *libc.TLS, n int) uintptr {
	if g.used+n > g.size || g.buffer == 0 {
		if g.buffer != 0 {
			g.outgrown = append(g.outgrown, g.buffer)
		}
		g.size = max(2*g.size, n, 1<<14)
		g.buffer, g.used = libc.Xmalloc(t, types.Size_t(g.size)), 0
		if g.buffer == 0 {
			g.size = 0
			return 0
		}
	}
	p := g.buffer + uintptr(g.used)
	g.used += n
	return p
}

// tableModule is sqlite3_module of a read-only eponymous virtual table. There is no xCreate, so no other table can use it.
var tableModule = [25]uintptr{
	2: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr, int32, uintptr, uintptr, uintptr) int32
	}{tableConnect})),
	3: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr) int32
	}{tableBestIndex})),
	4: freeMethod, 5: freeMethod,
	6: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr) int32
	}{tableOpen})),
	7: freeMethod,
	8: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, int32, uintptr, int32, uintptr) int32
	}{tableFilter})),
	9: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{tableNext})),
	10: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{tableEOF})),
	11: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr, int32) int32
	}{tableColumn})),
	12: *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr) int32
	}{tableRowID})),
}

var freeMethod = *(*uintptr)(unsafe.Pointer(&struct {
	f func(*libc.TLS, uintptr) int32
}{tableFree}))

// deref converts an address from SQLite to a pointer.
func deref[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// tableCursor is sqlite3_vtab_cursor. rowSources keeps the rowSource alive that it points to.
type tableCursor struct {
	_    uintptr // the table, set by SQLite
	rows uintptr // *given
}

func tableConnect(t *libc.TLS, db, _ uintptr, _ int32, _, table, _ uintptr) int32 {
	var s strings.Builder
	s.WriteString("CREATE TABLE x (")
	for i := range MaxColumns {
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
	return tableAlloc[sqlite3.Tsqlite3_vtab](t, table)
}

func tableOpen(t *libc.TLS, _, cursor uintptr) int32 { return tableAlloc[tableCursor](t, cursor) }

func tableAlloc[T any](t *libc.TLS, to uintptr) int32 {
	var v T
	p := libc.Xcalloc(t, 1, types.Size_t(unsafe.Sizeof(v)))
	if p == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	*deref[uintptr](to) = p
	return sqlite3.SQLITE_OK
}

func tableFree(t *libc.TLS, p uintptr) int32 {
	libc.Xfree(t, p)
	return sqlite3.SQLITE_OK
}

// tableBestIndex requires the hidden column to be given.
func tableBestIndex(_ *libc.TLS, _, plan uintptr) int32 {
	p := deref[sqlite3.Tsqlite3_index_info](plan)
	for i := range uintptr(p.FnConstraint) {
		c := deref[sqlite3.Tsqlite3_index_constraint](p.FaConstraint + i*unsafe.Sizeof(sqlite3.Tsqlite3_index_constraint{}))
		if c.FiColumn == MaxColumns && c.Fop == sqlite3.SQLITE_INDEX_CONSTRAINT_EQ && c.Fusable != 0 {
			use := deref[sqlite3.Tsqlite3_index_constraint_usage](p.FaConstraintUsage + i*unsafe.Sizeof(sqlite3.Tsqlite3_index_constraint_usage{}))
			use.FargvIndex, use.Fomit = 1, 1
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_CONSTRAINT
}

func tableFilter(t *libc.TLS, cursor uintptr, _ int32, _ uintptr, _ int32, args uintptr) int32 {
	number := sqlite3.Xsqlite3_value_int64(t, *deref[uintptr](args))
	rowSources.Lock()
	g := rowSources.all[number]
	rowSources.Unlock()
	if g == nil {
		return sqlite3.SQLITE_MISUSE
	}
	g.at = 0
	deref[tableCursor](cursor).rows = uintptr(unsafe.Pointer(g))
	return sqlite3.SQLITE_OK
}

func cursorRows(cursor uintptr) *rowSource { return deref[rowSource](deref[tableCursor](cursor).rows) }

func tableNext(t *libc.TLS, cursor uintptr) int32 {
	g := cursorRows(cursor)
	g.at += g.width
	g.freeTexts(t)
	return sqlite3.SQLITE_OK
}

func tableEOF(_ *libc.TLS, cursor uintptr) int32 {
	if g := cursorRows(cursor); g.at+g.width > len(g.values) {
		return 1
	}
	return 0
}

func tableColumn(t *libc.TLS, cursor, to uintptr, column int32) int32 {
	g := cursorRows(cursor)
	v := &g.values[g.at+int(column)]
	switch v.kind {
	case kindInteger:
		sqlite3.Xsqlite3_result_int64(t, to, v.number)
	case kindFloat:
		sqlite3.Xsqlite3_result_double(t, to, math.Float64frombits(uint64(v.number)))
	case kindText, kindBytes:
		p := g.allocText(t, len(v.text))
		if p == 0 {
			return sqlite3.SQLITE_NOMEM
		}
		copy(unsafe.Slice(deref[byte](p), len(v.text)), v.text)
		if v.kind == kindText {
			sqlite3.Xsqlite3_result_text(t, to, p, int32(len(v.text)), static)
		} else {
			sqlite3.Xsqlite3_result_blob(t, to, p, int32(len(v.text)), static)
		}
	}
	return sqlite3.SQLITE_OK
}

func tableRowID(_ *libc.TLS, cursor, to uintptr) int32 {
	*deref[int64](to) = int64(cursorRows(cursor).at)
	return sqlite3.SQLITE_OK
}
