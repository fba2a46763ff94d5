package usage

import (
	"fmt"
	"sync"
)

// Sums are kept in two tables: usage_threads by conversation, step, model and hour, and usage_days, which adds those up by
// model and hour. A transaction that changes usage recomputes all sums of the runs that it touched, in one pass over their
// usage. Maintaining sums record by record would take several lookups for each.

// mostSum bounds the numbers of usage_days, so that sums of hostile numbers remain integers.
const mostSum = 1 << 62

// Spent is the subquery of the numbers that sums are made of. Unknown numbers add nothing; usage that does not state how many
// requests it stands for is one. Numbers beyond what a request can have are clamped (a million million tokens, a million
// dollars), so that a broken original cannot make sums overflow. It is not a view, since every connection would parse it.
const Spent = `(SELECT u.run_name, coalesce(u.native_conversation, n.native_id) AS native_conversation, u.version, u.texts,
	  coalesce(t.model, '') AS model, n.format,
	  CASE WHEN u.calculated IS NULL THEN coalesce(t.price_note, 'not priced') ELSE '' END AS reason, u.reported IS NOT NULL AS has_reported,
	  coalesce((u.time - ((u.time % 86400000000) + 86400000000) % 86400000000) / 86400000000, -1000000000) AS day,
	  coalesce(((u.time % 86400000000) + 86400000000) % 86400000000 / 3600000000, 0) AS hour,
	  1 AS rows,
	  max(-1099511627776, min(1099511627776, coalesce(u.requests, 1))) AS requests,
	  max(-1099511627776, min(1099511627776, coalesce(u.input, 0))) AS input,
	  max(-1099511627776, min(1099511627776, coalesce(u.output, 0))) AS output,
	  max(-1099511627776, min(1099511627776, coalesce(u.cache_read, 0))) AS cache_read,
	  max(-1099511627776, min(1099511627776, coalesce(u.cache_write, 0))) AS cache_write,
	  max(-1099511627776, min(1099511627776, coalesce(u.cache_write_1h, 0))) AS cache_write_1h,
	  max(-1099511627776, min(1099511627776, coalesce(u.reasoning, 0))) AS reasoning,
	  max(-1000000000000000, min(1000000000000000, coalesce(u.reported, 0))) AS reported,
	  max(-1000000000000000, min(1000000000000000, coalesce(u.calculated, 0))) AS calculated
	FROM usage u JOIN run_names n ON n.id = u.run_name CROSS JOIN usage_texts t ON t.id = u.texts
	WHERE u.verdict = 0)`

// RollupStatements returns the statements that make the sums of conversations again, for the runs in usage_touched, and those that
// add them up in usage_days, in their order.
var RollupStatements = sync.OnceValues(func() (threads, added []string) {
	const (
		touched = " x.run_name IN (SELECT run_name FROM usage_touched)"
		same    = "(s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported)"
	)
	names, sums, minus, plus, add := "", "", "", "", ""
	for i, m := range Measures() {
		sum := m.Total("x." + m.Name)
		names += ", " + m.Name
		sums += fmt.Sprintf(", %s AS %s", sum, m.Name)
		minus += ", -(" + sum + ")"
		plus += ", " + sum
		add += fmt.Sprintf("%s%s = max(-%d, min(%[3]d, %[2]s + excluded.%[2]s))", map[bool]string{true: ", "}[i > 0], m.Name, int64(mostSum))
	}
	days := func(numbers string) string {
		return "INSERT INTO usage_days (series, day, hour" + names + ") SELECT x.series, x.day, x.hour" + numbers +
			" FROM usage_threads x WHERE" + touched + " GROUP BY 1, 2, 3 ON CONFLICT (series, day, hour) DO UPDATE SET " + add
	}
	threads = []string{
		days(minus),
		"DELETE FROM usage_threads AS x WHERE" + touched,
		`INSERT INTO usage_series (model, format, reason, has_reported) SELECT DISTINCT model, format, reason, has_reported FROM ` + Spent + ` x
			WHERE` + touched + " AND NOT EXISTS (SELECT 1 FROM usage_series s WHERE " + same + ")",
		"INSERT INTO usage_threads (run_name, native_conversation, n, version, texts, series, day, hour" + names + `)
			SELECT run_name, native_conversation, row_number() OVER (), version, texts, series, day, hour` + names + ` FROM (
			SELECT x.run_name, x.native_conversation, x.version, x.texts, s.id AS series, x.day, x.hour` + sums + ` FROM ` + Spent + ` x CROSS JOIN usage_series s ON ` + same + ` WHERE` + touched + `
			GROUP BY 1, 2, 3, 4, 5, 6, 7)`,
	}
	return threads, []string{days(plus), "DELETE FROM usage_days WHERE rows = 0", "DELETE FROM usage_touched"}
})
