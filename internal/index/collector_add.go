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
		bound(r)
		addNew(c, &c.out.Usage, r, r.Origin)
	case *transcript.Receipt:
		addNew(c, &c.out.Receipts, r, r.Origin)
	case *transcript.Step:
		c.out.Steps = append(c.out.Steps, r) // ends later than it begins: always told again
		c.out.Bytes += recordSize
	case *transcript.Link:
		addNew(c, &c.out.Links, r, r.Origin)
	case *transcript.Hint:
		addNew(c, &c.out.Hints, r, r.Origin)
	case *transcript.Problem:
		c.problem(r)
	}
	return look()
}

func addNew[R any](c *Collector, to *[]R, r R, at transcript.Origin) {
	if c.fresh(at) {
		*to = append(*to, r)
		c.out.Bytes += recordSize
	}
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
