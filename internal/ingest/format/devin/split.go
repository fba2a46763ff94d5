package devin

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The table names in originals taken out of a database.
const (
	tablePrefix  = "devin "
	tableSession = tablePrefix + "session"
	tableNode    = tablePrefix + "node"
)

// agentsTable has the last node of each sub-agent, in databases of summer 2026 and later.
const agentsTable = "subagent_heads"

// Split takes a database apart into a session's own row and its nodes, which are only appended. Each node has the session's time, and the sub-agent
// on whose chain it is: one that a result names, or the table of sub-agents. When a result names one, the rows of its nodes change.
func (devin) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	session := format.Split{
		Role: roleRows,
		Any:  []string{"sessions"},
		Keys: `SELECT id || '/session', last_activity_at * 1000, coalesce(octet_length(title), 0) + coalesce(octet_length(metadata), 0), id
			FROM sessions WHERE id NOT NULL`,
		Rows: []format.Query{{Name: tableSession, JSON: []string{"metadata", "workspace_dirs"}, SQL: `SELECT * FROM sessions WHERE id = ?1`}},
	}
	nodes := format.Split{
		Role: roleRows, Log: true,
		Any:  []string{"message_nodes"},
		Keys: strings.Replace(nodeKeys, "/*heads*/", "0", 1),
		Rows: []format.Query{{Name: tableNode, JSON: []string{"chat_message", "metadata"}, SQL: strings.Replace(nodeRows, "/*heads*/", "", 1)}},
	}
	withHeads := nodes
	withHeads.Keys = strings.Replace(nodeKeys, "/*heads*/", "(SELECT total(chain_node_id) + count(*) FROM subagent_heads h WHERE h.session_id = m.session_id)", 1)
	withHeads.Rows = []format.Query{{
		Name: tableNode, JSON: nodes.Rows[0].JSON,
		SQL: strings.Replace(nodeRows, "/*heads*/", "UNION SELECT agent_id, chain_node_id FROM subagent_heads WHERE session_id = ?1", 1),
	}}
	return []format.Split{session, nodes.UnlessTable(agentsTable), withHeads.IfTable(agentsTable)}
}

// nodeKeys names the originals of nodes.
const nodeKeys = `SELECT session_id || '/nodes', max(created_at) * 1000,
	count(*) * 1073741824 + (sum(octet_length(chat_message)) + CAST(/*heads*/ AS INTEGER)) % 1073741824, session_id
	FROM message_nodes m WHERE session_id NOT NULL GROUP BY session_id`

// nodeRows selects the nodes of a session. A sub-agent has those from its last one up to the first; not those of the session's main chain.
const nodeRows = `WITH RECURSIVE
	main(n) AS (
		SELECT main_chain_id FROM sessions WHERE id = ?1
		UNION SELECT m.parent_node_id FROM main JOIN message_nodes m ON m.session_id = ?1 AND m.node_id = main.n WHERE m.parent_node_id NOT NULL
	),
	head(agent, n) AS (
		SELECT json_extract(chat_message, '$.metadata.extensions."subagent/agent_id"'), json_extract(chat_message, '$.metadata.extensions."subagent/chain_node_id"')
		FROM message_nodes WHERE session_id = ?1 AND CASE WHEN instr(chat_message, '"subagent/chain_node_id"') THEN json_valid(chat_message) END
		/*heads*/
	),
	chain(agent, n) AS (
		SELECT agent, n FROM head WHERE agent NOT NULL AND n NOT NULL
		UNION SELECT c.agent, m.parent_node_id FROM chain c JOIN message_nodes m ON m.session_id = ?1 AND m.node_id = c.n WHERE m.parent_node_id NOT NULL
	),
	owned(n, agent) AS MATERIALIZED (SELECT n, min(agent) FROM chain WHERE n NOT IN (SELECT n FROM main WHERE n NOT NULL) GROUP BY n),
	rows(id, agent) AS (
		SELECT m.row_id, o.agent FROM owned o JOIN message_nodes m ON m.session_id = ?1 AND m.node_id = o.n
		UNION ALL SELECT row_id, NULL FROM message_nodes WHERE session_id = ?1 AND node_id NOT IN (SELECT n FROM owned)
	)
	SELECT m.*, rows.agent, s.created_at AS session_created FROM rows JOIN message_nodes m ON m.row_id = rows.id LEFT JOIN sessions s ON s.id = m.session_id
	ORDER BY m.row_id`

// Apart reports whether originals of a role come out of a database.
func (devin) Apart(role string) bool { return role == roleRows || role == roleDatabase }
