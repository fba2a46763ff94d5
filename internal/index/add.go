package index

import "github.com/txarchive/txarchive/internal/transcript"

// Add takes one record. Records before the subject's From are indexed already; they only move the counters.
func (c *Collector) Add(r transcript.Record) { _ = c.AddSome(r, func() error { return nil }) }

// someParts is how many parts of an event are taken before somebody looks: it may have a million.
const someParts = 1 << 12

// AddSome is Add that asks look when it has taken the record, or a few thousand parts of it: it may Take what there is. Its error is AddSome's.
func (c *Collector) AddSome(r transcript.Record, look func() error) error {
	switch r := r.(type) {
	case *transcript.Run:
		c.run(r)
	case *transcript.Conversation:
		c.conversation(r)
	case *transcript.Event:
		if err := c.event(r, look); err != nil {
			return err
		}
	case *transcript.Usage:
		if c.fresh(r.Origin) {
			bound(r)
			c.out.Usage = append(c.out.Usage, r)
			c.out.Bytes += recordSize
		}
	case *transcript.Receipt:
		if c.fresh(r.Origin) {
			c.out.Receipts = append(c.out.Receipts, r)
			c.out.Bytes += recordSize
		}
	case *transcript.Step:
		c.out.Steps = append(c.out.Steps, r) // ends later than it begins: always told again
		c.out.Bytes += recordSize
	case *transcript.Link:
		if c.fresh(r.Origin) {
			c.out.Links = append(c.out.Links, r)
			c.out.Bytes += recordSize
		}
	case *transcript.Hint:
		if c.fresh(r.Origin) {
			c.out.Hints = append(c.out.Hints, r)
			c.out.Bytes += recordSize
		}
	case *transcript.Problem:
		c.problem(r)
	}
	return look()
}

// fresh says whether a record is new, and remembers how far the parse has come.
func (c *Collector) fresh(o transcript.Origin) bool {
	if o.Inner != "" {
		return true
	}
	if o.Offset < c.out.From {
		return false
	}
	c.last, c.known = max(c.last, o.End()), false
	return true
}
