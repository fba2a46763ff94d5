package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

const runColumns = `run_id, format, native_id, anchor, counted, group_id, project, branch, flow, title, agent, model, host,
	producer_version, status, outcome, error, started_us, ended_us, stub, child, attributes, pruned, thinned, conversations, events, messages,
	tool_calls, tool_results, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, reported_cost_microusd, cost_microusd`

// runsSQL selects runs, called v.
var runsSQL = "SELECT " + runColumns + ", CASE WHEN started_us IS NULL THEN (SELECT " + where.RunChanged("r") + " FROM runs r WHERE r.run_id = v.run_id) END FROM "

func scanRun(rows *sqlx.Rows) (r index.Run, err error) {
	n := &r.Counts
	err = rows.Scan(&r.ID, &r.Format, &r.NativeID, &r.Anchor, &r.Counted, engine.Text(&r.Group), engine.Text(&r.Project), engine.Text(&r.Branch), engine.Text(&r.Flow),
		engine.Text(&r.Title), engine.Text(&r.Agent), engine.Text(&r.Model), engine.Text(&r.Host), engine.Text(&r.Version), engine.Text(&r.Status), engine.Text(&r.Outcome), engine.Text(&r.Error),
		engine.Time(&r.Started), engine.Time(&r.Ended), &r.Stub, &r.Child, engine.Text(&r.Attributes), &r.Pruned, engine.Text(&r.Thinned), &n.Conversations, &n.Events, &n.Messages,
		&n.Calls, &n.Results, engine.Count(&n.Input), engine.Count(&n.Output), engine.Count(&n.CacheRead), engine.Count(&n.CacheCreation),
		engine.Count(&n.ReportedCost), engine.Count(&n.CostUsed), engine.Time(&r.Changed))
	return r, err
}

// runNumber returns what runs x are sorted by, or "". Of a row of the view SQLite computes only the columns that are asked for.
func runNumber(sort string) string {
	switch sort {
	case "ended":
		return "x.ended"
	case "duration":
		return "x.ended - x.started"
	case "events":
		return ofRow("events")
	case "tokens":
		return usage.TokensOf("x.id")
	case "cost":
		return ofRow("cost_microusd")
	}
	return ""
}

func ofRow(number string) string {
	return "(SELECT " + number + " FROM v_runs v WHERE v.run_id = x.run_id)"
}

func runOrder(page index.Page) string {
	latest, way := "coalesce("+where.RunTime("x")+", -1 << 62) DESC, x.run_id DESC", " DESC, "
	if page.Reverse {
		way = " ASC, "
	}
	if by := runNumber(page.Sort); by != "" {
		return by + way + latest
	}
	if page.Reverse {
		return where.RunTime("x") + way + latest
	}
	return latest
}

