package claudecode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Qoder's editor, and its plugin for others, keep sessions in the database cache/db/local.db. What was said is encrypted in it; titles, models,
// tokens, and what tools were given and have returned are not.
const (
	editorFile  = "local.db"
	editorBelow = "cache/db/" + editorFile // below one of editorHomes

	editorTables  = "qoder " // begins the table names in originals taken out of it
	editorSession = editorTables + "session"
	editorMessage = editorTables + "message"
)

// isEditorHome reports whether a directory is one of the editor's, or of its plugin's. That of Lingma, which Qoder has replaced in China, has
// another case.
func isEditorHome(dir string) bool {
	name := path.Base(dir)
	return name == "shared_client" || strings.EqualFold(name, "SharedClientCache")
}

// detectEditor claims the database by its tables, or by its place if its first page does not show them, as it has many; and originals taken
// out of one.
func detectEditor(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleEditor, Database: true, Secret: true}
	switch name := path.Base(h.Path); {
	case !format.IsSQLite(h.Bytes):
		if path.Ext(name) != ".ndjson" || !strings.HasPrefix(format.FirstTable(h.Bytes), editorTables) {
			return format.Claim{}
		}
		return format.Claim{Strength: format.Certain, Role: roleEdited}
	case format.ContainsAll(h.Bytes, "chat_message", "gmt_create", "token_info", "tool_result"):
		if name != editorFile {
			claim.Strength = format.Likely
		}
	case format.ShowsSchema(h.Bytes):
		return format.Claim{}
	default:
		if home, ok := strings.CutSuffix(h.Path, "/"+editorBelow); !ok || !isEditorHome(home) {
			return format.Claim{}
		}
	}
	return claim
}

// sessionColumns are what is kept of a session's row: not whose it is, and not what the editor has put into its first prompt (extra).
func sessionColumns() []string {
	return []string{
		"session_title", "project_uri", "project_name", "gmt_create", "gmt_modified", "session_type", "mode", "status", "stop_reason",
		"parent_session_id", "parent_tool_call_id",
	}
}

// editorLater is a row of NULLs with the columns that not all versions have, which SQL falls back to if a table lacks them.
func editorLater() string {
	columns := append(sessionColumns(), "preferred_model_info", "request_id", "content", "summary", "tool_result", "token_info", "model_info")
	return `(SELECT NULL AS ` + strings.Join(columns, `, NULL AS `) + `) later`
}

// jsonMember returns SQL for a member of a column's JSON, NULL if it has none or is empty. Nothing else of these columns is kept: the
// configuration of a user's own model may hold its key.
func jsonMember(column, member string) string {
	return `CASE WHEN json_valid(` + column + `) THEN nullif(json_extract(` + column + `, '$.` + member + `'), '') END`
}

// editorSplit takes out sessions, each with its row and its messages, oldest first. Some versions have no table of sessions, and some none of
// requests (chat_record), which say what model was asked for where an answer does not. The key of a session has the numbers of its rows: nothing says
// that the table of messages has an index by session.
func editorSplit(sessions, requests bool) format.Split {
	const session, messages = `json_extract(?1, '$.session')`, `(SELECT value FROM json_each(?1, '$.messages'))`
	ofSession := func(column, id string) string {
		return `(SELECT ` + column + ` FROM chat_session WHERE session_id = ` + id + `)`
	}
	ofMessage := func(column string) string { return `(SELECT ` + column + ` FROM chat_message WHERE rowid = m.rowid)` }
	split := format.Split{Role: roleEdited, Any: []string{"chat_message"}}
	ids, changed, state := `SELECT session_id AS id FROM chat_message`, `k.latest`, `''`
	if sessions {
		var all, columns []string
		for _, c := range sessionColumns() {
			all = append(all, `coalesce(`+ofSession(c, "i.id")+`, '')`)
			columns = append(columns, ofSession(c, session)+` AS `+c)
		}
		ids, state = ids+` UNION SELECT session_id FROM chat_session`, strings.Join(all, ` || '|' || `)
		changed = `max(coalesce(k.latest, 0), coalesce(CAST(` + ofSession("gmt_modified", "i.id") + ` AS INTEGER), 0))`
		preferred := ofSession("preferred_model_info", session)
		split.Rows = []format.Query{{
			Name: editorSession,
			SQL: `SELECT s.session_id, ` + strings.Join(columns, `, `) + `,
				coalesce(` + jsonMember(preferred, "model_key") + `, ` + jsonMember(preferred, "preferred_model") + `) AS model
				FROM ` + editorLater() + `, chat_session s WHERE s.session_id = ` + session,
		}}
		split = split.IfTable("chat_session")
	} else {
		split = split.UnlessTable("chat_session")
	}
	model := jsonMember(ofMessage("model_info"), "model_key")
	if requests {
		asked := jsonMember("r.extra", "modelConfig.key")
		model = `coalesce(` + model + `, (SELECT ` + asked + ` FROM chat_record r WHERE r.request_id = ` + ofMessage("request_id") + `))`
		split = split.IfTable("chat_record")
	} else {
		split = split.UnlessTable("chat_record")
	}
	split.Keys = `SELECT i.id, coalesce(` + changed + `, 0),
			` + state + ` || '|' || coalesce(k.n, 0) || ' ' || coalesce(k.last, 0) || ' ' || coalesce(k.size, 0),
			json_object('session', i.id, 'messages', json(coalesce(k.rows, '[]')))
		FROM ` + editorLater() + `, (SELECT DISTINCT id FROM (` + ids + `) WHERE typeof(id) = 'text' AND id <> '') i LEFT JOIN (
			SELECT session_id, count(*) AS n, max(rowid) AS last, max(CAST(gmt_create AS INTEGER)) AS latest, json_group_array(rowid) AS rows,
				total(octet_length(` + ofMessage("content") + `)) + total(octet_length(` + ofMessage("tool_result") + `)) +
				total(octet_length(` + ofMessage("token_info") + `)) + total(octet_length(` + ofMessage("summary") + `)) AS size
			FROM (SELECT NULL AS content, NULL AS summary, NULL AS tool_result, NULL AS token_info) later, chat_message m GROUP BY session_id) k ON k.session_id = i.id`
	split.Rows = append(split.Rows, format.Query{
		Name: editorMessage, JSON: []string{"tool_result", "token_info"},
		SQL: `SELECT m.session_id, m.id, ` + ofMessage("request_id") + ` AS request_id, m.role, m.gmt_create, ` + model + ` AS model,
			` + ofMessage("token_info") + ` AS token_info, ` + ofMessage("content") + ` AS content,
			` + ofMessage("summary") + ` AS summary, ` + ofMessage("tool_result") + ` AS tool_result
			FROM ` + editorLater() + `, chat_message m WHERE m.rowid IN ` + messages + ` ORDER BY CAST(m.gmt_create AS INTEGER), m.rowid`,
	})
	return split
}

// Split takes the editor's database apart into sessions. Its other tables stay out: some of them hold credentials.
func (claudeCode) Split(role string) []format.Split {
	if role != roleEditor {
		return nil
	}
	return []format.Split{editorSplit(true, true), editorSplit(true, false), editorSplit(false, true), editorSplit(false, false)}
}

// Apart reports whether originals of a role come out of a database.
func (claudeCode) Apart(role string) bool { return role == roleEdited || role == roleEditor }
