// Package usage adds up what requests used and cost, and gives the records one by one (index.Accounts but for Reprice).
//
// Sums are in two tables, usage_threads and usage_days, which answer most questions; Sum reads the records themselves only for
// what those do not know. Package sqlite keeps the tables up to date with RollupStatements.
package usage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
)

// Reader adds usage up over connections that read. It is safe for use by several goroutines.
type Reader struct{ pool *sqlx.DB }

// New returns a reader over a pool of connections, which stays the caller's.
func New(pool *sqlx.DB) *Reader { return &Reader{pool} }

// twins finds records of one conversation that are about the same spending: those that report a cost and no tokens, and those
// beside them that state tokens and no cost.
const twins = `costs AS MATERIALIZED (SELECT u.id, n.run, ` + schema.UsageConversation + ` AS conversation
		FROM usage u INDEXED BY usage_cost_only CROSS JOIN run_names n ON n.id = u.run_name WHERE ` + costOnly + `),
	tokens AS MATERIALIZED (SELECT u.id, n.run, ` + schema.UsageConversation + ` AS conversation FROM (SELECT DISTINCT run FROM costs) k
		CROSS JOIN run_names n ON n.run = k.run CROSS JOIN usage u ON u.run_name = n.id WHERE u.verdict = 0 AND u.reported IS NULL
		AND coalesce(u.input, u.output, u.cache_read, u.cache_write, u.cache_write_1h) IS NOT NULL
		AND (n.run, ` + schema.UsageConversation + `) IN (SELECT run, conversation FROM costs)),
	twins (id, twin) AS MATERIALIZED (SELECT id, 1 FROM tokens
		UNION ALL SELECT id, 2 FROM costs WHERE (run, conversation) IN (SELECT run, conversation FROM tokens))`

// costOnly is the condition of the index usage_cost_only, word for word.
const costOnly = `u.verdict = 0 AND u.reported IS NOT NULL AND u.input IS NULL
	AND u.output IS NULL AND u.cache_read IS NULL AND u.cache_write IS NULL AND u.cache_write_1h IS NULL`

// tools gives each counted record the tools that were called for it. A call belongs to the record whose bytes it is in, else to
// the next record of the original. Where several records are of one request, the one that counts has the calls of all. The cast
// is there because SQLite makes an automatic index only on a column whose type it knows.
const tools = `called AS MATERIALIZED (SELECT DISTINCT CAST(coalesce(w.of, CASE WHEN w.verdict = 1 AND w.stated_verdict = 0 THEN (SELECT o.id FROM usage o
			CROSS JOIN run_names y ON y.id = w.run_name CROSS JOIN run_names z ON z.id = o.run_name
			WHERE o.usage_id = w.usage_id AND o.verdict = 0 AND (y.scope = '' OR z.run = y.run)) END, w.id) AS INTEGER) AS id, m.Name FROM calls k CROSS JOIN events e ON e.id = k.event
		CROSS JOIN transcripts t ON t.id = k.transcript CROSS JOIN names m ON m.id = k.name CROSS JOIN usage w ON w.id = coalesce(
			(SELECT CASE WHEN x.offset + x.length > e.offset THEN x.id END FROM usage x
				WHERE x.version = t.version AND x.inner IS e.inner AND x.offset <= e.offset ORDER BY x.offset DESC, x.id DESC LIMIT 1),
			(SELECT x.id FROM usage x WHERE x.version = t.version AND x.inner IS e.inner AND x.offset > e.offset ORDER BY x.offset, x.id LIMIT 1))),
	tools AS MATERIALIZED (SELECT id, group_concat(name, ', ') AS list FROM (SELECT id, name FROM called ORDER BY id, name) GROUP BY id)`

// conversationOf joins the conversation of a usage record.
const conversationOf = `LEFT JOIN conversations c ON c.id = (SELECT o.id FROM conversations o WHERE o.run = n.run AND o.native_id = ` + schema.UsageConversation + `
	AND o.verdict <> 6 ORDER BY o.verdict, o.conversation_id LIMIT 1)`

const runOf = `CROSS JOIN run_names n ON n.id = u.run_name CROSS JOIN runs r ON r.id = n.run `

// dimension is how an index.Dimension is read: from columns of usage to group by first, then by an expression over those, the
// texts (x), the run (r) and the conversation (c).
type dimension struct {
	raw  []string
	expr string
}

