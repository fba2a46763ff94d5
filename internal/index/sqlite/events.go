package sqlite

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pendingRow is an event row with its transcript, its terms and, once rows are sorted, its id.
type pendingRow struct {
	*index.Row
	words      *index.Words
	transcript int64
	id         int64
}

// writeRows assigns row ids in the order of time and writes the rows: events before words, because the full-text table would
// accept a row id twice.
func (c *commit) writeRows() error {
	if len(c.rows) == 0 {
		return nil
	}
	slices.SortStableFunc(c.rows, func(a, b pendingRow) int { return cmp.Compare(a.Near, b.Near) })
	if err := c.assignRowIDs(); err != nil {
		return err
	}
	words := startBulk(c.rows)
	defer words.close()
	if err := c.writeEvents(); err != nil {
		return err
	}
	if err := c.writeCalls(); err != nil {
		return err
	}
	if err := c.countRows(); err != nil {
		return err
	}
	c.bulk = isBulk(c.rows, c.bulkRows)
	err := words.each(func(some *fts5.Builder) error {
		if err := c.terms(some); err != nil || !c.bulk {
			return err
		}
		return c.addSegment(some)
	})
	if err != nil || c.bulk {
		return err
	}
	return c.writeWords()
}

// writeWords has FTS5 index the rows.
func (c *commit) writeWords() error {
	// One row per statement: a statement of several rows opens a savepoint, and FTS5 writes a segment at every savepoint.
	var b []byte
	for i := range c.rows {
		r := &c.rows[i]
		b = r.words.Append(b[:0], r.T)
		if err := c.execDirect("INSERT INTO fts (rowid, t) VALUES (?, ?)", r.id, string(b)); err != nil {
			return err
		}
	}
	return nil
}

const (
	eventColumns = `id, transcript, seq, shape=0, verdict=0,
		moment, tz, inner, offset, length, ahead=0, text_bytes, eid, scene, native, attributes`
	callColumns   = "event, transcript, call, call_id, key, rank=0, verdict=0, name, input_bytes, paths"
	resultColumns = "event, transcript, call, name, failed, status, duration, output_bytes, cut=0"
)

func (c *commit) writeEvents() error {
	b := inserter{t: c.tx, into: "OR FAIL INTO events", columns: columnList(eventColumns)}
	prompts := inserter{t: c.tx, into: "OR FAIL INTO prompts", columns: columnList("event, text")}
	for i := range c.rows {
		r := &c.rows[i]
		scene, err := c.scene(r.Row)
		if err != nil {
			return err
		}
		inner, err := c.name(r.Inner)
		if err != nil {
			return err
		}
		var eid any
		if r.EID != 0 {
			eid = r.EID
			c.seeEvent(i)
		}
		if err := b.add(r.id, r.transcript, r.Seq, schema.EncodePart(r.Part, r.Parts, r.Global), schema.VerdictNumber[r.Verdict],
			schema.EncodeTime(r.id, r.Near), nullZone(r.Time), inner, r.Offset, r.Length, int64(r.Line)-r.Seq, r.TextBytes, eid, scene, nullNative(&r.Native), null(r.Attributes)); err != nil {
			return err
		}
		if r.Prompt != 0 {
			if err := prompts.add(r.id, r.Prompt); err != nil {
				return err
			}
		}
	}
	return cmp.Or(b.flush(), prompts.flush())
}

func (c *commit) writeCalls() error {
	scopes := c.callScopes()
	calls := inserter{t: c.tx, into: "OR FAIL INTO calls", columns: columnList(callColumns)}
	c.paths = map[int64][]string{}
	results := inserter{t: c.tx, into: "OR FAIL INTO results", columns: columnList(resultColumns)}
	for i := range c.rows {
		r := &c.rows[i]
		s := scopes[r.transcript]
		if r.Call != nil {
			if err := c.writeCall(&calls, r, s); err != nil {
				return err
			}
		}
		if r.Result != nil {
			if err := c.writeResult(&results, r, s); err != nil {
				return err
			}
		}
	}
	if err := calls.flush(); err != nil {
		return err
	}
	if err := results.flush(); err != nil {
		return err
	}
	return c.writePaths()
}

// writePaths writes the lists of paths that calls of the batch have and no earlier call had.
func (c *commit) writePaths() error {
	lists := inserter{t: c.tx, into: "OR IGNORE INTO call_paths", columns: columnList("id, paths")}
	var b []byte
	for _, id := range sorted(c.paths) {
		b = b[:0]
		for _, path := range c.paths[id] {
			b = index.AppendString(append(b, ','), path)
		}
		b[0] = '['
		if err := lists.add(id, string(append(b, ']'))); err != nil {
			return err
		}
	}
	return lists.flush()
}

