package llmlogs

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of databases.
const (
	tablePrefix     = "llm "
	tableResponse   = tablePrefix + "response" // with its tool calls, and the tool results in its prompt
	tableThread     = tablePrefix + "thread"
	tableMessage    = tablePrefix + "message" // with its parts, and the turns that ended in it
	tableLost       = tablePrefix + "lost"    // a message that a turn of the thread leads to, but the thread's current chain does not have
	tableTurn       = tablePrefix + "turn"    // a turn without a message
	tableLog        = tablePrefix + "log"
	tableFragment   = tablePrefix + "fragment"
	tableAttachment = tablePrefix + "attachment"

	nameResponses = "responses"
	nameThread    = "thread"
)

// Split takes a database apart: an original for the responses of each conversation, one for each thread with all messages it leads to, and
// one for each use of a fragment or attachment, of which the archive stores equal content once. Responses, messages and turns are
// written once and never change, and the messages of a thread form a chain, so their originals only grow.
//
// Columns of later versions are also in a row of NULLs, which SQL falls back to if a table lacks them.
func (llmlogs) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return splits()
}

// Apart reports whether originals of a role come out of a database: all do.
func (llmlogs) Apart(string) bool { return true }

// asJSON returns SQL for the JSON in a column as JSON, inside json_object.
func asJSON(column string) string {
	return `CASE WHEN json_valid(` + column + `) THEN json(` + column + `) ELSE ` + column + ` END`
}

// responseKeys lists the rows of each conversation, since responses has no index by conversation.
const responseKeys = `SELECT coalesce(conversation_id, id) || '/` + nameResponses + `', CAST(strftime('%s', max(datetime_utc)) AS INTEGER) * 1000, count(*),
	json_group_array(rowid) FROM responses WHERE id NOT NULL GROUP BY coalesce(conversation_id, id)`

// responses returns the query for the rows of a conversation; calls and results are SQL for lists of tool calls and results.
func responses(calls, results string) format.Query {
	return format.Query{
		Name: tableResponse, JSON: []string{"token_details", "options_json", "response_json", "calls", "results"},
		SQL: `SELECT r.*, (SELECT name FROM conversations WHERE id = r.conversation_id) AS conversation_name, ` + calls + ` AS calls, ` + results + ` AS results
			FROM (SELECT NULL AS exception, NULL AS instance_id) later, responses r WHERE r.rowid IN (SELECT value FROM json_each(?1)) ORDER BY r.rowid`,
	}
}

// inThread is SQL that says that a turn belongs to the thread. Turns of the first weeks may name none.
const inThread = `(thread_id = ` + threadID + ` OR thread_id IS NULL AND id = ` + threadID + `)`

// threadID is SQL for the thread's id in the key. The key begins with 1 if the thread repeats earlier messages as messages of its own, because
// its conversation began in the older tables or is a fork of one that did, else with 0. For a time llm also wrote responses to both kinds of
// tables; these are recognised by their ids.
const threadID = `substr(?1, 2)`

// threadRows is SQL for all threads: those in the table, and those that only turns name.
const threadRows = `SELECT id, name, tip_message_hash AS tip FROM threads
	UNION ALL SELECT coalesce(thread_id, id), NULL, NULL FROM turns t WHERE coalesce(thread_id, id) NOT IN (SELECT id FROM threads WHERE id NOT NULL) GROUP BY 1`

// chainCTE is SQL for the messages of the thread from its tip back; n is 0 at the tip. told marks messages that a turn of the thread ended in,
// asked those that were the last of a turn's input. The messages from one end back to the one before belong to one turn. A message is the turn's
// own if the turn produced it, or if it comes after the last answer in the turn's input (see owned in threadSplit).
const chainCTE = `WITH RECURSIVE mine AS (SELECT * FROM turns WHERE ` + inThread + `),
	c(n, hash, parent_hash, role) AS (
		SELECT 0, * FROM (SELECT hash, parent_hash, role FROM messages WHERE hash = coalesce((SELECT tip_message_hash FROM threads WHERE id = ` + threadID + `),
			(SELECT tip_message_hash FROM turns WHERE ` + inThread + ` AND tip_message_hash NOT NULL ORDER BY rowid DESC LIMIT 1)))
		UNION ALL SELECT n + 1, m.hash, m.parent_hash, m.role FROM c JOIN messages m ON m.hash = c.parent_hash WHERE n < 100000),
	marked AS (SELECT c.*, (SELECT min(datetime_utc) FROM mine WHERE tip_message_hash = c.hash) AS at,
		EXISTS (SELECT 1 FROM mine WHERE tip_message_hash = c.hash) AS told, EXISTS (SELECT 1 FROM mine WHERE parent_message_hash = c.hash) AS asked FROM c),
	parted AS (SELECT *, sum(told) OVER (ORDER BY n) AS turn FROM marked),
	sided AS (SELECT *, sum(asked) OVER (PARTITION BY turn ORDER BY n) AS input FROM parted)`

