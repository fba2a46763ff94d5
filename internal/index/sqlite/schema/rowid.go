// Package schema is what stands in tables beside what their migrations say: how row ids, public ids and runs of words are made
// up, and the numbers of verdicts.
package schema

// The row id of an event is the hour of its time and a slot in that hour, so that "newest first" and "between
// these dates" are ranges of ids that the full-text index walks in order.
const (
	SlotBits   = 20
	microHour  = 3600 * 1_000_000
	LatestHour = 1<<(53-SlotBits) - 1 // keeps ids exact as floating point numbers, too
)

// HourOf is the hour of a time in microseconds, as row ids have it.
func HourOf(micro int64) int64 {
	return min(max(micro/microHour, 0), LatestHour)
}
