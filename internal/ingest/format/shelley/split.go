package shelley

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The table names in originals taken out of a database.
const (
	tablePrefix       = "shelley "
	tableConversation = tablePrefix + "conversation"
	tableMessage      = tablePrefix + "message"
)

// conversationColumns are what is kept of a conversation's row, besides its id: not whether the agent is at work, and not its options, which
// could hold a key.
var conversationColumns = []string{
	"slug", "user_initiated", "created_at", "updated_at", "cwd", "archived", "parent_conversation_id", "model", "current_generation", "tags", "is_draft",
	"draft", "queued_messages",
}

// options are the conversation's options that are kept.
var options = []string{"type", "subagent_backend", "thinking_level"}

// conversationSplit takes out the conversations' own rows. Columns of later versions are also in a row of NULLs (later), which SQL falls back to if
// a table lacks them.
func conversationSplit() format.Split {
	of := func(column, id string) string {
		return `(SELECT ` + column + ` FROM conversations WHERE conversation_id = ` + id + `)`
	}
	var all, columns []string
	for _, c := range conversationColumns {
		all = append(all, `coalesce(`+of(c, "c.conversation_id")+`, '')`)
		columns = append(columns, of(c, "?1")+` AS `+c)
	}
	for _, o := range options {
		config := of("conversation_options", "?1")
		columns = append(columns, `CASE WHEN json_valid(`+config+`) THEN json_extract(`+config+`, '$.`+o+`') END AS `+o)
	}
	later := `(SELECT NULL AS ` + strings.Join(conversationColumns, `, NULL AS `) + `, NULL AS conversation_options) later`
	return format.Split{
		Role: roleRows,
		Any:  []string{"conversations"},
		Keys: `SELECT c.conversation_id || '/conversation', CAST(strftime('%s', ` + of("updated_at", "c.conversation_id") + `) AS INTEGER) * 1000, ` +
			strings.Join(all, ` || '|' || `) + `, c.conversation_id FROM ` + later + `, conversations c WHERE c.conversation_id NOT NULL`,
		Rows: []format.Query{{
			Name: tableConversation, JSON: []string{"tags", "queued_messages"},
			SQL: `SELECT c.conversation_id, ` + strings.Join(columns, `, `) + ` FROM ` + later + `, conversations c WHERE c.conversation_id = ?1`,
		}},
	}
}

// copyOf is SQL for the message that a message is a copy of.
func copyOf(id string) string {
	return `(SELECT forked_from_message_id FROM messages WHERE message_id = ` + id + `)`
}

// messageSplit takes out messages, which are appended. root is the first message that one is a copy of: forks can be forked.
func messageSplit() format.Split {
	return format.Split{
		Role: roleRows, Log: true,
		Any: []string{"messages"},
		Keys: `SELECT k.id || '/messages', CAST(strftime('%s', k.t) AS INTEGER) * 1000, k.n || ' ' || k.last || ' ' || k.size || ' ' ||
				coalesce((SELECT total(octet_length(other_usage_data) + 0 * rowid) FROM messages WHERE conversation_id = k.id), 0), k.id
			FROM (SELECT conversation_id AS id, count(*) AS n, max(sequence_id) AS last, max(created_at) AS t,
					total(octet_length(llm_data)) + total(octet_length(user_data)) + total(octet_length(usage_data)) AS size
				FROM messages WHERE conversation_id NOT NULL GROUP BY conversation_id) k, (SELECT NULL AS other_usage_data) later`,
		Rows: []format.Query{{
			Name: tableMessage, JSON: []string{"llm_data", "user_data", "usage_data", "display_data", "other_usage_data"},
			SQL: `SELECT m.*, (WITH RECURSIVE up(n, id) AS (SELECT 0, ` + copyOf("m.message_id") + ` UNION ALL
						SELECT n + 1, ` + copyOf("up.id") + ` FROM up WHERE id NOT NULL AND n < 1000)
					SELECT id FROM up WHERE id NOT NULL ORDER BY n DESC LIMIT 1) AS root,
				(SELECT conversation_id FROM messages WHERE message_id = ` + copyOf("m.message_id") + `) AS forked_from
				FROM (SELECT NULL AS forked_from_message_id) later, messages m WHERE m.conversation_id = ?1 ORDER BY m.sequence_id, m.rowid`,
		}},
	}
}

// Split takes a database apart into what is known of each conversation, and its messages.
func (shelley) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{conversationSplit(), messageSplit()}
}

// Apart reports whether originals of a role come out of a database.
func (shelley) Apart(role string) bool { return role == roleRows || role == roleDatabase }
