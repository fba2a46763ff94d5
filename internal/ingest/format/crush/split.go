package crush

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix  = "crush "
	tableSession = tablePrefix + "session"
	tableMessage = tablePrefix + "message"
)

// Split takes a database apart into a session's own row and its messages. Columns of later versions are also in a row of NULLs (later),
// which SQL falls back to if a table lacks them. Messages are appended; the last one is written anew while it is being received.
func (crush) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Any:  []string{"sessions"},
		Keys: `SELECT s.id || '/session', CASE WHEN s.updated_at > 100000000000 THEN s.updated_at ELSE s.updated_at * 1000 END,
			s.message_count + s.prompt_tokens + s.completion_tokens + CAST((s.cost + coalesce(c.cost, 0)) * 1000000 AS INTEGER) + length(s.title), s.id
			FROM sessions s LEFT JOIN (SELECT parent_session_id AS parent, total(cost) AS cost FROM sessions WHERE parent_session_id NOT NULL GROUP BY 1) c ON c.parent = s.id
			WHERE s.id NOT NULL`,
		Rows: []format.Query{{
			Name: tableSession, JSON: []string{"todos", "models"},
			SQL: `SELECT s.*, (SELECT total(cost) FROM sessions WHERE parent_session_id = ?1) AS children_cost,
				(SELECT json_group_array(m) FROM (SELECT DISTINCT coalesce(provider, '') || char(9) || coalesce(nullif(prism_model_id, ''), model) AS m FROM messages
					WHERE session_id = ?1 AND role = 'assistant' AND coalesce(model, '') <> '' ORDER BY 1)) AS models
				FROM (SELECT NULL AS provider, NULL AS prism_model_id) later, sessions s WHERE s.id = ?1`,
		}},
	}, {
		Role: roleRows, Log: true,
		Any: []string{"messages"},
		Keys: `SELECT session_id || '/messages', CASE WHEN max(updated_at) > 100000000000 THEN max(updated_at) ELSE max(updated_at) * 1000 END,
			count(*) * 1073741824 + sum(octet_length(parts)) % 1073741824, session_id FROM messages WHERE session_id NOT NULL GROUP BY session_id`,
		Rows: []format.Query{{
			Name: tableMessage, JSON: []string{"parts"}, Zstd: []string{"parts"},
			SQL: `SELECT m.*, (SELECT parent_session_id FROM sessions WHERE id = ?1) AS parent FROM messages m WHERE m.session_id = ?1 ORDER BY m.created_at, m.rowid`,
		}},
	}}
}

// Apart reports whether originals of a role come out of a database.
func (crush) Apart(role string) bool { return role == roleRows || role == roleDatabase }
