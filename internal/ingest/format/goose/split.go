package goose

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix  = "goose "
	tableSession = tablePrefix + "session"
	tableMessage = tablePrefix + "message"
	tableThread  = tablePrefix + "thread message" // as shown by a client, in schemas 10 and later
	tableUsage   = tablePrefix + "usage"
)

// Split takes a database apart into a session's own row, its messages, its requests, and its thread as shown by a client. Columns
// of later schemas are also in a row of NULLs (later), which SQL falls back to if a table lacks them.
func (goose) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return splits()
}

// Apart reports whether originals of a role come out of a database.
func (goose) Apart(role string) bool { return role == roleRows || role == roleDatabase }

// beganColumn is SQL for the creation time of a row's session, as text.
const beganColumn = `(SELECT CAST(created_at AS TEXT) FROM sessions WHERE id = ?1) AS began`

// sessionSplit takes out the sessions' own rows; calls is SQL for the number of requests of session s in the ledger.
func sessionSplit(calls string) format.Split {
	of := func(column string) string { return `(SELECT ` + column + ` FROM sessions WHERE id = s.id)` }
	const later = `(SELECT NULL AS parent_session_id, NULL AS created_at, NULL AS updated_at, NULL AS accumulated_total_tokens, NULL AS total_tokens, NULL AS description, NULL AS cost_source) later`
	return format.Split{
		Role: roleRows,
		Any:  []string{"sessions"},
		Keys: `SELECT s.id || '/session', CAST(strftime('%s', ` + of("updated_at") + `) AS INTEGER) * 1000,
			coalesce(` + of("accumulated_total_tokens") + `, 0) + coalesce(` + of("total_tokens") + `, 0) + length(coalesce(` + of("description") + `, '')) + ` + calls + `, s.id
			FROM ` + later + `, sessions s WHERE s.id NOT NULL`,
		Rows: []format.Query{{
			Name: tableSession, JSON: []string{"extension_data", "recipe_json", "user_recipe_values_json", "model_config_json"},
			SQL: `SELECT s.*, ` + beganColumn + `, ` + calls + ` AS calls,
				(SELECT CAST(created_at AS TEXT) FROM sessions WHERE id = (SELECT parent_session_id FROM sessions WHERE id = ?1)) AS parent_began
				FROM ` + later + `, sessions s WHERE s.id = ?1`,
		}},
	}
}

// messageSplit takes out the messages of a table. Goose changes their metadata in place, so its length is part of the number in Keys.
// (Without the rowid, SQLite would evaluate the sum in the outer query if the table has no metadata_json.)
func messageSplit(from, file, table string) format.Split {
	return format.Split{
		Role: roleRows, Log: true,
		With: []string{from},
		Keys: `SELECT k.s || '/` + file + `', CASE WHEN k.t > 100000000000 THEN k.t ELSE k.t * 1000 END,
			k.m * 1048576 + k.c % 1024 * 1024 + coalesce((SELECT sum(length(metadata_json) + 0 * rowid) FROM ` + from + ` WHERE session_id = k.s), 0) % 1024, k.s
			FROM (SELECT session_id AS s, max(rowid) AS m, count(*) AS c, max(created_timestamp) AS t FROM ` + from + ` WHERE session_id NOT NULL GROUP BY session_id) k,
			(SELECT NULL AS metadata_json) later`,
		Rows: []format.Query{{
			Name: table, JSON: []string{"content_json", "metadata_json"},
			SQL: `SELECT m.*, ` + beganColumn + ` FROM (SELECT NULL AS created_at) later, ` + from + ` m WHERE m.session_id = ?1 ORDER BY m.created_timestamp, m.rowid`,
		}},
	}
}

// ledgerCount is SQL for the number of requests of session s in the ledger.
const ledgerCount = `(SELECT count(*) FROM usage_ledger WHERE session_id = s.id AND coalesce(cost_source, '') <> '` + carriedForward + `')`

func splits() []format.Split {
	return []format.Split{
		sessionSplit(ledgerCount).IfTable("usage_ledger"),
		sessionSplit(`0`).UnlessTable("usage_ledger"),
		messageSplit("messages", "messages", tableMessage),
		messageSplit("thread_messages", "thread", tableThread),
		{
			Role: roleRows, Log: true,
			With: []string{"usage_ledger"},
			Keys: `SELECT session_id || '/usage', CASE WHEN max(created_timestamp) > 100000000000 THEN max(created_timestamp) ELSE max(created_timestamp) * 1000 END,
			max(rowid) * 1024 + count(*) % 1024, session_id FROM usage_ledger WHERE session_id NOT NULL GROUP BY session_id`,
			Rows: []format.Query{{
				Name: tableUsage, JSON: []string{"model_config"},
				SQL: `SELECT u.rowid AS request, u.*, ` + beganColumn + `, (SELECT provider_name FROM sessions WHERE id = ?1) AS provider, (SELECT model_config_json FROM sessions WHERE id = ?1) AS model_config
				FROM (SELECT NULL AS provider_name, NULL AS model_config_json, NULL AS created_at) later, usage_ledger u WHERE u.session_id = ?1 ORDER BY u.rowid`,
			}},
		},
	}
}
