package opencode

import "github.com/txarchive/txarchive/internal/ingest/format"

// Split takes a database apart: an original for each session's own row, and one for each message with its parts, because
// those of a finished turn never change again. Parts may exist before their message, or after it is gone.
func (opencode) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	tablesV1, tablesV2 := []string{roleSession, roleMessage, rolePart}, []string{tableSession}
	return []format.Split{{
		Role: roleRows,
		Any:  tablesV1,
		Keys: `SELECT id || '/session', time_updated, 1, id FROM session WHERE id IS NOT NULL ORDER BY id`,
		Rows: []format.Query{{Name: roleSession, SQL: `SELECT * FROM session WHERE id = ?1`}},
	}, {
		Role: roleRows,
		Any:  tablesV1,
		Keys: `SELECT coalesce(m.session_id, '-') || '/' || m.id, max(coalesce(m.time_updated, 0), coalesce(max(p.time_updated), 0)), 1 + count(p.id), m.id
			FROM message m LEFT JOIN part p ON p.message_id = m.id WHERE m.id IS NOT NULL GROUP BY m.id
			UNION ALL SELECT coalesce(p.session_id, '-') || '/' || p.message_id, max(p.time_updated), count(*), p.message_id
			FROM part p WHERE p.message_id NOT NULL AND NOT EXISTS (SELECT 1 FROM message m WHERE m.id = p.message_id) GROUP BY p.message_id
			ORDER BY 1`,
		Rows: []format.Query{
			{Name: roleMessage, SQL: `SELECT * FROM message WHERE id = ?1`, JSON: []string{"data"}},
			{Name: rolePart, SQL: `SELECT * FROM part WHERE message_id = ?1 ORDER BY id`, JSON: []string{"data"}},
		},
	}, {
		Role: roleRows,
		Any:  tablesV2,
		Keys: `SELECT id || '/session` + v2Suffix + `', time_updated, 1, id FROM session_v2 WHERE id IS NOT NULL ORDER BY id`,
		Rows: []format.Query{{Name: tableSession, SQL: `SELECT * FROM session_v2 WHERE id = ?1`}},
	}, {
		// In versions before session_v2, session_message repeated the other tables.
		Role: roleRows,
		Any:  tablesV2,
		Keys: `SELECT session_id || '/' || id || '` + v2Suffix + `', time_updated, 1, id FROM session_message
			WHERE id IS NOT NULL AND session_id IN (SELECT id FROM session_v2) ORDER BY id`,
		Rows: []format.Query{{Name: tableMessage, SQL: `SELECT * FROM session_message WHERE id = ?1`, JSON: []string{"data"}}},
	}}
}

// v2Suffix ends the names of originals from the tables of version 2.
const v2Suffix = ".v2"

// Apart reports whether originals of a role come out of a database.
func (opencode) Apart(role string) bool { return role == roleRows || role == roleDatabase }
