package jsontext

import (
	"fmt"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/poison"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Member is a member of an object, or an element of a member that is an array.
type Member struct {
	Key    string
	Item   bool              // an element
	Depth  int               // of the object that has the member: 0 for the outermost
	Opens  bool              // an element of Nested whose members follow, without Bytes or length
	Origin transcript.Origin // of Bytes
	Bytes  []byte            // JSON, not validated; valid until the next member. nil if it is longer than MaxLine
}

// Value returns the parsed Bytes, or the problem that they are no JSON ("bad json") or too long ("element too long").
func (m Member) Value() (Value, *transcript.Problem) {
	if m.Bytes == nil {
		reason := fmt.Sprintf("%d bytes, more than %d", m.Origin.Length, MaxLine)
		return Value{}, &transcript.Problem{Kind: "element too long", Reason: reason, Origin: m.Origin}
	}
	v, err := Parse(m.Bytes)
	if err != nil {
		return Value{}, &transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: m.Origin}
	}
	return v, nil
}

// maxKey is the length of the longest key that Members accepts, in bytes.
const maxKey = 1 << 10

// Members yields the members of the JSON object in r, in memory bounded by the longest and MaxLine. Of members whose key is split it yields each element,
// if they are arrays. It calls problem ("bad json") if there is no object or its end is missing. The error is r's and ends the sequence.
func Members(r io.Reader, split string, problem func(*transcript.Problem)) iter.Seq2[Member, error] {
	return Nested(r, []string{split}, problem)
}

// Nested is Members for objects in lists in objects. path names a list in the object in r, a list in the elements of that, and so on. Of elements on
// the way that are objects it yields where they begin (Opens), and then their members; the elements of the last list it yields whole.
func Nested(r io.Reader, path []string, problem func(*transcript.Problem)) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		m := &members{array: array{splitter: splitter{r: r, buf: *bufferPool.Get().(*[]byte)}, bareObject: true}, path: path, yield: yield}
		defer m.release()
		stopped, reason := m.outermost()
		switch {
		case stopped:
		case m.err != nil && m.err != io.EOF:
			yield(Member{}, m.err)
		case reason != "":
			problem(&transcript.Problem{Kind: "bad json", Reason: reason, Origin: transcript.Origin{Offset: m.offset}})
		}
	}
}

// members is a splitter between the members of objects.
type members struct {
	array
	path  []string // see Nested
	yield func(Member, error) bool
}

// outermost yields the members of the object in the reader.
func (m *members) outermost() (stopped bool, reason string) {
	if m.skipBOM(); m.peekByte() != '{' {
		return false, "no object"
	}
	if stopped, reason = m.object(0); stopped || reason != "" {
		return stopped, reason
	}
	if m.peekByte() != 0 {
		return false, "bytes after the object"
	}
	return false, ""
}

// object yields the members of an object that lies at a depth of the path.
func (m *members) object(depth int) (stopped bool, reason string) {
	m.skip(1)
	for first := true; ; first = false {
		switch c := m.peekByte(); {
		case c == '}':
			m.skip(1)
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
		if key == m.path[depth] && m.peekByte() == '[' {
			stopped, reason = m.items(key, depth)
		} else {
			stopped, reason = m.value(Member{Key: key, Depth: depth})
		}
		if stopped || reason != "" {
			return stopped, reason
		}
	}
}

// items yields the elements of an array, or the members of those that are on the path.
func (m *members) items(key string, depth int) (stopped bool, reason string) {
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
		item := Member{Key: key, Item: true, Depth: depth}
		if depth+1 < len(m.path) && m.peekByte() == '{' {
			item.Opens, item.Origin.Offset = true, m.offset
			if !m.yield(item, nil) {
				return true, ""
			}
			stopped, reason = m.object(depth + 1)
		} else {
			stopped, reason = m.value(item)
		}
		if stopped || reason != "" {
			return stopped, reason
		}
	}
}

// value yields one value.
func (m *members) value(as Member) (stopped bool, reason string) {
	var long bool
	as.Origin, as.Bytes, long = m.element()
	switch {
	case as.Bytes == nil && !long:
		return false, m.cutOff()
	case len(as.Bytes) == 0 && !long:
		return false, "no value"
	}
	more := m.yield(as, nil)
	poison.Bytes(as.Bytes)
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
