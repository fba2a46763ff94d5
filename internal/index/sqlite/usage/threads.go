package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
)

// threadFields are the query fields that usage_threads can answer: what usage itself states and the table keeps, and what the
// run, the conversation and the file have.
var threadFields = []string{"format", "agent", "engine", "model", "project", "group", "flow", "step", "status", "outcome", "run", "conversation", "source", "path"}

// knowsOnly reports whether a query asks only for some fields.
func knowsOnly(n query.Node, fields []string) bool {
	unknown := func(n query.Node) bool { return !knowsOnly(n, fields) }
	switch n := n.(type) {
	case nil:
		return true
	case query.And:
		return !slices.ContainsFunc(n.Of, unknown)
	case query.Or:
		return !slices.ContainsFunc(n.Of, unknown)
	case query.Not:
		return !unknown(n.Of)
	case query.Field:
		return slices.Contains(fields, n.Name)
	}
	return false
}

// threadRows selects from usage_threads with the column names of usage.
const threadRows = ` FROM (SELECT d.*, s.reason, s.has_reported FROM usage_threads d CROSS JOIN usage_series s ON s.id = d.series WHERE `

// places are the conversations of usage: looking each up once is cheaper than once per hour and model.
const places = `places AS MATERIALIZED (SELECT u.run_name, u.native_conversation, n.run, c.id AS conversation
	FROM (SELECT DISTINCT run_name, native_conversation FROM usage_threads) u CROSS JOIN run_names n ON n.id = u.run_name ` + conversationOf + `)`

func threadJoins(run, conversation bool) string {
	switch {
	case conversation:
		return ` CROSS JOIN places l ON l.run_name = u.run_name AND l.native_conversation = u.native_conversation
			CROSS JOIN runs r ON r.id = l.run LEFT JOIN conversations c ON c.id = l.conversation`
	case run:
		return runOf
	}
	return ""
}

// threads returns the statement that adds usage_threads up.
func (r *rollup) threads() (string, []any, error) {
	of := r.q.UsageFilter
	of.All = true                                                            // usage_threads has only what counts, and no verdict
	of.From, of.To, of.Undated = time.Time{}, time.Time{}, index.WithUndated // r.where has them
	f, err := filterUsage(of)
	if err != nil {
		return "", nil, err
	}
	_, keys, err := groupBy(r.q.By)
	if err != nil {
		return "", nil, err
	}
	all := strings.Join(keys, " ")
	joins := schema.JoinUsageTexts + threadJoins(f.run || where.UsesTable(all, "r"), f.conv || where.UsesTable(all, "c"))
	group := []string{r.clock.hours(r.q.Unit) + " AS at", "x.model AS model", "u.reason AS reason", "u.has_reported AS has_reported"}
	columns := "g.at, g.model, g.reason, g.has_reported, 0"
	for _, m := range Measures() {
		columns += ", g." + m.Name
	}
	for i, key := range keys {
		group = append(group, fmt.Sprintf("%s AS k%d", key, i))
		columns += fmt.Sprintf(", g.k%d", i)
	}
	from := threadRows + r.where + ") u " + joins + " WHERE " + f.where
	return "WITH " + places + " SELECT " + columns + " FROM (" + summed(group, from, func(m Measure) string { return "u." + m.Name }) + ") g",
		append(slices.Clone(r.args), f.args...), nil
}
