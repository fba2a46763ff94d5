package sqlite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// inserter gathers rows and gives them to one statement, which costs a third of single ones.
//
// A statement that undoes itself when it fails in the middle keeps a copy of each page that it touches. Here the transaction
// is undone instead, or the index dropped that is built: into says OR FAIL, unless it says what else to do with a row that is there.
type inserter struct {
	t    *tx
	into string // OR FAIL INTO and a table
	columns
	values     []engine.Value
	stated     uint64            // columns in which some row has another value than the usual one
	statements map[uint64]string // by what is stated
}

// columns are those of a table.
type columns struct {
	names  []string       // at most engine.MaxColumns
	usual  []any          // what a row has that says nothing of a column: the defaults of the schema
	unsaid []engine.Value // the same
}

// insertRows is how many rows wait for each other. Where rows have ids of their own a statement keeps a copy of each page that it touches
// all the same. In a large index each row touches other pages of each of the table's indexes: with 512 rows the copies were more than the
// allocator keeps, and two thirds of all page faults of a reindex of a million files were memory given back and asked for again.
const insertRows = 128

// columnList is the columns in a list as SQL has it. Behind an = stands the number that is a default, where that is not NULL.
func columnList(list string) (c columns) {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		name, usual, ok := strings.Cut(name, "=")
		c.names, c.usual = append(c.names, name), append(c.usual, nil)
		if ok {
			c.usual[len(c.usual)-1] = int64(usual[0] - '0')
		}
		value, _ := engine.ValueOf(c.usual[len(c.usual)-1])
		c.unsaid = append(c.unsaid, value)
	}
	return c
}

// add takes a row. What it is handed values in stays with the caller: boxes of numbers would be a third of what a commit allocates.
func (b *inserter) add(values ...any) error {
	before := len(b.values)
	for i, v := range values {
		value, ok := engine.ValueOf(v)
		if !ok {
			b.values = b.values[:before]
			return fmt.Errorf("INSERT %s: a value of %s that is none", b.into, b.names[i])
		}
		if value != b.unsaid[i] {
			b.stated |= 1 << i
		}
		b.values = append(b.values, value)
	}
	if len(b.values) < insertRows*len(b.names) {
		return nil
	}
	return b.flush()
}

func (b *inserter) flush() error {
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

// statement leaves out the columns that are in all rows as in most: a third of many tables.
func (b *inserter) statement() string {
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

// withConn does something on the connection of the engine. It is not interrupted, only left out, when the context ends: to wait
// for that takes a goroutine each time.
func (t *tx) withConn(do func(*engine.CachingConn) error) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return engine.Damage(t.conn.Raw(func(conn any) error {
		c, ok := conn.(*engine.CachingConn)
		if !ok {
			return errors.New("a connection that keeps no statements")
		}
		return do(c)
	}))
}
