package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
)

const labelColumns = `SELECT c.conversation_id, (SELECT name FROM names WHERE id = r.format), c.native_id, c.verdict, c.title, c.agent, c.engine, c.model,
	c.flow, c.step, c.mode, c.status, c.version, c.project, c.branch, c.started, c.ended, c.child, c.attributes,
	r.run_id, r.native_id, r.anchor, r.counted, r."group", r.project, r.branch, r.flow, r.title, r.agent, r.model, r.host, r.version, r.status,
	r.outcome, r.error, r.started, r.ended, r.stub, r.child, r.attributes
	FROM json_each(?) j CROSS JOIN conversations c ON c.conversation_id = j.value CROSS JOIN runs r ON r.id = c.run`

// label is a conversation and its run.
type label struct {
	index.Conversation
	of index.Run
}

func scanLabel(rows *sqlx.Rows) (l label, err error) {
	c, r, verdict := &l.Conversation, &l.of, 0
	err = rows.Scan(&c.ID, &c.Format, &c.NativeID, &verdict, str(&c.Title), str(&c.Agent), str(&c.Engine), str(&c.Model),
		str(&c.Flow), str(&c.Step), str(&c.Mode), str(&c.Status), str(&c.Version), str(&c.Project), str(&c.Branch), when{&c.Started}, when{&c.Ended},
		&c.Child, str(&c.Attributes), &r.ID, &r.NativeID, &r.Anchor, &r.Counted, str(&r.Group), str(&r.Project), str(&r.Branch), str(&r.Flow),
		str(&r.Title), str(&r.Agent), str(&r.Model), str(&r.Host), str(&r.Version), str(&r.Status), str(&r.Outcome), str(&r.Error),
		when{&r.Started}, when{&r.Ended}, &r.Stub, &r.Child, str(&r.Attributes))
	c.Verdict, c.Run, r.Format = verdictNames[verdict], r.ID, c.Format
	return l, err
}

// Labels calls take with conversations and their runs, without their counts, versions and places: those must be looked up
// in many tables, and a hit is shown without them. Conversations that are not there are missing.
func (db *DB) Labels(ctx context.Context, conversations []string, take func(index.Conversation, index.Run)) error {
	ids, err := json.Marshal(conversations)
	if err == nil {
		err = each(ctx, db.r, labelColumns, []any{string(ids)}, scanLabel, func(l label) bool { take(l.Conversation, l.of); return true })
	}
	if err != nil {
		return fmt.Errorf("labels of conversations: %w", damage(err))
	}
	return nil
}
