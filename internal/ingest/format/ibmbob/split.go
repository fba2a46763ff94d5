package ibmbob

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The table names in originals taken out of a database.
const (
	tablePrefix  = "ibm-bob "
	tableTask    = tablePrefix + "task"
	tableMessage = tablePrefix + "message"
)

// taskColumns are what is kept of a task's row, besides its id: not who holds it at the moment, and not what it is allowed to do.
func taskColumns() []string {
	return []string{
		"project_id", "parent_id", "task_type", "title", "status", "first_message", "directory", "version", "git_sha", "git_branch", "env", "costs",
		"message_queue", "last_error", "is_pinned", "created_at", "updated_at", "time_archived",
	}
}

// taskSplit takes out the tasks' own rows. Columns of later versions are also in a row of NULLs (later), which SQL falls back to if a table
// lacks them.
func taskSplit() format.Split {
	of := func(column, id string) string { return `(SELECT ` + column + ` FROM tasks WHERE id = ` + id + `)` }
	var all, columns []string
	for _, c := range taskColumns() {
		all = append(all, `coalesce(`+of(c, "t.id")+`, '')`)
		columns = append(columns, of(c, "?1")+` AS `+c)
	}
	later := `(SELECT NULL AS ` + strings.Join(taskColumns(), `, NULL AS `) + `) later`
	return format.Split{
		Role: roleRows,
		Any:  []string{"tasks"},
		Keys: `SELECT t.id || '/task', coalesce(` + of("updated_at", "t.id") + `, 0), ` + strings.Join(all, ` || '|' || `) + `, t.id
			FROM ` + later + `, tasks t WHERE t.id NOT NULL`,
		Rows: []format.Query{{
			Name: tableTask, JSON: []string{"env", "costs", "message_queue", "last_error"},
			SQL: `SELECT t.id AS task_id, ` + strings.Join(columns, `, `) + ` FROM ` + later + `, tasks t WHERE t.id = ?1`,
		}},
	}
}

// messageSplit takes out messages, oldest first. Bob inserts them again with other row ids and times, so the order is that of the times within
// them, and the time of the row is only taken where there is none. It is left out of the system prompt, which comes first.
func messageSplit() format.Split {
	const at = `CASE WHEN json_valid(m.data) THEN json_extract(m.data, '$._meta.timestamp') END`
	return format.Split{
		Role: roleRows, Log: true,
		Any: []string{"messages"},
		Keys: `SELECT task_id || '/messages', max(created_at), count(*) || ' ' || max(rowid) || ' ' || total(octet_length(data)), task_id
			FROM messages WHERE task_id NOT NULL GROUP BY task_id`,
		Rows: []format.Query{{
			Name: tableMessage, JSON: []string{"data"},
			SQL: `SELECT task_id, id, role, data, created_at FROM (
				SELECT m.task_id, m.id, m.role, m.data, ` + at + ` AS at,
					CASE WHEN m.role = 'system' OR ` + at + ` > 0 THEN NULL ELSE m.created_at END AS created_at
				FROM messages m WHERE m.task_id = ?1)
				ORDER BY CASE WHEN at > 0 THEN at ELSE coalesce(created_at, 0) END, role = 'tool', id`,
		}},
	}
}

// Split takes a database apart into what is known of each task, and its messages. The other tables stay out: what Bob has written into which
// lines, calls that wait for the user, settings that the program's service has sent.
func (bob) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	return []format.Split{taskSplit(), messageSplit()}
}

// Apart reports whether originals of a role come out of a database.
func (bob) Apart(role string) bool { return role == roleRows || role == roleDatabase }
