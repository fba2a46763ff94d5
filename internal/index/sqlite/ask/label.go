package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

const labelColumns = `SELECT c.conversation_id, (SELECT name FROM names WHERE id = r.format), c.native_id, c.verdict, CASE r.brief WHEN 0 THEN c.title ELSE r.title END, c.agent, c.engine, c.model,
	c.flow, c.step, c.mode, c.status, c.version, c.project, c.branch, c.started, c.ended, c.child, CASE r.brief WHEN 0 THEN c.attributes ELSE r.attributes END,
	r.run_id, r.native_id, r.anchor, r.counted, r."group", r.project, r.branch, r.flow, r.title, r.agent, r.model, r.host, r.version, r.status,
	r.outcome, r.error, r.started, r.ended, r.stub, r.child, r.attributes
	FROM json_each(?) j CROSS JOIN conversations c ON c.conversation_id = j.value CROSS JOIN runs r ON r.id = c.run`

// label is a conversation with its run, as shown beside hits.
type label struct {
	index.Conversation
	run index.Run
}

func scanLabel(rows *sqlx.Rows) (l label, err error) {
	c, r, verdict := &l.Conversation, &l.run, 0
	err = rows.Scan(&c.ID, &c.Format, &c.NativeID, &verdict, engine.Text(&c.Title), engine.Text(&c.Agent), engine.Text(&c.Engine), engine.Text(&c.Model),
		engine.Text(&c.Flow), engine.Text(&c.Step), engine.Text(&c.Mode), engine.Text(&c.Status), engine.Text(&c.Version), engine.Text(&c.Project), engine.Text(&c.Branch), engine.Time(&c.Started), engine.Time(&c.Ended),
		&c.Child, engine.Text(&c.Attributes), &r.ID, &r.NativeID, &r.Anchor, &r.Counted, engine.Text(&r.Group), engine.Text(&r.Project), engine.Text(&r.Branch), engine.Text(&r.Flow),
		engine.Text(&r.Title), engine.Text(&r.Agent), engine.Text(&r.Model), engine.Text(&r.Host), engine.Text(&r.Version), engine.Text(&r.Status), engine.Text(&r.Outcome), engine.Text(&r.Error),
		engine.Time(&r.Started), engine.Time(&r.Ended), &r.Stub, &r.Child, engine.Text(&r.Attributes))
	c.Verdict, c.Run, r.Format = schema.Verdicts[verdict], r.ID, c.Format
	return l, err
}

// Labels calls take with conversations and their runs, without counts, versions and places: these need lookups in many
// tables, and showing a hit does not need them. Conversations that do not exist are skipped.
func (db *Reader) Labels(ctx context.Context, conversations []string, take func(index.Conversation, index.Run)) error {
	db.pageMu.Lock()
	defer db.pageMu.Unlock()
	tx, err := db.read(ctx)
	if err != nil {
		return fmt.Errorf("labels of conversations: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	if err := tx.loadLabels(ctx, conversations); err != nil {
		return fmt.Errorf("labels of conversations: %w", engine.Damage(err))
	}
	for _, id := range conversations {
		if l, ok := tx.labels[id]; ok {
			take(l.Conversation, l.run)
		}
	}
	return nil
}

// maxLabels bounds how many labels are cached beside those of the last call.
const maxLabels = 512

// loadLabels makes sure that labels are cached.
func (r *snapshot) loadLabels(ctx context.Context, conversations []string) error {
	if len(r.labels) > maxLabels {
		clear(r.labels)
	}
	unknown := slices.DeleteFunc(slices.Clone(conversations), func(id string) bool { _, ok := r.labels[id]; return ok })
	if len(unknown) == 0 {
		return nil
	}
	ids, err := json.Marshal(unknown)
	if err != nil {
		return err
	}
	return engine.Each(ctx, r, labelColumns, []any{string(ids)}, scanLabel, func(l label) bool { r.labels[l.Conversation.ID] = l; return true })
}
