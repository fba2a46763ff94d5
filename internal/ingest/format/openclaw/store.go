package openclaw

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
)

// storeName is the database in which newer versions keep an agent's sessions, and its keys.
const (
	storeName = "openclaw-agent.sqlite"
)

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
	}, chatSplit("session_nodes", "current_session_id"), chatSplit("session_entries", "session_id", "session_nodes")}
}

// chatSplit takes out the chats in a table; earlier versions had another table. Columns that change with every message are left out.
func chatSplit(table, session string, without ...string) format.Split {
	return format.Split{
		Role: roleStoredChats, With: []string{table}, Without: without,
		Keys: `SELECT 'chats', CAST(coalesce(max(updated_at), 0) AS INTEGER), count(*), '' FROM ` + table + ` HAVING count(*) > 0`,
		Rows: []format.Query{{Name: roleStoredChats, SQL: `SELECT session_key, ` + session + ` AS session_id,
			CASE WHEN json_valid(entry_json) THEN json_extract(entry_json, '$.label') END AS label,
			CASE WHEN json_valid(entry_json) THEN json_extract(entry_json, '$.spawnedBy') END AS spawned_by
			FROM ` + table + ` WHERE ?1 = '' ORDER BY session_key`}},
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
	s := pi.Session{ID: n.session, Shared: true, Order: n.order(), Rank: n.rank(), Rewritten: true, Columns: entryColumns, Prompt: userText}
	// agents/<agent>/agent/openclaw-agent.sqlite/<session>.ndjson
	if home := path.Dir(path.Dir(file)); path.Base(home) == "agent" {
		if agent := path.Base(path.Dir(home)); agent != "." && agent != "/" {
			s.Agent = agent
		}
	}
	return s
}