// dimensionOf returns a dimension without an expression if there is no such dimension.
func dimensionOf(of index.Dimension) dimension {
	switch of {
	case index.ByModel:
		return dimension{nil, "x.model"}
	case index.ByAgent:
		return dimension{[]string{"run_name", "native_conversation"}, "coalesce(x.agent, c.agent, r.agent)"}
	case index.ByFormat:
		return dimension{[]string{"run_name"}, "(SELECT name FROM names WHERE id = r.format)"}
	case index.ByProject:
		return dimension{[]string{"run_name", "native_conversation"}, "coalesce(c.project, r.project)"}
	case index.ByRun:
		return dimension{[]string{"run_name"}, "r.run_id"}
	case index.ByConversation:
		return dimension{[]string{"run_name", "native_conversation"}, "coalesce(c.conversation_id, CASE r.pruned WHEN 1 THEN r.run_id || ' (pruned)' END)"}
	case index.ByFlow:
		return dimension{[]string{"run_name", "native_conversation"}, "coalesce(x.flow, c.flow, r.flow)"}
	case index.ByStep:
		return dimension{[]string{"run_name", "native_conversation"}, "coalesce(x.step, c.step)"}
	case index.ByTool:
		return dimension{[]string{"tool", "ledger"}, "CASE u.ledger WHEN 1 THEN '(pruned)' ELSE u.tool END"}
	case index.ByStatus:
		return dimension{[]string{"run_name", "native_conversation"}, "coalesce(x.status, c.status, r.status)"}
	case index.BySource:
		return dimension{[]string{"version"}, "(SELECT s.name FROM versions v JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source WHERE v.id = u.version)"}
	case index.ByUsage:
		return dimension{[]string{"usage_id"}, "u.usage_id"}
	}
	return dimension{}
}

// Sum answers from the rollup if that is fine enough, and otherwise scans the records.
func (u *Reader) Sum(ctx context.Context, q index.SumQuery) iter.Seq2[index.Sum, error] {
	return func(yield func(index.Sum, error) bool) {
		err := u.sum(ctx, q, func(s index.Sum) bool { return yield(s, nil) })
		if err == nil {
			return
		}
		if _, ok := errors.AsType[*index.UnsupportedError](err); !ok {
			err = fmt.Errorf("sum usage: %w", engine.Damage(err))
		}
		yield(index.Sum{}, err)
	}
}

func (u *Reader) sum(ctx context.Context, q index.SumQuery, yield func(index.Sum) bool) error {
	tx, err := engine.BeginRead(ctx, u.pool)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	q = pullTime(q)
	c, err := newClock(ctx, tx, q)
	if err != nil {
		return err
	}
	if r, ok := rollupOf(q, c); ok {
		var behind bool // another program has written: our next transaction updates the sums
		if err := tx.GetContext(ctx, &behind, "SELECT EXISTS (SELECT 1 FROM usage_touched)"); err != nil {
			return err
		}
		if !behind {
			return r.run(ctx, tx, yield)
		}
	}
	return scan(ctx, tx, q, c, yield)
}

// scan adds the records themselves up.
func scan(ctx context.Context, tx *engine.ReadTx, q index.SumQuery, c clock, yield func(index.Sum) bool) error {
	query, args, err := scanQuery(q, c, false)
	if err != nil {
		return err
	}
	return engine.Each(ctx, tx, query, args, scanSum(q), yield)
}

// pullTime moves time ranges that hold for the whole query out of it.
func pullTime(q index.SumQuery) index.SumQuery {
	if q.Query == nil {
		return q
	}
	all, rest := []query.Node{q.Query.Root}, []query.Node(nil)
	if and, ok := q.Query.Root.(query.And); ok {
		all = and.Of
	}
	for _, n := range all {
		r, ok := n.(query.Range)
		if !ok {
			rest = append(rest, n)
			continue
		}
		if r.From.After(q.From) {
			q.From = r.From
		}
		if !r.To.IsZero() && (q.To.IsZero() || r.To.Before(q.To)) {
			q.To = r.To
		}
	}
	switch len(rest) {
	case 0:
		q.Query = nil
	case 1:
		q.Query = &query.Tree{Root: rest[0]}
	default:
		q.Query = &query.Tree{Root: query.And{Of: rest}}
	}
	return q
}

// Measure is a number of index.Spent. Name is its column in the tables of sums, expr its value in a record u.
type Measure struct {
	Name, expr string
	money      bool
}

// Total is the sum of an expression, in SQL.
func (m Measure) Total(expr string) string {
	if m.money {
		return TotalMoney(expr)
	}
	return "sum(" + expr + ")"
}

// TotalMoney is the sum of an amount in nano-USD, in SQL. It adds the high and the low bits up one by one, so that no number of
// hostile amounts makes it overflow, which would be an error.
func TotalMoney(expr string) string {
	return fmt.Sprintf("max(-4294967296, min(4294967296, sum((%s) >> 30))) * 1073741824 + sum((%[1]s) & 1073741823)", expr)
}

