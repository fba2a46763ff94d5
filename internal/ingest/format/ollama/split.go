package ollama

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix     = "ollama "
	tableChat       = tablePrefix + "chat"
	tableMessage    = tablePrefix + "message" // with its calls
	tableAttachment = tablePrefix + "attachment"
)

// Split takes a database apart into a chat's own row, its messages, and the attachments of these, one each: they are named by the place of the
// message, since all messages get other numbers with each prompt. Columns of later schemas are also in a row of NULLs (later), which SQL falls
// back to if a table lacks them. The user and the settings of the app stay out.
func (ollama) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Any:  []string{"chats"},
		Keys: `SELECT c.id || '/chat', CAST(strftime('%s', c.created_at) AS INTEGER) * 1000,
			c.title || ' ' || coalesce(octet_length((SELECT browser_state FROM chats WHERE id = c.id)), 0) || ' ' ||
				coalesce((SELECT max(id) FROM messages WHERE chat_id = c.id), 0), c.id
			FROM (SELECT NULL AS browser_state) later, chats c WHERE c.id NOT NULL`,
		Rows: []format.Query{{Name: tableChat, JSON: []string{"browser_state"}, SQL: `SELECT * FROM chats WHERE id = ?1`}},
	}, {
		Role: roleRows,
		Any:  []string{"messages"},
		Keys: `SELECT k.chat_id || '/messages', CAST(strftime('%s', k.updated) AS INTEGER) * 1000,
			k.n || ' ' || k.last || ' ' || k.size || ' ' || k.updated || ' ' ||
				coalesce((SELECT max(id) FROM tool_calls WHERE message_id IN (SELECT id FROM messages WHERE chat_id = k.chat_id)), 0), k.chat_id
			FROM (SELECT chat_id, count(*) AS n, max(id) AS last, total(octet_length(content)) + total(octet_length(thinking)) AS size, max(updated_at) AS updated
				FROM messages WHERE chat_id NOT NULL GROUP BY chat_id) k`,
		Rows: []format.Query{{
			Name: tableMessage, JSON: []string{"tool_result", "calls"},
			SQL: `SELECT m.*, (SELECT tool_result IS NOT NULL FROM messages WHERE id = m.id) AS returned,
				(SELECT json_group_array(json_object('type', type, 'function_name', function_name, 'function_arguments', function_arguments,
					'function_result', function_result))
					FROM (SELECT * FROM tool_calls WHERE message_id = m.id ORDER BY id)) AS calls
				FROM (SELECT NULL AS tool_result) later, messages m WHERE m.chat_id = ?1 ORDER BY m.id`,
		}},
	}, {
		Role: roleRows,
		With: []string{"attachments", "messages"},
		Keys: `SELECT chat_id || '/attachment-' || message || '-' || attachment, CAST(strftime('%s', created_at) AS INTEGER) * 1000,
			created_at || ' ' || size || ' ' || filename, id
			FROM (SELECT a.id, m.chat_id, m.n AS message, row_number() OVER (PARTITION BY m.id ORDER BY a.id) AS attachment, m.created_at,
					octet_length(a.data) AS size, a.filename
				FROM attachments a JOIN (SELECT id, chat_id, created_at, row_number() OVER (PARTITION BY chat_id ORDER BY id) AS n
					FROM messages WHERE chat_id NOT NULL) m ON m.id = a.message_id)`,
		Rows: []format.Query{{
			Name: tableAttachment,
			SQL:  `SELECT m.chat_id, m.role, m.created_at, a.filename, a.data FROM attachments a JOIN messages m ON m.id = a.message_id WHERE a.id = CAST(?1 AS INTEGER)`,
		}},
	}}
}

// Apart reports whether originals of a role come out of a database.
func (ollama) Apart(role string) bool { return role == roleRows || role == roleDatabase }
