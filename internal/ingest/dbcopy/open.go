package dbcopy

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxValue is the largest value that is read, in bytes. What is larger no parser reads.
const maxValue = 128 << 20

// openRead opens a copy for reading. Its schema is part of the content, and whoever wrote it may have put views, which can run for ever or
// make values of any size, and virtual tables in the place of tables: these cannot be read.
func openRead(ctx context.Context, path string) (*sql.DB, error) {
	d := new(driver.Driver)
	d.RegisterConnectionHook(refuseComputed)
	db := sql.OpenDB(connector{d, dsn(path, "ro") + "&immutable=1&_pragma=query_only(1)&_pragma=trusted_schema(0)"})
	db.SetMaxOpenConns(1) // the limit is that of a connection
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	_, err = driver.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, maxValue)
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

type connector struct {
	driver *driver.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (sqldriver.Conn, error) { return c.driver.Open(c.dsn) }

func (c connector) Driver() sqldriver.Driver { return c.driver }

// refuseComputed has a connection refuse to read the views and virtual tables of its database.
func refuseComputed(conn driver.ExecQuerierContext, _ string) error {
	computed, err := namesOf(conn, "SELECT lower(name) FROM sqlite_schema WHERE type = 'view' OR type = 'table' AND rootpage = 0")
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	r, ok := conn.(driver.AuthorizerRegisterer)
	if !ok {
		return errors.New("the driver has no authorizer")
	}
	return r.RegisterAuthorizer(func(action driver.AuthorizerActionCode, table, _, _, view string) driver.AuthorizerReturnCode {
		if action == driver.AuthRead && (computed[strings.ToLower(table)] || computed[strings.ToLower(view)]) {
			return driver.AuthorizerDeny
		}
		return driver.AuthorizerOK
	})
}

// namesOf returns the first column of a query.
func namesOf(conn driver.ExecQuerierContext, query string) (map[string]bool, error) {
	rows, err := conn.QueryContext(context.Background(), query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]bool{}
	for row := make([]sqldriver.Value, 1); ; {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		name, _ := row[0].(string)
		all[name] = true
	}
}
