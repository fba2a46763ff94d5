package cursor

import "github.com/txarchive/txarchive/internal/ingest/format"

// The table names in originals taken out of databases.
const (
	tableComposer = "composer" // metadata of a conversation
	tableHeader   = "header"   // its entry in the list of all, in newer versions
	tableBubble   = "bubble"   // messages in the composer's list, in its order
	tableLost     = "lost"     // messages that the list does not name
	tableList     = "list"     // the conversations of a workspace, or those that are open

	tableMeta    = "meta"
	tableMessage = "message"
)

// Split takes the conversations out of a database and nothing else: the rest is tokens and, in the editor's, gigabytes of other data. The
// editor rewrites rows under new rowids, so the greatest rowid of a conversation together with the number of its rows changes
// with every change. Both come from the index of the keys, without reading rows.
func (cursor) Split(role string) []format.Split {
	switch role {
	case roleState:
		return stateSplits()
	case roleStore:
		return storeSplits()
	}
	return nil
}

// Apart reports whether originals of a role come out of a database.
func (cursor) Apart(role string) bool {
	return role == roleRows || role == roleChat || role == roleState || role == roleStore
}

// withoutKeys returns SQL that removes encryption keys from the JSON of a column.
func withoutKeys(column string) string {
	return `CASE WHEN json_valid(` + column + `) THEN json_remove(` + column + `, '$.blobEncryptionKey', '$.speculativeSummarizationEncryptionKey',
		'$.summarizationEncryptionKey', '$.conversationEncryptionKey', '$.encryptionKey') END`
}

// A composer's JSON, its creation time, and the list of its messages as rows of json_each named h. The creation time is a subquery of its
// own: SQLite evaluates it once, and would otherwise parse the JSON again for each message.
const (
	composer = `(SELECT CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(value AS TEXT) ELSE '{}' END AS v
		FROM cursorDiskKV WHERE key = 'composerData:' || ?1) c`
	created = `(SELECT json_extract(c.v, '$.createdAt') FROM ` + composer + `)`
	heads   = composer + `, json_each(c.v, '$.fullConversationHeadersOnly') h`
)

func stateSplits() []format.Split {
	return []format.Split{{
		Role: roleRows,
		With: []string{"cursorDiskKV"},
		Keys: `SELECT substr(key, 14) || '/composer', 0, rowid, substr(key, 14) FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;'`,
		Rows: []format.Query{{
			Name: tableComposer, SQL: `SELECT ?1 AS composer, ` + withoutKeys(`CAST(value AS TEXT)`) + ` AS value FROM cursorDiskKV WHERE key = 'composerData:' || ?1`, JSON: []string{"value"},
		}},
	}, {
		Role: roleRows,
		With: []string{"composerHeaders"},
		Keys: `SELECT composerId || '/header', coalesce(lastUpdatedAt, 0), rowid + coalesce(length(value), 0), composerId FROM composerHeaders WHERE composerId NOT NULL`,
		Rows: []format.Query{{
			Name: tableHeader, SQL: `SELECT composerId AS composer, workspaceId, createdAt, lastUpdatedAt, isSubagent, ` + withoutKeys(`CAST(value AS TEXT)`) + ` AS value
			FROM composerHeaders WHERE composerId = ?1`, JSON: []string{"value"},
		}},
	}, {
		Role: roleRows,
		With: []string{"cursorDiskKV"},
		Log:  true,
		Keys: `SELECT b.c || '/bubbles', 0, max(max(b.n), coalesce(max(d.rowid), 0)) * 1048576 + count(*) % 1048576, b.c
		FROM (SELECT substr(key, 10, instr(substr(key, 10), ':') - 1) AS c, rowid AS n FROM cursorDiskKV WHERE key > 'bubbleId:' AND key < 'bubbleId;') b
		LEFT JOIN cursorDiskKV d ON d.key = 'composerData:' || b.c WHERE b.c <> '' GROUP BY b.c`,
		Rows: []format.Query{{
			Name: tableBubble, SQL: `SELECT ?1 AS composer, json_extract(h.value, '$.bubbleId') AS bubble, json_extract(h.value, '$.type') AS type,
			json_extract(h.value, '$.createdAt') AS created, ` + created + ` AS started, CAST(d.value AS TEXT) AS value
			FROM ` + heads + ` JOIN cursorDiskKV d ON d.key = 'bubbleId:' || ?1 || ':' || json_extract(h.value, '$.bubbleId')
			WHERE h.type = 'object' AND d.value NOT NULL ORDER BY h.key`, JSON: []string{"value"},
		}, {
			Name: tableLost, SQL: `SELECT ?1 AS composer, substr(key, length(?1) + 11) AS bubble, EXISTS (SELECT 1 FROM ` + heads + `) AS abandoned, CAST(value AS TEXT) AS value
			FROM cursorDiskKV WHERE key > 'bubbleId:' || ?1 || ':' AND key < 'bubbleId:' || ?1 || ';' AND value NOT NULL
			AND substr(key, length(?1) + 11) NOT IN (SELECT json_extract(h.value, '$.bubbleId') FROM ` + heads + ` WHERE h.type = 'object' AND json_extract(h.value, '$.bubbleId') NOT NULL)
			ORDER BY rowid`, JSON: []string{"value"},
		}},
	}, {
		Role: roleRows,
		With: []string{"ItemTable"},
		Keys: `SELECT 'composers', 0, max(rowid) + sum(length(value)), '' FROM ItemTable WHERE key IN ('composer.composerData', 'composer.composerHeaders') HAVING count(*) > 0`,
		Rows: []format.Query{{
			Name: tableList, SQL: `SELECT key, ` + withoutKeys(`CAST(value AS TEXT)`) + ` AS value FROM ItemTable WHERE key IN ('composer.composerData', 'composer.composerHeaders') ORDER BY key`,
			JSON: []string{"value"},
		}},
	}}
}

