package commit

import (
	"database/sql"
	"encoding/json"
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The numbers that queries compare.
const (
	costBound = iota
	inputBound
	outputBound
	tokensBound
	durationBound
	boundNumbers
)

const boundColumns = `version, astray=0, cost_most, cost_least, input_most, input_least, output_most, output_least,
	tokens_most, tokens_least, duration_most, duration_least`

// bound is the least and the greatest of some numbers.
type bound struct {
	least, most int64
	known       bool
}

func (b *bound) add(n int64) {
	if !b.known {
		*b = bound{n, n, true}
	}
	b.least, b.most = min(b.least, n), max(b.most, n)
}

// holds reports whether it includes another bound.
func (b bound) holds(o bound) bool {
	return !o.known || b.known && b.least <= o.least && o.most <= b.most
}

// columns returns the greatest, and the least where that differs.
func (b bound) columns() (most, least any) {
	if b.known {
		most = b.most
		if b.least != b.most {
			least = b.least
		}
	}
	return most, least
}

// bounds are the ranges of the numbers of a version's usage and calls.
type bounds struct {
	of     [boundNumbers]bound
	single int // calls and results whose counterpart was not met
}

func (c *commit) boundsOf(version int64) *bounds {
	b := c.bounds[version]
	if b == nil {
		b = &bounds{}
		c.bounds[version] = b
	}
	return b
}

// spent adds the numbers of a usage record, as where.Events compares them.
func (b *bounds) spent(u *transcript.Usage, calculated any) {
	if n, ok := calculated.(int64); ok && !u.Cost.Known {
		b.of[costBound].add(n)
	}
	input := plus(plus(plus(u.Input, u.CacheRead), u.CacheWrite), u.CacheWrite1h)
	for i, n := range [durationBound]transcript.Count{costBound: u.Cost, inputBound: input, outputBound: u.Output, tokensBound: plus(input, u.Output)} {
		if n.Known {
			b.of[i].add(n.N)
		}
	}
}

// plus returns the sum of the known counts.
func plus(a, b transcript.Count) transcript.Count {
	sum := transcript.Count{N: a.N + b.N, Known: a.Known || b.Known}
	switch {
	case a.N > 0 && b.N > 0 && sum.N < 0:
		sum.N = math.MaxInt64
	case a.N < 0 && b.N < 0 && sum.N >= 0:
		sum.N = math.MinInt64
	}
	return sum
}

// halves measures the calls whose results are in the same transcript. Rows come in the order of their times.
type halves map[halfKey]callHalf

type halfKey struct{ transcript, call int64 }

// callHalf is what was met of a call: the times of the first call and the last result, and whether there were any.
type callHalf struct {
	first, last          int64
	timed, called, ended bool
}

// called adds a call.
func (all halves) called(b *bounds, r *write.Row, call int64) {
	key := halfKey{r.Transcript, call}
	h := all[key]
	alone := h.called != h.ended
	if h.called = true; r.Time.Valid {
		if !h.timed {
			h.first, h.timed = r.Near, true
		}
		h.last = r.Near
	}
	if h.ended { // at the same time, if not before
		b.of[durationBound].add(0)
	}
	all[key] = h
	b.single += int(write.Flag(h.called != h.ended) - write.Flag(alone))
}

// ended adds a result.
func (all halves) ended(b *bounds, r *write.Row, call int64) {
	key := halfKey{r.Transcript, call}
	h := all[key]
	alone := h.called != h.ended
	if h.ended = true; r.Result.Duration.Known {
		b.of[durationBound].add(r.Result.Duration.N)
	} else if h.timed && r.Time.Valid {
		b.of[durationBound].add(r.Near - h.first)
		b.of[durationBound].add(r.Near - h.last)
	}
	all[key] = h
	b.single += int(write.Flag(h.called != h.ended) - write.Flag(alone))
}

// pairsSQL selects the calls and results of some calls in one transcript.
const pairsSQL = `SELECT t.version, coalesce(x.duration, CASE WHEN b.time >= e.time THEN b.time - e.time END) FROM json_each(?) j
	CROSS JOIN calls k ON k.call = j.value CROSS JOIN results x ON x.call = k.call AND x.transcript = k.transcript
	CROSS JOIN events e ON e.id = k.event CROSS JOIN events b ON b.id = x.event CROSS JOIN transcripts t ON t.id = k.transcript LIMIT ?`

// writeBounds widens the bounds of the versions that the batch has numbers of.
func (c *commit) writeBounds() error {
	if len(c.bounds) == 0 {
		return nil
	}
	versions := write.Sorted(c.bounds)
	before, err := c.boundsBefore(versions)
	if err != nil {
		return err
	}
	if err := c.pairBefore(before); err != nil {
		return err
	}
	rows := c.Inserter("OR REPLACE INTO bounds", boundColumns)
	for _, version := range versions {
		b, old := c.bounds[version], before[version]
		if old != nil && !old.widen(b) {
			continue
		}
		if old != nil {
			b = old
		}
		values := []any{version, write.Flag(b.single > 0)}
		for _, of := range b.of {
			most, least := of.columns()
			values = append(values, most, least)
		}
		if err := rows.Add(values...); err != nil {
			return err
		}
	}
	return rows.Flush()
}

// widen merges other bounds and reports whether any changed.
func (b *bounds) widen(o *bounds) (wider bool) {
	if o.single > 0 && b.single <= 0 {
		b.single, wider = o.single, true
	}
	for i, of := range o.of {
		if !b.of[i].holds(of) {
			b.of[i].add(of.least)
			b.of[i].add(of.most)
			wider = true
		}
	}
	return wider
}

// boundsBefore returns the stored bounds of some versions, which are in ascending order.
func (c *commit) boundsBefore(versions []int64) (map[int64]*bounds, error) {
	before := map[int64]*bounds{}
	var last int64
	if _, err := c.GetDirect("SELECT coalesce(max(version), 0) FROM bounds", nil, &last); err != nil || versions[0] > last {
		return before, err
	}
	return before, c.EachDirect("SELECT b.* FROM json_each(?) j CROSS JOIN bounds b ON b.version = j.value", func(r *sql.Rows) error {
		var version int64
		var of [2 * boundNumbers]sql.NullInt64
		b := &bounds{}
		dest := []any{&version, &b.single}
		for i := range of {
			dest = append(dest, &of[i])
		}
		if err := r.Scan(dest...); err != nil {
			return err
		}
		for i := range b.of {
			for _, n := range of[2*i : 2*i+2] {
				if n.Valid {
					b.of[i].add(n.Int64)
				}
			}
		}
		before[version] = b
		return nil
	}, numbers(versions))
}

// pairBefore looks for the counterparts of calls and results in versions that had some before. Where a producer gives very many
// calls the same id, their durations may be anything.
func (c *commit) pairBefore(before map[int64]*bounds) error {
	if len(before) == 0 {
		return nil
	}
	var calls []int64
	of := map[int64]bool{}
	for key := range c.callHalves {
		if version := c.changes.VersionOf(key.transcript); before[version] != nil {
			calls, of[version] = append(calls, key.call), true
		}
	}
	if len(calls) == 0 {
		return nil
	}
	most, n := 64+4*len(calls), 0
	if err := c.EachBrief(pairsSQL, func(r *sql.Rows) error {
		var version int64
		var took sql.NullInt64
		if err := r.Scan(&version, &took); err != nil {
			return err
		}
		if n++; of[version] && took.Valid {
			c.boundsOf(version).of[durationBound].add(took.Int64)
		}
		return nil
	}, numbers(calls), most); err != nil || n < most {
		return err
	}
	for version := range of {
		c.boundsOf(version).of[durationBound] = bound{math.MinInt64, math.MaxInt64, true}
	}
	return nil
}

func numbers(list []int64) string {
	b, _ := json.Marshal(list) // numbers always can be
	return string(b)
}
