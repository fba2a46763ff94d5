package write

import "github.com/txarchive/txarchive/internal/index/sqlite/schema"

// Most originals are new, and nothing reads their rows before the commit resolves runs. So these rows are buffered, changed in
// memory, and written together. Small files have ten rows each: a statement for each row, and more to update them, took longer
// than their events.

// Buffer holds rows that a commit has not written yet. Statements that may read or change their tables flush it first:
// Exec, Get, Each and EachBrief. EachBeside flushes all but claims, conversations and transcripts.
type Buffer struct {
	Files, Chains, Extents               *Inserter
	Conversations                        *Inserter
	Names, Versions, Claims, Transcripts *Rows // by their first column

	Runs *Rows // that are added: nothing reads or changes them before their owner flushes them
}

// BufferRows has the transaction buffer rows from now on.
func (t *Tx) BufferRows() {
	rows := func(table, list string) *Inserter { return t.Inserter("OR FAIL INTO "+table, list) }
	t.Buffer = &Buffer{
		Files:   rows("files", "id, source, path"),
		Chains:  rows("chains", "id, root, size, sha256"),
		Extents: rows("extents", "chain, offset, size, pack, raw, sha256"),
		Conversations: rows("conversations", `run, verdict, of, title, agent, engine, model, flow, step, mode, status, version, project, branch,
			started, ended, child=0, attributes, id, conversation_id, native_id`),
		Claims:      &Rows{to: rows("run_claims", "run_name, version, rank, stated, named")},
		Names:       &Rows{to: rows("run_names", "id, format, native_id, scope, run")},
		Versions:    &Rows{to: rows("versions", "id, file, number, chain, size, sha256, mtime, mode, format, role, root_dir, parser, parsed, archived")},
		Transcripts: &Rows{to: rows("transcripts", transcriptColumns), before: t.addTranscripts},
		Runs:        &Rows{to: rows("runs", runColumns)},
	}
}

// Positions of the columns that change while a row is buffered. In transcripts the counters come first, behind the id.
const (
	NameRun       = 4
	RunStatedFrom = 6
	RunBrief      = 24
	VersionParser = 11
	VersionParsed = 12
	ClaimStated   = 3

	TranscriptEvents  = 1
	TranscriptJudged  = 9 // conversation, and the columns behind it
	transcriptVerdict = 10
	transcriptIndexed = 12
	transcriptRows    = 14
	TranscriptStated  = 22

	runColumns = `id, run_id, format, keyless=0, anchor, native_id, counted, "group", project, branch, flow, title, agent, model,
		host, version, status, outcome, error, started, ended, stub=0, child=0, attributes, brief=0`
	transcriptColumns = `id, events=0, messages=0, calls=0, results=0, first_time, last_time, first_row, last_row,
		conversation, verdict, judged=0, indexed, seq_base=0, rows=0, version, run_name, native_id, shared, aside, ord, rank, stated, last_seq`
)

// Flush writes all buffered rows.
func (t *Tx) Flush() error {
	w := t.Buffer
	if w == nil {
		return nil
	}
	if err := t.flushFiles(); err != nil {
		return err
	}
	return flushAll(w.Claims, w.Conversations, w.Transcripts)
}

// flushFiles writes the buffered rows of files, chains, extents, versions and names of runs.
func (t *Tx) flushFiles() error {
	w := t.Buffer
	if w == nil {
		return nil
	}
	return flushAll(w.Files, w.Chains, w.Extents, w.Names, w.Versions)
}

func flushAll(all ...interface{ Flush() error }) error {
	for _, rows := range all {
		if err := rows.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// addTranscripts adds transcripts that are being written to transcript_sums. A trigger took longer for each than its row.
func (t *Tx) addTranscripts(rows [][]any) error {
	var sums [schema.Uncounted + 1]struct{ transcripts, events, rows int64 }
	for _, row := range rows {
		s := &sums[row[transcriptVerdict].(int64)]
		s.transcripts++
		s.events += row[TranscriptEvents].(int64)
		if row[transcriptIndexed] == int64(1) {
			s.rows += row[transcriptRows].(int64)
		}
	}
	for verdict, s := range sums {
		if s.transcripts == 0 {
			continue
		}
		if err := t.ExecDirect(`INSERT INTO transcript_sums (verdict, events, rows) VALUES (?, ?, ?)
			ON CONFLICT (verdict) DO UPDATE SET events = events + excluded.events, rows = rows + excluded.rows`, verdict, s.events, s.rows); err != nil {
			return err
		}
	}
	return nil
}

// Rows are buffered rows that can be changed by id before they are written.
type Rows struct {
	to     *Inserter
	rows   [][]any
	at     map[int64]int
	before func(rows [][]any) error // called before rows are written, or nil
}

// maxPending bounds the buffered rows of a table.
const maxPending = 1 << 13

// Add adds a row by its id. rest are its other columns in their order; those that are left out have their defaults.
func (d *Rows) Add(id int64, rest ...any) error {
	if len(d.rows) == maxPending {
		if err := d.Flush(); err != nil {
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

// Row returns the values of a buffered row, nil if it is not buffered.
func (d *Rows) Row(id int64) []any {
	if i, ok := d.at[id]; ok {
		return d.rows[i]
	}
	return nil
}

// Flush writes the rows that are buffered.
func (d *Rows) Flush() error {
	rows := d.rows
	if d.before != nil && len(rows) > 0 {
		if err := d.before(rows); err != nil {
			return err
		}
	}
	d.rows = d.rows[:0]
	clear(d.at)
	for _, values := range rows {
		if err := d.to.Add(values...); err != nil {
			return err
		}
	}
	clear(rows)
	return d.to.Flush()
}
