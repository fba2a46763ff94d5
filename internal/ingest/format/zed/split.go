package zed

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix = "zed "
	tableThread = tablePrefix + "thread"
)

// Split takes a database apart into its threads. A thread is written anew with each change, so each state of its row is a version. A column of
// later versions is also in a row of NULLs (later), which SQL falls back to if the table lacks it.
func (zed) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Any:  []string{"threads"},
		Keys: `SELECT t.id, CAST(round((julianday(t.updated_at) - 2440587.5) * 86400000) AS INTEGER),
			octet_length(t.data) * 65536 + (length(t.summary) * 64 + coalesce((SELECT length(folder_paths) FROM threads WHERE id = t.id), 0)) % 65536, t.id
			FROM (SELECT NULL AS folder_paths) later, threads t WHERE t.id NOT NULL`,
		Rows: []format.Query{{Name: tableThread, JSON: []string{"data"}, Zstd: []string{"data"}, SQL: `SELECT * FROM threads WHERE id = ?1`}},
	}}
}

// Apart reports whether originals of a role come out of a database.
func (zed) Apart(role string) bool { return role == roleRows || role == roleDatabase }
