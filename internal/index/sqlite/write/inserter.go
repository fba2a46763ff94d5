package write

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// Inserter collects rows of a table and inserts them with one statement, at a third of the cost of single inserts.
//
// A statement that must undo itself when it fails midway keeps a copy of each page that it touches. Here the whole transaction
// is undone instead, or the index that is being built is dropped: so into says OR FAIL, unless it says what else to do with a
// row that exists.
type Inserter struct {
	t    *Tx
	into string // OR FAIL INTO and a table
	columns
	values     []engine.Value
	stated     uint64            // bit set of the columns in which some row has another value than the default
	statements map[uint64]string // by stated
}

// Inserter returns an inserter into a table: OR FAIL INTO and its name. list has its columns as in SQL. name=n gives a column
// whose default in the schema is the digit n; all others default to NULL.
func (t *Tx) Inserter(into, list string) *Inserter {
	return &Inserter{t: t, into: into, columns: parseColumns(list)}
}

// columns are the columns that an inserter writes.
type columns struct {
	names         []string       // at most engine.MaxColumns
	defaults      []any          // the schema's defaults, which a row has where nothing is stated
	defaultValues []engine.Value // the same
}

// insertRows is how many rows one statement inserts. For tables whose rows have ids of their own, a statement keeps a copy of
// each page that it touches even with OR FAIL. In a large index each row touches other pages of each index of the table: with
// 512 rows the copies were more than the allocator keeps, and two thirds of all page faults of a reindex of a million files
// were memory given back and asked for again.
const insertRows = 128

// parseColumns parses a list of columns.
func parseColumns(list string) (c columns) {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		name, digit, ok := strings.Cut(name, "=")
		c.names, c.defaults = append(c.names, name), append(c.defaults, nil)
		if ok {
			c.defaults[len(c.defaults)-1] = int64(digit[0] - '0')
		}
		value, _ := engine.ValueOf(c.defaults[len(c.defaults)-1])
		c.defaultValues = append(c.defaultValues, value)
	}
	return c
}

// Add adds a row. It keeps none of the values, so callers may reuse them: boxed numbers would be a third of what a commit
// allocates.
func (b *Inserter) Add(values ...any) error {
	before := len(b.values)
	for i, v := range values {
		value, ok := engine.ValueOf(v)
		if !ok {
			b.values = b.values[:before]
			return fmt.Errorf("INSERT %s: a value of %s that is none", b.into, b.names[i])
		}
		if value != b.defaultValues[i] {
			b.stated |= 1 << i
		}
		b.values = append(b.values, value)
	}
	if len(b.values) < insertRows*len(b.names) {
		return nil
	}
	return b.Flush()
}

// Flush inserts the rows that were added since the last time.
func (b *Inserter) Flush() error {
	if len(b.values) == 0 {
		return nil
	}
	err := b.t.withConn(func(c *engine.CachingConn) error {
		return c.ExecRows(b.t.unending, b.statement(), len(b.names), b.values)
	})
	clear(b.values)
	b.values, b.stated = b.values[:0], 0
	return err
}

// statement returns the INSERT without the columns that have their default in all rows: a third of the columns of many tables.
func (b *Inserter) statement() string {
	if s := b.statements[b.stated]; s != "" {
		return s
	}
	var names, values []string
	for i, name := range b.names {
		if b.stated>>i&1 != 0 {
			names, values = append(names, name), append(values, "c"+strconv.Itoa(i))
		}
	}
	if b.statements == nil {
		b.statements = map[uint64]string{}
	}
	s := "INSERT " + b.into + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM given(?)"
	b.statements[b.stated] = s
	return s
}

// withConn calls do with the engine's connection. A context that has ended keeps it from starting but does not interrupt it:
// waiting for that would take a goroutine each time.
func (t *Tx) withConn(do func(*engine.CachingConn) error) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	t.wrote = true
	return engine.Damage(t.conn.Raw(func(conn any) error {
		c, ok := conn.(*engine.CachingConn)
		if !ok {
			return errors.New("a connection that keeps no statements")
		}
		return do(c)
	}))
}
