package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode/utf8"

	"modernc.org/libc"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// schemaPragmas tell of tables and change nothing.
var schemaPragmas = map[string]bool{"table_info": true, "table_xinfo": true, "table_list": true, "index_list": true, "index_info": true,
	"index_xinfo": true, "foreign_key_list": true, "function_list": true, "collation_list": true, "compile_options": true, "module_list": true}

// readPragmas may be asked and not set. The full-text index itself asks for data_version.
var readPragmas = map[string]bool{"data_version": true, "user_version": true, "page_count": true, "page_size": true, "freelist_count": true}

// closedTables show raw pages, or the statements of this connection.
var closedTables = map[string]bool{"sqlite_dbpage": true, "sqlite_dbdata": true, "sqlite_dbptr": true, "sqlite_stmt": true, "dbstat": true, "bytecode": true, "tables_used": true}

// closedFunctions reach out of the file.
var closedFunctions = map[string]bool{"load_extension": true, "fts3_tokenizer": true, "readfile": true, "writefile": true, "edit": true}

// authorize lets statements read. Everything that it does not know is refused.
func (c *console) authorize(action driver.AuthorizerActionCode, arg1, arg2, _, _ string) driver.AuthorizerReturnCode {
	allowed, what := false, ""
	switch action {
	case driver.AuthSelect, driver.AuthRecursive:
		allowed = true
	case driver.AuthRead:
		allowed, what = !closedTables[strings.ToLower(arg1)], "reading "+arg1
	case driver.AuthFunction:
		allowed, what = !closedFunctions[strings.ToLower(arg2)], "the function "+arg2
	case driver.AuthPragma:
		name := strings.ToLower(arg1)
		allowed, what = schemaPragmas[name] || readPragmas[name] && arg2 == "", "PRAGMA "+arg1
	case driver.AuthAttach, driver.AuthDetach:
		what = "attaching another file"
	case driver.AuthTransaction, driver.AuthSavepoint:
		what = "a transaction"
	default:
		what = "changing the index"
	}
	if allowed {
		return driver.AuthorizerOK
	}
	c.denied = what
	return driver.AuthorizerDeny
}

// explain turns an error of the engine into one that says what to do about it.
func (c *console) explain(ctx context.Context, conn *sql.Conn, statement string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch engine.Code(err) {
	case sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY:
		what := c.denied
		if what == "" {
			what = "changing the index"
		}
		return &index.SQLError{Message: what + " is not allowed here: this only reads"}
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("a value or row may have %d bytes: %w", consoleValue, index.ErrLimit)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("no room for what the query keeps on the side: %w", index.ErrLimit)
	case sqlite3.SQLITE_ERROR:
		if c.denied != "" {
			return &index.SQLError{Message: c.denied + " is not allowed here: this only reads"}
		}
		e := &index.SQLError{Message: message(err)}
		e.Line, e.Column = position(statement, errorOffset(conn))
		return e
	}
	return engine.Damage(err)
}

// message is the engine's words without its frame.
func message(err error) string {
	s := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	return strings.TrimSuffix(s, " (1)")
}

// errorOffset is the byte of the statement that the last error of a connection is about, -1 where there is
// none. The driver does not pass on sqlite3_error_offset, so it is asked of the connection's handle.
func errorOffset(conn *sql.Conn) int {
	offset := -1
	_ = conn.Raw(func(c any) error {
		if handle := engine.Handle(c); handle != 0 {
			tls := libc.NewTLS()
			defer tls.Close()
			offset = int(sqlite3.Xsqlite3_error_offset(tls, handle))
		}
		return nil
	})
	return offset
}

// position turns a byte offset into line and column.
func position(statement string, offset int) (line, column int) {
	if offset < 0 || offset > len(statement) {
		return 0, 0
	}
	before := statement[:offset]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// single returns the one statement that text holds, without what follows its semicolon.
func single(text string) (string, error) {
	end := -1
	for i := 0; i < len(text); {
		n, blank := token(text[i:])
		switch {
		case end >= 0 && !blank && text[i] != ';':
			line, column := position(text, i)
			return "", &index.SQLError{Message: "one statement at a time", Line: line, Column: column}
		case end < 0 && text[i] == ';':
			end = i
		}
		i += n
	}
	if end < 0 {
		end = len(text)
	}
	for i, n := 0, 0; i < end; i += n {
		blank := false
		if n, blank = token(text[i:]); !blank {
			return text[:end], nil
		}
	}
	return "", &index.SQLError{Message: "there is no statement"}
}

// token is the length of what SQL text begins with: a quoted string or name, a comment, or one byte. blank says
// that it means nothing.
func token(s string) (n int, blank bool) {
	upTo := func(from int, mark string) int {
		if i := strings.Index(s[from:], mark); i >= 0 {
			return from + i + len(mark)
		}
		return len(s)
	}
	switch {
	case s[0] == '\'' || s[0] == '"' || s[0] == '`':
		return upTo(1, s[:1]), false
	case s[0] == '[':
		return upTo(1, "]"), false
	case strings.HasPrefix(s, "--"):
		return upTo(2, "\n"), true
	case strings.HasPrefix(s, "/*"):
		return upTo(2, "*/"), true
	}
	return 1, strings.ContainsRune(" \t\r\n\f", rune(s[0]))
}
