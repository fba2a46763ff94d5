package jsontext

import (
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/poison"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Member is a member of an object, or an element of a member that is an array.
type Member struct {
	Key    string
	Item   bool              // an element
	Origin transcript.Origin // of Bytes
	Bytes  []byte            // JSON, not validated; valid until the next member. nil if it is longer than MaxLine
}

// maxKey is the length of the longest key that Members accepts, in bytes.
const maxKey = 1 << 10

// Members yields the members of the JSON object in r, in memory bounded by the longest and MaxLine. Of members whose key is split it yields each element,
// if they are arrays. It calls problem ("bad json") if there is no object or its end is missing. The error is r's and ends the sequence.
func Members(r io.Reader, split string, problem func(*transcript.Problem)) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		m := &members{array{splitter: splitter{r: r, buf: *bufferPool.Get().(*[]byte)}}}
		defer m.release()
		stopped, reason := m.each(split, yield)
		switch {
		case stopped:
		case m.err != nil && m.err != io.EOF:
			yield(Member{}, m.err)
		case reason != "":
			problem(&transcript.Problem{Kind: "bad json", Reason: reason, Origin: transcript.Origin{Offset: m.offset}})
		}
	}
}

// members is a splitter between the members of an object.
type members struct{ array }

func (m *members) each(split string, yield func(Member, error) bool) (stopped bool, reason string) {
	m.bareObject = true
	if m.skipBOM(); m.peekByte() != '{' {
		return false, "no object"
	}
	m.skip(1)
	for first := true; ; first = false {
		switch c := m.peekByte(); {
		case c == '}':
			if m.skip(1); m.peekByte() != 0 {
				return false, "bytes after the object"
			}
			return false, ""
		case c == ',' && !first:
			m.skip(1)
		case c == 0:
			return false, m.cutOff()
		case !first:
			return false, "no comma between members"
		}
		key, ok := m.key()
		if !ok {
			return false, "no key, or " + m.cutOff()
		}
		if key == split && m.peekByte() == '[' {
			stopped, reason = m.items(key, yield)
		} else {
			stopped, reason = m.value(key, false, yield)
		}
		if stopped || reason != "" {
			return stopped, reason
		}
	}
}

// items yields the elements of an array.
func (m *members) items(key string, yield func(Member, error) bool) (stopped bool, reason string) {
	m.skip(1)
	for first := true; ; first = false {
		switch c := m.peekByte(); {
		case c == ']':
			m.skip(1)
			return false, ""
		case c == ',' && !first:
			m.skip(1)
		case c == 0:
			return false, m.cutOff()
		case !first:
			return false, "no comma between elements"
		}
		if stopped, reason = m.value(key, true, yield); stopped || reason != "" {
			return stopped, reason
		}
	}
}

// value yields one value.
func (m *members) value(key string, item bool, yield func(Member, error) bool) (stopped bool, reason string) {
	at, b, long := m.element()
	switch {
	case b == nil && !long:
		return false, m.cutOff()
	case len(b) == 0 && !long:
		return false, "no value"
	}
	more := yield(Member{key, item, at, b}, nil)
	poison.Bytes(b)
	return !more, ""
}

// key consumes a key and its colon.
func (m *members) key() (string, bool) {
	if m.peekByte() != '"' {
		return "", false
	}
	for s := (valueScanner{at: 1, quoted: true}); ; m.fill() {
		have := m.buf[m.start:m.end]
		for s.quoted && s.at < len(have) && s.at <= maxKey {
			s.scanString(have)
		}
		switch {
		case s.at > maxKey, s.quoted && m.err != nil:
			return "", false
		case !s.quoted:
			key := Unquote(string(have[:s.at]))
			m.skip(s.at)
			if m.peekByte() != ':' {
				return "", false
			}
			m.skip(1)
			return key, true
		}
	}
}
