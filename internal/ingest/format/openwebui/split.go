package openwebui

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The table names in originals taken out of a database.
const (
	tablePrefix  = "open-webui "
	tableChat    = tablePrefix + "chat"
	tableShared  = tablePrefix + "shared chat" // what others see of a chat
	tableMessage = tablePrefix + "message"     // that the chat itself does not have
	tableSummary = tablePrefix + "summary"     // of what came before a message, for the model to go on from
)

// chatColumns are what is kept of a chat's row, besides its id, title and content: not when it was last read, nor what timers note.
var chatColumns = []string{
	"user_id", "created_at", "updated_at", "share_id", "archived", "pinned", "meta", "variables", "folder_id", "tasks", "summary", "current_message_id",
}

// jsonColumns are those of all tables whose text is JSON.
var jsonColumns = []string{
	"chat", "meta", "variables", "tasks", "content", "output", "files", "sources", "embeds", "status_history", "error", "usage",
}

// later is SQL for a row of NULLs, which SQL falls back to for columns that a table does not have.
var later = `(SELECT NULL AS ` + strings.Join(chatColumns, `, NULL AS `) + `, NULL AS context_summary) later`

// columnOf is SQL for a column of the chat c. Not every table has an index of the ids.
func columnOf(column string) string {
	return `(SELECT ` + column + ` FROM chat WHERE rowid = c.rowid)`
}

// held is SQL for the keys that messages in the chat ?1 have in the table of messages.
const held = `(SELECT ?1 || '-' || j.key
	FROM chat c, json_each(CASE WHEN json_valid(c.chat) THEN c.chat ELSE '{}' END, '$.history.messages') j WHERE c.id = ?1)`

// summaryOf is SQL for the summary that a message m has. Not every table has an index of the ids.
const summaryOf = `(SELECT context_summary FROM chat_message WHERE rowid = m.rowid)`

// chatSplit takes out chats, in the three states of the schema: first there were no folders, then no table of messages.
func chatSplit(hasFolders, hasMessages bool) format.Split {
	s := format.Split{Role: roleRows, Any: []string{"chat"}}
	marks := []string{`coalesce(octet_length(c.chat), 0)`, `coalesce(c.title, '')`}
	var columns []string
	for _, c := range chatColumns {
		marks = append(marks, `coalesce(`+columnOf(c)+`, '')`)
		columns = append(columns, columnOf(c)+` AS `+c)
	}
	if hasFolders {
		s = s.IfTable("folder")
		name := `(SELECT name FROM folder WHERE id = ` + columnOf("folder_id") + `)`
		marks = append(marks, `coalesce(`+name+`, '')`)
		columns = append(columns, name+` AS folder`)
	} else {
		s = s.UnlessTable("folder")
	}
	s.Rows = []format.Query{{
		Name: tableChat, JSON: jsonColumns,
		SQL: `SELECT c.id, c.title, ` + strings.Join(columns, `, `) + `, c.chat FROM ` + later + `, chat c WHERE c.id = ?1`,
	}}
	switch {
	case hasMessages:
		s = s.IfTable("chat_message")
		marks = append(marks, `(SELECT count(*) || ' ' || total(m.updated_at) || ' ' || total(octet_length(context_summary) + 0 * m.rowid)
			FROM chat_message m WHERE m.chat_id = c.id)`)
		s.Rows = append(s.Rows, format.Query{
			Name: tableMessage, JSON: jsonColumns,
			SQL: `SELECT m.* FROM chat_message m WHERE m.chat_id = ?1 AND m.id NOT IN ` + held + ` ORDER BY m.created_at, m.rowid`,
		}, format.Query{
			Name: tableSummary,
			SQL: `SELECT m.id, m.chat_id, m.created_at, ` + summaryOf + ` AS context_summary FROM ` + later + `, chat_message m
				WHERE m.chat_id = ?1 AND ` + summaryOf + ` <> '' AND m.id IN ` + held + ` ORDER BY m.created_at, m.rowid`,
		})
	case hasFolders:
		s = s.UnlessTable("chat_message")
	}
	s.Keys = `SELECT c.id, ` + columnOf("updated_at") + ` * 1000, ` + strings.Join(marks, ` || '|' || `) + `, c.id
		FROM ` + later + `, chat c WHERE c.id NOT NULL`
	return s
}

// sharedSplit takes out what others see of chats, which newer schemas keep in a table of its own. It may have messages that the chat no longer has.
func sharedSplit() format.Split {
	s := format.Split{
		Role: roleRows,
		Keys: `SELECT s.id || '/shared', s.updated_at * 1000, coalesce(octet_length(s.chat), 0) || '|' || coalesce(s.title, '') || '|' || s.chat_id, s.id
			FROM shared_chat s WHERE s.id NOT NULL`,
		Rows: []format.Query{{
			Name: tableShared, JSON: jsonColumns,
			SQL: `SELECT s.chat_id AS id, s.id AS share_id, s.user_id, s.title, s.created_at, s.updated_at, s.chat FROM shared_chat s WHERE s.id = ?1`,
		}},
	}
	return s.IfTable("shared_chat")
}

// Split takes a database apart into its chats. A chat is written anew with each change, so each state of its row is a version. Accounts, keys,
// settings, tools and files stay where they are.
func (openWebUI) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{chatSplit(true, true), chatSplit(true, false), chatSplit(false, false), sharedSplit()}
}

// Apart reports whether originals of a role come out of a database.
func (openWebUI) Apart(role string) bool { return role == roleRows || role == roleDatabase }
