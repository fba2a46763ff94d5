package commit

import (
	"cmp"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// writeRows assigns row ids in the order of time and writes the rows: events before words, because the full-text table would
// accept a row id twice.
func (c *commit) writeRows() error {
	if len(c.rows) == 0 {
		return nil
	}
	slices.SortStableFunc(c.rows, func(a, b write.Row) int { return cmp.Compare(a.Near, b.Near) })
	if err := c.assignRowIDs(); err != nil {
		return err
	}
	words := words.Start(c.rows)
	defer words.Close()
	if err := c.writeEvents(); err != nil {
		return err
	}
	if err := c.writeCalls(); err != nil {
		return err
	}
	if err := c.countRows(); err != nil {
		return err
	}
	var err error
	c.bulk, err = words.Write(c.Tx, c.adding, c.options.BulkRows)
	return err
}

const (
	eventColumns = `id, transcript, seq, shape=0, verdict=0,
		moment, tz, inner, offset, length, ahead=0, text_bytes, eid, scene, native, attributes`
	callColumns   = "event, transcript, call, call_id, key, rank=0, verdict=0, name, input_bytes, paths"
	resultColumns = "event, transcript, call, name, failed, status, duration, output_bytes, cut=0"
)

func (c *commit) writeEvents() error {
	b := c.Inserter("OR FAIL INTO events", eventColumns)
	prompts := c.Inserter("OR FAIL INTO prompts", "event, text")
	for i := range c.rows {
		r := &c.rows[i]
		scene, err := c.Scene(r.Row)
		if err != nil {
			return err
		}
		inner, err := c.Name(r.Inner)
		if err != nil {
			return err
		}
		var eid any
		if r.EID != 0 {
			eid = r.EID
			c.seeEvent(i)
		}
		if err := b.Add(r.ID, r.Transcript, r.Seq, schema.EncodePart(r.Part, r.Parts, r.Global), schema.VerdictNumber[r.Verdict],
			schema.EncodeTime(r.ID, r.Near), write.NullZone(r.Time), inner, r.Offset, r.Length, int64(r.Line)-r.Seq, r.TextBytes, eid, scene, write.NullNative(&r.Native), write.Null(r.Attributes)); err != nil {
			return err
		}
		if r.Prompt != 0 {
			if err := prompts.Add(r.ID, r.Prompt); err != nil {
				return err
			}
		}
	}
	return cmp.Or(b.Flush(), prompts.Flush())
}

func (c *commit) writeCalls() error {
	scopes := c.callScopes()
	calls := c.Inserter("OR FAIL INTO calls", callColumns)
	c.paths = map[int64][]string{}
	results := c.Inserter("OR FAIL INTO results", resultColumns)
	for i := range c.rows {
		r := &c.rows[i]
		s := scopes[r.Transcript]
		if r.Call != nil {
			if err := c.writeCall(calls, r, s); err != nil {
				return err
			}
		}
		if r.Result != nil {
			if err := c.writeResult(results, r, s); err != nil {
				return err
			}
		}
	}
	if err := calls.Flush(); err != nil {
		return err
	}
	if err := results.Flush(); err != nil {
		return err
	}
	return c.writePaths()
}

// writePaths writes the lists of paths that calls of the batch have and no earlier call had.
func (c *commit) writePaths() error {
	lists := c.Inserter("OR IGNORE INTO call_paths", "id, paths")
	var b []byte
	for _, id := range write.Sorted(c.paths) {
		b = b[:0]
		for _, path := range c.paths[id] {
			b = index.AppendString(append(b, ','), path)
		}
		b[0] = '['
		if err := lists.Add(id, string(append(b, ']'))); err != nil {
			return err
		}
	}
	return lists.Flush()
}

func (c *commit) writeCall(to *write.Inserter, r *write.Row, s callsOf) error {
	name, err := c.NameID(r.Call.Name)
	if err != nil {
		return err
	}
	var key, paths any
	if r.Call.Key != "" {
		key = index.Hash("call key", s.Run, r.Call.Key)
	}
	if len(r.Call.Paths) > 0 {
		list := index.Hash(r.Call.Paths...)
		paths, c.paths[list] = list, r.Call.Paths
	}
	call := s.Call(r.Call.ID)
	c.callHalves.called(s.bounds, r, call)
	return to.Add(r.ID, r.Transcript, call, r.Call.ID, key, r.Call.Rank, schema.Counted, name, r.Call.Input, paths)
}

func (c *commit) writeResult(to *write.Inserter, r *write.Row, s callsOf) error {
	name, err := c.Name(r.Result.Name)
	if err != nil {
		return err
	}
	var failed any
	if r.Result.Failed != transcript.Unstated {
		failed = write.Flag(r.Result.Failed == transcript.Yes)
	}
	call := s.Call(r.Result.Call)
	c.callHalves.ended(s.bounds, r, call)
	return to.Add(r.ID, r.Transcript, call, name, failed, write.Null(r.Result.Status),
		write.NullCount(r.Result.Duration), r.Result.Output, write.Flag(r.Result.Cut))
}

// callsOf is what the calls of a transcript have in common.
type callsOf struct {
	resolve.CallScope
	bounds *bounds
}

func (c *commit) callScopes() map[int64]callsOf {
	scopes := map[int64]callsOf{}
	for i := range c.rows {
		r := &c.rows[i]
		if r.Call == nil && r.Result == nil {
			continue
		}
		if _, ok := scopes[r.Transcript]; ok {
			continue
		}
		s, version := c.changes.ScopeOf(r.Transcript)
		scopes[r.Transcript] = callsOf{s, c.boundsOf(version)}
	}
	return scopes
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
		n := all[r.Transcript]
		if n == nil {
			n = &counts{from: r.ID}
			all[r.Transcript] = n
		}
		n.from, n.to = min(n.from, r.ID), max(n.to, r.ID)
		if r.Verdict != transcript.Counted {
			continue
		}
		n.events += write.Flag(r.Part == 0)
		if r.Kind == transcript.KindMessage && n.message != r.Seq {
			n.messages++
			n.message = r.Seq
		}
		n.calls += write.Flag(r.Call != nil)
		n.results += write.Flag(r.Result != nil)
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
		c.changes.SetTimes(id, n.first, n.last)
		if row := c.Buffer.Transcripts.Row(id); row != nil { // nothing was counted before
			copy(row[write.TranscriptEvents:], []any{n.events, n.messages, n.calls, n.results, write.OrNil(n.first), write.OrNil(n.last), n.from, n.to})
			continue
		}
		if err := c.Exec(`UPDATE transcripts SET events = events + ?2, messages = messages + ?3, calls = calls + ?4, results = results + ?5,
			first_time = min(coalesce(first_time, ?6), coalesce(?6, first_time)), last_time = max(coalesce(last_time, ?7), coalesce(?7, last_time)),
			first_row = min(coalesce(first_row, ?8), ?8), last_row = max(coalesce(last_row, ?9), ?9)
			WHERE id = ?1`, id, n.events, n.messages, n.calls, n.results, n.first, n.last, n.from, n.to); err != nil {
			return err
		}
	}
	return nil
}
