package format

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Elements yields the elements of the JSON array that r holds, one after the other, in memory bounded by the longest and
// MaxLine; an object alone as if it were the only element of one. Of an element that is no JSON ("bad json") or longer than
// MaxLine ("element too long") it calls problem and goes on, as far as it can be told where the next one begins; the same where
// there is no array, or its end is missing. The error is r's and ends the sequence.
func Elements(r io.Reader, problem func(*transcript.Problem)) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		a := &array{splitter: splitter{r: r, buf: *buffers.Get().(*[]byte)}}
		defer a.release()
		d := spare.Get().(*document)
		defer func() { d.release() }()
		more, reason := a.open()
		for more {
			at, b, long := a.element()
			if b == nil && !long {
				reason = a.cutOff()
				break
			}
			if long {
				said := fmt.Sprintf("%d bytes, more than %d", at.Length, MaxLine)
				problem(&transcript.Problem{Kind: "element too long", Reason: said, Origin: at})
			} else if i, bad := d.parse(b); bad != "" {
				problem(&transcript.Problem{Kind: "bad json", Reason: fmt.Sprintf("byte %d: %s", i+1, bad), Origin: at, Sum: sum(b)})
			} else if !yield(Object{at, Value{doc: d}}, nil) {
				return
			}
			spoil(b)
			d = spoilDocument(d)
			more, reason = a.more()
		}
		switch {
		case a.err != nil && a.err != io.EOF:
			yield(Object{}, a.err)
		case reason != "":
			problem(&transcript.Problem{Kind: "bad json", Reason: reason, Origin: transcript.Origin{Offset: a.offset}})
		}
	}
}

// array is a splitter that cuts between the elements of an array.
type array struct {
	splitter
	alone bool // one object without an array
}

// next gives the next byte that is no space, 0 at the end. It stays where it is.
func (a *array) next() byte {
	for {
		n := skipSpace(a.buf[a.start:a.end], 0)
		a.skip(n)
		switch {
		case a.start < a.end:
			return a.buf[a.start]
		case a.err != nil:
			return 0
		}
		a.fill()
	}
}

func (a *array) skip(n int) {
	a.start += n
	a.offset += int64(n)
}

// open goes behind the bracket that the array begins with, and before its first element if there is one, or before an object alone.
func (a *array) open() (more bool, reason string) {
	for a.err == nil && a.end-a.start < len(bom) {
		a.fill()
	}
	if bytes.HasPrefix(a.buf[a.start:a.end], []byte(bom)) {
		a.skip(len(bom))
	}
	switch a.next() {
	case '[':
	case '{':
		a.alone = true
		return true, ""
	default:
		return false, "no array"
	}
	if a.skip(1); a.next() == ']' {
		return false, a.closed()
	}
	return true, ""
}

// closed goes behind the array, where nothing may stand.
func (a *array) closed() (reason string) {
	if a.skip(1); a.next() != 0 {
		return "bytes after the array"
	}
	return ""
}

func (a *array) cutOff() (reason string) {
	if a.alone {
		return "the object is cut off"
	}
	return "the array is cut off"
}

// more goes behind the comma after an element. Without one the array ends.
func (a *array) more() (more bool, reason string) {
	switch c := a.next(); {
	case a.alone && c != 0:
		return false, "bytes after the object"
	case a.alone:
		return false, ""
	}
	switch a.next() {
	case ',':
		a.skip(1)
		return true, ""
	case ']':
		return false, a.closed()
	case 0:
		return false, "the array is cut off"
	}
	return false, "no comma between elements"
}

// element cuts the next element off, which lives until the next call: nil when it does not end. One that is too long is passed over.
func (a *array) element() (at transcript.Origin, b []byte, long bool) {
	a.next()
	at.Offset = a.offset
	for s := (span{}); ; a.fill() {
		if s.goOn(a.buf[a.start:a.end]) {
			long = long || s.at > MaxLine
			at.Length = a.offset + int64(s.at) - at.Offset
			if !long {
				b = a.buf[a.start : a.start+s.at]
			}
			a.skip(s.at)
			return at, b, long
		}
		if a.err != nil {
			return at, nil, false
		}
		if long = long || s.at > MaxLine; long {
			a.skip(s.at)
			s.at = 0
		}
	}
}

// span is how far a value goes: what was looked at, and what is open there.
type span struct {
	at      int
	depth   int
	quoted  bool
	escaped bool // by a backslash before at
}

// goOn looks at the bytes from at on, and reports whether the value ends among them: there is at, then. That the value is one is
// not said.
func (s *span) goOn(b []byte) bool {
	for s.at < len(b) {
		if s.quoted {
			s.text(b)
			continue
		}
		switch b[s.at] {
		case '"':
			s.quoted = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				if s.depth == 0 {
					s.at++
				}
				return true
			}
		case ',':
			if s.depth == 0 {
				return true
			}
		}
		s.at++
	}
	return false
}

// text goes behind the quote that ends a string, or to the end of what is there.
func (s *span) text(b []byte) {
	rest := b[s.at:]
	n := bytes.IndexByte(rest, '"')
	if n >= 0 {
		rest = rest[:n]
	}
	slashes := len(rest) - len(bytes.TrimRight(rest, `\`))
	odd := slashes%2 == 1
	if slashes == len(rest) && s.escaped {
		odd = !odd
	}
	s.at += len(rest)
	if s.escaped = odd; n < 0 {
		return
	}
	s.quoted = odd // an escaped quote ends nothing
	s.escaped = false
	s.at++
}

// FirstElement gives what a file's first bytes show of the first object that [Elements] yields, which may stand alone; absent when
// they begin otherwise.
func FirstElement(head []byte) (v Value, alone bool) {
	head = TrimBOM(head)
	head = head[skipSpace(head, 0):]
	switch {
	case BeginsObject(head):
		alone = true
	case len(head) > 0 && head[0] == '[' && BeginsObject(head[1:]):
		head = head[1:]
	default:
		return Value{}, false
	}
	return ParseStart(head[skipSpace(head, 0):]), alone
}