// messageColumns is SQL for the columns that rows of messages have besides their own: their parts and turns. c is the message.
var messageColumns = `(SELECT json_group_array(json_object('position', position, 'type', type, 'tool_name', tool_name, 'text', text, 'payload', ` + asJSON("payload") + `))
		FROM (SELECT * FROM parts WHERE message_hash = c.hash ORDER BY position)) AS parts,
	(SELECT json_group_array(json_object('id', id, 'model', model, 'resolved_model', resolved_model, 'options_json', ` + asJSON("options_json") + `, 'schema_id', schema_id,
		'input_tokens', input_tokens, 'output_tokens', output_tokens, 'token_details', ` + asJSON("token_details") + `, 'duration_ms', duration_ms, 'datetime_utc', datetime_utc,
		'response_json', ` + asJSON("response_json") + `)) FROM (SELECT * FROM turns WHERE ` + inThread + ` AND tip_message_hash = c.hash ORDER BY rowid)) AS turns`

// laterColumns is a row of NULLs with the columns that not every version has.
const laterColumns = `(SELECT NULL AS response_json, NULL AS options_json, NULL AS schema_id, NULL AS duration_ms, NULL AS datetime_utc, NULL AS provider_metadata) later`

// threadSplit takes out the threads. before is SQL that says that the older tables have a part of thread t, both that they have turn u.
func threadSplit(before, both string) format.Split {
	return format.Split{
		Role: roleRows, Log: true,
		Any: []string{"turns"},
		Keys: `SELECT t.id || '/` + nameThread + `', CAST(strftime('%s', coalesce(max(u.datetime_utc), (SELECT datetime_utc FROM threads WHERE id = t.id))) AS INTEGER) * 1000,
			coalesce(max(u.rowid), 0) * 1048576 + count(u.rowid) % 1024 + coalesce((SELECT rowid FROM messages WHERE hash = t.tip), 0) * 1024 + length(coalesce(t.name, '')),
			(` + before + `) || t.id FROM (` + threadRows + `) t LEFT JOIN turns u ON u.thread_id = t.id OR u.thread_id IS NULL AND u.id = t.id WHERE t.id NOT NULL GROUP BY t.id`,
		Rows: []format.Query{{
			Name: tableThread, SQL: `SELECT t.id, t.name, t.forked_from, (SELECT datetime_utc FROM threads WHERE id = t.id) AS datetime_utc FROM ` + laterColumns + `, threads t WHERE t.id = ` + threadID,
		}, {
			Name: tableMessage, JSON: []string{"provider_metadata", "parts", "turns"},
			SQL: chainCTE + `, owned AS (SELECT *, max(at) OVER (PARTITION BY turn) AS ended, turn > 0 AND sum(input > 0 AND role = 'assistant') OVER (PARTITION BY turn ORDER BY n) = 0 AS own,
					max(EXISTS (SELECT 1 FROM mine u WHERE u.tip_message_hash = sided.hash AND ` + both + `)) OVER (PARTITION BY turn) AS older FROM sided)
				SELECT ` + threadID + ` AS thread, c.hash, c.parent_hash, c.role, (SELECT provider_metadata FROM messages WHERE hash = c.hash) AS provider_metadata, c.ended AS at, c.own,
				turn > 0 AND (c.older OR NOT c.own AND substr(?1, 1, 1) = '1') AS copied, ` + messageColumns + `
				FROM ` + laterColumns + `, owned c ORDER BY n DESC`,
		}, {
			Name: tableLost, JSON: []string{"provider_metadata", "parts", "turns"},
			SQL: chainCTE + `, reach(hash) AS (SELECT tip_message_hash FROM mine WHERE tip_message_hash NOT NULL
					UNION SELECT m.parent_hash FROM reach JOIN messages m ON m.hash = reach.hash WHERE m.parent_hash NOT NULL)
				SELECT ` + threadID + ` AS thread, c.hash, c.parent_hash, c.role, (SELECT provider_metadata FROM messages WHERE hash = c.hash) AS provider_metadata,
				(SELECT min(datetime_utc) FROM mine WHERE tip_message_hash = c.hash) AS at, ` + messageColumns + `
				FROM ` + laterColumns + `, messages c WHERE c.hash IN (SELECT hash FROM reach) AND c.hash NOT IN (SELECT hash FROM c) ORDER BY c.rowid`,
		}, {
			Name: tableTurn, JSON: []string{"options_json", "token_details", "response_json"},
			SQL: `SELECT *, ` + threadID + ` AS thread FROM turns WHERE ` + inThread + ` AND (tip_message_hash IS NULL OR tip_message_hash NOT IN (SELECT hash FROM messages)) ORDER BY rowid`,
		}},
	}
}

// inOldTables is the argument before of threadSplit for databases that have the older tables.
const inOldTables = `(t.id IN (` + oldConversations + `) OR coalesce((SELECT forked_from FROM threads WHERE id = t.id), '') IN (` + oldConversations + `))`

