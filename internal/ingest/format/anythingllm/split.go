package anythingllm

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of a database.
const (
	tablePrefix = "anythingllm "
	tableHead   = tablePrefix + "conversation" // where it was said
	tableChat   = tablePrefix + "chat"         // a prompt and its answer
)

// facts is SQL for columns that later schemas have, as a list: SQL falls back to a row of NULLs (later) for those that the table lacks. Behind a long
// answer they are far away in a row, so that they are read together.
const (
	later = `(SELECT NULL AS thread_id, NULL AS api_session_id, NULL AS user_id, NULL AS feedbackScore) later`
	facts = `(SELECT json_array(thread_id, api_session_id, user_id, feedbackScore) FROM workspace_chats WHERE rowid = c.rowid) AS facts`
)

// ids is SQL for the numbers of the rows of one original, which are its key: the tables have no index by conversation.
const ids = `(SELECT value FROM json_each(?1))`

// chatSplit takes out the chats of each thread, and those of each workspace outside of threads, by user and session of the API.
func chatSplit(hasThreads bool) format.Split {
	threads := `(SELECT NULL AS id, NULL AS name, NULL AS slug, NULL AS createdAt WHERE 0)`
	s := format.Split{Role: roleRows, Log: true, Any: []string{"workspace_chats"}}
	if hasThreads {
		threads = `workspace_threads`
		s = s.IfTable("workspace_threads")
	} else {
		s = s.UnlessTable("workspace_threads")
	}
	s = s.IfTable("workspaces")
	s.Keys = `SELECT name, max(lastUpdatedAt), count(*) || ' ' || max(id) || ' ' || max(lastUpdatedAt) || ' ' || total(size) || ' ' || total(include) || ' ' ||
			total(score) || ' ' || coalesce(max(title), ''), json_group_array(id ORDER BY id)
		FROM (SELECT c.id, c.lastUpdatedAt, c.include, c.size, (c.facts->>3 + 1) * c.id AS score, w.name || '|' || coalesce(t.name, '') AS title,
				CASE WHEN c.facts->>0 NOT NULL THEN 'thread-' || (c.facts->>0)
					ELSE 'workspace-' || c.workspaceId || coalesce('-user-' || (c.facts->>2), '') || coalesce('-api-' || (c.facts->>1), '') END AS name
			FROM (SELECT c.id, c.lastUpdatedAt, c.include, octet_length(c.prompt) + octet_length(c.response) AS size, c.workspaceId, ` + facts + `
				FROM ` + later + `, workspace_chats c) c
			JOIN workspaces w ON w.id = c.workspaceId LEFT JOIN ` + threads + ` t ON t.id = c.facts->>0
			WHERE c.facts->>0 IS NULL OR t.id NOT NULL)
		GROUP BY name ORDER BY name`
	s.Rows = []format.Query{{
		Name: tableHead,
		SQL: `SELECT w.slug AS workspace_slug, w.name AS workspace, w.createdAt AS workspace_created, t.slug AS thread_slug, t.name AS thread,
				t.createdAt AS thread_created, c.facts->>2 AS user, c.facts->>1 AS api
			FROM (SELECT c.workspaceId, ` + facts + ` FROM ` + later + `, workspace_chats c WHERE c.id = json_extract(?1, '$[0]')) c
			JOIN workspaces w ON w.id = c.workspaceId LEFT JOIN ` + threads + ` t ON t.id = c.facts->>0`,
	}, {
		Name: tableChat, JSON: []string{"response"},
		SQL: `SELECT * FROM workspace_chats WHERE id IN ` + ids + ` ORDER BY id`,
	}}
	return s
}

// embedSplit takes out what visitors of web pages said to a workspace. Their addresses stay out.
func embedSplit() format.Split {
	return format.Split{
		Role: roleRows, Log: true,
		With: []string{"embed_chats", "embed_configs", "workspaces"},
		Keys: `SELECT 'embed-' || c.embed_id || '-' || c.session_id, max(c.createdAt),
				count(*) || ' ' || max(c.id) || ' ' || max(c.createdAt) || ' ' || total(c.include) || ' ' || total(octet_length(c.prompt) + octet_length(c.response)) || ' ' || max(w.name), json_group_array(c.id ORDER BY c.id)
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
