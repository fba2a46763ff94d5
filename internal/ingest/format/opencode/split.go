package opencode

import "github.com/txarchive/txarchive/internal/ingest/format"

// Split takes a database apart: an original for each session's own row, and one for each message with its parts, since
// those of an ended turn never change again. Parts may be there before their message is, or longer.
func (opencode) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	first, second := []string{roleSession, roleMessage, rolePart}, []string{tableSession}
	return []format.Split{{
		Role: roleRows,
		Any:  first,
		Keys: `SELECT id || '/session', time_updated, 1, id FROM session WHERE id IS NOT NULL ORDER BY id`,
		Rows: []format.Query{{Name: roleSession, SQL: `SELECT * FROM session WHERE id = ?1`}},
	}, {
		Role: roleRows,
		Any:  first,
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
		Any:  second,
		Keys: `SELECT id || '/session` + secondMark + `', time_updated, 1, id FROM session_v2 WHERE id IS NOT NULL ORDER BY id`,
		Rows: []format.Query{{Name: tableSession, SQL: `SELECT * FROM session_v2 WHERE id = ?1`}},
	}, {
		// Before there was session_v2, session_message repeated what the other tables have.
		Role: roleRows,
		Any:  second,
		Keys: `SELECT session_id || '/' || id || '` + secondMark + `', time_updated, 1, id FROM session_message
			WHERE id IS NOT NULL AND session_id IN (SELECT id FROM session_v2) ORDER BY id`,
		Rows: []format.Query{{Name: tableMessage, SQL: `SELECT * FROM session_message WHERE id = ?1`, JSON: []string{"data"}}},
	}}
}

// secondMark is at the end of the names of what was in the tables of version 2.
const secondMark = ".v2"

func (opencode) Apart(role string) bool { return role == roleRows || role == roleDatabase }
