package warp

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/protobuf"
)

// The table names in originals taken out of a database.
const (
	tablePrefix       = "warp "
	tableConversation = tablePrefix + "conversation"
	tableTask         = tablePrefix + "task"
	tableQuery        = tablePrefix + "query"
)

// A row for each row of a conversation in the tables: its id, its time in seconds, and a number that changes with what it holds.
const (
	conversationStates = `SELECT conversation_id AS id, CAST(strftime('%s', last_modified_at) AS INTEGER) AS changed, octet_length(conversation_data) * 7 + 11 AS n FROM agent_conversations
		UNION ALL SELECT conversation_id, CAST(strftime('%s', last_modified_at) AS INTEGER), octet_length(task) * 31 + 1000003 FROM agent_tasks`
	queryStates = `SELECT conversation_id AS id, CAST(strftime('%s', start_ts) AS INTEGER) AS changed, octet_length(input) * 17 + octet_length(output_status) + 1009 AS n FROM ai_queries`
)

// The rows of a conversation.
var (
	conversationRows = []format.Query{
		{Name: tableConversation, JSON: []string{"conversation_data"}, SQL: `SELECT conversation_id, conversation_data, last_modified_at FROM agent_conversations WHERE conversation_id = ?1`},
		{Name: tableTask, Protobuf: map[string]protobuf.Message{"task": taskMessage}, SQL: `SELECT conversation_id, task_id, task FROM agent_tasks WHERE conversation_id = ?1 ORDER BY id`},
	}
	queryRows = []format.Query{{Name: tableQuery, JSON: []string{"input", "output_status"}, SQL: `SELECT * FROM ai_queries WHERE conversation_id = ?1 ORDER BY start_ts, id`}}
)

// Split takes a database apart into its conversations. Warp writes all tasks of a conversation anew when it goes on, so each state of its rows is a
// version. Early versions had prompts alone.
func (warp) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	split := func(states string, rows ...format.Query) format.Split {
		return format.Split{
			Role: roleRows, Keys: `SELECT id, max(changed) * 1000, coalesce(sum(n), 0), id FROM (` + states + `) WHERE id NOT NULL GROUP BY id`, Rows: rows,
		}
	}
	both := split(conversationStates+" UNION ALL "+queryStates, append(conversationRows[:2:2], queryRows...)...)
	alone := split(queryStates, queryRows...).UnlessTable("agent_tasks")
	alone.Any = []string{"ai_queries"}
	return []format.Split{
		both.IfTable("agent_tasks").IfTable("agent_conversations").IfTable("ai_queries"),
		split(conversationStates, conversationRows...).IfTable("agent_tasks").IfTable("agent_conversations").UnlessTable("ai_queries"),
		alone,
	}
}

// Apart reports whether originals of a role come out of a database.
func (warp) Apart(role string) bool { return role == roleRows || role == roleDatabase }
