// Package transcript defines the domain types that all other packages share: the records that a format's parser makes
// of an original, the ids by which runs, conversations and events are identified, and the verdicts that say why a row
// counts or does not.
//
// It does no I/O and has no state. A parser yields records in the order of the original; the index turns them
// into rows. Unknown is not zero: whatever an original does not state stays the zero value of its type
// ("" for text, an invalid Time, a Count that is not Known).
package transcript

import (
	"math"
	"time"
)

// Kind says what an event, or one part of an event, is.
type Kind string

// The kinds of events.
const (
	KindMessage    Kind = "message"
	KindReasoning  Kind = "reasoning"
	KindToolCall   Kind = "tool_call"
	KindToolResult Kind = "tool_result"
	KindSystem     Kind = "system"
	KindNotice     Kind = "notice"
	KindError      Kind = "error"
	KindCompaction Kind = "compaction"
	KindLifecycle  Kind = "lifecycle"
	KindUnknown    Kind = "unknown"
)

// Outcome is how a run or step ended, in five values that all formats share. The producer's own word is kept
// beside it as Status.
type Outcome string

// The outcomes. An empty Outcome is unknown.
const (
	Running   Outcome = "running"
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	Other     Outcome = "other"
)

// Verdict says why a row counts or does not. Nothing is dropped silently: a row that does not count stays in its
// view, with its verdict.
type Verdict string

// The verdicts. Only Counted rows enter totals.
const (
	Counted        Verdict = "counted"
	DuplicateOf    Verdict = "duplicate"       // another original holds the same record, and it counts there
	CopiedHistory  Verdict = "copied history"  // a fork, resume or re-serialisation repeats it
	DerivedTotal   Verdict = "derived total"   // a sum of rows that count by themselves
	OutsideReceipt Verdict = "outside receipt" // usage that no receipt vouches for
	EarlierVersion Verdict = "earlier version" // a later content of the same original replaced it
	Uncounted      Verdict = "uncounted"       // searchable, but no event by the format's counting rule
)

// Time is an instant as an original states it: microseconds since 1970 UTC, and the UTC offset it was written
// with. The zero Time means "not stated".
type Time struct {
	UnixMicro int64
	Offset    int16 `json:",omitzero"` // minutes east of UTC
	Valid     bool
}

// TimeLayout is the layout of times in JSON: RFC 3339, of times in UTC.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// OrNil returns the time as in JSON, nil if it is unknown.
func (t Time) OrNil() *string {
	if !t.Valid {
		return nil
	}
	return new(time.UnixMicro(t.UnixMicro).UTC().Format(TimeLayout))
}

// Count is a number that may be unknown.
type Count struct {
	N     int64
	Known bool
}

// Known returns the Count n.
func Known(n int64) Count { return Count{n, true} }

// OrNil returns the number, nil if it is unknown.
func (c Count) OrNil() *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

// Origin is the place of a record in its original. Offset and Length are in bytes of the original itself, or of
// the layer that Inner names when the original is compressed or an archive ("gzip", or "tar:<member name>",
// "gzip+tar:<member>"). Line counts from 1, and is 0 where the format has no lines.
type Origin struct {
	Inner  string `json:",omitzero"`
	Line   int    `json:",omitzero"`
	Offset int64  `json:",omitzero"`
	Length int64  `json:",omitzero"`
}

// End returns the offset of the first byte after the record.
func (o Origin) End() int64 { return o.Offset + o.Length }

// Attributes are facts that have no field because only one format states them. Values are JSON scalars: string, int64,
// float64 or bool.
type Attributes map[string]any

// Set sets an attribute unless value is "" or nil, which mean "not stated", or a sum of floats that has become infinite,
// which JSON cannot hold. It allocates the map on first use, because most records have no attributes.
func (a *Attributes) Set(key string, value any) {
	if value == "" || value == nil {
		return
	}
	if f, ok := value.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return
	}
	if *a == nil {
		*a = Attributes{}
	}
	(*a)[key] = value
}

// Record is one statement of a parser: *Run, *Conversation, *Event, *Usage, *Receipt, *Step, *Link, *Hint or
// *Problem. A parser reuses no record that it has yielded except an *Event and the memory of its texts: see Clone.
type Record interface{ record() }

func (*Run) record()          {}
func (*Conversation) record() {}
func (*Event) record()        {}
func (*Usage) record()        {}
func (*Receipt) record()      {}
func (*Step) record()         {}
func (*Link) record()         {}
func (*Hint) record()         {}
func (*Problem) record()      {}
