package googleadk

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// rowEvent is the table name in originals taken out of a database.
const rowEvent = "adk event"

// secretCall is the call, and its answer, with which the kit asks the user to sign in: what is in them is not taken.
const secretCall = "adk_request_credential"

// unified is a column of the schema that has an event in one document; of that, what a tool asks the user for is not taken, and neither are changes of
// the state, which may be what the user signs in with.
const unified = "event_data"

// columns are those of the other schema, in which the actions of an event are Python's, or Go's. They hold text, JSON or flags.
var (
	columns     = []string{"author", "branch", "partial", "error_code", "error_message"}
	jsonColumns = []string{"usage_metadata", "input_transcription", "output_transcription"}
)

// secretActions are the paths of what is not taken of an event's document.
const secretActions = `'$.actions.state_delta', '$.actions.requested_auth_configs', '$.actions.agent_state',
	'$.actions.stateDelta', '$.actions.requestedAuthConfigs', '$.actions.agentState'`

// of is SQL for a column that not all tables of events have. Those that a table lacks are in a row of NULLs (later), which SQL falls back to.
func of(column string) string { return `(SELECT ` + column + ` FROM events WHERE rowid = e.rowid)` }

// millis is SQL for a time in milliseconds: it is text, or a number of seconds or milliseconds.
func millis(t string) string {
	return `CASE typeof(` + t + `) WHEN 'text' THEN CAST(strftime('%s', ` + t + `) AS INTEGER) * 1000 ELSE
		CASE WHEN ` + t + ` > 100000000000 THEN CAST(` + t + ` AS INTEGER) ELSE CAST(` + t + ` * 1000 AS INTEGER) END END`
}

// session is SQL for a column of the session that rows of events belong to.
func session(column, rows string) string {
	return `(SELECT ` + column + ` FROM sessions WHERE app_name = ` + rows + `.app_name AND user_id = ` + rows + `.user_id AND id = ` + rows + `.session_id)`
}

// Split takes a database apart into the events of each session, in the order in which they came. A session that is not called by a UUID has the time
// of its creation in the name of its original: one that is deleted can come again.
func (googleADK) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	began := session("create_time", "k")
	stamp := `coalesce(strftime('%Y%m%dT%H%M%S', (` + millis(began) + `) / 1000, 'unixepoch'), 'session')`
	name := `k.app_name || '/' || k.user_id || '/' || k.session_id || CASE WHEN length(k.session_id) = 36 THEN '' ELSE '/' || ` + stamp + ` END || '/events'`
	const mine = `app_name = json_extract(?1, '$[0]') AND user_id = json_extract(?1, '$[1]') AND session_id = json_extract(?1, '$[2]')`
	return []format.Split{{
		Role: roleRows, Log: true,
		Any: []string{"events"}, With: []string{"sessions"},
		Keys: `SELECT ` + name + `, ` + millis("k.t") + `, k.n || ' ' || k.last || ' ' || k.t, json_array(k.app_name, k.user_id, k.session_id)
			FROM (SELECT app_name, user_id, session_id, count(*) AS n, max(rowid) AS last, max(timestamp) AS t
				FROM events WHERE session_id NOT NULL GROUP BY app_name, user_id, session_id) k`,
		Rows: []format.Query{{
			Name: rowEvent, JSON: append([]string{unified, "content"}, jsonColumns...),
			SQL: `SELECT e.app_name, e.user_id, e.session_id, ` + text(session("create_time", "e")) + ` AS began, (` + behind(mine) + `) AS behind,
					e.id, e.invocation_id, ` + text("e.timestamp") + ` AS timestamp, ` + documents() + `
				FROM (SELECT NULL AS ` + strings.Join(append(append([]string{unified, "content"}, columns...), jsonColumns...), `, NULL AS `) + `) later, events e
				WHERE ` + mine + ` ORDER BY e.rowid`,
		}},
	}}
}

// text is SQL for a time as it is written, which the type of its column must not change.
func text(t string) string {
	return `CASE typeof(` + t + `) WHEN 'text' THEN CAST(` + t + ` AS TEXT) ELSE ` + t + ` + 0 END`
}

// behind is SQL for the seconds by which the times of events are ahead of those of their session, which is updated at the time of its last event: the
// schema that has no documents writes the former in the local time, and the latter in UTC.
func behind(mine string) string {
	days := `julianday(max(timestamp)) - julianday(` + session("update_time", "events") + `)`
	return `SELECT CASE typeof(max(timestamp)) WHEN 'text' THEN CAST(round((` + days + `) * 86400) AS INTEGER) END FROM events WHERE ` + mine
}

// documents is SQL for what is in an event. JSON5 has the numbers of Python that JSON has not.
func documents() string {
	data, content := of(unified), of("content")
	const hasSecret = `, '` + secretCall + `')`
	all := []string{
		`CASE WHEN json_valid(` + data + `, 2) THEN
			json_remove(` + data + `, ` + secretActions + `, CASE WHEN instr(` + data + hasSecret + ` THEN '$.content' ELSE '$.actions.none' END) END AS ` + unified,
		`CASE WHEN instr(` + content + hasSecret + ` THEN NULL ELSE ` + content + ` END AS content`,
	}
	for _, c := range append(columns, jsonColumns...) {
		all = append(all, of(c)+` AS `+c)
	}
	return strings.Join(all, `, `)
}

// Apart reports whether originals of a role come out of a database.
func (googleADK) Apart(role string) bool { return role == roleRows || role == roleDatabase }
