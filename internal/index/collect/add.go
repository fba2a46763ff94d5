package collect

import (
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Add adds one record. Records before the subject's From are indexed already and only advance the counters.
func (c *Collector) Add(r transcript.Record) { _ = c.AddInChunks(r, func() error { return nil }) }

// chunkParts is how many parts of an event are added between calls of afterChunk: an event may have a million.
const chunkParts = 1 << 12

// AddInChunks is Add for records of any size. It calls afterChunk after the record, and within an event after every few
// thousand parts; afterChunk may call Take. AddInChunks stops at an error of afterChunk and returns it.
func (c *Collector) AddInChunks(r transcript.Record, afterChunk func() error) error {
	switch r := r.(type) {
	case *transcript.Run:
		c.run(r)
	case *transcript.Conversation:
		c.conversation(r)
	case *transcript.Event:
		if err := c.event(r, afterChunk); err != nil {
			return err
		}
	case *transcript.Usage:
		clampUsage(r)
		addNew(c, &c.out.Usage, r, r.Origin)
	case *transcript.Receipt:
		addNew(c, &c.out.Receipts, r, r.Origin)
	case *transcript.Step:
		c.out.Steps = append(c.out.Steps, r) // it ends later than it begins, so every parse states it again
		c.out.Bytes += recordSize
	case *transcript.Link:
		addNew(c, &c.out.Links, r, r.Origin)
	case *transcript.Hint:
		addNew(c, &c.out.Hints, r, r.Origin)
	case *transcript.Problem:
		c.problem(r)
	}
	return afterChunk()
}

func addNew[R any](c *Collector, to *[]R, r R, at transcript.Origin) {
	if c.isNew(at) {
		*to = append(*to, r)
		c.out.Bytes += recordSize
	}
}

// isNew reports whether a record is not indexed yet, and records how far the parse has come.
func (c *Collector) isNew(o transcript.Origin) bool {
	if o.Inner != "" {
		return true
	}
	if o.Offset < c.out.From {
		return false
	}
	c.lastOffset, c.replaying = max(c.lastOffset, o.End()), false
	return true
}

// clampUsage replaces impossible values, so that one broken original does not spoil the sums of others: a negative
// number of tokens or requests becomes unknown, and values above the limits are cut. Negative money is a credit.
func clampUsage(u *transcript.Usage) {
	for _, n := range [...]*transcript.Count{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.CacheWrite1h, &u.Reasoning, &u.Requests} {
		if n.N = min(n.N, index.MaxTokens); n.N < 0 {
			*n = transcript.Count{}
		}
	}
	u.Cost.N = max(-index.MaxNano, min(u.Cost.N, index.MaxNano))
}
