package langgraph

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The tables of a database.
const (
	tableCheckpoints = "checkpoints"
	tableWrites      = "writes"
)

// The table names in originals taken out of a database.
const (
	tablePrefix = "langgraph "
	rowWrite    = tablePrefix + "write"
	rowState    = tablePrefix + "state"
)

// packedColumn has a value as MessagePack, and plainColumn as JSON: a row has one of them, or none if it is encrypted or of another kind.
const (
	packedColumn = "packed"
	plainColumn  = "plain"
)

// The channels of a graph that have a meaning of their own: its messages, and what a step failed with.
const (
	channelMessages = "messages"
	channelError    = "__error__"
)

// hasMessage is SQL that is true for bytes that name LangChain's module of messages, as objects of Python and of JavaScript do.
func hasMessage(column string) string {
	return `(instr(CAST(` + column + ` AS BLOB), CAST('langchain_core.messages' AS BLOB)) > 0
		OR instr(CAST(` + column + ` AS BLOB), CAST('"langchain_core","messages"' AS BLOB)) > 0)`
}

// packed is SQL for a value that is MessagePack, and plain for one that is JSON, whatever its type is called: JavaScript's saver has had another name
// for that, and none.
func packed(of, value string) string {
	return `CASE ` + of + `.type WHEN 'msgpack' THEN ` + value + ` END`
}

func plain(of, value string) string {
	return `CASE WHEN ` + of + `.type IS NOT 'msgpack' AND json_valid(CAST(` + value + ` AS TEXT)) THEN CAST(` + value + ` AS TEXT) END`
}

// isRead is SQL that is true for writes to a channel that is read: those, and others with messages, but none of LangGraph's own, which have the messages
// of all steps again for the next ones.
func isRead() string {
	return `(w.channel IN ('` + channelMessages + `', '` + channelError + `')
	OR substr(w.channel, 1, 2) <> '__' AND substr(w.channel, 1, 7) <> 'branch:' AND ` + hasMessage("w.value") + `)`
}

// plainMessages is SQL for the messages in a checkpoint of JSON.
func plainMessages() string {
	return `json_extract(` + plain("c", "c.checkpoint") + `, '$.channel_values.` + channelMessages + `')`
}

// isSeed is SQL that is true for a checkpoint whose messages no step wrote: a program has begun a thread with them, or has it saved at the end of a run
// alone, so that nothing was written after the checkpoint before, and no other one of this kind goes on from it; or no step of the graph wrote any message,
// and no checkpoint goes on from it. What a run began with is written by its first step. Only then is the state itself looked at, which may be large.
// Its sets depend on no row, so that they are made once, of the rows that mine is true for: those of one thread, or all.
func isSeed(mine string) string {
	const row = `(c.thread_id, c.checkpoint_ns, c.checkpoint_id)`
	written := func(id string) string {
		return `EXISTS (SELECT 1 FROM writes w WHERE w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns AND w.checkpoint_id = ` + id + `)`
	}
	before := `(SELECT c.thread_id, c.checkpoint_ns, c.parent_checkpoint_id FROM checkpoints c WHERE ` + mine + ` AND c.parent_checkpoint_id NOT NULL`
	return `CASE WHEN ` + fact("source") + ` IS NOT 'input' AND (
			NOT ` + written("c.parent_checkpoint_id") + ` AND (` + written("c.checkpoint_id") + ` OR ` + row + ` NOT IN ` + before + ` AND ` + fact("source") + ` IS NOT 'input'))
			OR (c.thread_id, c.checkpoint_ns) NOT IN (SELECT thread_id, checkpoint_ns FROM writes WHERE ` + mine + ` AND channel = '` + channelMessages + `')
				AND ` + row + ` NOT IN ` + before + `))
		THEN CASE c.type WHEN 'msgpack' THEN ` + hasMessage("c.checkpoint") + ` ELSE ` + plainMessages() + ` NOT NULL END END`
}

// fact is SQL for a member of the metadata of a checkpoint.
func fact(name string) string {
	return `CASE WHEN json_valid(CAST(c.metadata AS TEXT)) THEN json_extract(CAST(c.metadata AS TEXT), '$.` + name + `') END`
}

// facts is SQL for what the checkpoint of a row says: of its metadata, in which is whatever the program calls its graph with, only what is known.
func facts() string {
	var all []string
	for _, name := range []string{"source", "step", "agent_name", "cwd", "git_branch"} {
		all = append(all, fact(name)+` AS `+name)
	}
	return strings.Join(all, `, `)
}

// began is SQL for the id of the first checkpoint of a thread, which tells its time.
func began(thread string) string {
	return `coalesce((SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = ` + thread + `), (SELECT min(checkpoint_id) FROM writes WHERE thread_id = ` + thread + `))`
}

// keys is SQL for the originals of some rows. Two threads of one name have other first checkpoints.
func keys(file, rows string) string {
	return `SELECT k.thread_id || CASE WHEN length(k.thread_id) = 36 THEN '' ELSE '/' || substr(` + began("k.thread_id") + `, 1, 18) END || '/` + file + `',
		0, k.n || ' ' || k.last, k.thread_id FROM (` + rows + `) k`
}

// Split takes a database apart into what the steps of each thread wrote, in that order, and what of its checkpoints was never written by a step.
func (langGraph) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	tables := []string{tableCheckpoints, tableWrites}
	return []format.Split{{
		Role: roleRows, Log: true, Any: tables, With: tables,
		Keys: keys("messages", `SELECT w.thread_id, count(*) AS n, max(w.rowid) AS last FROM writes w WHERE `+isRead()+` GROUP BY w.thread_id`),
		Rows: []format.Query{{
			Name: rowWrite, JSON: []string{plainColumn}, Msgpack: map[string][]string{packedColumn: nil},
			SQL: `SELECT w.thread_id, ` + began("?1") + ` AS began, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.idx, w.channel, ` + facts() + `, w.type,
					` + packed("w", "w.value") + ` AS packed, ` + plain("w", "w.value") + ` AS plain
				FROM writes w LEFT JOIN checkpoints c ON c.thread_id = w.thread_id AND c.checkpoint_ns = w.checkpoint_ns AND c.checkpoint_id = w.checkpoint_id
				WHERE w.thread_id = ?1 AND ` + isRead() + ` ORDER BY w.rowid`,
		}},
	}, {
		Role: roleRows, Any: tables, With: tables,
		Keys: keys("state", `SELECT c.thread_id, count(*) AS n, max(c.rowid) AS last FROM checkpoints c WHERE `+isSeed("true")+` GROUP BY c.thread_id`),
		Rows: []format.Query{{
			Name: rowState, JSON: []string{plainColumn}, Msgpack: map[string][]string{packedColumn: {"channel_values", channelMessages}},
			SQL: `SELECT c.thread_id, ` + began("?1") + ` AS began, c.checkpoint_ns, c.checkpoint_id, '` + channelMessages + `' AS channel, ` + facts() + `, c.type,
					` + packed("c", "c.checkpoint") + ` AS packed, ` + plainMessages() + ` AS plain
				FROM checkpoints c WHERE c.thread_id = ?1 AND ` + isSeed("thread_id = ?1") + ` ORDER BY c.checkpoint_id`,
		}},
	}}
}

// Apart reports whether originals of a role come out of a database.
func (langGraph) Apart(role string) bool { return role == roleRows || role == roleDatabase }
