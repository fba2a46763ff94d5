package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// inserter gathers rows into multi-row statements, which cost half of single ones, and hands them to the driver itself:
// database/sql would look at each of a thousand values, and copy it, once more.
//
// A statement that undoes itself when it fails in the middle keeps a copy of each page that it touches. Here the transaction
// is undone instead: into says OR FAIL, unless it says what else to do with a row that is there.
type inserter struct {
	t    *tx
	into string // OR FAIL INTO and a table
	columns
	args   []driver.NamedValue
	stated uint64            // columns in which some row has another value than the usual one
	full   map[uint64]string // statements of insertRows rows, by what is stated
}

// columns are at most 64 columns of a table.
type columns struct {
	names []string
	usual []any // what a row has that says nothing of a column: the defaults of the schema
}

// insertRows is how many rows one statement takes. Fewer rows are written by statements of half as many, a quarter and so
// on, so that few different ones are to be prepared.
const insertRows = 64

// columnList is the columns in a list as SQL has it. Behind an = stands the number that is a default, where that is not NULL.
func columnList(list string) (c columns) {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		name, usual, ok := strings.Cut(name, "=")
		c.names, c.usual = append(c.names, name), append(c.usual, nil)
		if ok {
			c.usual[len(c.usual)-1] = int64(usual[0] - '0')
		}
	}
	return c
}

func (b *inserter) add(values ...any) error {
	before := len(b.args)
	for i, v := range values {
		switch n := v.(type) {
		case int:
			v = int64(n)
		case nil, int64, float64, string, []byte:
		default:
			b.args = b.args[:before]
			return fmt.Errorf("INSERT %s: a value of type %T", b.into, v)
		}
		if v != b.usual[i] {
			b.stated |= 1 << i
		}
		b.args = append(b.args, driver.NamedValue{Ordinal: len(b.args) + 1, Value: v})
	}
	if len(b.args) < insertRows*len(b.names) {
		return nil
	}
	return b.flush()
}

func (b *inserter) flush() error {
	args := b.args
	columns := b.names
	if len(args) == insertRows*len(columns) {
		columns = b.withoutUsual()
		args = args[:insertRows*len(columns)]
	}
	for n := len(args) / len(columns); n > 0; n = len(args) / len(columns) {
		n = 1 << (bits.Len(uint(n)) - 1)
		some := args[:n*len(columns)]
		for i := range some {
			some[i].Ordinal = i + 1
		}
		if _, err := b.t.direct(b.statement(columns, n), some); err != nil {
			return err
		}
		args = args[len(some):]
	}
	clear(b.args)
	b.args, b.stated = b.args[:0], 0
	return nil
}

// withoutUsual takes the columns that are in all rows as in most out of the arguments: a third of many tables.
func (b *inserter) withoutUsual() (columns []string) {
	for i, name := range b.names {
		if b.stated>>i&1 != 0 {
			columns = append(columns, name)
		}
	}
	if len(columns) == len(b.names) {
		return columns
	}
	to := 0
	for i, v := range b.args {
		if b.stated>>(i%len(b.names))&1 != 0 {
			b.args[to].Value = v.Value
			to++
		}
	}
	return columns
}

func (b *inserter) statement(columns []string, rows int) string {
	if rows == insertRows && b.full[b.stated] != "" {
		return b.full[b.stated]
	}
	var s strings.Builder
	s.WriteString("INSERT " + b.into + " (" + strings.Join(columns, ", ") + ") VALUES ")
	group := "(" + strings.Repeat("?,", len(columns)-1) + "?)"
	s.WriteString(strings.Repeat(group+",", rows-1) + group)
	if rows == insertRows {
		if b.full == nil {
			b.full = map[uint64]string{}
		}
		b.full[b.stated] = s.String()
	}
	return s.String()
}

// direct runs a statement on the driver's connection. It is not interrupted, only left out, when the context ends: to wait
// for that takes a goroutine each time.
func (t *tx) direct(query string, args []driver.NamedValue) (result driver.Result, err error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	err = t.conn.Raw(func(conn any) error {
		c, ok := conn.(*engine.Cached)
		if !ok {
			return errors.New("a connection that keeps no statements")
		}
		result, err = c.Run(t.calm, query, args)
		return err
	})
	return result, engine.Damage(err)
}
