package write

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The sums of a run that has usage for the first time follow from what the transaction adds, and are computed along the way:
// reading it again, in an order of seven columns, took a third of the time of writing it. If usage of the run changes in any
// other way, or the index has some already, SQL computes the sums (usage.RollupStatements). Both must come to the same
// (TestFreshSums).

// maxSQLRows is the number of records up to which SQL sums faster than the runs are looked up.
const maxSQLRows = 64

// pendingSumKey is what usage_threads groups by.
type pendingSumKey struct {
	run          int64
	conversation string
	version      int64
	texts        int64
	hour         int64 // since 1970, undatedHour for none
	unpriced     bool
	reported     bool
}

const undatedHour = usage.Undated * 24

// pendingSum has the numbers of a row of usage_threads, in the order of usage.Measures.
type pendingSum struct {
	counts [8]int64 // rows, requests and tokens
	money  [2]pendingMoney
}

// pendingMoney is a sum in two halves, as in usage.TotalMoney.
type pendingMoney struct{ high, low int64 }

func (m *pendingMoney) add(nano int64) {
	nano = max(-index.MaxNano, min(index.MaxNano, nano))
	m.high += nano >> 30
	m.low += nano & (1<<30 - 1)
}

func (m *pendingMoney) total() int64 { return max(-1<<32, min(1<<32, m.high))<<30 + m.low }

// AddPendingSum adds counted usage of a run to its sums. A trigger for it would take as long as all columns of a row together.
func (t *Tx) AddPendingSum(run, version, texts int64, u *transcript.Usage, calculated any) {
	key := pendingSumKey{run: run, conversation: u.Conversation, version: version, texts: texts, hour: undatedHour, unpriced: calculated == nil, reported: u.Cost.Known}
	if u.Time.Valid {
		key.hour = floor(u.Time.UnixMicro, 3_600_000_000)
	}
	s := t.pendingSums[key]
	if s == nil {
		s = &pendingSum{}
		t.pendingSums[key] = s
	}
	t.freshRows++
	requests := u.Requests
	if !requests.Known {
		requests = transcript.Known(1)
	}
	for i, n := range [...]transcript.Count{transcript.Known(1), requests, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Reasoning} {
		if n.Known {
			s.counts[i] += max(-index.MaxTokens, min(index.MaxTokens, n.N))
		}
	}
	if u.Cost.Known {
		s.money[0].add(u.Cost.N)
	}
	if nano, ok := calculated.(int64); ok {
		s.money[1].add(nano)
	}
}

// floor divides and rounds down, also below 0.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// settleFresh leaves to SQL the runs that it must sum, and returns the others with their formats.
func (t *Tx) settleFresh() (formats map[int64]int64, err error) {
	runs := map[int64]bool{}
	for key := range t.pendingSums {
		runs[key.run] = true
	}
	if t.freshRows <= maxSQLRows {
		for _, run := range Sorted(runs) {
			if err := t.touch(run); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	if err := t.FillTemp("spenders", Sorted(runs)); err != nil {
		return nil, err
	}
	var known []int64
	formats = map[int64]int64{}
	err = t.EachBrief(`SELECT n.id, n.format, n.id IN (SELECT run_name FROM usage_touched) OR EXISTS (SELECT 1 FROM usage_threads WHERE run_name = n.id)
		FROM temp.spenders s CROSS JOIN run_names n ON n.id = s.id`, func(r *sql.Rows) error {
		var run, format int64
		var before bool
		if err := r.Scan(&run, &format, &before); err != nil {
			return err
		}
		if before {
			known = append(known, run)
		} else {
			formats[run] = format
		}
		return nil
	})
	for _, run := range known {
		err = cmp.Or(err, t.touch(run))
	}
	return formats, err
}

// touch has SQL sum a run.
func (t *Tx) touch(run int64) error {
	return t.Exec("INSERT OR IGNORE INTO usage_touched (run_name) VALUES (?)", run)
}

// addFresh writes the sums of runs that have none, and marks the runs for usage_days.
func (t *Tx) addFresh(formats map[int64]int64) error {
	said := map[int64]*UsageTexts{}
	for texts, id := range t.texts {
		said[id] = &texts
	}
	keys := make([]pendingSumKey, 0, len(t.pendingSums))
	for key := range t.pendingSums {
		if _, ok := formats[key.run]; ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b pendingSumKey) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.conversation, b.conversation), cmp.Compare(a.version, b.version), cmp.Compare(a.hour, b.hour),
			cmp.Compare(a.texts, b.texts), cmp.Compare(Flag(a.unpriced), Flag(b.unpriced)), cmp.Compare(Flag(a.reported), Flag(b.reported)))
	})
	names := "run_name, native_conversation, n, version, texts, series, day, hour"
	for _, m := range usage.Measures() {
		names += ", " + m.Name
	}
	threads := t.Inserter("OR FAIL INTO usage_threads", names)
	all := map[series]int64{}
	for i, key := range keys {
		texts := said[key.texts]
		if texts == nil {
			return fmt.Errorf("texts %d of usage were never told", key.texts)
		}
		of := series{model: texts[0], format: formats[key.run], reported: Flag(key.reported)}
		if key.unpriced {
			of.reason = cmp.Or(texts[priceNote], "not priced")
		}
		number, err := t.series(all, of)
		if err != nil {
			return err
		}
		day, s := floor(key.hour, 24), t.pendingSums[key]
		values := []any{key.run, key.conversation, int64(i + 1), key.version, key.texts, number, day, key.hour - 24*day}
		for _, n := range s.counts {
			values = append(values, n)
		}
		for i := range s.money {
			values = append(values, s.money[i].total())
		}
		if err := threads.Add(values...); err != nil {
			return err
		}
	}
	if err := threads.Flush(); err != nil {
		return err
	}
	return t.touchAll(formats)
}

// touchAll marks runs whose sums are to be added to usage_days.
func (t *Tx) touchAll(formats map[int64]int64) error {
	touched := t.Inserter("OR IGNORE INTO usage_touched", "run_name")
	for _, run := range Sorted(formats) {
		if err := touched.Add(run); err != nil {
			return err
		}
	}
	return touched.Flush()
}

// series is a row of usage_series.
type series struct {
	model    string
	format   int64
	reason   string
	reported int64
}

// series returns the number of a row, which it adds if there is none. all caches them.
func (t *Tx) series(all map[series]int64, s series) (id int64, err error) {
	if id, ok := all[s]; ok {
		return id, nil
	}
	known, err := t.GetDirect("SELECT id FROM usage_series WHERE (model, format, reason, has_reported) = (?, ?, ?, ?)", []any{s.model, s.format, s.reason, s.reported}, &id)
	if err != nil {
		return 0, err
	}
	if !known {
		if err := t.EachBrief("INSERT INTO usage_series (model, format, reason, has_reported) VALUES (?, ?, ?, ?) RETURNING id",
			func(r *sql.Rows) error { return r.Scan(&id) }, s.model, s.format, s.reason, s.reported); err != nil {
			return 0, err
		}
	}
	all[s] = id
	return id, nil
}
