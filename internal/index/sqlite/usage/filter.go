package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
)

// usageFilter is a condition on usage records u, with the tables that it reads.
type usageFilter struct {
	where     string
	args      []any
	texts     bool   // table x
	run, conv bool   // tables r and c
	time      string // SQL for the time of u
	tools     bool   // reads called or tools
}

// timeOf returns SQL for the time of a usage record u.
func timeOf(of index.UsageFilter) string {
	if of.FileTimes {
		return "coalesce(u.time, (SELECT v.mtime / 1000 FROM versions v WHERE v.id = u.version))"
	}
	return "u.time"
}

// usageColumns returns the columns that have the value of a field.
func usageColumns(field string) []string {
	switch field {
	case "format":
		return []string{"(SELECT name FROM names WHERE id = r.format)"}
	case "agent":
		return []string{"coalesce(x.agent, c.agent, r.agent)"}
	case "engine":
		return []string{"coalesce(x.engine, c.engine)"}
	case "model":
		return []string{"x.model"}
	case "project":
		return []string{"coalesce(c.project, r.project)"}
	case "group":
		return []string{`r."group"`}
	case "flow":
		return []string{"coalesce(x.flow, c.flow, r.flow)"}
	case "step":
		return []string{"coalesce(x.step, c.step)"}
	case "status":
		return []string{"coalesce(x.status, c.status, r.status)"}
	case "outcome":
		return []string{"coalesce(x.outcome, r.outcome)"}
	case "run":
		return []string{"r.run_id", "r.native_id"}
	case "conversation":
		return []string{"c.conversation_id", "c.native_id"}
	}
	return nil
}

// usageNumber returns the expression of a number that queries compare, "" if usage has no such number. Input is all that was
// sent, cached or not.
func usageNumber(field string) string {
	switch field {
	case "cost":
		return "coalesce(u.reported, CASE WHEN coalesce(p.twin, 0) <> 1 THEN u.calculated END)"
	case "input":
		return "(" + where.SumKnown("u.input", "u.cache_read", "u.cache_write", "u.cache_write_1h") + ")"
	case "output":
		return "u.output"
	case "tokens":
		return "(" + where.SumKnown("u.input", "u.cache_read", "u.cache_write", "u.cache_write_1h", "u.output") + ")"
	case "events":
		return "(SELECT sum(t.events) FROM transcripts t WHERE t.conversation = c.id AND t.verdict = 0)"
	}
	return ""
}

func filterUsage(of index.UsageFilter) (*usageFilter, error) {
	f := &usageFilter{where: "1", time: timeOf(of)}
	if !of.All {
		f.where = "u.verdict = 0"
	}
	and := func(sql string, args ...any) { f.where, f.args = f.where+" AND "+sql, append(f.args, args...) }
	switch of.Undated {
	case index.NoUndated:
		and("u.time IS NOT NULL")
	case index.OnlyUndated:
		and("u.time IS NULL")
		if !of.FileTimes {
			of.From, of.To = time.Time{}, time.Time{}
		}
		if !of.All {
			and(runsOn(fmt.Sprintf("d.day = %d", Undated)))
		}
	}
	if !of.From.IsZero() {
		and(f.time+" >= ?", of.From.UnixMicro())
	}
	if !of.To.IsZero() {
		and(f.time+" < ?", of.To.UnixMicro())
	}
	if !of.All && !of.FileTimes && !(of.From.IsZero() && of.To.IsZero()) {
		sql, args := runsBetween(of.From, of.To)
		and(sql, args...)
	}
	if of.Runs != nil {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(of.Runs)), ", ")
		var ids []any
		for _, id := range of.Runs {
			ids = append(ids, id)
		}
		and("u.run_name IN (SELECT n.id FROM runs r CROSS JOIN run_names n ON n.run = r.id WHERE r.run_id IN ("+marks+"))", ids...)
	}
	if of.Conversation != "" {
		and(`u.run_name IN (SELECT n.id FROM conversations o CROSS JOIN run_names n ON n.run = o.run WHERE o.conversation_id = ?)`, of.Conversation)
		and(`coalesce(u.native_conversation, (SELECT n.native_id FROM run_names n WHERE n.id = u.run_name))
			= (SELECT native_id FROM conversations WHERE conversation_id = ?)`, of.Conversation)
	}
	if of.ID != "" {
		and("u.usage_id = ?", of.ID)
	}
	if of.Query != nil && of.Query.Root != nil {
		sql, args, err := f.node(of.Query.Root)
		if err != nil {
			return nil, err
		}
		and(sql, args...)
	}
	return f, nil
}

