package where

import (
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/query"
)

// special compiles a value of a field that needs other tables.
func special(f query.Field, v query.Value) (string, []any, error) {
	switch f.Name {
	case "path":
		s, args := comparePath(v)
		return "t.version IN (SELECT v.id FROM files f CROSS JOIN versions v ON v.file = f.id WHERE " + s + ")", args, nil
	case "source":
		s, args := Compare("s.name", v)
		return "t.version IN (SELECT v.id FROM sources s CROSS JOIN files f ON f.source = s.id CROSS JOIN versions v ON v.file = f.id WHERE " + s + ")", args, nil
	case "touches":
		if v.Text == "" && v.Match == query.Whole {
			return "NOT EXISTS (SELECT 1 FROM calls k WHERE k.event = e.id AND k.paths IS NOT NULL)", nil, nil
		}
		s, args := Compare("p.value", v)
		return "EXISTS (SELECT 1 FROM calls k CROSS JOIN call_paths a ON a.id = k.paths, json_each(a.paths) p WHERE k.event = e.id AND " + s + ")", args, nil
	case "id":
		return idPredicate(v)
	case "tag":
		s, args := Tagged(v)
		return s, args, nil
	case "is":
		switch v.Text {
		case "stub":
			return "r.stub = 1", nil, nil
		case "child":
			return "r.child = 1", nil, nil
		case "pinned", "held":
			s, args := PinnedOrHeld(v.Text)
			return s, args, nil
		case "truncated":
			return "EXISTS (SELECT 1 FROM results x WHERE x.event = e.id AND x.cut = 1)", nil, nil
		}
	case "has":
		switch v.Text {
		case "usage":
			return usageOfEvent + "1)", nil, nil
		case "cost":
			return usageOfEvent + eventNumber("cost") + " IS NOT NULL)", nil, nil
		case "problem":
			return "t.version IN (SELECT version FROM problems)", nil, nil
		}
	}
	return "", nil, &index.UnsupportedError{What: f.Name + ":" + v.Text, Why: "not supported yet"}
}

func idPredicate(v query.Value) (string, []any, error) {
	conversation, seq, part, ok := schema.ParseEventID(v.Text)
	if !ok {
		s, args := Compare("c.conversation_id", v)
		return s, args, nil
	}
	sql, args := BeginsWith("c.conversation_id", conversation)
	sql, args = "("+sql+" AND t.seq_base + e.seq = ?", append(args, seq)
	if part >= 0 {
		sql, args = sql+" AND e.part = ?", append(args, part)
	}
	return sql + ")", args, nil
}

// unexpired tests that a hold has not ended. The year 1 is Go's zero time and means that it never ends.
const unexpired = "NOT coalesce(julianday(k.value ->> '$.expires') BETWEEN 1721427 AND julianday('now'), 0)"

// PinnedOrHeld returns a condition on runs (alias r) that are pinned or held.
func PinnedOrHeld(how string) (string, []any) {
	if how == "pinned" {
		return "r.run_id IN (SELECT k.key FROM facts k WHERE k.kind = ? AND k.value IS NOT NULL)", []any{index.FactPin}
	}
	return "r.run_id IN (SELECT substr(k.key, 1, instr(k.key, '/') - 1) FROM facts k WHERE k.kind = ? AND k.value IS NOT NULL AND " + unexpired + ")",
		[]any{index.FactHold}
}

// Tagged returns a condition on the tags of a run (alias r): those that were put on it, and those that its producer states, which commas
// separate.
func Tagged(v query.Value) (string, []any) {
	const of = "(r.run_id IN (SELECT substr(k.key, 1, instr(k.key, '/') - 1) FROM facts k WHERE k.kind = ? AND k.value IS NOT NULL"
	const stated = "r.attributes ->> '$.tags'"
	if v.Text == "" {
		not := map[query.Match]string{query.Whole: "NOT "}[v.Match]
		return not + of + ") OR coalesce(" + guardedJSON("r.attributes", `"tags"`, stated) + ", '') <> '')", []any{index.FactTag}
	}
	put, args := Compare("substr(k.key, instr(k.key, '/') + 1)", v)
	own, more := Compare("j.value", v)
	list := "EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(" + stated + `), ',', '","') || ']') j WHERE ` + own + ")"
	return of + " AND " + put + ") OR " + guardedJSON("r.attributes", `"tags"`, list) + ")", slices.Concat([]any{index.FactTag}, args, more)
}

// fileColumns are SQL expressions for the path and the source of a row's file.
var fileColumns = map[string]string{
	"path":   "(SELECT f.path FROM versions v CROSS JOIN files f ON f.id = v.file WHERE v.id = t.version)",
	"source": "(SELECT s.name FROM versions v CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE v.id = t.version)",
}
