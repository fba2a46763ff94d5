package ask

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// spill is an hour of row ids that also has rows of earlier hours, which were full.
type spill struct {
	hour        int64
	first, last int64 // microseconds: no row of the hour is earlier or later
	latest      int64 // no row of this or an earlier hour is later
}

// spills are the hours that have rows of other hours, ascending.
type spills []spill

func (r *snapshot) readSpills(ctx context.Context) (f spills, err error) {
	if r.spills != nil {
		return *r.spills, nil
	}
	scan := func(rows *sqlx.Rows) (s spill, err error) { return s, rows.Scan(&s.hour, &s.first, &s.last) }
	err = engine.Each(ctx, r, "SELECT hour, first, last FROM spilled ORDER BY hour", nil, scan, func(s spill) bool {
		s.latest = max(s.last, f.latest(s.hour-1))
		f = append(f, s)
		return true
	})
	if err == nil {
		r.spills = &f
	}
	return f, err
}

func (f spills) find(hour int64) (i int, ok bool) {
	return slices.BinarySearchFunc(f, hour, func(s spill, hour int64) int { return int(min(max(s.hour-hour, -1), 1)) })
}

// latest returns an upper bound of the times of all rows whose ids are in an hour or an earlier one.
func (f spills) latest(hour int64) int64 {
	if i, ok := f.find(hour); ok {
		return f[i].latest
	}
	return schema.HourStart(hour+1) - 1
}

// window turns id bounds that assume that no hour was full, 0 for none, into bounds of all rows of these hours.
func (f spills) window(from, to int64) (int64, int64) {
	if hour := from >> schema.SlotBits; from > 0 {
		for i, ok := f.find(hour); ok && i < len(f) && f[i].hour == hour && f[i].last < schema.HourStart(from>>schema.SlotBits); i++ {
			hour++
		}
		from = hour << schema.SlotBits
	}
	if end := to >> schema.SlotBits; to > 0 {
		for _, s := range slices.Backward(f) {
			if s.first < schema.HourStart(to>>schema.SlotBits) {
				end = max(end, s.hour+1)
				break
			}
		}
		to = end << schema.SlotBits
	}
	return from, to
}
