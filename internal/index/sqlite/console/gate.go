package console

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"modernc.org/libc"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// schemaPragmas describe tables and change nothing.
var schemaPragmas = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info",
	"index_xinfo", "foreign_key_list", "function_list", "collation_list", "compile_options", "module_list"}

// readPragmas may be read and not set. FTS5 itself reads data_version.
var readPragmas = []string{"data_version", "user_version", "page_count", "page_size", "freelist_count"}

// closedTables are those that show raw pages, or the statements of this connection.
var closedTables = []string{"sqlite_dbpage", "sqlite_dbdata", "sqlite_dbptr", "sqlite_stmt", "dbstat", "bytecode", "tables_used"}

// closedFunctions are those that reach outside of the file.
var closedFunctions = []string{"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}

// authorize allows statements that read. It refuses everything that it does not know.
func (s *session) authorize(action driver.AuthorizerActionCode, arg1, arg2, _, _ string) driver.AuthorizerReturnCode {
	allowed, what := false, ""
	switch action {
	case driver.AuthSelect, driver.AuthRecursive:
		allowed = true
	case driver.AuthRead:
		allowed, what = !slices.Contains(closedTables, strings.ToLower(arg1)), "reading "+arg1
	case driver.AuthFunction:
		allowed, what = !slices.Contains(closedFunctions, strings.ToLower(arg2)), "the function "+arg2
	case driver.AuthPragma:
		name := strings.ToLower(arg1)
		allowed, what = slices.Contains(schemaPragmas, name) || arg2 == "" && slices.Contains(readPragmas, name), "PRAGMA "+arg1
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
	s.denied = what
	return driver.AuthorizerDeny
}

// explain turns an error of SQLite into one that says what to do about it.
func (s *session) explain(ctx context.Context, conn *sql.Conn, statement string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch engine.Code(err) {
	case sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY:
		what := cmp.Or(s.denied, "changing the index")
		return &index.SQLError{Message: what + " is not allowed: statements can only read"}
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("a value or row can have at most %d bytes: %w", MaxValue, index.ErrLimit)
	case sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("a statement can take at most %d MiB of memory: %w", maxMemory>>20, index.ErrLimit)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("no space for temporary data of the query: %w", index.ErrLimit)
	case sqlite3.SQLITE_ERROR:
		if s.denied != "" {
			return &index.SQLError{Message: s.denied + " is not allowed: statements can only read"}
		}
		e := &index.SQLError{Message: message(err)}
		e.Line, e.Column = position(statement, errorOffset(conn))
		return e
	}
	return engine.Damage(err)
}

// message returns SQLite's message without the driver's prefix and code, and without advice.
func message(err error) string {
	s := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	return strings.TrimSuffix(strings.TrimSuffix(s, " (1)"), " - should this be a string literal in single-quotes?")
}

// errorOffset returns the byte offset in the statement of a connection's last error, -1 if it has none. The driver does not
// expose sqlite3_error_offset, so it is called on the connection's handle.
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

// single returns the one statement in text, without what follows its semicolon.
func single(text string) (string, error) {
	end := -1
	for i := 0; i < len(text); {
		n, blank := token(text[i:])
		switch {
		case end >= 0 && !blank && text[i] != ';':
			line, column := position(text, i)
			return "", &index.SQLError{Message: "only one statement at a time", Line: line, Column: column}
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
	return "", &index.SQLError{Message: "no SQL statement given"}
}

// parameters returns the names of a statement's parameters.
func parameters(statement string) map[string]bool {
	names := map[string]bool{}
	for i, n := 0, 0; i < len(statement); i += n {
		if n, _ = token(statement[i:]); strings.IndexByte(":@$", statement[i]) < 0 {
			continue
		}
		for i+n < len(statement) && inName(statement[i+n]) {
			n++
		}
		names[statement[i+1:i+n]] = true
	}
	return names
}

// inName reports whether SQLite accepts a byte in a name.
func inName(c byte) bool {
	return c == '_' || c == '$' || c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// misnamed returns an error for a value that no parameter of a statement has: as a rule the name is misspelt.
func misnamed(statement string, given map[string]any) error {
	has := parameters(statement)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !has[name] {
			return &index.SQLError{Message: fmt.Sprintf("the statement has no parameter %q", name)}
		}
	}
	return nil
}

// token returns the length of the first token of SQL text: a quoted string or name, a comment, or one byte. blank says that it
// is a comment or white space.
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
