// Package schema defines the encodings in tables that their migrations do not: row ids, public ids, blocks of words, and
// the numbers of verdicts.
package schema

import (
	"fmt"
	"math"
)

// The row id of an event is the hour of its time and a slot in that hour, so that "newest first" and "between these
// dates" are ranges of ids that the full-text index walks in order. The index stores deltas of ids, so ids are dense:
// hours count from 2020, earlier times belong to hour 0, and when an hour is full, its rows go to the next hour that is
// not. For hours with such rows the table spilled has the range of their times.
const (
	SlotBits  = 10
	microHour = int64(3600 * 1_000_000)
	firstHour = 1_577_836_800 / 3600
)

// HourOf returns the hour of a row id for a time in microseconds.
func HourOf(micro int64) int64 { return max(micro/microHour-firstHour, 0) }

// HourStart returns the earliest time, in microseconds, that belongs to an hour.
func HourStart(hour int64) int64 {
	if hour == 0 {
		return math.MinInt64
	}
	return (hour + firstHour) * microHour
}

// HourMatchesTime returns SQL that tests whether the hour in the row id of an event (alias e) agrees with its time.
func HourMatchesTime() string {
	const at = "coalesce(e.time, e.near, 0)"
	own := fmt.Sprintf("max(%s / %d - %d, 0)", at, microHour, firstHour)
	hour := fmt.Sprintf("e.id >> %d", SlotBits)
	return fmt.Sprintf("(%s = %s OR %[1]s > %[2]s AND EXISTS (SELECT 1 FROM spilled s WHERE s.hour = %[1]s AND %[3]s BETWEEN s.first AND s.last))", hour, own, at)
}

// A row stores its time relative to the start of the hour of its id: in milliseconds, which takes three bytes instead of
// eight, or, where that is not exact, in microseconds plus 2^62. The schema decodes it.
const exactTime = 1 << 62

// EncodeTime returns the stored form of a time in microseconds, between the years 1 and 10000, for a row id.
func EncodeTime(id, micro int64) int64 {
	behind := micro - (id>>SlotBits+firstHour)*microHour
	if behind%1000 == 0 {
		return behind / 1000
	}
	return behind + exactTime
}

// EncodePart packs the part, the number of parts and index.Row.Global of a row. It is 0 for a single part with Global 1.
func EncodePart(part, parts, global int) int64 {
	return int64(part)<<26 | int64(parts-1)<<2 | int64(global-1)&3
}
