package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/query"
)

// rollup is a question that sums of whole hours answer: usage_days, by model and format, or usage_threads, which also has what
// conversations, runs and steps state.
type rollup struct {
	q     index.SumQuery   // its time is whole hours
	edges []index.SumQuery // the rest of the question, for scans
	clock clock
	fine  bool   // ask usage_threads
	where string // over the table d
	args  []any
}

// Undated is the day of usage without a time.
const Undated = -1_000_000_000

// rollupOf returns the rollup for a question, false if a part of it is about what no rollup has. The first and last hour of a
// window of time, which it covers in part, are left to scans (edges), and so is what has the time of its file.
func rollupOf(q index.SumQuery, c clock) (*rollup, bool) {
	if q.All || q.ID != "" || q.Unit == index.Instant || !c.wholeHours() {
		return nil, false
	}
	fine := q.Runs != nil || q.Conversation != ""
	for _, by := range q.By {
		switch by {
		case index.ByModel, index.ByFormat:
		case index.ByTool, index.ByUsage:
			return nil, false
		default:
			fine = true
		}
	}
	r := &rollup{q: q, clock: c, where: "1", fine: fine}
	if q.FileTimes {
		if q.Undated == index.OnlyUndated {
			return nil, false
		}
		undated := q
		undated.Undated = index.OnlyUndated
		r.edges = append(r.edges, undated)
		r.q.FileTimes, r.q.Undated = false, index.NoUndated
	}
	if !r.window() {
		return nil, false
	}
	if q.Query != nil && (r.fine || !r.query(q.Query.Root)) {
		r.fine = true
		return r, knowsOnly(q.Query.Root, threadFields)
	}
	return r, true
}

func (r *rollup) and(sql string, args ...any) {
	r.where, r.args = r.where+" AND "+sql, append(r.args, args...)
}

// window takes the whole hours of the window of time. It returns false if there are none.
func (r *rollup) window() bool {
	from, to := r.q.From, r.q.To
	switch {
	case r.q.Undated == index.OnlyUndated:
		r.and(fmt.Sprintf("d.day = %d", Undated))
		return true
	case r.q.Undated == index.NoUndated || !from.IsZero() || !to.IsZero():
		r.and(fmt.Sprintf("d.day > %d", Undated))
	default:
		return true
	}
	edge := func(from, to time.Time) {
		q := r.q
		q.From, q.To = from, to
		r.edges = append(r.edges, q)
	}
	if first := wholeHour(from); !from.IsZero() && !first.Equal(from) {
		first = first.Add(time.Hour)
		edge(from, first)
		from = first
	}
	if last := wholeHour(to); !to.IsZero() && !last.Equal(to) {
		edge(last, to)
		to = last
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return false
	}
	r.q.From, r.q.To = from, to
	if !from.IsZero() {
		r.and("d.day * 24 + d.hour >= ?", from.Unix()/3600)
	}
	if !to.IsZero() {
		r.and("d.day * 24 + d.hour < ?", to.Unix()/3600)
	}
	return true
}

// wholeHour returns the begin of the hour (UTC) of t. Records have times in microseconds.
func wholeHour(t time.Time) time.Time {
	n := t.UnixMicro()
	return time.UnixMicro(n - (n%microsPerHour+microsPerHour)%microsPerHour)
}

// query adds models and formats that are joined by AND to the condition. It returns false for anything else.
func (r *rollup) query(n query.Node) bool {
	switch n := n.(type) {
	case nil:
		return true
	case query.And:
		return !slices.ContainsFunc(n.Of, func(n query.Node) bool { return !r.query(n) })
	case query.Field:
		column := map[string]string{"model": "nullif(s.model, '')", "format": "(SELECT name FROM names WHERE id = s.format)"}[n.Name]
		if column == "" {
			return false
		}
		sql, args := anyOf(n.Values, []string{column})
		r.and("d.series IN (SELECT s.id FROM usage_series s WHERE "+sql+")", args...)
		return true
	}
	return false
}

// run yields the sums of the rollup and of the edges, and then moves records that have a twin into sums of their own.
func (r *rollup) run(ctx context.Context, tx *engine.ReadTx, yield func(index.Sum) bool) error {
	more := true
	next := func(s index.Sum) bool {
		more = more && yield(s)
		return more
	}
	for _, edge := range r.edges {
		if err := scan(ctx, tx, edge, r.clock, next); err != nil || !more {
			return err
		}
	}
	statements, args := r.statements(), r.args
	if r.fine {
		query, a, err := r.threads()
		if err != nil {
			return err
		}
		statements, args = []string{query}, a
	}
	for _, query := range statements {
		if err := engine.Each(ctx, tx, query, args, scanSum(r.q), next); err != nil || !more {
			return err
		}
	}
	var any bool
	if err := tx.QueryRowxContext(ctx, "SELECT EXISTS (SELECT 1 FROM usage u INDEXED BY usage_cost_only WHERE "+costOnly+")").Scan(&any); err != nil || !any {
		return err
	}
	query, args, err := scanQuery(r.q, r.clock, true)
	if err != nil {
		return err
	}
	return engine.Each(ctx, tx, query, args, scanSum(r.q), func(s index.Sum) bool {
		without := s
		without.Twin, without.Spent = index.NoTwin, s.Spent.Minus()
		return next(s) && next(without)
	})
}

// statements returns the statements that add usage_days up. Local days are not UTC days: the hours of a UTC day fall into the
// same local day, the one before or the one after, and each of these has a statement, so that each can follow the order of the
// table instead of sorting.
func (r *rollup) statements() []string {
	sums, numbers := "", ""
	for _, m := range Measures() {
		sums += fmt.Sprintf(", %s AS %s", m.Total("d."+m.Name), m.Name)
		numbers += ", g." + m.Name
	}
	keys := ""
	for _, by := range r.q.By {
		keys += map[index.Dimension]string{index.ByModel: ", nullif(s.model, '')", index.ByFormat: ", (SELECT name FROM names WHERE id = s.format)"}[by]
	}
	statement := func(at, columns, where, group string) string {
		return "SELECT " + at + ", s.model, s.reason, s.has_reported, 0" + numbers + keys + " FROM (SELECT d.series" + columns + sums +
			" FROM usage_days d WHERE " + r.where + where + " GROUP BY d.series" + group + ") g CROSS JOIN usage_series s ON s.id = g.series"
	}
	// when is g.day, with a whole number of days or hours added, in the given unit; NULL where no time is known.
	when := func(expr string) string { return fmt.Sprintf("CASE WHEN g.day > %d THEN %s END", Undated, expr) }
	switch r.q.Unit {
	case index.Hour:
		return []string{statement(when("(g.day * 24 + g.hour) * 3600"), ", d.day, d.hour", "", ", d.day, d.hour")}
	case index.NoTime:
		return []string{statement("NULL", "", "", "")}
	}
	low, high := slices.Min(r.clock.offset), slices.Max(r.clock.offset)
	local := "d.hour + " + r.clock.at("(d.day * 24 + d.hour)", inHours, inHours)
	var all []string
	for _, k := range []struct {
		days  int
		hours string
		ever  bool
	}{{-1, local + " < 0", low < 0}, {0, local + " BETWEEN 0 AND 23", true}, {1, local + " > 23", high > 0}} {
		if k.ever {
			all = append(all, statement(when(fmt.Sprintf("g.day + %d", k.days)), ", d.day", " AND "+k.hours, ", d.day"))
		}
	}
	return all
}
