package format

import (
	"unsafe"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/poison"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Lender allocates events, and the texts of their parts, from memory that is reused for the next line. They would be most of what a parser
// allocates, and the caller tokenises and drops them at once. The zero Lender is ready.
type Lender struct {
	buf    []byte // texts
	events []*eventWithPart
	lent   int // events in use
}

// eventWithPart is an event with one part, which most events have.
type eventWithPart struct {
	event transcript.Event
	part  [1]transcript.Part
}

// Reset takes back all events and texts. They must not be used any more.
func (l *Lender) Reset() {
	poison.Bytes(l.buf[:cap(l.buf)])
	l.buf, l.lent = l.buf[:0], 0
}

// Event returns a copy of e with one empty part. It is valid until Reset.
func (l *Lender) Event(e transcript.Event) *transcript.Event {
	if l.lent == len(l.events) {
		l.events = append(l.events, new(eventWithPart))
	}
	s := l.events[l.lent]
	l.lent++
	s.event, s.part[0] = e, transcript.Part{}
	s.event.Parts = s.part[:]
	return &s.event
}

// Text returns what fill appends, as a string without a copy. It is valid until Reset.
func (l *Lender) Text(fill func([]byte) []byte) string {
	free := l.buf[len(l.buf):]
	text := fill(free)
	if len(text) == 0 {
		return ""
	}
	if cap(text) == cap(free) {
		l.buf = l.buf[:len(l.buf)+len(text)]
	} else { // fill has allocated a larger buffer; earlier texts keep the old one
		l.buf = text
	}
	return asString(text)
}

// Part returns a part with the text of a value in an event, or of the whole event if the value is absent. Only a value that is not the
// whole event has a range of its own. The part is valid until Reset.
func (l *Lender) Part(event, v jsontext.Value, appendText func([]byte, jsontext.Value) []byte) transcript.Part {
	if !v.Exists() {
		v = event
	}
	part := transcript.Part{Text: l.Text(func(b []byte) []byte { return appendText(b, v) })}
	if at := jsontext.OffsetIn(event, v); at > 0 {
		part.Offset, part.Length = at, int64(v.Len())
	}
	return part
}

// asString returns b as a string without a copy. It must not be used after b has changed.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