// Measures are those of index.Spent, in the order of their columns.
var Measures = sync.OnceValue(func() (all []Measure) {
	add := func(name, expr string) {
		all = append(all, Measure{name, expr, name == "reported" || name == "calculated"})
	}
	cut := func(name string, most, unknown int64) {
		add(name, fmt.Sprintf("max(%d, min(%d, coalesce(u.%s, %d)))", -most, most, name, unknown))
	}
	add("rows", "1")
	cut("requests", index.MaxTokens, 1)
	for _, name := range []string{"input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning"} {
		cut(name, index.MaxTokens, 0)
	}
	cut("reported", index.MaxNano, 0)
	cut("calculated", index.MaxNano, 0)
	return all
})

func scanSum(q index.SumQuery) func(*sqlx.Rows) (index.Sum, error) {
	return func(rows *sqlx.Rows) (s index.Sum, err error) {
		s.Keys = make([]index.Key, len(q.By))
		to := []any{engine.Count(&s.Time), engine.Text(&s.Model), &s.Reason, &s.HasReported, &s.Twin}
		to = append(to, &s.Records, &s.Requests, &s.Input, &s.Output, &s.CacheRead, &s.CacheWrite, &s.CacheLong, &s.Reasoning, &s.Reported, &s.Calculated)
		values := make([]*string, len(q.By))
		for i := range values {
			to = append(to, &values[i])
		}
		if err = rows.Scan(to...); err != nil {
			return s, err
		}
		for i, v := range values {
			if v != nil {
				s.Keys[i] = index.Key{Text: *v, Valid: true}
			}
		}
		return s, nil
	}
}

// scanQuery groups records by columns of usage first, so that runs and conversations are looked up once per group. onlyTwins
// leaves out all other records.
func scanQuery(q index.SumQuery, c clock, onlyTwins bool) (string, []any, error) {
	f, err := filterUsage(q.UsageFilter)
	if err != nil {
		return "", nil, err
	}
	group, keys, err := groupBy(q.By)
	if err != nil {
		return "", nil, err
	}
	with, toolsOf := []string{twins}, ""
	if i := slices.Index(group, "u.tool"); i >= 0 { // joined, since SQLite would scan all tools again for each record
		group[i], toolsOf, f.tools = "l.list AS tool", "LEFT JOIN tools l ON l.id = u.id ", true
	}
	if f.tools {
		with = append(with, tools)
	}
	group = append(group, c.expr(q.Unit, timeOf(q.UsageFilter))+" AS at", "u.texts", "u.reported IS NOT NULL AS has_reported", "coalesce(p.twin, 0) AS twin", "u.calculated IS NULL AS unpriced")
	from := " FROM usage u LEFT JOIN twins p ON p.id = u.id " + toolsOf + recordJoins(f.texts, f.run, f.conv)
	if onlyTwins {
		from = " FROM twins p CROSS JOIN usage u ON u.id = p.id " + toolsOf + recordJoins(f.texts, f.run, f.conv)
	}
	numbers := ""
	for _, m := range Measures() {
		numbers += ", u." + m.Name
	}
	all := strings.Join(keys, " ")
	return "WITH " + strings.Join(with, ", ") + " SELECT u.at, x.model, CASE WHEN u.unpriced THEN coalesce(x.price_note, 'not priced') ELSE '' END, u.has_reported, u.twin" + numbers + strings.Join(append([]string{""}, keys...), ", ") +
		" FROM (" + summed(group, from+" WHERE "+f.where, func(m Measure) string { return m.expr }) + ") u " + recordJoins(true, where.UsesTable(all, "r"), where.UsesTable(all, "c")), f.args, nil
}

// summed groups rows by the first columns and adds the measures up, which follow.
func summed(group []string, from string, expr func(Measure) string) string {
	columns, by := strings.Join(group, ", "), ""
	for _, m := range Measures() {
		columns += fmt.Sprintf(", %s AS %s", m.Total(expr(m)), m.Name)
	}
	for i := range group {
		by += fmt.Sprintf("%s %d", map[bool]string{true: ","}[i > 0], i+1)
	}
	return "SELECT " + columns + from + " GROUP BY" + by
}

// groupBy returns the columns of usage to group by for some dimensions, and the expressions that read the dimensions from them.
func groupBy(by []index.Dimension) (group, keys []string, err error) {
	for _, one := range by {
		d := dimensionOf(one)
		if d.expr == "" {
			return nil, nil, &index.UnsupportedError{What: "by " + string(one), Why: "unknown dimension"}
		}
		keys = append(keys, d.expr)
		for _, raw := range d.raw {
			if raw = "u." + raw; !slices.Contains(group, raw) {
				group = append(group, raw)
			}
		}
	}
	return group, keys, nil
}

// recordJoins joins the texts, the run and the conversation of a record.
func recordJoins(texts, run, conversation bool) (s string) {
	if texts {
		s = schema.JoinUsageTexts
	}
	if run || conversation {
		s += runOf
	}
	if conversation {
		s += conversationOf
	}
	return s
}