// The messages of the command line are blobs whose ids are hashes. The newest root begins with the ids of all messages in
// order, 34 bytes each.
const (
	chatMeta = `SELECT CASE WHEN json_valid(value) THEN value ELSE CAST(unhex(value) AS TEXT) END AS v FROM meta WHERE key = '0'`
	chatList = `WITH RECURSIVE m(v) AS (` + chatMeta + `),
		r(data) AS (SELECT CAST(data AS BLOB) FROM blobs WHERE id = (SELECT CASE WHEN json_valid(v) THEN json_extract(v, '$.latestRootBlobId') END FROM m)),
		n(place, id) AS (
			SELECT 0, lower(hex(substr(data, 3, 32))) FROM r WHERE substr(data, 1, 2) = x'0a20'
			UNION ALL SELECT place + 1, lower(hex(substr(data, (place + 1) * 34 + 3, 32))) FROM n, r WHERE substr(data, (place + 1) * 34 + 1, 2) = x'0a20')`
	isMessage = `CAST(substr(b.data, 1, 1) AS TEXT) = '{'`
)

func storeSplits() []format.Split {
	return []format.Split{{
		Role: roleChat,
		With: []string{"blobs", "meta"},
		Keys: `SELECT 'meta', 0, max(rowid) * 1048576 + sum(length(value)), '' FROM meta WHERE key = '0' HAVING count(*) > 0`,
		Rows: []format.Query{{Name: tableMeta, SQL: `WITH m(v) AS (` + chatMeta + `) SELECT ` + withoutKeys(`v`) + ` AS value FROM m`, JSON: []string{"value"}}},
	}, {
		Role: roleChat,
		With: []string{"blobs", "meta"},
		Log:  true,
		Keys: `SELECT 'messages', 0, max(b.rowid) * 1048576 + count(*) + (SELECT coalesce(max(rowid), 0) FROM meta), '' FROM blobs b HAVING count(*) > 0`,
		Rows: []format.Query{{
			Name: tableMessage, SQL: chatList + ` SELECT n.place, b.id, CAST(b.data AS TEXT) AS data FROM n JOIN blobs b ON b.id = n.id WHERE ` + isMessage + ` ORDER BY n.place`,
			JSON: []string{"data"},
		}, {
			Name: tableLost, SQL: chatList + ` SELECT b.id, CAST(b.data AS TEXT) AS data FROM blobs b WHERE ` + isMessage + ` AND b.id NOT IN (SELECT id FROM n) ORDER BY b.rowid`,
			JSON: []string{"data"},
		}},
	}}
}
