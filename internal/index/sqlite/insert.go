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
	t       *tx
	into    string   // OR FAIL INTO and a table
	columns []string // at most 64
	args    []driver.NamedValue
	stated  uint64 // columns that some row states
}

// insertRows is how many rows one statement takes. Fewer rows are written by statements of half as many, a quarter and so
// on, so that few different ones are to be prepared.
const insertRows = 64

// columnList is the names in a list as SQL has it.
func columnList(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
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
		if v != nil {
			b.stated |= 1 << i
		}
		b.args = append(b.args, driver.NamedValue{Ordinal: len(b.args) + 1, Value: v})
	}
	if len(b.args) < insertRows*len(b.columns) {
		return nil
	}
	return b.flush()
}

func (b *inserter) flush() error {
	args := b.args
	columns := b.columns
	if len(args) == insertRows*len(columns) {
		columns = b.withoutNull()
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

// withoutNull takes the columns that no row states out of the arguments: a third of many tables.
func (b *inserter) withoutNull() (columns []string) {
	for i, name := range b.columns {
		if b.stated>>i&1 != 0 {
			columns = append(columns, name)
		}
	}
	if len(columns) == len(b.columns) {
		return columns
	}
	to := 0
	for i, v := range b.args {
		if b.stated>>(i%len(b.columns))&1 != 0 {
			b.args[to].Value = v.Value
			to++
		}
	}
	return columns
}

func (b *inserter) statement(columns []string, rows int) string {
	var s strings.Builder
	s.WriteString("INSERT " + b.into + " (" + strings.Join(columns, ", ") + ") VALUES ")
	group := "(" + strings.Repeat("?,", len(columns)-1) + "?)"
	s.WriteString(strings.Repeat(group+",", rows-1) + group)
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
