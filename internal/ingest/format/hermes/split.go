package hermes

import (
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The table names in originals taken out of a database.
const (
	tablePrefix  = "hermes "
	tableSession = tablePrefix + "session"
	tableUsage   = tablePrefix + "usage" // of one model for one kind of work
	tablePrompt  = tablePrefix + "prompt"
	tableMessage = tablePrefix + "message"
)

// sessionColumns are what is kept of a session's row, besides its id: not what changes all the time and says nothing of the session, such as
// locks, and not its configuration, which could hold a key.
var sessionColumns = []string{
	"source", "user_id", "session_key", "chat_id", "chat_type", "thread_id", "display_name", "model", "parent_session_id", "started_at", "ended_at", "end_reason",
	"message_count", "tool_call_count", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "api_call_count",
	"estimated_cost_usd", "actual_cost_usd", "cost_status", "cost_source", "pricing_version", "billing_provider", "billing_base_url", "billing_mode",
	"cwd", "git_branch", "git_repo_root", "title", "title_source", "profile_name", "rewind_count", "archived", "pinned",
}

// otherColumns are columns that only some schemas have and that other parts of the queries use.
var otherColumns = []string{"model_config", "system_prompt", "system_prompt_hash", "task"}

// usageColumns are the sums of a session and of its models.
var usageColumns = []string{
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "api_call_count", "estimated_cost_usd", "actual_cost_usd",
}

// later is SQL for a row of NULLs, which SQL falls back to for columns that a table does not have.
func later() string {
	return `(SELECT NULL AS ` + strings.Join(slices.Concat(sessionColumns, otherColumns), `, NULL AS `) + `) later`
}

// columnOf is SQL for a column of a session, whose id is SQL, too.
func columnOf(column, session string) string {
	return `(SELECT ` + column + ` FROM sessions WHERE id = ` + session + `)`
}

// parentColumn is SQL for a column of the parent of session ?1.
func parentColumn(column string) string { return columnOf(column, columnOf("parent_session_id", "?1")) }

// markerOf is SQL for a marker in a session's configuration.
func markerOf(marker string) string {
	config := columnOf("model_config", "?1")
	return `CASE WHEN json_valid(` + config + `) THEN json_extract(` + config + `, '$.` + marker + `') END`
}

// sessionSplit takes out a session's own row and, if there is a table of them, what each model was used for.
func sessionSplit(hasModels bool) format.Split {
	var all, columns []string
	for _, c := range sessionColumns {
		all = append(all, `coalesce(`+columnOf(c, "s.id")+`, '')`)
		columns = append(columns, columnOf(c, "?1")+` AS `+c)
	}
	columns = append(columns, markerOf("_delegate_from")+` AS delegate_from`, markerOf("_branched_from")+` AS branched_from`, markerOf("_reset_from")+` AS reset_from`,
		markerOf("reasoning_config")+` AS reasoning_config`, parentColumn("end_reason")+` AS parent_end_reason`)
	s := format.Split{Role: roleRows, Any: []string{"sessions"}, Without: []string{modelTable}}
	if hasModels {
		s.With, s.Without = s.Without, nil
		var sums []string
		for _, c := range usageColumns {
			sums = append(sums, `total(`+c+`)`)
			columns = append(columns, `(SELECT sum(`+c+`) FROM `+modelTable+` WHERE session_id = ?1 AND `+inTotals+`) AS main_`+c)
		}
		all = append(all, `(SELECT count(*) || ' ' || `+strings.Join(sums, ` || ' ' || `)+` FROM `+modelTable+` WHERE session_id = s.id)`)
	}
	s.Keys = `SELECT s.id || '/session', CAST(coalesce(` + columnOf("ended_at", "s.id") + `, ` + columnOf("started_at", "s.id") + `) * 1000 AS INTEGER), ` +
		strings.Join(all, ` || '|' || `) + `, s.id FROM ` + later() + `, sessions s WHERE s.id NOT NULL`
	s.Rows = []format.Query{{
		Name: tableSession, JSON: []string{"reasoning_config"},
		SQL: `SELECT s.id, ` + strings.Join(columns, `, `) + ` FROM ` + later() + `, sessions s WHERE s.id = ?1`,
	}}
	if hasModels {
		s.Rows = append(s.Rows, format.Query{
			Name: tableUsage,
			SQL:  `SELECT u.* FROM ` + modelTable + ` u WHERE u.session_id = ?1 ORDER BY u.rowid`,
		})
	}
	return s
}

// modelTable has the sums of each model, of schemas 20 and later.
const modelTable = "session_model_usage"

// inTotals is SQL for whether a row of modelTable is also in the sums of its session: work that supports the conversation, such as
// shortening it, is not.
const inTotals = `coalesce(task, '') IN ('', '` + voice + `')`

// promptSplit takes out the system prompts of sessions, which newer schemas keep in a table of their own.
func promptSplit(hasTable bool) format.Split {
	s := format.Split{Role: roleRows, Any: []string{"sessions"}, Without: []string{"system_prompts"}}
	prompt := func(session string) string { return columnOf("system_prompt", session) }
	if hasTable {
		s.With, s.Without = s.Without, nil
		prompt = func(session string) string {
			return `coalesce((SELECT prompt FROM system_prompts WHERE hash = ` + columnOf("system_prompt_hash", session) + `), ` + columnOf("system_prompt", session) + `)`
		}
	}
	length := `octet_length(` + prompt("s.id") + `)`
	s.Keys = `SELECT s.id || '/prompt', CAST(` + columnOf("started_at", "s.id") + ` * 1000 AS INTEGER), ` + length + ` || ' ' || coalesce(` + columnOf("system_prompt_hash", "s.id") + `, ''), s.id
		FROM ` + later() + `, sessions s WHERE s.id NOT NULL AND ` + length + ` > 0`
	s.Rows = []format.Query{{
		Name: tablePrompt,
		SQL:  `SELECT s.id AS session_id, ` + columnOf("started_at", "?1") + ` AS started_at, ` + prompt("?1") + ` AS prompt FROM ` + later() + `, sessions s WHERE s.id = ?1`,
	}}
	return s
}

// messageSplit takes out messages, in the order in which they were written: the program's clock may go back. Messages are appended, and
// their flags change in place.
//
// A session that goes on from another one begins with messages of that one: carried says which of the first messages are also there. kept says
// whether a message that was set aside has been written again.
func messageSplit() format.Split {
	const flags = `(SELECT total(active * id + 0 * rowid) || ' ' || total(compacted * id + 0 * rowid) FROM messages WHERE session_id = k.s)`
	return format.Split{
		Role: roleRows, Log: true,
		Any: []string{"messages"},
		Keys: `SELECT k.s || '/messages', CAST(k.t * 1000 AS INTEGER), k.c || ' ' || k.m || ' ' || k.n || ' ' || ` + flags + `, k.s
			FROM (SELECT session_id AS s, count(*) AS c, max(id) AS m, total(octet_length(content)) AS n, max(timestamp) AS t FROM messages WHERE session_id NOT NULL GROUP BY session_id) k,
			(SELECT NULL AS active, NULL AS compacted) later`,
		Rows: []format.Query{{
			Name: tableMessage, JSON: []string{"tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items", "display_metadata"},
			SQL: `SELECT m.*, ` + columnOf("started_at", "?1") + ` AS began,
				CASE WHEN m.id <= (SELECT max(id) FROM (SELECT id FROM messages WHERE session_id = ?1 ORDER BY id LIMIT 100)) THEN EXISTS (
					SELECT 1 FROM messages p WHERE p.session_id = ` + columnOf("parent_session_id", "?1") + ` AND p.id < m.id AND p.role = m.role
					AND p.content IS m.content AND p.tool_call_id IS m.tool_call_id AND p.tool_calls IS m.tool_calls) END AS carried,
				CASE WHEN (SELECT active FROM messages WHERE id = m.id) = 0 THEN EXISTS (SELECT 1 FROM messages q WHERE q.session_id = ?1 AND q.timestamp = m.timestamp AND q.id > m.id
					AND q.role = m.role AND q.content IS m.content) END AS kept
				FROM (SELECT NULL AS started_at, NULL AS parent_session_id, NULL AS active) later, messages m WHERE m.session_id = ?1 ORDER BY m.id`,
		}},
	}
}

// Split takes a database apart into what is known of each session and model, prompts and messages.
func (hermes) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{sessionSplit(true), sessionSplit(false), promptSplit(true), promptSplit(false), messageSplit()}
}

// Apart reports whether originals of a role come out of a database.
func (hermes) Apart(role string) bool { return role == roleRows || role == roleDatabase }
