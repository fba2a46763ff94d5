package anythingllm

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix = "anythingllm "
	tableHead   = tablePrefix + "conversation" // where it was said
	tableChat   = tablePrefix + "chat"         // a prompt and its answer
)

// Columns of later schemas are also in a row of NULLs (later), which SQL falls back to if the table lacks them. Behind a long answer they are far
// away in a row: each is read once.
const (
	later  = `(SELECT NULL AS thread_id, NULL AS api_session_id, NULL AS user_id) later`
	thread = `(SELECT thread_id FROM workspace_chats WHERE rowid = c.rowid)`
	api    = `(SELECT api_session_id FROM workspace_chats WHERE rowid = c.rowid)`
	user   = `(SELECT user_id FROM workspace_chats WHERE rowid = c.rowid)`
)

// ids is SQL for the numbers of the rows of one original, which are its key: the tables have no index by conversation.
const ids = `(SELECT value FROM json_each(?1))`

// chatSplit takes out the chats of each thread, and those of each workspace outside of threads, by user and session of the API.
func chatSplit(hasThreads bool) format.Split {
	threads := `(SELECT NULL AS id, NULL AS name, NULL AS slug, NULL AS createdAt WHERE 0)`
	s := format.Split{Role: roleRows, Any: []string{"workspace_chats"}}
	if hasThreads {
		threads = `workspace_threads`
		s = s.IfTable("workspace_threads")
	} else {
		s = s.UnlessTable("workspace_threads")
	}
	s = s.IfTable("workspaces")
	s.Keys = `SELECT name, max(lastUpdatedAt) AS at, count(*) || ' ' || max(id) || ' ' || max(lastUpdatedAt) || ' ' || total(size) || ' ' || total(include) || ' ' ||
			total(score) || ' ' || coalesce(max(title), ''), json_group_array(id ORDER BY id)
		FROM (SELECT c.id, c.lastUpdatedAt, c.include, octet_length(c.prompt) + octet_length(c.response) AS size, (c.score + 1) * c.id AS score,
				w.name || '|' || coalesce(t.name, '') AS title,
				CASE WHEN c.thread NOT NULL THEN 'thread-' || c.thread
					ELSE 'workspace-' || c.workspaceId || coalesce('-user-' || c.user, '') || coalesce('-api-' || c.api, '') END AS name
			FROM (SELECT c.id, c.lastUpdatedAt, c.include, c.prompt, c.response, c.workspaceId, ` + thread + ` AS thread, ` + api + ` AS api, ` + user + ` AS user,
					(SELECT feedbackScore FROM workspace_chats WHERE rowid = c.rowid) AS score
				FROM (SELECT NULL AS thread_id, NULL AS api_session_id, NULL AS user_id, NULL AS feedbackScore) later, workspace_chats c) c
			JOIN workspaces w ON w.id = c.workspaceId LEFT JOIN ` + threads + ` t ON t.id = c.thread
			WHERE c.thread IS NULL OR t.id NOT NULL)
		GROUP BY name ORDER BY name`
	s.Rows = []format.Query{{
		Name: tableHead,
		SQL: `SELECT w.slug AS workspace_slug, w.name AS workspace, w.createdAt AS workspace_created, t.slug AS thread_slug, t.name AS thread,
				t.createdAt AS thread_created, c.user, c.api
			FROM (SELECT c.workspaceId, ` + thread + ` AS thread, ` + api + ` AS api, ` + user + ` AS user FROM ` + later + `, workspace_chats c
				WHERE c.id = json_extract(?1, '$[0]')) c
			JOIN workspaces w ON w.id = c.workspaceId LEFT JOIN ` + threads + ` t ON t.id = c.thread`,
	}, {
		Name: tableChat, JSON: []string{"response"},
		SQL: `SELECT * FROM workspace_chats WHERE id IN ` + ids + ` ORDER BY id`,
	}}
	return s
}

// embedSplit takes out what visitors of web pages said to a workspace. Their addresses stay out.
func embedSplit() format.Split {
	return format.Split{
		Role: roleRows,
		With: []string{"embed_chats", "embed_configs", "workspaces"},
		Keys: `SELECT 'embed-' || c.embed_id || '-' || c.session_id, max(c.createdAt), count(*) || ' ' || max(c.id) || ' ' || max(c.createdAt) || ' ' || total(c.include) || ' ' ||
				total(octet_length(c.prompt) + octet_length(c.response)) || ' ' || max(w.name), json_group_array(c.id ORDER BY c.id)
			FROM embed_chats c JOIN embed_configs e ON e.id = c.embed_id JOIN workspaces w ON w.id = e.workspace_id
			WHERE c.session_id NOT NULL GROUP BY 1 ORDER BY 1`,
		Rows: []format.Query{{
			Name: tableHead,
			SQL: `SELECT w.slug AS workspace_slug, w.name AS workspace, w.createdAt AS workspace_created, e.uuid AS embed, c.session_id
				FROM embed_chats c JOIN embed_configs e ON e.id = c.embed_id JOIN workspaces w ON w.id = e.workspace_id WHERE c.id = json_extract(?1, '$[0]')`,
		}, {
			Name: tableChat, JSON: []string{"response"},
			SQL: `SELECT id, prompt, response, session_id, include, embed_id, createdAt FROM embed_chats WHERE id IN ` + ids + ` ORDER BY id`,
		}},
	}
}

// Split takes a database apart into its conversations. Accounts, keys, settings, documents and vectors stay where they are.
func (anythingLLM) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{chatSplit(true), chatSplit(false), embedSplit()}
}

// Apart reports whether originals of a role come out of a database.
func (anythingLLM) Apart(role string) bool { return role == roleRows || role == roleDatabase }
