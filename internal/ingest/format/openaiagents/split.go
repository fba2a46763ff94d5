package openaiagents

import "github.com/txarchive/txarchive/internal/ingest/format"

// The tables of a database. The last two are those of an AdvancedSQLiteSession.
const (
	tableSessions  = "agent_sessions"
	tableMessages  = "agent_messages"
	tableStructure = "message_structure"
	tableUsage     = "turn_usage"
)

// The table names in originals taken out of a database.
const (
	tablePrefix = "openai-agents "
	rowMessage  = tablePrefix + "message"
	rowUsage    = tablePrefix + "usage"
)

// began is SQL for the time at which a session was created, as text: without a row of its own, which no key demands, that of its first row in
// another table.
func began(session, table string) string {
	return `coalesce((SELECT CAST(created_at AS TEXT) FROM agent_sessions WHERE session_id = ` + session + `),
		(SELECT CAST(min(created_at) AS TEXT) FROM ` + table + ` WHERE session_id = ` + session + `))`
}

// partName is SQL for the name of an original: the time is a part of it, so that a session of the same name is another original.
func partName(table, file string) string {
	return `k.session_id || '/' || coalesce(strftime('%Y%m%dT%H%M%S', ` + began("k.session_id", table) + `), 'session') || '/` + file + `'`
}

// compacted is SQL that is true for messages up to the last one that replaces what was before it. The SDK writes these anew with it.
const compacted = `m.id <= coalesce((
	SELECT max(CASE WHEN json_valid(message_data) THEN CASE json_extract(message_data, '$.type') WHEN 'compaction' THEN id END END)
	FROM agent_messages WHERE session_id = ?1 AND message_data LIKE '%"compaction"%'), 0)`

// Split takes a database apart into the messages and the usage of each session. Only branches refer to messages more than once.
func (openaiAgents) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	const changed = `(SELECT session_id, count(*) AS n, max(id) AS last, max(created_at) AS t
		FROM agent_messages WHERE session_id NOT NULL GROUP BY session_id) k`
	const item = `m.id, CAST(m.created_at AS TEXT) AS created_at, ` + compacted + ` AS compacted`
	messages := format.Split{
		Role: roleRows, Log: true,
		Any: []string{tableMessages}, With: []string{tableSessions},
		Keys: `SELECT ` + partName(tableMessages, "messages") + `, CAST(strftime('%s', k.t) AS INTEGER) * 1000, k.n || ' ' || k.last, k.session_id
			FROM ` + changed,
		Rows: []format.Query{{
			Name: rowMessage, JSON: []string{"message_data"},
			SQL: `SELECT m.session_id, ` + began("?1", tableMessages) + ` AS began, ` + item + `, m.message_data
				FROM agent_messages m WHERE m.session_id = ?1 ORDER BY m.id`,
		}},
	}
	branched := messages
	branched.Keys = `SELECT ` + partName(tableMessages, "messages") + `, CAST(strftime('%s', k.t) AS INTEGER) * 1000,
		k.n || ' ' || k.last || ' ' || (SELECT count(*) || ' ' || coalesce(max(id), 0) FROM message_structure WHERE session_id = k.session_id),
		k.session_id FROM ` + changed
	branched.Rows = []format.Query{{
		Name: rowMessage, JSON: []string{"message_data"},
		SQL: `SELECT m.session_id, ` + began("?1", tableMessages) + ` AS began, ` + item + `,
				s.branch_id, s.user_turn_number, s.id = s.home AS home, m.message_data
			FROM agent_messages m LEFT JOIN (
				SELECT *, min(id) OVER (PARTITION BY message_id) AS home FROM message_structure WHERE session_id = ?1) s ON s.message_id = m.id
			WHERE m.session_id = ?1 ORDER BY s.id NOT NULL, s.id, m.id`,
	}}
	usage := format.Split{
		Role: roleRows,
		With: []string{tableUsage, tableStructure, tableSessions},
		Keys: `SELECT ` + partName(tableUsage, "usage") + `, CAST(strftime('%s', k.t) AS INTEGER) * 1000, k.n || ' ' || k.last || ' ' || k.size, k.session_id
			FROM (SELECT session_id, count(*) AS n, max(id) AS last, total(total_tokens) AS size, max(created_at) AS t
				FROM turn_usage WHERE session_id NOT NULL GROUP BY session_id) k`,
		Rows: []format.Query{{
			Name: rowUsage, JSON: []string{"input_tokens_details", "output_tokens_details"},
			SQL: `SELECT u.*, ` + began("?1", tableUsage) + ` AS began,
					(SELECT CAST(min(created_at) AS TEXT) FROM message_structure WHERE session_id = ?1) AS structured
				FROM turn_usage u WHERE u.session_id = ?1 ORDER BY u.id`,
		}},
	}
	return []format.Split{messages.UnlessTable(tableStructure), branched.IfTable(tableStructure), usage}
}

// Apart reports whether originals of a role come out of a database.
func (openaiAgents) Apart(role string) bool { return role == roleRows || role == roleDatabase }