// runsBetween limits usage to runs that have some in the hours of a window of time. Times of usage have no index: it would take
// a tenth of the room of all usage, and the sums know the runs of each hour.
func runsBetween(from, to time.Time) (string, []any) {
	sql, args := fmt.Sprintf("d.day > %d", Undated), []any(nil)
	if !from.IsZero() {
		sql, args = sql+" AND d.day * 24 + d.hour >= ?", append(args, wholeHour(from).Unix()/3600)
	}
	if !to.IsZero() {
		sql, args = sql+" AND d.day * 24 + d.hour <= ?", append(args, wholeHour(to).Unix()/3600)
	}
	return runsOn(sql), args
}

// runsOn limits usage to runs that have sums in some hours, and those whose sums are behind.
func runsOn(hours string) string {
	return "u.run_name IN (SELECT d.run_name FROM usage_threads d WHERE " + hours + " UNION ALL SELECT run_name FROM usage_touched)"
}

func (f *usageFilter) node(n query.Node) (string, []any, error) {
	switch n := n.(type) {
	case query.And:
		return f.join(n.Of, " AND ")
	case query.Or:
		return f.join(n.Of, " OR ")
	case query.Not:
		sql, args, err := f.node(n.Of)
		return "NOT coalesce(" + sql + ", 0)", args, err
	case query.Range:
		sql, args := "1", []any(nil)
		if !n.From.IsZero() {
			sql, args = sql+" AND "+f.time+" >= ?", append(args, n.From.UnixMicro())
		}
		if !n.To.IsZero() {
			sql, args = sql+" AND "+f.time+" < ?", append(args, n.To.UnixMicro())
		}
		return "(" + sql + ")", args, nil
	case query.Field:
		return f.field(n)
	case query.Compare:
		if column := usageNumber(n.Field); column != "" && slices.Contains([]string{">", ">=", "<", "<=", "="}, n.Op) {
			f.conv = f.conv || where.UsesTable(column, "c")
			return column + " " + n.Op + " ?", []any{n.Value}, nil
		}
		return "", nil, &index.UnsupportedError{What: n.String(), Why: "requests do not have this number", Hint: "cost can be filtered by cost, tokens, input, output and events; txarchive list takes all of them"}
	}
	return "", nil, &index.UnsupportedError{What: n.String(), Why: "cost cannot be filtered by text: requests have none", Hint: "filter by fields and times (model:gpt-5, on:today); txarchive list WORDS finds runs by their text"}
}

func (f *usageFilter) join(of []query.Node, op string) (string, []any, error) {
	var parts []string
	var args []any
	for _, n := range of {
		sql, a, err := f.node(n)
		if err != nil {
			return "", nil, err
		}
		parts, args = append(parts, sql), append(args, a...)
	}
	return where.Balanced(parts, op), args, nil
}

