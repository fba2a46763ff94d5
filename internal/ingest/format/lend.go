package format

import (
	"bytes"
	"io"
	"unsafe"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Lender makes events, and the texts of their parts, in room that is used again for the next line, since most of what a parser allocates
// would be these, which are cut into words and forgotten at once. The zero Lender is ready.
type Lender struct {
	buf    []byte // of texts
	events []*single
	lent   int // of events
}

// single is an event with room for its part: all but few have one.
type single struct {
	event transcript.Event
	part  [1]transcript.Part
}

// Reset takes back what was lent. Nobody may read it any more.
func (l *Lender) Reset() {
	spoil(l.buf[:cap(l.buf)])
	l.buf, l.lent = l.buf[:0], 0
}

// Event is e with one part, which is empty, until Reset.
func (l *Lender) Event(e transcript.Event) *transcript.Event {
	if l.lent == len(l.events) {
		l.events = append(l.events, new(single))
	}
	s := l.events[l.lent]
	l.lent++
	s.event, s.part[0] = e, transcript.Part{}
	s.event.Parts = s.part[:]
	return &s.event
}

// Text is what fill appends, until Reset.
func (l *Lender) Text(fill func([]byte) []byte) string {
	room := l.buf[len(l.buf):]
	text := fill(room)
	if len(text) == 0 {
		return ""
	}
	if cap(text) == cap(room) {
		l.buf = l.buf[:len(l.buf)+len(text)]
	} else { // it did not fit; what was lent before stays where it is
		l.buf = text
	}
	return asString(text)
}

// Memory reads content that is in memory, and stays as it is until the parse is over.
type Memory struct {
	bytes.Reader
	content []byte
}

// InMemory returns a Reader of all of some content.
func InMemory(content []byte) *Memory {
	m := &Memory{content: content}
	m.Reset(content)
	return m
}

// ReadText is ReadAll as a string. Nobody may read it, or a part of it, once the parse is over: of content that is in memory it is no copy.
func ReadText(r io.Reader, limit int64) (string, error) {
	if m, ok := r.(*Memory); ok && m.Len() == len(m.content) && int64(m.Len()) <= limit {
		return asString(m.content), nil
	}
	b, err := ReadAll(r, limit)
	return asString(b), err
}

// asString gives bytes as a string, which nobody may read once they are changed.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
