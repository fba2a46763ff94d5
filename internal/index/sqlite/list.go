package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
)

var (
	_ index.Reader    = (*DB)(nil)
	_ index.Lookup    = (*DB)(nil)
	_ index.Originals = (*DB)(nil)
	_ index.Census    = (*DB)(nil)
)

// errStop ends a walk whose consumer has left.
var errStop = errors.New("stop")

// stream runs a query and yields what scan makes of each row. A range that is left closes the query.
func stream[T any](ctx context.Context, q sqlx.QueryerContext, query string, args []any, scan func(*sqlx.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := each(ctx, q, query, args, scan, func(v T) bool { return yield(v, nil) }); err != nil {
			var zero T
			yield(zero, damage(err))
		}
	}
}

func each[T any](ctx context.Context, q sqlx.QueryerContext, query string, args []any, scan func(*sqlx.Rows) (T, error), yield func(T) bool) error {
	rows, err := q.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return err
		}
		if !yield(v) {
			return nil
		}
	}
	return rows.Err()
}

// one returns the single row of a query: index.ErrNotFound or index.ErrAmbiguous when there is not exactly one.
func one[T any](ctx context.Context, q sqlx.QueryerContext, query string, args []any, scan func(*sqlx.Rows) (T, error)) (T, error) {
	var found []T
	err := each(ctx, q, query, args, scan, func(v T) bool {
		found = append(found, v)
		return len(found) < 2
	})
	var zero T
	switch {
	case err != nil:
		return zero, damage(err)
	case len(found) == 0:
		return zero, index.ErrNotFound
	case len(found) > 1:
		return zero, index.ErrAmbiguous
	}
	return found[0], nil
}

const runColumns = `run_id, format, native_id, anchor, counted, group_id, project, branch, flow, title, agent, model, host,
	producer_version, status, outcome, error, started_us, ended_us, stub, child, attributes, pruned, thinned, conversations, events, messages,
	tool_calls, tool_results, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, reported_cost_microusd, cost_microusd`

func scanRun(rows *sqlx.Rows) (r index.Run, err error) {
	n := &r.Counts
	err = rows.Scan(&r.ID, &r.Format, &r.NativeID, &r.Anchor, &r.Counted, str(&r.Group), str(&r.Project), str(&r.Branch), str(&r.Flow),
		str(&r.Title), str(&r.Agent), str(&r.Model), str(&r.Host), str(&r.Version), str(&r.Status), str(&r.Outcome), str(&r.Error),
		when{&r.Started}, when{&r.Ended}, &r.Stub, &r.Child, str(&r.Attributes), &r.Pruned, str(&r.Thinned), &n.Conversations, &n.Events, &n.Messages,
		&n.Calls, &n.Results, count{&n.Input}, count{&n.Output}, count{&n.CacheRead}, count{&n.CacheCreation},
		count{&n.ReportedCost}, count{&n.CostUsed})
	return r, err
}

// Runs yields runs, the latest start first; those without any time come last.
func (db *DB) Runs(ctx context.Context, of index.Selection, page index.Page) iter.Seq2[index.Run, error] {
	where, args := []string{"1"}, []any(nil)
	add := func(sql string, a ...any) { where, args = append(where, sql), append(args, a...) }
	if !of.Named {
		add("x.counted = 1")
	}
	if of.Format != "" {
		add("x.format = (SELECT id FROM names WHERE name = ?)", of.Format)
	}
	if of.Group != "" {
		add(`x."group" = ?`, of.Group)
	}
	if of.Query != nil && of.Query.Root != nil {
		c, err := compiler{runs: true, all: page.AllVersions}.node(of.Query.Root)
		if err != nil {
			return failed[index.Run](err)
		}
		sql, a := c.predicate(true, page.AllVersions)
		add("EXISTS (SELECT 1 FROM runs r WHERE r.id = x.id AND "+sql+")", a...)
	}
	if page.After != "" {
		add(`(coalesce(x.started, -1 << 62), x.run_id) < (SELECT coalesce(y.started, -1 << 62), y.run_id FROM runs y WHERE y.run_id = ?)`, page.After)
	}
	limit := -1
	if page.Limit > 0 {
		limit = page.Limit
	}
	query := "SELECT " + runColumns + ` FROM (SELECT x.run_id AS id FROM runs x WHERE ` + strings.Join(where, " AND ") +
		` ORDER BY coalesce(x.started, -1 << 62) DESC, x.run_id DESC LIMIT ?) CROSS JOIN v_runs v ON v.run_id = id
		ORDER BY coalesce(v.started_us, -1 << 62) DESC, v.run_id DESC`
	return stream(ctx, db.r, query, append(args, limit), scanRun)
}

