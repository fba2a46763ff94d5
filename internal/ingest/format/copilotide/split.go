package copilotide

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix       = "copilot-xcode "
	tableConversation = tablePrefix + "conversation"
	tableTurn         = tablePrefix + "turn"
)

// Split takes a database apart into the row of each conversation, without whether it is the one that is open, and its turns, which are
// appended; the last two are written more than once, and keep their times of update. What is in a row is JSON, as a blob.
func (copilotIDE) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{{
		Role: roleRows,
		Any:  []string{"Conversation"},
		Keys: `SELECT id || '/conversation', CAST(updatedAt * 1000 AS INTEGER),
			coalesce(title, '') || '|' || coalesce(CLSConversationID, '') || '|' || octet_length(data), id FROM Conversation WHERE id NOT NULL`,
		Rows: []format.Query{{
			Name: tableConversation, JSON: []string{"data"},
			SQL: `SELECT id, title, CLSConversationID, CAST(data AS TEXT) AS data, createdAt, updatedAt FROM Conversation WHERE id = ?1`,
		}},
	}, {
		Role: roleRows, Log: true,
		Any: []string{"Turn"},
		Keys: `SELECT conversationID || '/turns', CAST(max(updatedAt) * 1000 AS INTEGER),
			count(*) || ' ' || max(rowID) || ' ' || total(octet_length(data)) || ' ' || total(octet_length(CLSTurnID)) || ' ' || total(updatedAt), conversationID
			FROM Turn WHERE conversationID NOT NULL GROUP BY conversationID`,
		Rows: []format.Query{{
			Name: tableTurn, JSON: []string{"data"},
			SQL: `SELECT rowID, id, conversationID, CLSTurnID, role, CAST(data AS TEXT) AS data, createdAt, updatedAt
				FROM Turn WHERE conversationID = ?1 ORDER BY rowID`,
		}},
	}}
}

// Apart reports whether originals of a role come out of a database.
func (copilotIDE) Apart(role string) bool { return role == roleRows || role == roleDatabase }
