// Package resolve derives what follows from more than one original: which run a name means, what is known of a run, which of
// several transcripts of a conversation counts, and what is stated twice.
//
// A commit writes what each original states, notes in Changes what that touches, and calls Resolve once. Resolve looks only at
// what was touched, and writes through the same transaction. Most runs are new, and everything that is stated of them was noted:
// these are resolved from memory.
package resolve

import (
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// Resolve resolves what was touched, with the rows of events that were added. The result is as if the archive had been indexed
// in any other order.
func (c *Changes) Resolve(rows []write.Row) error {
	c.rows = rows
	if err := c.countPartial(); err != nil {
		return err
	}
	if len(c.touched) == 0 && len(c.keys) == 0 {
		return nil
	}
	runs, err := c.identify()
	if err != nil {
		return err
	}
	if runs, err = c.relatives(runs); err != nil {
		return err
	}
	if err := c.prepareUnread(c.splitCached(runs)); err != nil {
		return err
	}
	if err := c.joinEdges(); err != nil {
		return err
	}
	if err := c.judgeReceipts(); err != nil { // resolvers are given those that count
		return err
	}
	merged, err := c.mergeRuns()
	if err != nil {
		return err
	}
	families, err := c.families(merged)
	if err != nil {
		return err
	}
	if err := c.elect(families); err != nil {
		return err
	}
	moved, err := c.judgeEvents()
	if err != nil {
		return err
	}
	if err := c.FillTemp("moved", write.Sorted(moved)); err != nil { // also of runs that are not touched
		return err
	}
	if err := c.judgeHearsay(len(moved) > 0); err != nil {
		return err
	}
	if err := c.statedLinks(); err != nil {
		return err
	}
	if err := c.judgeCalls(); err != nil {
		return err
	}
	if err := c.judgeUsage(); err != nil {
		return err
	}
	return c.finishRuns()
}

// prepareUnread makes ready the runs of which not everything that is stated is in memory: what queries read of them.
func (c *Changes) prepareUnread(runs []int64) error {
	if c.unread = len(runs); c.unread == 0 {
		return nil
	}
	if err := c.FillTemp("unread_runs", runs); err != nil {
		return err
	}
	return c.spellOut()
}
