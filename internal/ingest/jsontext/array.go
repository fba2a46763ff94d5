package jsontext

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/poison"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Elements yields the elements of the JSON array in r, in memory bounded by the longest element and MaxLine. A bare object
// counts as an array of one element. For an element that is invalid ("bad json") or longer than MaxLine ("element too long") it calls
// problem and continues with the next element, if that can be found. It also calls problem if there is no array or its end is
// missing. The error is r's and ends the sequence.
func Elements(r io.Reader, problem func(*transcript.Problem)) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		a := &array{splitter: splitter{r: r, buf: *bufferPool.Get().(*[]byte)}}
		defer a.release()
		d := documentPool.Get().(*document)
		defer func() { d.release() }()
		more, reason := a.openArray()
		for more {
			at, b, long := a.element()
			if b == nil && !long {
				reason = a.cutOff()
				break
			}
			if long {
				reason := fmt.Sprintf("%d bytes, more than %d", at.Length, MaxLine)
				problem(&transcript.Problem{Kind: "element too long", Reason: reason, Origin: at})
			} else if i, bad := d.parse(b); bad != "" {
				problem(&transcript.Problem{Kind: "bad json", Reason: fmt.Sprintf("byte %d: %s", i+1, bad), Origin: at, Sum: hashOf(b)})
			} else if !yield(Object{at, Value{doc: d}}, nil) {
				return
			}
			poison.Bytes(b)
			d = poisonDocument(d)
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

// array is a splitter that splits between the elements of a JSON array.
type array struct {
	splitter
	bareObject bool // the input is one object without an array
}

// peekByte skips white space and returns the next byte without consuming it, 0 at the end.
func (a *array) peekByte() byte {
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

// openArray consumes the opening bracket, or nothing of a bare object. more reports whether an element follows; reason says what is wrong.
func (a *array) openArray() (more bool, reason string) {
	a.skipBOM()
	switch a.peekByte() {
	case '[':
	case '{':
		a.bareObject = true
		return true, ""
	default:
		return false, "no array"
	}
	if a.skip(1); a.peekByte() == ']' {
		return false, a.checkEnd()
	}
	return true, ""
}

func (a *array) skipBOM() {
	for a.err == nil && a.end-a.start < len(bom) {
		a.fill()
	}
	if bytes.HasPrefix(a.buf[a.start:a.end], []byte(bom)) {
		a.skip(len(bom))
	}
}

// checkEnd consumes the closing bracket. reason is set if anything follows it.
func (a *array) checkEnd() (reason string) {
	if a.skip(1); a.peekByte() != 0 {
		return "bytes after the array"
	}
	return ""
}

func (a *array) cutOff() (reason string) {
	if a.bareObject {
		return "the object is cut off"
	}
	return "the array is cut off"
}

// more consumes the comma after an element and reports whether another element follows; reason says what is wrong.
func (a *array) more() (more bool, reason string) {
	switch c := a.peekByte(); {
	case a.bareObject && c != 0:
		return false, "bytes after the object"
	case a.bareObject:
		return false, ""
	}
	switch a.peekByte() {
	case ',':
		a.skip(1)
		return true, ""
	case ']':
		return false, a.checkEnd()
	case 0:
		return false, "the array is cut off"
	}
	return false, "no comma between elements"
}

// element consumes the next element and returns its bytes, which are valid until the next call. b is nil if the input ends first, or if the
// element is longer than MaxLine (long).
func (a *array) element() (at transcript.Origin, b []byte, long bool) {
	a.peekByte()
	at.Offset = a.offset
	for s := (valueScanner{}); ; a.fill() {
		if s.scan(a.buf[a.start:a.end]) {
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

// valueScanner finds the end of a JSON value in bytes that arrive in pieces. It does not validate the value.
type valueScanner struct {
	at      int
	depth   int
	quoted  bool
	escaped bool // by a backslash before at
}

// scan scans b from s.at on, and reports whether the value ends in b; s.at is its end then. b begins where the value does.
func (s *valueScanner) scan(b []byte) bool {
	for s.at < len(b) {
		if s.quoted {
			s.scanString(b)
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

// scanString moves behind the closing quote of a string, or to the end of b.
func (s *valueScanner) scanString(b []byte) {
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
