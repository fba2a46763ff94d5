package sqlite

import "github.com/txarchive/txarchive/internal/index/sqlite/schema"

// Most originals are new, and nothing reads their rows before the commit resolves runs. So these rows are buffered, changed in
// memory, and written together. Small files have ten rows each: a statement for each row, and more to update them, took longer
// than their events.

// writeBuffer holds rows that a commit has not written yet. Statements that may read or change their tables flush it first:
// tx.exec, get, each and eachBrief. eachBeside flushes all but claims, conversations and transcripts.
type writeBuffer struct {
	files, chains, extents               *inserter
	conversations                        *inserter
	names, versions, claims, transcripts *pendingRows // by their first column
}

func newWriteBuffer(t *tx) *writeBuffer {
	rows := func(table, list string) *inserter {
		return &inserter{t: t, into: "OR FAIL INTO " + table, columns: columnList(list)}
	}
	return &writeBuffer{
		files:   rows("files", "id, source, path"),
		chains:  rows("chains", "id, root, size, sha256"),
		extents: rows("extents", "chain, offset, size, pack, raw, sha256"),
		conversations: rows("conversations", `run, verdict, of, title, agent, engine, model, flow, step, mode, status, version, project, branch,
			started, ended, child=0, attributes, id, conversation_id, native_id`),
		claims:      &pendingRows{to: rows("run_claims", "run_name, version, rank, stated, named")},
		names:       &pendingRows{to: rows("run_names", "id, format, native_id, scope, run")},
		versions:    &pendingRows{to: rows("versions", "id, file, number, chain, size, sha256, mtime, mode, format, role, root_dir, parser, parsed, archived")},
		transcripts: &pendingRows{to: rows("transcripts", transcriptColumns), before: t.addTranscripts},
	}
}

// Positions of the columns that change while a row is buffered. In transcripts the counters come first, behind the id.
const (
	nameRun       = 4
	runStatedFrom = 6
	runBrief      = 24
	versionParser = 11
	versionParsed = 12
	claimStated   = 3

	transcriptEvents  = 1
	transcriptJudged  = 9 // conversation, and the columns behind it
	transcriptVerdict = 10
	transcriptIndexed = 12
	transcriptRows    = 14
	transcriptStated  = 22

	runColumns = `id, run_id, format, keyless=0, anchor, native_id, counted, "group", project, branch, flow, title, agent, model,
		host, version, status, outcome, error, started, ended, stub=0, child=0, attributes, brief=0`
	transcriptColumns = `id, events=0, messages=0, calls=0, results=0, first_time, last_time, first_row, last_row,
		conversation, verdict, judged=0, indexed, seq_base=0, rows=0, version, run_name, native_id, shared, aside, ord, rank, stated, last_seq`
)

// flushBuffer writes all buffered rows.
func (t *tx) flushBuffer() error {
	w := t.buffer
	if w == nil {
		return nil
	}
	if err := t.flushFiles(); err != nil {
		return err
	}
	return flushAll(w.claims, w.conversations, w.transcripts)
}

// flushFiles writes the buffered rows of files, chains, extents, versions and names of runs.
func (t *tx) flushFiles() error {
	w := t.buffer
	if w == nil {
		return nil
	}
	return flushAll(w.files, w.chains, w.extents, w.names, w.versions)
}

func flushAll(all ...interface{ flush() error }) error {
	for _, rows := range all {
		if err := rows.flush(); err != nil {
			return err
		}
	}
	return nil
}

// addTranscripts adds transcripts that are being written to transcript_sums. A trigger took longer for each than its row.
func (t *tx) addTranscripts(rows [][]any) error {
	var sums [schema.Uncounted + 1]struct{ transcripts, events, rows int64 }
	for _, row := range rows {
		s := &sums[row[transcriptVerdict].(int64)]
		s.transcripts++
		s.events += row[transcriptEvents].(int64)
		if row[transcriptIndexed] == int64(1) {
			s.rows += row[transcriptRows].(int64)
		}
	}
	for verdict, s := range sums {
		if s.transcripts == 0 {
			continue
		}
		if err := t.execDirect(`INSERT INTO transcript_sums (verdict, events, rows) VALUES (?, ?, ?)
			ON CONFLICT (verdict) DO UPDATE SET events = events + excluded.events, rows = rows + excluded.rows`, verdict, s.events, s.rows); err != nil {
			return err
		}
	}
	return nil
}

// pendingRows are buffered rows that can be changed by id before they are written.
type pendingRows struct {
	to     *inserter
	rows   [][]any
	at     map[int64]int
	before func(rows [][]any) error // called before rows are written, or nil
}

// maxPending bounds the buffered rows of a table.
const maxPending = 1 << 13

func (d *pendingRows) add(id int64, rest ...any) error {
	if len(d.rows) == maxPending {
		if err := d.flush(); err != nil {
			return err
		}
	}
	if d.at == nil {
		d.at = map[int64]int{}
	}
	d.at[id] = len(d.rows)
	row := make([]any, len(d.to.names)) // defaults for the columns that rest leaves out
	copy(row, d.to.defaults)
	row[0] = id
	copy(row[1:], rest)
	d.rows = append(d.rows, row)
	return nil
}

// row returns the values of a buffered row, nil if it is not buffered.
func (d *pendingRows) row(id int64) []any {
	if i, ok := d.at[id]; ok {
		return d.rows[i]
	}
	return nil
}

func (d *pendingRows) flush() error {
	rows := d.rows
	if d.before != nil && len(rows) > 0 {
		if err := d.before(rows); err != nil {
			return err
		}
	}
	d.rows = d.rows[:0]
	clear(d.at)
	for _, values := range rows {
		if err := d.to.add(values...); err != nil {
			return err
		}
	}
	clear(rows)
	return d.to.flush()
}
