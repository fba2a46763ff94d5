// Package migrations holds the schema of every index engine as goose migrations. Released files never change.
package migrations

import "embed"

// SQLite has the migrations of the SQLite index, in the directory "sqlite".
//
//go:embed sqlite/*.sql
var SQLite embed.FS

// SQLiteSchema is what all of them amount to: the schema of a new file, and the rows that it begins with. A test of
// internal/index/sqlite/write makes sqlite.sql.
//
//go:embed sqlite.sql
var SQLiteSchema string
