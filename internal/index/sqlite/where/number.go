package where

import (
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/query"
)

// usageOfEvent tests the usage record of an event: the one whose bytes contain the row. It must be followed by a
// condition on u and a closing bracket.
const usageOfEvent = `EXISTS (SELECT 1 FROM usage u WHERE u.version = t.version AND u.inner IS e.inner AND u.offset + u.length > e.offset
	AND u.offset = (SELECT x.offset FROM usage x WHERE x.version = t.version AND x.offset <= e.offset AND x.inner IS e.inner ORDER BY x.offset DESC LIMIT 1) AND `

// usageRanges selects, for a list of transcripts, the byte ranges of their matching usage. It must be followed by a
// condition on u.
const usageRanges = `SELECT t.id AS transcript, u.offset AS first, u.offset + u.length AS behind FROM json_each(?) j
	CROSS JOIN transcripts t ON t.id = j.value CROSS JOIN usage u ON u.version = t.version AND `

// costOnly selects usage k that reports a cost and states no tokens, by its own index.
const costOnly = `usage k INDEXED BY usage_cost_only ON k.verdict = 0 AND k.reported IS NOT NULL AND k.input IS NULL AND k.output IS NULL
	AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL`

// usageCost is the cost of a usage record u, as the views have it: what is calculated is none where another record of the conversation
// reports the cost of the same tokens. Most archives have no such records, which is asked only once.
const usageCost = `coalesce(u.reported, CASE WHEN NOT EXISTS (SELECT 1 FROM (SELECT 1) CROSS JOIN ` + costOnly + `)
	OR NOT EXISTS (SELECT 1 FROM run_names n CROSS JOIN run_names a ON a.run = n.run CROSS JOIN ` + costOnly + ` AND k.run_name = a.id
		WHERE n.id = u.run_name AND coalesce(k.native_conversation, a.native_id) = ` + schema.UsageConversation + `) THEN u.calculated END)`

// eventNumber returns SQL for a number of a usage record, "" for fields that are none. Input includes cached tokens.
func eventNumber(field string) string {
	switch field {
	case "cost":
		return usageCost
	case "input":
		return "(" + SumKnown("u.input", "u.cache_read", "u.cache_write", "u.cache_write_1h") + ")"
	case "output":
		return "u.output"
	case "tokens":
		return "(" + SumKnown("u.input", "u.cache_read", "u.cache_write", "u.cache_write_1h", "u.output") + ")"
	}
	return ""
}

// eventDurations are SQL for the duration in microseconds of the tool call of an event, which is the call or its result.
var eventDurations = []string{
	`(SELECT coalesce(x.duration, CASE WHEN b.time >= e.time THEN b.time - e.time END) FROM calls k CROSS JOIN results x ON x.call = k.call
		CROSS JOIN events b ON b.id = x.event WHERE k.event = e.id ORDER BY b.transcript <> e.transcript, b.verdict, b.seq, b.part LIMIT 1)`,
	`(SELECT coalesce(x.duration, CASE WHEN e.time >= b.time THEN e.time - b.time END) FROM results x LEFT JOIN calls k ON k.call = x.call
		LEFT JOIN events b ON b.id = k.event WHERE x.event = e.id ORDER BY b.transcript IS NOT e.transcript, b.verdict, b.seq, b.part LIMIT 1)`,
}

// stepOfEvent tests the step that an event records. It must be followed by a comparison with the step's duration and a
// closing bracket.
const stepOfEvent = `EXISTS (SELECT 1 FROM steps s WHERE s.version = t.version AND s.offset = e.offset AND s.inner IS e.inner AND coalesce(s.duration, s.ended - s.started)`

// versionsInBounds returns a condition on the versions that can have a matching number, by the stored minimum and maximum
// of each.
func versionsInBounds(n query.Compare) (sql string, args []any) {
	most, least := "b."+n.Field+"_most", "coalesce(b."+n.Field+"_least, b."+n.Field+"_most)"
	sql, args = most+" "+n.Op+" ?", []any{n.Value}
	switch n.Op[0] {
	case '<':
		sql = least + " " + n.Op + " ?"
	case '=':
		sql, args = most+" >= ? AND "+least+" <= ?", []any{n.Value, n.Value}
	}
	return "t.version IN (SELECT b.version FROM bounds b WHERE " + sql + ")", args
}

// splitCalls selects the transcripts with calls or results whose counterpart may be in another transcript.
const splitCalls = `t.id IN (SELECT o.id FROM bounds b CROSS JOIN transcripts o ON o.version = b.version
	CROSS JOIN transcripts p ON p.run_name = o.run_name AND p.native_id = o.native_id AND p.id <> o.id WHERE b.astray = 1)`

// durationOwners returns a hint: the owners of calls and steps with a matching duration.
func durationOwners(n query.Compare) (hint []string, args []any) {
	calls, args := versionsInBounds(n)
	return []string{Balanced([]string{calls, splitCalls, "t.version IN (SELECT s.version FROM steps s WHERE coalesce(s.duration, s.ended - s.started) " + n.Op + " ?)"}, " OR ")}, append(args, n.Value)
}

const conversationEvents = "(SELECT sum(o.events) FROM transcripts o WHERE o.conversation = c.id AND o.verdict = 0)"

// runNumber returns SQL for a number of a whole run, "" for fields that are none. It is NULL where the run does not state it.
func runNumber(field string) string {
	switch field {
	case "duration":
		return "(r.ended - r.started)"
	case "events":
		return "(SELECT sum(o.events) FROM run_names n CROSS JOIN transcripts o ON o.run_name = n.id WHERE n.run = r.id AND o.verdict = 0)"
	}
	if number := eventNumber(field); number != "" {
		return runSum(number)
	}
	return ""
}

func runSum(number string) string {
	return "(SELECT sum(" + number + ") FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0)"
}

// compare compiles a comparison of numbers. For runs it applies to the run as a whole.
func (k compiler) compare(n query.Compare) (Cond, error) {
	if !slices.Contains([]string{">", ">=", "<", "<=", "="}, n.Op) {
		return Cond{}, &index.UnsupportedError{What: n.String(), Why: "numbers cannot be compared like this"}
	}
	is := " " + n.Op + " ?"
	args := []any{n.Value}
	if number := runNumber(n.Field); k.runs && number != "" {
		return Cond{sql: []string{number + is}, args: args}, nil
	}
	switch number := eventNumber(n.Field); {
	case number != "":
		hint, hinted := versionsInBounds(n)
		return Cond{sql: []string{usageOfEvent + number + is + ")"}, args: args, HintSQL: []string{hint}, HintArgs: hinted,
			RangeSQL: usageRanges + number + is, RangeArgs: args}, nil
	case n.Field == "events":
		return ownerCond(conversationEvents+is, args), nil
	case n.Field == "duration":
		var sql []string
		var each []any
		for _, d := range eventDurations {
			sql, each = append(sql, d+is), append(each, n.Value)
		}
		sql, each = append(sql, stepOfEvent+is+")"), append(each, n.Value)
		hint, hinted := durationOwners(n)
		return Cond{sql: []string{Balanced(sql, " OR ")}, args: each, HintSQL: hint, HintArgs: hinted}, nil
	}
	return Cond{}, &index.UnsupportedError{What: n.String(), Why: "events do not have this number"}
}
