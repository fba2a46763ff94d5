package openclaw

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
)

// storeName is the database in which newer versions keep an agent's sessions, and its keys.
const storeName = "openclaw-agent.sqlite"

// Split takes the entries out of the database, one original per session, and the list of chats, as one original. An entry is in one of
// two columns; the second came with a later version.
func (openclaw) Split(role string) []format.Split {
	if role != roleStore {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Log:  true,
		With: []string{"transcript_events"},
		Keys: `SELECT session_id, CAST(coalesce(max(created_at), 0) AS INTEGER), count(*) + max(seq) + coalesce(sum(octet_length(event_json)), 0), session_id
			FROM transcript_events GROUP BY session_id ORDER BY session_id`,
		Rows: []format.Query{{
			Name: roleRows, SQL: `SELECT * FROM transcript_events WHERE session_id = ?1 ORDER BY seq`, JSON: entryColumns, Zstd: entryColumns[1:],
		}},
	},
		chatSplit("session_nodes", "current_session_id", true).IfTable("session_windows"),
		chatSplit("session_nodes", "current_session_id", false).UnlessTable("session_windows"),
		chatSplit("session_entries", "session_id", false).UnlessTable("session_nodes"),
	}
}

// chatSplit takes out the chats in a table; earlier versions had another table. Columns that change with every message are left out. With
// windows, the chats have their earlier sessions as well, and the times when they began.
func chatSplit(table, session string, windows bool) format.Split {
	count, rows := "count(*)", "SELECT * FROM chats ORDER BY session_key"
	if windows {
		count = "count(*) + (SELECT count(*) FROM session_windows)"
		rows = `SELECT c.*, w.created_at FROM chats c LEFT JOIN session_windows w USING (session_id)
			UNION ALL SELECT w.session_key, w.session_id, NULL, c.spawned_by, c.forked_from, w.created_at
			FROM session_windows w JOIN chats c ON c.session_key = w.session_key WHERE w.session_id <> c.session_id
			ORDER BY 1, 6, 2`
	}
	return format.Split{
		Role: roleStoredChats, With: []string{table},
		Keys: `SELECT 'chats', CAST(coalesce(max(updated_at), 0) AS INTEGER), ` + count + `, '' FROM ` + table + ` HAVING count(*) > 0`,
		Rows: []format.Query{{Name: roleStoredChats, SQL: `WITH chats AS (SELECT session_key, ` + session + ` AS session_id,
			CASE WHEN json_valid(entry_json) THEN json_extract(entry_json, '$.label') END AS label,
			CASE WHEN json_valid(entry_json) THEN json_extract(entry_json, '$.spawnedBy') END AS spawned_by,
			CASE WHEN json_valid(entry_json) THEN json_extract(entry_json, '$.forkSource.sessionId') END AS forked_from
			FROM ` + table + ` WHERE ?1 = '') ` + rows}},
	}
}

// entryColumns are the columns that may hold an entry; the second is compressed.
var entryColumns = []string{"event_json", "event_zstd"}

// Apart reports whether originals of a role come out of the database.
func (openclaw) Apart(role string) bool {
	return role == roleStore || role == roleRows || role == roleStoredChats
}

// storedSession returns what is known about the session of some rows, which is live.
func storedSession(file string) pi.Session {
	n := fileName{session: strings.TrimSuffix(path.Base(file), ".ndjson")}
	s := n.entries()
	s.Columns = entryColumns
	// agents/<agent>/agent/openclaw-agent.sqlite/<session>.ndjson
	if home := path.Dir(path.Dir(file)); path.Base(home) == "agent" {
		if agent := path.Base(path.Dir(home)); agent != "." && agent != "/" {
			s.Agent = agent
		}
	}
	return s
}
