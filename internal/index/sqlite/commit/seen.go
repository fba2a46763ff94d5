package commit

import "github.com/txarchive/txarchive/internal/transcript"

// seeEvent marks the event of a row to be judged, unless nothing but other parts of the same event has had its id before.
func (c *commit) seeEvent(row int) {
	r := &c.rows[row]
	alone := r.Verdict == transcript.CopiedHistory || r.Verdict == transcript.DuplicateOf
	part := false
	if row > 0 {
		last := &c.rows[row-1]
		part = last.EID == r.EID && last.Transcript == r.Transcript && last.Seq == r.Seq
	}
	if part || !c.seen.Events.Add(r.EID) {
		if alone {
			c.changes.TouchEvent(r.EID, true)
		}
		return
	}
	c.changes.TouchEvent(r.EID, alone || r.Verdict == transcript.Uncounted)
}

// seeUsage marks the number of a usage_id to be judged, unless no row has had it before. A row has its own usage_id, and may
// have an alias, for which it speaks.
func (c *commit) seeUsage(number int64, speaks bool) {
	if !c.seen.Usage.Add(number) {
		return
	}
	c.changes.TouchUsage(number, speaks)
}