func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, err)
	}
}

// Run returns the run whose id begins with prefix. A whole native id will do as well when one run has it.
func (db *DB) Run(ctx context.Context, prefix string) (index.Run, error) {
	if prefix == "" {
		return index.Run{}, index.ErrNotFound
	}
	r, err := one(ctx, db.r, "SELECT "+runColumns+" FROM v_runs WHERE run_id >= ? AND run_id < ? LIMIT 2", []any{prefix, after(prefix)}, scanRun)
	if errors.Is(err, index.ErrNotFound) {
		r, err = one(ctx, db.r, "SELECT "+runColumns+" FROM v_runs WHERE native_id = ? ORDER BY counted DESC LIMIT 2", []any{prefix}, scanRun)
	}
	if err != nil {
		return r, fmt.Errorf("run %q: %w", prefix, err)
	}
	return r, nil
}

// after is the first text behind everything that begins with prefix, as far as ids go: they are ASCII.
func after(prefix string) string { return prefix + "\x7f" }

const conversationColumns = `conversation_id, format, run_id, native_id, verdict, of_conversation_id, title, agent, engine, model, flow, step, mode,
	status, producer_version, project, branch, started_us, ended_us, child, versions, source, path, version, events, messages,
	tool_calls, tool_results, attributes`

func scanConversation(rows *sqlx.Rows) (c index.Conversation, err error) {
	n := &c.Counts
	err = rows.Scan(&c.ID, &c.Format, &c.Run, &c.NativeID, &c.Verdict, str(&c.Of), str(&c.Title), str(&c.Agent), str(&c.Engine),
		str(&c.Model), str(&c.Flow), str(&c.Step), str(&c.Mode), str(&c.Status), str(&c.Version), str(&c.Project), str(&c.Branch),
		when{&c.Started}, when{&c.Ended}, &c.Child, &c.Versions, str(&c.Key.Source), str(&c.Key.Path), num(&c.Key.Number),
		&n.Events, &n.Messages, &n.Calls, &n.Results, str(&c.Attributes))
	return c, err
}

// Conversations yields all conversations of a run, with those that do not count: Verdict tells them.
func (db *DB) Conversations(ctx context.Context, run string) iter.Seq2[index.Conversation, error] {
	return stream(ctx, db.r, "SELECT "+conversationColumns+` FROM v_conversations WHERE run_id = ?
		ORDER BY counted DESC, started_us IS NULL, started_us, path, conversation_id`, []any{run}, scanConversation)
}

// Conversation returns the conversation whose id begins with prefix.
func (db *DB) Conversation(ctx context.Context, prefix string) (index.Conversation, error) {
	if prefix == "" {
		return index.Conversation{}, index.ErrNotFound
	}
	c, err := one(ctx, db.r, "SELECT "+conversationColumns+" FROM v_conversations WHERE conversation_id >= ? AND conversation_id < ? LIMIT 2",
		[]any{prefix, after(prefix)}, scanConversation)
	if errors.Is(err, index.ErrNotFound) {
		c, err = one(ctx, db.r, "SELECT "+conversationColumns+` FROM v_conversations WHERE conversation_id IN
			(SELECT conversation_id FROM conversations WHERE native_id = ? AND verdict = 0) LIMIT 2`, []any{prefix}, scanConversation)
	}
	if err != nil {
		return c, fmt.Errorf("conversation %q: %w", prefix, err)
	}
	return c, nil
}
