package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

const selectUsage = `SELECT u.usage_id, r.run_id, n.native_id, ` + schema.UsageConversation + `, c.conversation_id, u.verdict, ` + schema.UsageOf + `,
	u.time, u.tz, x.model, x.provider, x.tier, x.speed, x.geo, u.request_id,
	u.input, u.output, u.cache_read, u.cache_write, u.cache_write_1h, u.reasoning, u.requests, u.reported, x.reported_by, u.estimated,
	u.calculated, x.price_model, x.price_table, x.price_note, coalesce(p.twin, 0),
	coalesce(x.agent, c.agent, r.agent), coalesce(x.engine, c.engine), coalesce(x.flow, c.flow, r.flow), coalesce(x.step, c.step),
	coalesce(x.status, c.status, r.status), coalesce(x.outcome, r.outcome), u.receipt, u.attributes,
	(SELECT name FROM names WHERE id = r.format), s.name, f.path, v.number, (SELECT name FROM names WHERE id = v.role), v.chain,
	(SELECT name FROM names WHERE id = u.inner), u.line, u.offset, u.length, v.mtime / 1000
	FROM usage u LEFT JOIN twins p ON p.id = u.id ` + schema.JoinUsageTexts + runOf + conversationOf + ` LEFT JOIN usage o ON o.id = u.of
	CROSS JOIN versions v ON v.id = u.version CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE `

func scanUsage(rows *sqlx.Rows) (u index.Usage, err error) {
	var verdict int
	var attributes []byte
	t, p := &u.Usage, &u.Place
	err = rows.Scan(&u.ID, &u.RunID, &t.Run, &t.Conversation, engine.Text(&u.ConversationID), &verdict, engine.Text(&u.Of),
		engine.Time(&t.Time), engine.Zone(&t.Time), engine.Text(&t.Model), engine.Text(&t.Provider), engine.Text(&t.Tier), engine.Text(&t.Speed), engine.Text(&t.Geo), engine.Text(&t.RequestID),
		engine.Count(&t.Input), engine.Count(&t.Output), engine.Count(&t.CacheRead), engine.Count(&t.CacheWrite), engine.Count(&t.CacheWrite1h), engine.Count(&t.Reasoning),
		engine.Count(&t.Requests), engine.Count(&t.Cost), engine.Text(&t.CostSource), &t.Estimated,
		engine.Count(&u.Calculated), engine.Text(&u.PriceModel), engine.Text(&u.PriceTable), engine.Text(&u.PriceNote), &u.Twin,
		engine.Text(&t.Agent), engine.Text(&t.Engine), engine.Text(&t.Flow), engine.Text(&t.Step), engine.Text(&t.Status), engine.Text(&t.Outcome), engine.Text(&t.Receipt), &attributes,
		&p.Format, &p.Source, &p.Path, &p.Number, engine.Text(&p.Role), &p.Chain, engine.Text(&p.Inner), &p.Line, &p.Offset, &p.Length, engine.Time(&u.FileTime))
	if err != nil {
		return u, err
	}
	t.Verdict, t.Origin = schema.Verdicts[verdict], p.Origin
	if len(attributes) > 0 {
		var a transcript.Attributes
		err = json.Unmarshal(attributes, &a)
		t.Attributes = a
	}
	return u, err
}

// Usage yields records with their verdicts.
func (u *Reader) Usage(ctx context.Context, of index.UsageFilter) iter.Seq2[index.Usage, error] {
	f, err := filterUsage(of)
	if err != nil {
		return engine.Failed[index.Usage](err)
	}
	with := []string{twins}
	if f.tools {
		with = append(with, tools)
	}
	query := "WITH " + strings.Join(with, ", ") + " " + selectUsage + f.where + " ORDER BY " + f.time + ", u.usage_id, s.name, f.path, v.number, u.offset, u.id"
	return func(yield func(index.Usage, error) bool) {
		err := engine.Each(ctx, u.pool, query, f.args, scanUsage, func(u index.Usage) bool { return yield(u, nil) })
		if err != nil && !errors.Is(err, engine.ErrStop) {
			yield(index.Usage{}, fmt.Errorf("usage: %w", engine.Damage(err)))
		}
	}
}
