package usage

import (
	"context"
	"encoding/json"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/transcript"
)

// UsedBy returns the beginning of a statement, with a table used of what the conversations of runs used: input, output, cache_read and
// cache_write, and in nano-USD reported and cost. The runs are those of a query for their private ids.
//
// It adds the records up, as v_runs does: usage_threads does not tell unknown from 0. Where records of a conversation have nothing but
// a cost, that is the cost of those with tokens (see twins).
func UsedBy(runs string) string {
	return `WITH some (run) AS MATERIALIZED (` + runs + `),
	spent AS MATERIALIZED (SELECT n.run, ` + schema.UsageConversation + ` AS conversation, ` + clampedSum("u.input") + ` AS input, ` + clampedSum("u.output") + ` AS output,
		` + clampedSum("u.cache_read") + ` AS cache_read, ` + clampedSum(cacheWrite) + ` AS cache_write,
		` + TotalMoney("u.reported") + ` AS reported, ` + TotalMoney("coalesce(u.reported, u.calculated)") + ` AS either, max(` + costOnly + `) AS cost_only
		FROM some CROSS JOIN run_names n ON n.run = some.run CROSS JOIN usage u ON u.run_name = n.id WHERE u.verdict = 0 GROUP BY 1, 2),
	owners AS MATERIALIZED (SELECT o.run, o.native_id, o.id, row_number() OVER (PARTITION BY o.run, o.native_id ORDER BY o.verdict, o.conversation_id) AS nth
		FROM some CROSS JOIN conversations o ON o.run = some.run WHERE o.verdict <> 6),
	used AS MATERIALIZED (SELECT o.id AS conversation, s.input, s.output, s.cache_read, s.cache_write, s.reported, CASE WHEN s.cost_only THEN s.reported ELSE s.either END AS cost
		FROM spent s JOIN owners o ON o.run = s.run AND o.native_id = s.conversation AND o.nth = 1) `
}

const cacheWrite = "coalesce(u.cache_write + u.cache_write_1h, u.cache_write, u.cache_write_1h)"

// TokensOf returns an expression for the tokens of all kinds of a run, by its private id, in one walk over its records: each of the four
// columns of v_runs takes one of its own.
func TokensOf(run string) string {
	return "(SELECT " + where.SumKnown("s.input", "s.output", "s.cache_read", "s.cache_write") + " FROM (SELECT " + clampedSum("u.input") + " AS input, " +
		clampedSum("u.output") + " AS output, " + clampedSum("u.cache_read") + " AS cache_read, " + clampedSum(cacheWrite) + ` AS cache_write
		FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = ` + run + " AND u.verdict = 0) s)"
}

// clampedSum is the sum of a number of tokens, in SQL; NULL if all are unknown.
func clampedSum(expr string) string {
	return "sum(max(-1099511627776, min(1099511627776, " + expr + ")))"
}

// ByConversation returns what the conversations of runs used, by public ids; those that used nothing are missing.
func (u *Reader) ByConversation(ctx context.Context, runs ...string) (map[string]index.Used, error) {
	list, _ := json.Marshal(runs) // never fails for strings
	all := map[string]index.Used{}
	query := UsedBy("SELECT r.id FROM json_each(?) j CROSS JOIN runs r ON r.run_id = j.value") +
		`SELECT c.conversation_id, u.input, u.output, u.cache_read, u.cache_write, u.reported, u.cost FROM used u CROSS JOIN conversations c ON c.id = u.conversation`
	err := engine.Each(ctx, u.pool, query, []any{string(list)}, func(rows *sqlx.Rows) (id string, err error) {
		var n index.Used
		err = rows.Scan(&id, engine.Count(&n.Input), engine.Count(&n.Output), engine.Count(&n.CacheRead), engine.Count(&n.CacheCreation), engine.Count(&n.ReportedCost), engine.Count(&n.CostUsed))
		n.ReportedCost, n.CostUsed = micro(n.ReportedCost), micro(n.CostUsed)
		all[id] = n
		return id, err
	}, func(string) bool { return true })
	return all, engine.Damage(err)
}

// micro is Micro of what may be unknown.
func micro(nano transcript.Count) transcript.Count {
	if !nano.Known {
		return nano
	}
	return transcript.Known(Micro(nano.N))
}

// Micro rounds nano-USD to micro-USD as the views do, also below zero: half up.
func Micro(nano int64) int64 { return nano/1000 + (nano%1000+1500)/1000 - 1 }
