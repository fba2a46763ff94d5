package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// inserter gathers rows into multi-row statements, which cost half of single ones, and hands them to the driver itself:
// database/sql would look at each of a thousand values, and copy it, once more.
type inserter struct {
	t       *tx
	head    string
	tail    string
	columns int
	args    []driver.NamedValue
}

// insertRows is how many rows one statement takes.
const insertRows = 50

func (b *inserter) add(values ...any) error {
	before := len(b.args)
	for _, v := range values {
		switch n := v.(type) {
		case int:
			v = int64(n)
		case nil, int64, float64, string, []byte:
		default:
			b.args = b.args[:before]
			return fmt.Errorf("%s: a value of type %T", b.head, v)
		}
		b.args = append(b.args, driver.NamedValue{Ordinal: len(b.args) + 1, Value: v})
	}
	if len(b.args) < insertRows*b.columns {
		return nil
	}
	return b.flush()
}

func (b *inserter) flush() error {
	n := len(b.args) / b.columns
	if n == 0 {
		return nil
	}
	group := "(" + strings.Repeat("?,", b.columns-1) + "?)"
	_, err := b.t.direct(b.head+strings.Repeat(group+",", n-1)+group+b.tail, b.args)
	clear(b.args)
	b.args = b.args[:0]
	return err
}

// direct runs a statement that is prepared once per transaction, on the driver's connection. It is not interrupted, only
// left out, when the context ends: to wait for that takes a goroutine each time.
func (t *tx) direct(query string, args []driver.NamedValue) (result driver.Result, err error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	err = t.conn.Raw(func(conn any) error {
		stmt, err := t.plainStmt(conn, query)
		if err != nil {
			return err
		}
		result, err = stmt.ExecContext(t.calm, args)
		return err
	})
	return result, damage(err)
}

func (t *tx) plainStmt(conn any, query string) (driver.StmtExecContext, error) {
	stmt := t.plain[query]
	if stmt == nil {
		p, ok := conn.(driver.ConnPrepareContext)
		if !ok {
			return nil, errors.New("the driver prepares nothing with a context")
		}
		made, err := p.PrepareContext(t.calm, query)
		if err != nil {
			return nil, fmt.Errorf("prepare %.60q: %w", query, err)
		}
		stmt, t.plain[query] = made, made
	}
	e, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return nil, errors.New("the driver runs nothing with a context")
	}
	return e, nil
}

// closePlain closes the statements that went to the driver itself.
func (t *tx) closePlain() error {
	if len(t.plain) == 0 {
		return nil
	}
	all := t.plain
	t.plain = nil
	return t.conn.Raw(func(any) (err error) {
		for _, stmt := range all {
			err = errors.Join(err, stmt.Close())
		}
		return err
	})
}