// oldConversations lists the conversations with responses that are not turns.
const oldConversations = `SELECT conversation_id FROM responses r WHERE conversation_id NOT NULL AND NOT EXISTS (SELECT 1 FROM turns u WHERE u.id = r.id)`

// reachCTE is SQL for the messages that threads and their turns lead to.
const reachCTE = `WITH RECURSIVE reach(thread, hash) AS (
	SELECT id, tip_message_hash FROM threads WHERE tip_message_hash NOT NULL AND id NOT NULL
	UNION SELECT coalesce(thread_id, id), tip_message_hash FROM turns WHERE tip_message_hash NOT NULL
	UNION SELECT thread, m.parent_hash FROM reach JOIN messages m ON m.hash = reach.hash WHERE m.parent_hash NOT NULL)`

// attachmentSplit makes an original for each use of a fragment or attachment: uses is SQL for the conversation, the response or message,
// the name and the id.
func attachmentSplit(table, id, uses string, with ...string) format.Split {
	return format.Split{
		Role: roleAttachment,
		With: with,
		Keys: `SELECT replace(conversation, ':', '-') || '/' || replace(owner, ':', '-') || '/' || name, 0, 1, thing FROM (` + uses + `) WHERE conversation NOT NULL AND owner NOT NULL AND name NOT NULL`,
		Rows: []format.Query{{Name: table, SQL: `SELECT * FROM ` + id + ` WHERE id = ?1`}},
	}
}

// ofResponse returns SQL for the uses in a table that references responses.
func ofResponse(from, name, id string) string {
	return `SELECT coalesce(r.conversation_id, r.id) AS conversation, r.id AS owner, ` + name + ` AS name, ` + id + ` AS thing FROM ` + from + ` JOIN responses r ON r.id = response_id`
}

// ofPart returns SQL for the uses in a table that references parts.
func ofPart(from, kind, id string) string {
	return reachCTE + ` SELECT thread AS conversation, reach.hash AS owner, '` + kind + `-' || p.position || '-' || u."order" AS name, ` + id + ` AS thing
		FROM ` + from + ` u JOIN parts p ON p.id = u.part_id JOIN reach ON reach.hash = p.message_hash`
}

func splits() []format.Split {
	return []format.Split{{
		Role: roleRows, Log: true,
		Any: []string{"responses"}, With: []string{"tool_calls", "tool_results"},
		Keys: responseKeys,
		Rows: []format.Query{responses(
			`(SELECT json_group_array(json_object('id', id, 'name', name, 'arguments', `+asJSON("arguments")+`, 'tool_call_id', tool_call_id))
			FROM (SELECT * FROM tool_calls WHERE response_id = r.id ORDER BY id))`,
			`(SELECT json_group_array(json_object('id', id, 'name', name, 'output', output, 'tool_call_id', tool_call_id, 'exception', exception, 'instance_id', instance_id))
			FROM (SELECT * FROM tool_results WHERE response_id = r.id ORDER BY id))`)},
	}, {
		Role: roleRows, Log: true,
		Any: []string{"responses"}, Without: []string{"tool_calls"},
		Keys: responseKeys,
		Rows: []format.Query{responses(`'[]'`, `'[]'`)},
	},
		threadSplit(inOldTables, `EXISTS (SELECT 1 FROM responses r WHERE r.id = u.id)`).IfTable("responses"),
		threadSplit(`0`, `0`).UnlessTable("responses"),
		{
			Role: roleRows, Log: true,
			Any:  []string{"logs"},
			Keys: `SELECT 'logs-' || coalesce(chat_id, id) || '/` + nameResponses + `', 0, count(*), json_group_array(id) FROM logs GROUP BY coalesce(chat_id, id)`,
			Rows: []format.Query{{Name: tableLog, SQL: `SELECT * FROM logs WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id`, JSON: []string{"response_json"}}},
		},
		attachmentSplit(tableAttachment, "attachments", ofResponse("prompt_attachments u", `'attachment-' || u."order"`, "u.attachment_id"), "attachments", "prompt_attachments", "responses"),
		attachmentSplit(tableAttachment, "attachments", ofResponse("tool_results_attachments u JOIN tool_results t ON t.id = u.tool_result_id", `'result-' || t.id || '-' || u."order"`, "u.attachment_id"),
			"attachments", "tool_results_attachments", "tool_results", "responses"),
		attachmentSplit(tableFragment, "fragments", ofResponse("prompt_fragments u", `'fragment-' || u."order"`, "u.fragment_id"), "fragments", "prompt_fragments", "responses"),
		attachmentSplit(tableFragment, "fragments", ofResponse("system_fragments u", `'system-' || u."order"`, "u.fragment_id"), "fragments", "system_fragments", "responses"),
		attachmentSplit(tableAttachment, "attachments", ofPart("part_attachments", "attachment", "u.attachment_id"), "attachments", "part_attachments", "turns", "threads", "messages", "parts"),
		attachmentSplit(tableFragment, "fragments", ofPart("part_fragments", "fragment", "u.fragment_id"), "fragments", "part_fragments", "turns", "threads", "messages", "parts"),
	}
}
