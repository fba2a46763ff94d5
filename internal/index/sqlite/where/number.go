package where

import (
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// usageOfEvent is the usage that an event tells: the record whose bytes the row lies in. It is followed by AND and a
// condition on u.
const usageOfEvent = `EXISTS (SELECT 1 FROM usage u WHERE u.version = t.version AND u.inner IS e.inner AND u.offset + u.length > e.offset
	AND u.offset = (SELECT x.offset FROM usage x WHERE x.version = t.version AND x.offset <= e.offset AND x.inner IS e.inner ORDER BY x.offset DESC LIMIT 1) AND `

// usageRanges is the transcripts of a list, j, with the bytes between which their usage lies. It is followed by a condition on u.
const usageRanges = `SELECT t.id AS transcript, min(u.offset) AS first, max(u.offset + u.length) AS behind FROM json_each(?) j
	CROSS JOIN transcripts t ON t.id = j.value CROSS JOIN usage u ON u.version = t.version AND `

// eventNumber is what a Compare reads of usage, "" for what is none of its numbers. What went in is all that was sent, cached or not.
func eventNumber(field string) string {
	switch field {
	case "cost":
		return "coalesce(u.reported, u.calculated)"
	case "input":
		return "(" + SumKnown("u.input", "u.cache_read", "u.cache_write", "u.cache_write_1h") + ")"
	case "output":
		return "u.output"
	case "tokens":
		return "(" + SumKnown("u.input", "u.cache_read", "u.cache_write", "u.cache_write_1h", "u.output") + ")"
	}
	return ""
}

// eventDurations are how long the call took that an event is about, in microseconds: the call itself or its result.
var eventDurations = []string{
	`(SELECT coalesce(x.duration, CASE WHEN b.time >= e.time THEN b.time - e.time END) FROM calls k CROSS JOIN results x ON x.call = k.call
		CROSS JOIN events b ON b.id = x.event WHERE k.event = e.id ORDER BY b.transcript <> e.transcript, b.verdict, b.seq, b.part LIMIT 1)`,
	`(SELECT coalesce(x.duration, CASE WHEN e.time >= b.time THEN e.time - b.time END) FROM results x LEFT JOIN calls k ON k.call = x.call
		LEFT JOIN events b ON b.id = k.event WHERE x.event = e.id ORDER BY b.transcript IS NOT e.transcript, b.verdict, b.seq, b.part LIMIT 1)`,
}

// stepOfEvent is a step that an event tells of. It is followed by a comparison with its duration and a bracket.
const stepOfEvent = `EXISTS (SELECT 1 FROM steps s WHERE s.version = t.version AND s.offset = e.offset AND s.inner IS e.inner AND coalesce(s.duration, s.ended - s.started)`

// versionsInBounds is the versions that can have a number, by what is known of the least and the greatest of each.
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

// splitCalls is the transcripts with calls or results whose other half may stand in another one.
const splitCalls = `t.id IN (SELECT o.id FROM bounds b CROSS JOIN transcripts o ON o.version = b.version
	CROSS JOIN transcripts p ON p.run_name = o.run_name AND p.native_id = o.native_id AND p.id <> o.id WHERE b.astray = 1)`

// durationOwners is what owns rows of calls and steps that took so long.
func durationOwners(n query.Compare) (hint []string, args []any) {
	calls, args := versionsInBounds(n)
	return []string{Balanced([]string{calls, splitCalls, "t.version IN (SELECT s.version FROM steps s WHERE coalesce(s.duration, s.ended - s.started) " + n.Op + " ?)"}, " OR ")}, append(args, n.Value)
}

const conversationEvents = "(SELECT sum(o.events) FROM transcripts o WHERE o.conversation = c.id AND o.verdict = 0)"

// runNumber is what a Compare reads of a run as a whole, "" for what is no number of it. Whatever the run did not state is unknown.
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

// compare compiles a comparison of numbers. Of runs it is about the run as a whole.
func (k compiler) compare(n query.Compare) (Cond, error) {
	if !slices.Contains([]string{">", ">=", "<", "<=", "="}, n.Op) {
		return Cond{}, &index.UnsupportedError{What: n.String(), Why: "numbers are not compared so"}
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
			RangeSQL: usageRanges + number + is + " GROUP BY t.id", RangeArgs: args}, nil
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
	return Cond{}, &index.UnsupportedError{What: n.String(), Why: "events have no such number"}
}
