package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

const selectUsage = `SELECT u.usage_id, r.run_id, n.native_id, u.native_conversation, c.conversation_id, u.verdict, o.usage_id,
	u.time, u.tz, u.model, u.provider, u.tier, u.speed, u.geo, u.request_id,
	u.input, u.output, u.cache_read, u.cache_write, u.cache_write_1h, u.reasoning, u.requests, u.reported, u.reported_by, u.estimated,
	u.calculated, u.price_model, u.price_table, u.price_note, coalesce(p.twin, 0),
	coalesce(u.agent, c.agent, r.agent), coalesce(u.engine, c.engine), coalesce(u.flow, c.flow, r.flow), coalesce(u.step, c.step),
	coalesce(u.status, c.status, r.status), coalesce(u.outcome, r.outcome), u.receipt, u.attributes,
	(SELECT name FROM names WHERE id = r.format), s.name, f.path, v.number, (SELECT name FROM names WHERE id = v.role), v.chain,
	(SELECT name FROM names WHERE id = u.inner), u.line, u.offset, u.length
	FROM usage u LEFT JOIN twins p ON p.id = u.id ` + runOf + conversationOf + ` LEFT JOIN usage o ON o.id = u.of
	CROSS JOIN versions v ON v.id = u.version CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE `

func scanUsage(rows *sqlx.Rows) (u index.Usage, err error) {
	var verdict int
	var attributes []byte
	t, p := &u.Usage, &u.Place
	err = rows.Scan(&u.ID, &u.RunID, &t.Run, &t.Conversation, str(&u.ConversationID), &verdict, str(&u.Of),
		when{&t.Time}, zone{&t.Time}, str(&t.Model), str(&t.Provider), str(&t.Tier), str(&t.Speed), str(&t.Geo), str(&t.RequestID),
		count{&t.Input}, count{&t.Output}, count{&t.CacheRead}, count{&t.CacheWrite}, count{&t.CacheWrite1h}, count{&t.Reasoning},
		count{&t.Requests}, count{&t.Cost}, str(&t.CostSource), &t.Estimated,
		count{&u.Calculated}, str(&u.PriceModel), str(&u.PriceTable), str(&u.PriceNote), &u.Twin,
		str(&t.Agent), str(&t.Engine), str(&t.Flow), str(&t.Step), str(&t.Status), str(&t.Outcome), str(&t.Receipt), &attributes,
		&p.Format, &p.Source, &p.Path, &p.Number, str(&p.Role), &p.Chain, str(&p.Inner), &p.Line, &p.Offset, &p.Length)
	if err != nil {
		return u, err
	}
	t.Verdict, t.Origin = verdictNames[verdict], p.Origin
	if len(attributes) > 0 {
		var a transcript.Attributes
		err = json.Unmarshal(attributes, &a)
		t.Attributes = a
	}
	return u, err
}

// Usage yields records with what they are judged to be.
func (db *DB) Usage(ctx context.Context, of index.UsageFilter) iter.Seq2[index.Usage, error] {
	f, err := filterUsage(of)
	if err != nil {
		return failed[index.Usage](err)
	}
	with := []string{twins}
	if f.tools {
		with = append(with, tools)
	}
	query := "WITH " + strings.Join(with, ", ") + " " + selectUsage + f.where + " ORDER BY u.time, u.usage_id, s.name, f.path, v.number, u.offset, u.id"
	return func(yield func(index.Usage, error) bool) {
		err := each(ctx, db.r, query, f.args, scanUsage, func(u index.Usage) bool { return yield(u, nil) })
		if err != nil && !errors.Is(err, errStop) {
			yield(index.Usage{}, fmt.Errorf("usage: %w", damage(err)))
		}
	}
}
