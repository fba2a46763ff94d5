package opencode

import "github.com/txarchive/txarchive/internal/ingest/format"

// Split takes a database apart: an original for each session's own row, and one for each message with its parts, since
// those of an ended turn never change again. Parts may be there before their message is, or longer.
func (opencode) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Keys: `SELECT id || '/session', time_updated, 1, id FROM session WHERE id IS NOT NULL ORDER BY id`,
		Rows: []format.Query{{Name: roleSession, SQL: `SELECT * FROM session WHERE id = ?1`}},
	}, {
		Role: roleRows,
		Keys: `SELECT coalesce(m.session_id, '-') || '/' || m.id, max(coalesce(m.time_updated, 0), coalesce(max(p.time_updated), 0)), 1 + count(p.id), m.id
			FROM message m LEFT JOIN part p ON p.message_id = m.id WHERE m.id IS NOT NULL GROUP BY m.id
			UNION ALL SELECT coalesce(p.session_id, '-') || '/' || p.message_id, max(p.time_updated), count(*), p.message_id
			FROM part p WHERE p.message_id NOT NULL AND NOT EXISTS (SELECT 1 FROM message m WHERE m.id = p.message_id) GROUP BY p.message_id
			ORDER BY 1`,
		Rows: []format.Query{
			{Name: roleMessage, SQL: `SELECT * FROM message WHERE id = ?1`, JSON: []string{"data"}},
			{Name: rolePart, SQL: `SELECT * FROM part WHERE message_id = ?1 ORDER BY id`, JSON: []string{"data"}},
		},
	}}
}

func (opencode) Apart(role string) bool { return role == roleRows || role == roleDatabase }
