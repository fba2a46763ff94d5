// Package migrations holds the schema of every index engine as goose migrations. Released files never change.
package migrations

import "embed"

// SQLite has the migrations of the SQLite index, in the directory "sqlite".
//
//go:embed sqlite/*.sql
var SQLite embed.FS
