package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// Event returns the rows of an event. The conversation id in id may be abbreviated.
func (db *Reader) Event(ctx context.Context, id string) ([]index.Event, error) {
	prefix, seq, part, ok := schema.ParseEventID(id)
	if !ok {
		return nil, fmt.Errorf("event %q: %w", id, index.ErrNotFound)
	}
	c, err := db.conversation(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", id, err)
	}
	var found []index.Event
	for e, err := range db.Events(ctx, c.ID, index.Span{From: seq, To: seq, Duplicates: true}) {
		if err != nil {
			return nil, err
		}
		if part < 0 || e.Part == part {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("event %q: %w", id, index.ErrNotFound)
	}
	return found, nil
}

const resultOf = `SELECT result_event_id FROM v_tool_calls WHERE conversation_id = ? AND event_id = ? AND result_event_id IS NOT NULL`

// Result returns the row with the result of a tool call.
func (db *Reader) Result(ctx context.Context, call string) (index.Event, error) {
	rows, err := db.Event(ctx, call)
	if err != nil {
		return index.Event{}, err
	}
	for _, r := range rows {
		id, err := engine.One(ctx, db.r, resultOf, []any{r.Conversation, r.ID}, func(rows *sqlx.Rows) (id string, err error) { return id, rows.Scan(&id) })
		if errors.Is(err, index.ErrNotFound) {
			continue
		}
		if err != nil {
			return index.Event{}, err
		}
		found, err := db.Event(ctx, id)
		if err != nil {
			return index.Event{}, err
		}
		return found[0], nil
	}
	return index.Event{}, fmt.Errorf("result of %q: %w", call, index.ErrNotFound)
}

const placeOfReceipt = `SELECT s.name, f.path, v.number, (SELECT name FROM names WHERE id = r.format), (SELECT name FROM names WHERE id = v.role), v.chain,
	(SELECT name FROM names WHERE id = x.inner), x.line, x.offset, x.length
	FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN receipts x ON x.run_name = n.id CROSS JOIN versions v ON v.id = x.version
	CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE r.run_id = ? AND x.key = ? AND x.verdict = 0 LIMIT 1`

// Receipt returns the place of the receipt that counts.
func (db *Reader) Receipt(ctx context.Context, id string) (index.Place, error) {
	run, key, _ := strings.Cut(id, "/")
	p, err := engine.One(ctx, db.r, placeOfReceipt, []any{run, key}, func(rows *sqlx.Rows) (p index.Place, err error) {
		return p, rows.Scan(&p.Source, &p.Path, &p.Number, &p.Format, engine.Text(&p.Role), &p.Chain, engine.Text(&p.Inner), &p.Line, &p.Offset, &p.Length)
	})
	if err != nil {
		return p, fmt.Errorf("receipt %q: %w", id, err)
	}
	return p, nil
}

// Events yields the rows of a conversation by seq and part. If several originals contain the conversation, superseded
// originals and repeated events are left out unless span asks for them.
func (db *Reader) Events(ctx context.Context, conversation string, span index.Span) iter.Seq2[index.Event, error] {
	return func(yield func(index.Event, error) bool) {
		err := db.events(ctx, conversation, span, func(e index.Event) bool { return yield(e, nil) })
		if err != nil {
			yield(index.Event{}, fmt.Errorf("conversation %q: %w", conversation, engine.Damage(err)))
		}
	}
}

// transcriptPart is a transcript of a conversation and the offset of its seq numbers.
type transcriptPart struct {
	id   int64
	base int64
}

func (db *Reader) events(ctx context.Context, conversation string, span index.Span, yield func(index.Event) bool) error {
	tx, err := db.read(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	where := ""
	if !span.Duplicates {
		where = " AND e.verdict <> 1"
	}
	parts, err := db.transcriptParts(ctx, tx, conversation, span.Duplicates)
	if err != nil {
		return err
	}
	from, to := span.From, span.To
	if to == 0 {
		to = 1 << 62
	}
	if span.Last && span.Limit > 0 {
		if from, err = lastSeq(ctx, tx, parts, where, from, to, span.Limit); err != nil {
			return err
		}
	}
	p := eventStream{tx: tx, left: span.Limit, seq: -1, yield: yield}
	if span.Limit <= 0 {
		p.left = math.MaxInt
	}
	for _, s := range parts {
		query := selectEvents + "WHERE e.transcript = ? AND e.seq BETWEEN ? AND ?" + where + " ORDER BY e.seq, e.part"
		err := engine.Each(ctx, tx, query, []any{s.id, from - s.base, to - s.base}, scanEvent, func(e eventRow) bool { return p.add(ctx, e, s.base) })
		if err = cmp.Or(err, p.err, p.flush(ctx)); err != nil || p.done {
			return err
		}
	}
	return nil
}

// eventStream yields the rows of a limited number of events.
type eventStream struct {
	tx    *snapshot
	left  int        // events still to yield
	seq   int64      // of the last event
	batch []eventRow // rows to complete together
	yield func(index.Event) bool
	done  bool // the consumer has stopped, or the limit is reached
	err   error
}

// add adds the next row, of a transcript whose seq numbers start after base, and reports whether to go on.
func (p *eventStream) add(ctx context.Context, e eventRow, base int64) bool {
	if seq := e.Seq + base; seq != p.seq {
		if p.left == 0 {
			p.err = p.flush(ctx)
			p.done = true
			return false
		}
		p.seq, p.left = seq, p.left-1
	}
	if p.batch = append(p.batch, e); len(p.batch) == batch {
		p.err = p.flush(ctx)
	}
	return p.err == nil && !p.done
}

func (p *eventStream) flush(ctx context.Context) error {
	rows, err := p.tx.complete(ctx, p.batch)
	for i := 0; i < len(rows) && !p.done; i++ {
		p.done = !p.yield(rows[i].Event)
	}
	p.batch = p.batch[:0]
	return err
}

func (db *Reader) transcriptParts(ctx context.Context, tx *snapshot, conversation string, all bool) ([]transcriptPart, error) {
	query := `SELECT t.id, t.seq_base FROM conversations c CROSS JOIN transcripts t ON t.conversation = c.id WHERE c.conversation_id = ?`
	if !all {
		query += ` AND t.verdict = (SELECT min(o.verdict) FROM transcripts o WHERE o.conversation = c.id)`
	}
	var found []transcriptPart
	err := engine.Each(ctx, tx, query+" ORDER BY t.seq_base, t.id", []any{conversation}, func(rows *sqlx.Rows) (s transcriptPart, err error) {
		return s, rows.Scan(&s.id, &s.base)
	}, func(s transcriptPart) bool { found = append(found, s); return true })
	if err == nil && len(found) == 0 {
		err = index.ErrNotFound
	}
	return found, err
}

// lastSeq returns the seq of the limit-th event from the end.
func lastSeq(ctx context.Context, tx *snapshot, parts []transcriptPart, where string, from, to int64, limit int) (int64, error) {
	for _, s := range slices.Backward(parts) {
		first := from
		err := engine.Each(ctx, tx, "SELECT e.seq FROM events e WHERE e.transcript = ? AND e.part = 0 AND e.seq BETWEEN ? AND ?"+where+" ORDER BY e.seq DESC LIMIT ?",
			[]any{s.id, from - s.base, to - s.base, limit}, func(rows *sqlx.Rows) (n int64, err error) { return n, rows.Scan(&n) },
			func(n int64) bool { limit, first = limit-1, n+s.base; return true })
		if err != nil || limit == 0 {
			return first, err
		}
	}
	return from, nil
}
