package usage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// clock writes local days and hours as SQL, by the offsets of the time zone over the time that usage covers.
type clock struct {
	from   []int64 // seconds UTC at which an offset begins; the first one holds before, too
	offset []int64 // seconds east
}

// Offsets are looked up between these years; outside of them the nearer end holds.
const firstYear, lastYear = 1970, 2100

// newClock looks up the offsets of the zone over the time of all usage that counts.
func newClock(ctx context.Context, tx *engine.ReadTx, q index.SumQuery) (clock, error) {
	loc := q.Location
	if loc == nil || q.Unit == index.NoTime || q.Unit == index.Instant {
		loc = time.UTC
	}
	if loc == time.UTC {
		return clock{[]int64{0}, []int64{0}}, nil
	}
	var first, last int64 // days
	var behind bool       // usage that is not in the sums may be of any time
	bounds := fmt.Sprintf(`SELECT coalesce(min(day), 0), coalesce(max(day), 0), EXISTS (SELECT 1 FROM usage_touched) FROM usage_days WHERE day > %d`, Undated)
	if err := tx.QueryRowxContext(ctx, bounds).Scan(&first, &last, &behind); err != nil {
		return clock{}, err
	}
	if q.FileTimes {
		const files = "SELECT min(?1, coalesce(min(mtime) / ?3, ?1)), max(?2, coalesce(max(mtime) / ?3, ?2)) FROM versions"
		if err := tx.QueryRowxContext(ctx, files, first, last, int64(24*time.Hour)).Scan(&first, &last); err != nil {
			return clock{}, err
		}
	}
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	from, to := time.Unix(first*secondsPerDay, 0), time.Unix((last+1)*secondsPerDay, 0)
	q.All = q.All || behind
	if q.All || from.Before(year(firstYear)) {
		from = year(firstYear)
	}
	if q.All || to.After(year(lastYear)) {
		to = year(lastYear)
	}
	return zoneClock(loc, from, to), nil
}

func zoneClock(loc *time.Location, from, to time.Time) clock {
	var c clock
	for at := from.In(loc); ; {
		_, offset := at.Zone()
		if n := len(c.offset); n == 0 || c.offset[n-1] != int64(offset) {
			c.from, c.offset = append(c.from, at.Unix()), append(c.offset, int64(offset))
		}
		_, end := at.ZoneBounds()
		if end.IsZero() || end.After(to) {
			return c
		}
		if !end.After(at) { // package time ends the last day of some leap years at its own begin
			end = at.AddDate(0, 0, 1)
		}
		at = end
	}
}

// Conversions from seconds.
func inSeconds(n int64) int64 { return n }
func inMicros(n int64) int64  { return n * 1_000_000 }
func inHours(n int64) int64   { return n / 3600 }

// at returns an expression of the offset at a time that expr gives in the unit of from, in the unit of offset.
func (c clock) at(expr string, from, offset func(int64) int64) string {
	if len(c.offset) == 1 {
		return fmt.Sprint(offset(c.offset[0]))
	}
	var b strings.Builder
	b.WriteString("CASE")
	for i := len(c.from) - 1; i > 0; i-- { // most usage is new
		fmt.Fprintf(&b, " WHEN %s >= %d THEN %d", expr, from(c.from[i]), offset(c.offset[i]))
	}
	fmt.Fprintf(&b, " ELSE %d END", offset(c.offset[0]))
	return b.String()
}

// wholeHours reports whether all days begin at whole hours UTC.
func (c clock) wholeHours() bool {
	for i := range c.from {
		if c.offset[i]%3600 != 0 || i > 0 && c.from[i]%3600 != 0 {
			return false
		}
	}
	return true
}

const microsPerDay, microsPerHour, secondsPerDay = 86_400_000_000, 3_600_000_000, 86_400

// shift makes times positive, so that division rounds down; in days.
const shift = 1 << 24

// expr returns an expression of index.Sum.Time for a time in microseconds. Times outside of any calendar are clamped before
// anything overflows.
func (c clock) expr(unit index.Unit, time string) string {
	t := "max(-1152921504606846976, min(1152921504606846976, " + time + "))"
	offset := c.at(time, inMicros, inMicros)
	switch unit {
	case index.Day:
		return fmt.Sprintf("(%s + %s + %d) / %d - %d", t, offset, int64(shift)*microsPerDay, int64(microsPerDay), shift)
	case index.Hour:
		hour := fmt.Sprintf("((%s + %s + %d) / %d - %d) * 3600 - %s", t, offset, int64(shift)*microsPerDay, int64(microsPerHour), shift*24, c.at(time, inMicros, inSeconds))
		if len(c.from) == 1 || c.wholeHours() {
			return hour
		}
		begin := append([]int64{-1 << 60}, c.from[1:]...) // an hour in which clocks change ends there
		return fmt.Sprintf("max(%s, %s)", hour, clock{c.from, begin}.at(time, inMicros, inSeconds))
	case index.Instant:
		return time
	}
	return "NULL"
}

// hours is expr for a row with a day and an hour, in zones whose days begin at whole hours.
func (c clock) hours(unit index.Unit) string {
	const t = "(u.day * 24 + u.hour)"
	at := "NULL"
	switch unit {
	case index.Day:
		at = fmt.Sprintf("(%s + %s + %d) / 24 - %d", t, c.at(t, inHours, inHours), shift*24, shift)
	case index.Hour:
		at = t + " * 3600"
	}
	return fmt.Sprintf("CASE WHEN u.day > %d THEN %s END", Undated, at)
}