// Runs yields runs, by default the latest first (where.RunTime); those without any time come last.
func (db *Reader) Runs(ctx context.Context, of index.Selection, page index.Page) iter.Seq2[index.Run, error] {
	return func(yield func(index.Run, error) bool) {
		ids, err := db.RunIDs(ctx, of, page)
		if err != nil {
			yield(index.Run{}, err)
			return
		}
		for some := range slices.Chunk(ids, rowsAtOnce) { // sorting takes about a kilobyte of memory for each run of the view
			for r, err := range db.runs(ctx, some) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// RunIDs returns the ids of what Runs yields.
func (db *Reader) RunIDs(ctx context.Context, of index.Selection, page index.Page) ([]string, error) {
	cond, args, err := selected(of, page)
	if err != nil {
		return nil, err
	}
	return db.listed(ctx, "SELECT x.run_id FROM runs x WHERE "+cond+" ORDER BY "+runOrder(page)+" LIMIT ?", append(args, limitOf(page)))
}

// selected returns a condition on runs x.
func selected(of index.Selection, page index.Page) (cond string, args []any, err error) {
	conds := []string{"1"}
	add := func(sql string, a ...any) { conds, args = append(conds, sql), append(args, a...) }
	if !of.Named {
		add("x.counted = 1")
	}
	if of.Run != "" {
		add("x.run_id = ?", of.Run)
	}
	if of.Format != "" {
		add("x.format = (SELECT id FROM names WHERE name = ?)", of.Format)
	}
	if of.Group != "" {
		add(`x."group" = ?`, of.Group)
	}
	if of.Query != nil && of.Query.Root != nil {
		c, err := where.Runs(of.Query.Root, page.AllVersions)
		if err != nil {
			return "", nil, err
		}
		sql, a := c.RunSQL(page.AllVersions)
		add("EXISTS (SELECT 1 FROM runs r WHERE r.id = x.id AND "+sql+")", a...)
	}
	return strings.Join(conds, " AND "), args, nil
}

// limitOf returns the limit of a page for SQL.
func limitOf(page index.Page) int {
	if page.Limit > 0 {
		return page.Limit
	}
	return -1
}

// listed returns the ids that a query selects.
func (db *Reader) listed(ctx context.Context, query string, args []any) (ids []string, err error) {
	err = engine.Each(ctx, db.r, query, args, func(rows *sqlx.Rows) (id string, err error) { return id, rows.Scan(&id) },
		func(id string) bool { ids = append(ids, id); return true })
	return ids, engine.Damage(err)
}

// rowsAtOnce is how many runs or conversations one query of their view reads.
const rowsAtOnce = 512

// runs yields runs in the order of ids; those that no longer exist are left out.
func (db *Reader) runs(ctx context.Context, ids []string) iter.Seq2[index.Run, error] {
	list, _ := json.Marshal(ids) // never fails for strings
	return engine.Stream(ctx, db.r, runsSQL+"json_each(?) j CROSS JOIN v_runs v ON v.run_id = j.value ORDER BY j.key", []any{string(list)}, scanRun)
}

// Run returns the run whose id begins with prefix, or else the one whose native id is prefix.
func (db *Reader) Run(ctx context.Context, prefix string) (index.Run, error) {
	if prefix == "" {
		return index.Run{}, index.ErrNotFound
	}
	r, err := engine.One(ctx, db.r, runsSQL+"v_runs v WHERE run_id >= ? AND run_id < ? LIMIT 2", []any{prefix, where.PrefixEnd(prefix)}, scanRun)
	if errors.Is(err, index.ErrNotFound) {
		r, err = engine.One(ctx, db.r, runsSQL+"v_runs v WHERE native_id = ? ORDER BY counted DESC LIMIT 2", []any{prefix}, scanRun)
	}
	if err != nil {
		return r, fmt.Errorf("run %q: %w", prefix, err)
	}
	return r, nil
}

const conversationColumns = `conversation_id, format, run_id, native_id, verdict, of_conversation_id, title, agent, engine, model, flow, step, mode,
	status, producer_version, project, branch, started_us, ended_us, child, versions, source, path, version, events, messages,
	tool_calls, tool_results, attributes`

func scanConversation(rows *sqlx.Rows) (c index.Conversation, err error) {
	n := &c.Counts
	err = rows.Scan(&c.ID, &c.Format, &c.Run, &c.NativeID, &c.Verdict, engine.Text(&c.Of), engine.Text(&c.Title), engine.Text(&c.Agent), engine.Text(&c.Engine),
		engine.Text(&c.Model), engine.Text(&c.Flow), engine.Text(&c.Step), engine.Text(&c.Mode), engine.Text(&c.Status), engine.Text(&c.Version), engine.Text(&c.Project), engine.Text(&c.Branch),
		engine.Time(&c.Started), engine.Time(&c.Ended), &c.Child, &c.Versions, engine.Text(&c.Key.Source), engine.Text(&c.Key.Path), engine.Number(&c.Key.Number),
		&n.Events, &n.Messages, &n.Calls, &n.Results, engine.Text(&c.Attributes))
	return c, err
}

// Conversations yields all conversations of a run, including those that do not count, by their Verdict.
func (db *Reader) Conversations(ctx context.Context, run string) iter.Seq2[index.Conversation, error] {
	return func(yield func(index.Conversation, error) bool) {
		spent, err := db.usage.ByConversation(ctx, run)
		if err != nil {
			yield(index.Conversation{}, err)
			return
		}
		for c, err := range engine.Stream(ctx, db.r, "SELECT "+conversationColumns+` FROM v_conversations WHERE run_id = ?
			ORDER BY counted DESC, started_us IS NULL, started_us, path, conversation_id`, []any{run}, scanConversation) {
			c.Counts.Used = spent[c.ID]
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// conversationNumber returns what conversations c of runs x are sorted by, or "". What they used (s) is summed once for all.
func conversationNumber(sort string) string {
	switch sort {
	case "started":
		return "coalesce(c.started, CASE WHEN x.started IS NULL THEN " + where.RunChanged("x") + " END)"
	case "ended":
		return "c.ended"
	case "duration":
		return "c.ended - c.started"
	case "events":
		return ofConversation("events")
	case "tokens":
		return where.SumKnown("s.input", "s.output", "s.cache_read", "s.cache_write")
	case "cost":
		return "s.cost"
	}
	return ""
}

func ofConversation(column string) string {
	return "(SELECT v." + column + " FROM v_conversations v WHERE v.conversation_id = c.conversation_id)"
}

// conversationOrder is, by default, that of runs, and within a run that of Conversations. The path, which is expensive to find, is not
// looked up for the only conversation of a run.
func conversationOrder(page index.Page) string {
	order := runOrder(index.Page{}) + `, c.verdict <> 0, c.started IS NULL, c.started,
		CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM conversations o WHERE o.run = x.id LIMIT 2)) > 1 THEN ` + ofConversation("path") + ` END, c.conversation_id`
	by := conversationNumber(page.Sort)
	switch {
	case by == "" || page.Sort == "started" && !page.Reverse:
		return order
	case page.Reverse:
		return by + " ASC, " + order
	}
	return by + " DESC, " + order
}

// ConversationsOf yields the conversations of runs, by default those of the latest run first.
func (db *Reader) ConversationsOf(ctx context.Context, of index.Selection, page index.Page) iter.Seq2[index.RunConversation, error] {
	cond, args, err := selected(of, page)
	if err != nil {
		return engine.Failed[index.RunConversation](err)
	}
	if !page.AllVersions {
		cond += " AND c.verdict = 0"
	}
	with, used := "", ""
	if page.Sort == "tokens" || page.Sort == "cost" {
		with, used = usage.UsedBy("SELECT id FROM runs"), "LEFT JOIN used s ON s.conversation = c.id "
	}
	query := with + "SELECT c.conversation_id FROM runs x CROSS JOIN conversations c ON c.run = x.id " + used + "WHERE " + cond + " ORDER BY " + conversationOrder(page) + " LIMIT ?"
	return func(yield func(index.RunConversation, error) bool) {
		ids, err := db.listed(ctx, query, append(args, limitOf(page)))
		for some := range slices.Chunk(ids, rowsAtOnce) {
			var all []index.RunConversation
			if all, err = db.conversations(ctx, some); err != nil {
				break
			}
			for i := range all {
				if !yield(all[i], nil) {
					return
				}
			}
		}
		if err != nil {
			yield(index.RunConversation{}, err)
		}
	}
}

// conversations returns conversations in the order of ids, with their runs; those that no longer exist are left out.
func (db *Reader) conversations(ctx context.Context, ids []string) (all []index.RunConversation, err error) {
	list, _ := json.Marshal(ids) // never fails for strings
	runs, some := map[string]*index.Run{}, []string(nil)
	for c, err := range engine.Stream(ctx, db.r, "SELECT "+conversationColumns+" FROM (SELECT key, value FROM json_each(?)) j CROSS JOIN v_conversations v ON v.conversation_id = j.value ORDER BY j.key",
		[]any{string(list)}, scanConversation) {
		if err != nil {
			return nil, err
		}
		if _, known := runs[c.Run]; !known {
			runs[c.Run], some = nil, append(some, c.Run)
		}
		all = append(all, index.RunConversation{Conversation: c})
	}
	for r, err := range db.runs(ctx, some) {
		if err != nil {
			return nil, err
		}
		runs[r.ID] = &r
	}
	spent, err := db.usage.ByConversation(ctx, some...)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Of, all[i].Counts.Used = runs[all[i].Run], spent[all[i].ID]
	}
	return slices.DeleteFunc(all, func(c index.RunConversation) bool { return c.Of == nil }), nil
}

// Conversation returns the conversation whose id begins with prefix.
func (db *Reader) Conversation(ctx context.Context, prefix string) (index.Conversation, error) {
	c, err := db.conversation(ctx, prefix)
	if err != nil {
		return c, err
	}
	spent, err := db.usage.ByConversation(ctx, c.Run)
	c.Counts.Used = spent[c.ID]
	return c, err
}

// conversation is Conversation without what it used.
func (db *Reader) conversation(ctx context.Context, prefix string) (index.Conversation, error) {
	if prefix == "" {
		return index.Conversation{}, index.ErrNotFound
	}
	c, err := engine.One(ctx, db.r, "SELECT "+conversationColumns+" FROM v_conversations WHERE conversation_id >= ? AND conversation_id < ? LIMIT 2",
		[]any{prefix, where.PrefixEnd(prefix)}, scanConversation)
	if errors.Is(err, index.ErrNotFound) {
		c, err = engine.One(ctx, db.r, "SELECT "+conversationColumns+` FROM v_conversations WHERE conversation_id IN
			(SELECT conversation_id FROM conversations WHERE native_id = ? AND verdict = 0) LIMIT 2`, []any{prefix}, scanConversation)
	}
	if err != nil {
		return c, fmt.Errorf("conversation %q: %w", prefix, err)
	}
	return c, nil
}