func (f *usageFilter) field(n query.Field) (string, []any, error) {
	in := usageColumns(n.Name)
	if n.Name == "attr" {
		path := attributePath(n.Key)
		in = []string{"u.attributes ->> " + path, "c.attributes ->> " + path, "r.attributes ->> " + path}
		f.run, f.conv = true, true
		if len(n.Values) == 0 {
			n.Values = []query.Value{{Match: query.Starts}}
		} else {
			for i := range in {
				in[i] = "CAST(" + in[i] + " AS TEXT)"
			}
		}
	}
	for _, column := range in {
		f.texts, f.run, f.conv = f.texts || where.UsesTable(column, "x"), f.run || where.UsesTable(column, "r"), f.conv || where.UsesTable(column, "c")
	}
	if len(in) > 0 {
		sql, args := anyOf(n.Values, in)
		return sql, args, nil
	}
	var parts []string
	var args []any
	for _, v := range n.Values {
		sql, a, err := f.special(n, v)
		if err != nil {
			return "", nil, err
		}
		parts, args = append(parts, sql), append(args, a...)
	}
	return where.Balanced(parts, " OR "), args, nil
}

// anyOf matches if one of the columns has one of the values. An empty value asks that none of them has any.
func anyOf(values []query.Value, in []string) (string, []any) {
	var parts []string
	var args []any
	for _, v := range values {
		if v.Text == "" && v.Match == query.Whole {
			parts = append(parts, "coalesce("+strings.Join(append(slices.Clone(in), "NULL"), ", ")+") IS NULL")
			continue
		}
		for _, column := range in {
			sql, a := where.Compare(column, v)
			parts, args = append(parts, sql), append(args, a...)
		}
	}
	return where.Balanced(parts, " OR "), args
}

// attributePath returns a JSON path as an SQL literal. The key is quoted, and can end neither string.
func attributePath(key string) string {
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	return "'$." + strings.ReplaceAll(quoted, "'", "''") + "'"
}

// special compiles fields that need other tables.
func (f *usageFilter) special(n query.Field, v query.Value) (string, []any, error) {
	switch what := n.Name + ":" + v.Text; {
	case n.Name == "source":
		s, args := where.Compare("s.name", v)
		return "u.version IN (SELECT v.id FROM sources s CROSS JOIN files f ON f.source = s.id CROSS JOIN versions v ON v.file = f.id WHERE " + s + ")", args, nil
	case n.Name == "path":
		s, args := where.Compare("f.path", v)
		return "u.version IN (SELECT v.id FROM files f CROSS JOIN versions v ON v.file = f.id WHERE " + s + ")", args, nil
	case n.Name == "tool":
		f.tools = true
		if v.Text == "" && v.Match == query.Whole {
			return "u.id NOT IN (SELECT id FROM called)", nil, nil
		}
		s, args := where.Compare("name", v)
		return "u.id IN (SELECT id FROM called WHERE " + s + ")", args, nil
	case n.Name == "id" && strings.Contains(v.Text, ":"):
		return "", nil, &index.UnsupportedError{What: fmt.Sprint(n), Why: "requests are not found by an event", Hint: "txarchive cost --explain ID shows the request of an event"}
	case n.Name == "id":
		f.conv = true
		usage, args := where.BeginsWith("u.usage_id", v.Text)
		conversation, more := where.BeginsWith("c.conversation_id", v.Text)
		return "(" + usage + " OR " + conversation + ")", append(args, more...), nil
	case what == "is:stub":
		f.run = true
		return "(r.stub = 1 OR coalesce(u.attributes ->> '$.stub', 0) = 1)", nil, nil
	case what == "is:child":
		f.run = true
		return "r.child = 1", nil, nil
	case what == "is:pinned", what == "is:held":
		f.run = true
		s, args := where.PinnedOrHeld(v.Text)
		return s, args, nil
	case n.Name == "tag":
		f.run = true
		s, args := where.Tagged(v)
		return s, args, nil
	case what == "has:usage":
		return "1", nil, nil
	case what == "has:cost":
		return usageNumber("cost") + " IS NOT NULL", nil, nil
	case what == "has:problem":
		return "u.version IN (SELECT version FROM problems)", nil, nil
	}
	return "", nil, &index.UnsupportedError{What: fmt.Sprint(n), Why: "cost cannot be filtered by this field", Hint: "cost can be filtered by format:, project:, model:, tag:, flow:, source:, dates, numbers and other fields of runs, conversations and requests"}
}
