// Package schema is what stands in tables beside what their migrations say: how row ids, public ids and runs of words are made
// up, and the numbers of verdicts.
package schema

import (
	"fmt"
	"math"
)

// The row id of an event is the hour of its time and a slot in that hour, so that "newest first" and "between these
// dates" are ranges of ids that the full-text index walks in order. The index stores differences of ids, so they are
// dense: hours count from 2020, what is earlier belongs to hour 0, and rows of a full hour are filed under the next
// that is not. Of hours with such rows the table spilled says which times they hold.
const (
	SlotBits  = 10
	microHour = int64(3600 * 1_000_000)
	firstHour = 1_577_836_800 / 3600
)

// HourOf is the hour of a time in microseconds, as row ids have it.
func HourOf(micro int64) int64 { return max(micro/microHour-firstHour, 0) }

// HourStart is the earliest time, in microseconds, of what belongs to an hour.
func HourStart(hour int64) int64 {
	if hour == 0 {
		return math.MinInt64
	}
	return (hour + firstHour) * microHour
}

// HourMatchesTime says of an event e, in SQL, whether its time leads to where it is filed.
func HourMatchesTime() string {
	const at = "coalesce(e.time, e.near, 0)"
	own := fmt.Sprintf("max(%s / %d - %d, 0)", at, microHour, firstHour)
	hour := fmt.Sprintf("e.id >> %d", SlotBits)
	return fmt.Sprintf("(%s = %s OR %[1]s > %[2]s AND EXISTS (SELECT 1 FROM spilled s WHERE s.hour = %[1]s AND %[3]s BETWEEN s.first AND s.last))", hour, own, at)
}

// A row says its time by what it is behind the beginning of the hour of its id: in milliseconds, three bytes and
// not eight, or where that is not exact in microseconds and 2^62. The schema reads it.
const exactTime = 1 << 62

// EncodeTime is how the row of an id says a time in microseconds between the years 1 and 10000.
func EncodeTime(id, micro int64) int64 {
	behind := micro - (id>>SlotBits+firstHour)*microHour
	if behind%1000 == 0 {
		return behind / 1000
	}
	return behind + exactTime
}

// EncodePart is how a row says which part of how many it is, and Row.Global: 0 for one of one that is written first.
func EncodePart(part, parts, global int) int64 {
	return int64(part)<<26 | int64(parts-1)<<2 | int64(global-1)&3
}
