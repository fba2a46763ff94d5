package kiro

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix       = "kiro "
	tableEntry        = tablePrefix + "entry"        // of a history
	tableSummary      = tablePrefix + "summary"      // of what was there before
	tableShown        = tablePrefix + "shown"        // lines of the transcript that the program keeps for display
	tableConversation = tablePrefix + "conversation" // everything else
)

// Split takes a database apart into conversations and nothing else: tokens and the commands of the shell are beside them. A
// conversation is one JSON document, which is written anew after each answer. Its history is split into rows, so that what was added is
// stored alone. Where the program changed directory there are several documents of one conversation, each beginning like
// the one before. The key of a conversation is the list of its rows: its id is in the documents, or in no index.
func (kiro) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	const (
		listed  = ` WHERE rowid IN (SELECT value FROM json_each(?1))`
		current = `SELECT key, conversation_id AS id, CAST(value AS TEXT) AS value, created_at, updated_at FROM conversations_v2` + listed
		newest  = `max(updated_at), sum(octet_length(value)), json_group_array(rowid) FROM conversations_v2 GROUP BY conversation_id`
		// The first versions have one conversation for each directory.
		valid  = `CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(value AS TEXT) ELSE '{}' END`
		idOf   = `coalesce(json_extract(` + valid + `, '$.conversation_id'), 'row-' || rowid)`
		first  = `SELECT key, ` + idOf + ` AS id, CAST(value AS TEXT) AS value, NULL AS created_at, NULL AS updated_at FROM conversations` + listed
		latest = `max(coalesce(json_extract(` + valid + `, '$.history[#-1].request_metadata.stream_end_timestamp_ms'), 0)), sum(octet_length(value)), json_group_array(rowid)
			FROM conversations GROUP BY ` + idOf
	)
	all := splits(current, `conversation_id`, newest)
	for i := range all {
		all[i].With = []string{"conversations_v2"}
	}
	for _, s := range splits(first, idOf, latest) {
		s.With, s.Without = []string{"conversations"}, []string{"conversations_v2"}
		all = append(all, s)
	}
	return all
}

// splits returns the originals of conversations. of selects the documents of one, id is its id, and keys the rest of what Keys has.
func splits(of, id, keys string) []format.Split {
	document := `(SELECT key AS cwd, id AS conversation_id, created_at, updated_at, CASE WHEN json_valid(value) THEN value ELSE '{}' END AS doc FROM (` + of + `)) c`
	const named = `SELECT c.cwd, c.conversation_id, `
	each := func(list string) string {
		return ` FROM ` + document + `, json_each(c.doc, '$.` + list + `') h ORDER BY c.created_at, c.cwd, h.key`
	}
	return []format.Split{{
		Role: roleRows, Log: true,
		Keys: `SELECT ` + id + ` || '/history', ` + keys,
		Rows: []format.Query{{
			Name: tableSummary, JSON: []string{"summary"},
			SQL: named + `json_extract(c.doc, '$.latest_summary') AS summary FROM ` + document + ` WHERE json_extract(c.doc, '$.latest_summary') NOT NULL ORDER BY c.created_at, c.cwd`,
		}, {
			Name: tableEntry, JSON: []string{"entry"}, SQL: named + `h.value AS entry` + each("history"),
		}},
	}, {
		Role: roleRows, Log: true,
		Keys: `SELECT ` + id + ` || '/shown', ` + keys,
		Rows: []format.Query{{Name: tableShown, SQL: named + `h.value AS line` + each("transcript")}},
	}, {
		Role: roleRows,
		Keys: `SELECT ` + id + ` || '/conversation', ` + keys,
		Rows: []format.Query{{
			Name: tableConversation, JSON: []string{"state"},
			SQL: `SELECT key AS cwd, id AS conversation_id, created_at, updated_at, CASE WHEN json_valid(value)
				THEN json_remove(value, '$.history', '$.transcript', '$.latest_summary') ELSE value END AS state FROM (` + of + `) ORDER BY created_at, key`,
		}},
	}}
}

// Apart reports whether originals of a role come out of a database.
func (kiro) Apart(role string) bool { return role == roleRows || role == roleDatabase }
