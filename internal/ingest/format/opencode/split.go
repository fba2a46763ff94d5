package opencode

import "github.com/txarchive/txarchive/internal/ingest/format"

// Split takes a database apart: an original for each session's own row, and one for each message with its parts, since
// those of an ended turn never change again.
func (opencode) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Keys: `SELECT id || '/session', time_updated, 1, id FROM session ORDER BY id`,
		Rows: []format.Query{{Name: roleSession, SQL: `SELECT * FROM session WHERE id = ?1`}},
	}, {
		Role: roleRows,
		Keys: `SELECT m.session_id || '/' || m.id, max(m.time_updated, coalesce(max(p.time_updated), 0)), 1 + count(p.id), m.id
			FROM message m LEFT JOIN part p ON p.message_id = m.id GROUP BY m.id ORDER BY m.session_id, m.id`,
		Rows: []format.Query{
			{Name: roleMessage, SQL: `SELECT * FROM message WHERE id = ?1`, JSON: []string{"data"}},
			{Name: rolePart, SQL: `SELECT * FROM part WHERE message_id = ?1 ORDER BY id`, JSON: []string{"data"}},
		},
	}}
}

func (opencode) Apart(role string) bool { return role == roleRows }