func (c *commit) writeCall(to *inserter, r *pendingRow, s callScope) error {
	name, err := c.nameID(r.Call.Name)
	if err != nil {
		return err
	}
	var key, paths any
	if r.Call.Key != "" {
		key = index.Hash("call key", s.run, r.Call.Key)
	}
	if len(r.Call.Paths) > 0 {
		list := index.Hash(r.Call.Paths...)
		paths, c.paths[list] = list, r.Call.Paths
	}
	call := s.call(r.Call.ID)
	c.callHalves.called(s.bounds, r, call)
	return to.add(r.id, r.transcript, call, r.Call.ID, key, r.Call.Rank, schema.Counted, name, r.Call.Input, paths)
}

func (c *commit) writeResult(to *inserter, r *pendingRow, s callScope) error {
	name, err := c.name(r.Result.Name)
	if err != nil {
		return err
	}
	var failed any
	if r.Result.Failed != transcript.Unstated {
		failed = flag(r.Result.Failed == transcript.Yes)
	}
	call := s.call(r.Result.Call)
	c.callHalves.ended(s.bounds, r, call)
	return to.add(r.id, r.transcript, call, name, failed, null(r.Result.Status),
		nullCount(r.Result.Duration), r.Result.Output, flag(r.Result.Cut))
}

// callScope is where call ids are unique: the conversation when pairing calls with results, the run for keys.
type callScope struct {
	run, conversation string
	high              int64 // the number of the run's name
	bounds            *bounds
}

// call returns the identity of a call: 16 bits of the number of its run's name and 48 bits of hash. So what is written together
// is neighbours in the indexes, and new runs are at their end.
func (s callScope) call(id string) int64 {
	const own = 1<<48 - 1
	return s.high<<48 | index.Hash("call", s.conversation, id)&own
}

func (c *commit) callScopes() map[int64]callScope {
	scopes := map[int64]callScope{}
	for i := range c.rows {
		r := &c.rows[i]
		if r.Call == nil && r.Result == nil {
			continue
		}
		if _, ok := scopes[r.transcript]; ok {
			continue
		}
		t := c.held[r.transcript]
		s := scopeOf(t, c.runNames[t.name])
		s.bounds = c.boundsOf(t.version)
		scopes[r.transcript] = s
	}
	return scopes
}

func scopeOf(t heldTranscript, n runName) callScope {
	s := callScope{high: t.name, run: strconv.FormatInt(n.format, 10) + "\x00" + n.scope + "\x00" + n.native}
	s.conversation = s.run + "\x00" + t.native
	if !t.shared {
		s.conversation += "\x00" + strconv.FormatInt(t.version, 10)
	}
	return s
}

// countRows adds the rows that were written to the counters of their transcripts.
func (c *commit) countRows() error {
	type counts struct {
		events, messages, calls, results int64
		first, last                      *int64
		from, to                         int64 // row ids
		message                          int64 // seq of the last event with a message in it; its rows are consecutive
	}
	all := map[int64]*counts{}
	for i := range c.rows {
		r := &c.rows[i]
		n := all[r.transcript]
		if n == nil {
			n = &counts{from: r.id}
			all[r.transcript] = n
		}
		n.from, n.to = min(n.from, r.id), max(n.to, r.id)
		if r.Verdict != transcript.Counted {
			continue
		}
		n.events += flag(r.Part == 0)
		if r.Kind == transcript.KindMessage && n.message != r.Seq {
			n.messages++
			n.message = r.Seq
		}
		n.calls += flag(r.Call != nil)
		n.results += flag(r.Result != nil)
		if t := &r.Time.UnixMicro; r.Time.Valid {
			if n.first == nil || *t < *n.first {
				n.first = t
			}
			if n.last == nil || *t > *n.last {
				n.last = t
			}
		}
	}
	for id, n := range all {
		if t := c.candidates[id]; t != nil {
			t.first, t.last = nullable(n.first), nullable(n.last)
		}
		if row := c.buffer.transcripts.row(id); row != nil { // nothing was counted before
			copy(row[transcriptEvents:], []any{n.events, n.messages, n.calls, n.results, orNil(n.first), orNil(n.last), n.from, n.to})
			continue
		}
		if err := c.exec(`UPDATE transcripts SET events = events + ?2, messages = messages + ?3, calls = calls + ?4, results = results + ?5,
			first_time = min(coalesce(first_time, ?6), coalesce(?6, first_time)), last_time = max(coalesce(last_time, ?7), coalesce(?7, last_time)),
			first_row = min(coalesce(first_row, ?8), ?8), last_row = max(coalesce(last_row, ?9), ?9)
			WHERE id = ?1`, id, n.events, n.messages, n.calls, n.results, n.first, n.last, n.from, n.to); err != nil {
			return err
		}
	}
	return nil
}

func nullable(t *int64) (n sql.NullInt64) {
	if t != nil {
		n = sql.NullInt64{Int64: *t, Valid: true}
	}
	return n
}

func orNil(t *int64) any {
	if t == nil {
		return nil
	}
	return *t
}
