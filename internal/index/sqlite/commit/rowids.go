package commit

import (
	"cmp"
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// assignRowIDs assigns row ids to the rows of the batch, which are sorted by time: the next free slots of each hour, and of the
// next hour that has any when it is full.
func (c *commit) assignRowIDs() error {
	f := hourFill{hour: -1}
	if _, err := c.GetDirect("SELECT max(coalesce((SELECT max(id) FROM events) >> ?, -1), coalesce((SELECT max(hour) FROM spilled), -1))",
		[]any{schema.SlotBits}, &f.known); err != nil {
		return err
	}
	for i := range c.rows {
		r := &c.rows[i]
		own := schema.HourOf(r.Near)
		if own > f.hour {
			if err := c.startHour(&f, own); err != nil {
				return err
			}
		}
		for f.next >= f.end {
			if err := c.startHour(&f, f.hour+1); err != nil {
				return err
			}
		}
		r.ID = f.next
		f.next++
		f.first, f.last = min(f.first, r.Near), max(f.last, r.Near)
		f.spilled, f.changed = f.spilled || own < f.hour, true
	}
	return c.note(&f)
}

// hourFill is an hour whose slots are being assigned.
type hourFill struct {
	known       int64 // no later hour had rows before the commit
	hour        int64
	next, end   int64 // slots, as ids
	first, last int64 // bounds of the times of its rows
	spilled     bool  // some are rows of earlier hours
	changed     bool
}

// startHour continues with the free slots of another hour.
func (c *commit) startHour(f *hourFill, hour int64) error {
	if err := c.note(f); err != nil {
		return err
	}
	begin := hour << schema.SlotBits
	*f = hourFill{known: f.known, hour: hour, next: begin, end: begin + cmp.Or(c.options.HourRows, 1<<schema.SlotBits), first: math.MaxInt64, last: math.MinInt64}
	if hour > f.known {
		return nil
	}
	var first, last *int64
	if _, err := c.GetDirect(`SELECT coalesce((SELECT max(id) FROM events WHERE id >= ?1 AND id < ?2), ?1 - 1) + 1,
		(SELECT first FROM spilled WHERE hour = ?3), (SELECT last FROM spilled WHERE hour = ?3)`,
		[]any{begin, begin + 1<<schema.SlotBits, hour}, &f.next, &first, &last); err != nil {
		return err
	}
	switch {
	case first != nil:
		f.first, f.last, f.spilled = *first, *last, true
	case f.next > begin: // rows of its own
		f.first, f.last = schema.HourStart(hour), schema.HourStart(hour+1)-1
	}
	return nil
}

// note records the times of an hour's rows if it has rows of earlier hours.
func (c *commit) note(f *hourFill) error {
	if !f.spilled || !f.changed {
		return nil
	}
	return c.ExecDirect("INSERT OR REPLACE INTO spilled (hour, first, last) VALUES (?, ?, ?)", f.hour, f.first, f.last)
}
