package retention

import (
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// change counts rows that are added to a table (removed, if negative) and their bytes. Its indexes change in proportion, but
// for partial ones: see add.
func (w *estimator) change(table string, rows, bytes float64) {
	for i, t := range w.trees[table] {
		own := w.trees[table][0]
		switch {
		case i == 0:
			t.newCells, t.newBytes = t.newCells+rows, t.newBytes+bytes
		case own.cells > 0 && !t.partial:
			share := rows / own.cells
			t.newCells, t.newBytes = t.newCells+share*t.cells, t.newBytes+share*t.bytes
		}
	}
}

// changeLike counts rows of the average size of the present ones.
func (w *estimator) changeLike(table string, rows float64) {
	if own := w.trees[table]; len(own) > 0 && own[0].cells > 0 {
		w.change(table, rows, rows*own[0].bytes/own[0].cells)
	}
}

// Bytes that row ids take.
const (
	timeID  = 4 // of events and of the tables that share their ids
	shortID = 3
)

// takeEvents counts the events, calls and results of the runs and versions that go.
func (w *estimator) takeEvents() error {
	if err := w.takeEventsOf(w.part(func(r index.RemovedRun) bool { return r.DropsRows }), rowsOfRuns); err != nil {
		return err
	}
	return w.takeEventsOf(w.versions(), rowsOfVersions)
}

func (w *estimator) takeEventsOf(p part, from string) error {
	every := w.everyEvent()
	tables := [...]struct{ name, x string }{{"events", "e"}, {"calls", "c"}, {"results", "o"}}
	var columns []string
	var sums [len(tables)]struct{ rows, bytes float64 }
	var ids, keys float64 // of events and of calls that have one
	to := []any{&ids, &keys}
	for i, t := range tables {
		size, err := cellBytes(w.ctx, w.tx, t.name, t.x, timeID)
		if err != nil {
			return err
		}
		there := t.x + ".transcript"
		columns = append(columns, "count("+there+")", "coalesce(sum(CASE WHEN "+there+" IS NOT NULL THEN "+size+" END), 0)")
		to = append(to, &sums[i].rows, &sums[i].bytes)
	}
	if err := w.tx.QueryRowxContext(w.ctx, "SELECT count(e.eid), count(c.key), "+strings.Join(columns, ", ")+" FROM "+from+`LEFT JOIN calls c ON c.event = e.id
		LEFT JOIN results o ON o.event = e.id WHERE e.seq % ?2 = 0`, p.ids, every).Scan(to...); err != nil {
		return err
	}
	times := -p.perRow * float64(every)
	for i, t := range tables {
		w.change(t.name, sums[i].rows*times, sums[i].bytes*times)
	}
	w.changeLike("fts_docsize", sums[0].rows*times)
	w.addLike("events", "events_eid", ids*times)
	w.addLike("calls", "calls_key", keys*times)
	w.addLike("calls", "calls_judged", keys*times)
	return nil
}

// ofRuns are the other tables with rows of a run that goes.
var ofRuns = [...]struct{ name, on string }{{"transcripts", "x.run_name = n.id"}, {"receipts", "x.run_name = n.id"}, {"steps", "x.run_name = n.id"},
	{"run_claims", "x.run_name = n.id"}, {"conversations", "x.run = r.id AND n.id = (SELECT min(id) FROM run_names WHERE run = r.id)"}}

// ofVersions are the tables with rows of a version that goes, but for those of its events.
var ofVersions = [...]struct{ name, on string }{{"transcripts", "x.version = j.value"}, {"receipts", "x.version = j.value"}, {"steps", "x.version = j.value"},
	{"run_claims", "x.version = j.value"}, {"usage", "x.version = j.value"}, {"links", "x.version = j.value"}, {"hints", "x.version = j.value"},
	{"conversations", "x.verdict = 5 AND x.id IN (SELECT t.conversation FROM transcripts t WHERE t.version = j.value)"}}

// Usage that counts stays in a ledger, without what the producer states beside the numbers.
const inLedger = "(x.verdict = 0 OR x.ledger = 1)"

// takeOthers counts the other rows of runs that go. Of the run's own row only the texts go.
func (w *estimator) takeOthers() error {
	ended := w.part(func(r index.RemovedRun) bool { return r.DropsRows })
	for _, t := range ofRuns {
		size, err := cellBytes(w.ctx, w.tx, t.name, "x", shortID)
		if err != nil {
			return err
		}
		if err := w.takeRows(t.name, ended, "count(*)", size, "CROSS JOIN "+t.name+" x ON "+t.on); err != nil {
			return err
		}
	}
	const usage = "CROSS JOIN usage x ON x.run_name = n.id"
	size, err := cellBytes(w.ctx, w.tx, "usage", "x", shortID)
	if err != nil {
		return err
	}
	kept := w.part(func(r index.RemovedRun) bool { return r.DropsRows && !r.DropsLedger })
	if err := w.takeRows("usage", kept, "count(CASE WHEN NOT "+inLedger+" THEN 1 END)",
		"CASE WHEN "+inLedger+" THEN coalesce(octet_length(x.stated), 0) + coalesce(octet_length(x.attributes), 0) ELSE "+size+" END", usage); err != nil {
		return err
	}
	if err := w.takeRows("usage", w.part(func(r index.RemovedRun) bool { return r.DropsLedger }), "count(*)", size, usage); err != nil {
		return err
	}
	w.changeLike("extents", -float64(w.leaving.Originals))
	for _, t := range ofVersions {
		size, err := cellBytes(w.ctx, w.tx, t.name, "x", shortID)
		if err != nil {
			return err
		}
		if err := w.takeRowsFrom(t.name, w.versions(), "count(*)", size, "json_each(?1) j CROSS JOIN "+t.name+" x ON "+t.on); err != nil {
			return err
		}
	}
	return w.takeRows("runs", ended, "0", "coalesce(octet_length(r.title), 0) + coalesce(octet_length(r.error), 0) + coalesce(octet_length(r.attributes), 0)", "")
}

func (w *estimator) takeRows(table string, p part, count, size, join string) error {
	return w.takeRowsFrom(table, p, count, size, namesOfRuns+join)
}

func (w *estimator) takeRowsFrom(table string, p part, count, size, from string) error {
	var rows, bytes float64
	err := w.tx.QueryRowxContext(w.ctx, "SELECT "+count+", coalesce(sum("+size+"), 0) FROM "+from, p.ids).Scan(&rows, &bytes)
	w.change(table, -rows*p.perRun, -bytes*p.perRun)
	return err
}

// packName is the length of a pack's name.
const packName = len("2026/11/20261121T104454.583794Z-9v30kk1p-2a8c00ab88bd4d44")

// addLedgers counts the rows of ledgers and tombstones.
func (w *estimator) addLedgers() error {
	const row, times8 = 4 + 6, 8 // what every row has before its values; a time
	more, n := func(table string, bytes int) {
		w.change(table, w.leaving.LedgerFactor, w.leaving.LedgerFactor*float64(row+bytes))
	}, w.leaving.LedgerFactor
	for i := range w.leaving.Ledgers {
		l := &w.leaving.Ledgers[i]
		key := len(index.LedgerKey(&l.Version))
		more("facts", len(index.FactLedger)+key+times8+packName+len("{}"))
		if l.Tombstoned {
			f := blob.NewTombstone(&l.Version, "").Fact(time.Time{})
			more("facts", len(f.Kind)+len(f.Key)+times8+packName+len(f.Value))
			w.change("versions", 0, n*float64(len(f.Key)))
			w.add("versions", "versions_grave", n, row+len(f.Key))
		}
		for i := range l.Runs {
			r := &l.Runs[i]
			more("graves", key+len(r.Action)+len(r.Tier)+len(r.Plan)+len(r.Rule)+len(r.Reason)+times8+12)
			w.add("graves", "graves_fact", n, row+key)
			w.add("graves", "graves_run", n, row)
			if !r.Drops() || r.Claim == nil {
				continue
			}
			claim, err := schema.MarshalRun(r.Claim)
			if err != nil {
				return err
			}
			more("run_claims", len(claim)+shortID)
		}
	}
	return nil
}

// add counts entries of an index whose number does not follow from that of rows.
func (w *estimator) add(table, name string, entries float64, bytes int) {
	for _, t := range w.trees[table] {
		if t.name == name {
			t.newCells, t.newBytes = t.newCells+entries, t.newBytes+entries*float64(bytes)
		}
	}
}

// addLike counts entries of an index of the average size of the present ones.
func (w *estimator) addLike(table, name string, entries float64) {
	for _, t := range w.trees[table] {
		if t.name == name && t.cells > 0 {
			t.newCells, t.newBytes = t.newCells+entries, t.newBytes+entries*t.bytes/t.cells
		}
	}
}
