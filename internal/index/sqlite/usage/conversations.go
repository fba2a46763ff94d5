package usage

import (
	"context"
	"encoding/json"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// spentByConversation adds up the records of runs as v_runs does, but for each conversation: what usage_threads has does not tell
// unknown from 0. Where a conversation has records with nothing but a cost, that is the cost of those with tokens (see twins).
var spentByConversation = `WITH some AS MATERIALIZED (SELECT r.id FROM json_each(?) j CROSS JOIN runs r ON r.run_id = j.value),
	spent AS MATERIALIZED (SELECT n.run, ` + schema.UsageConversation + ` AS conversation, ` +
	clampedSum("u.input") + ` AS input, ` + clampedSum("u.output") + ` AS output, ` + clampedSum("u.cache_read") + ` AS cache_read, ` +
	clampedSum("coalesce(u.cache_write + u.cache_write_1h, u.cache_write, u.cache_write_1h)") + ` AS cache_write, ` +
	TotalMoney("u.reported") + ` AS reported, ` + TotalMoney("CASE WHEN u.reported IS NULL THEN u.calculated END") + ` AS calculated, max(` + costOnly + `) AS cost_only
	FROM some CROSS JOIN run_names n ON n.run = some.id CROSS JOIN usage u ON u.run_name = n.id WHERE u.verdict = 0 GROUP BY 1, 2),
	owners AS MATERIALIZED (SELECT o.run, o.native_id, o.conversation_id, row_number() OVER (PARTITION BY o.run, o.native_id ORDER BY o.verdict, o.conversation_id) AS nth
	FROM some CROSS JOIN conversations o ON o.run = some.id WHERE o.verdict <> 6)
	SELECT c.conversation_id, s.input, s.output, s.cache_read, s.cache_write, s.reported, s.calculated, s.cost_only
	FROM spent s JOIN owners c ON c.run = s.run AND c.native_id = s.conversation AND c.nth = 1`

// clampedSum is the sum of a number of tokens, in SQL; NULL if all are unknown.
func clampedSum(expr string) string {
	return "sum(max(-1099511627776, min(1099511627776, " + expr + ")))"
}

// ByConversation returns the tokens and the cost of the conversations of runs, by public ids; those that used nothing are missing.
func (u *Reader) ByConversation(ctx context.Context, runs ...string) (map[string]index.Used, error) {
	list, _ := json.Marshal(runs) // never fails for strings
	all := map[string]index.Used{}
	err := engine.Each(ctx, u.pool, spentByConversation, []any{string(list)}, func(rows *sqlx.Rows) (id string, err error) {
		var n index.Used
		var reported, calculated transcript.Count
		var costOnly bool
		err = rows.Scan(&id, engine.Count(&n.Input), engine.Count(&n.Output), engine.Count(&n.CacheRead), engine.Count(&n.CacheCreation), engine.Count(&reported), engine.Count(&calculated), &costOnly)
		n.ReportedCost, n.CostUsed = micro(reported), micro(reported)
		if calculated.Known && !costOnly {
			n.CostUsed = micro(transcript.Known(index.SaturatingAdd(reported.N, calculated.N)))
		}
		all[id] = n
		return id, err
	}, func(string) bool { return true })
	return all, engine.Damage(err)
}

// micro rounds an amount in nano-USD half up to micro-USD, as the views do.
func micro(nano transcript.Count) transcript.Count {
	if !nano.Known {
		return nano
	}
	return transcript.Known(nano.N/1000 + (nano.N%1000+1500)/1000 - 1)
}
