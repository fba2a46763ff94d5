package jsontext

import (
	"fmt"
	"hash/fnv"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Object is a JSON object on a line, or an element of an array. Origin is the place of the object's own bytes.
type Object struct {
	Origin transcript.Origin
	Value  Value // valid until the next object
}

// Objects yields the lines of r that are JSON objects. It skips blank lines, and calls problem for every other line:
// "bad json", "torn line" (bad JSON in a last line without a line feed), "not an object" or "line too long".
// The error is r's and ends the sequence.
func Objects(r io.Reader, inner string, problem func(*transcript.Problem)) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		d := documentPool.Get().(*document)
		defer func() { d.release() }()
		for line, err := range Lines(r, inner) {
			if err != nil {
				yield(Object{}, err)
				return
			}
			v, p := parseLine(d, line)
			if p != nil {
				problem(p)
			}
			if !v.Exists() {
				continue
			}
			at := line.Origin
			at.Offset += v.Offset()
			at.Length = int64(v.Len())
			more := yield(Object{at, v}, nil)
			d = poisonDocument(d)
			if !more {
				return
			}
		}
	}
}

// parseLine returns the object in a line, or a problem, or neither for a blank line.
func parseLine(d *document, line Line) (Value, *transcript.Problem) {
	if line.Long {
		reason := fmt.Sprintf("%d bytes, more than %d", line.Origin.Length, MaxLine)
		return Value{}, &transcript.Problem{Kind: "line too long", Reason: reason, Origin: line.Origin}
	}
	if skipSpace(line.Bytes, 0) == len(line.Bytes) {
		return Value{}, nil
	}
	at, reason := d.parse(line.Bytes)
	v := Value{doc: d}
	switch {
	case reason != "":
		kind := "bad json"
		if line.Torn {
			kind = "torn line"
		}
		reason = fmt.Sprintf("column %d: %s", at+1, reason)
		return Value{}, &transcript.Problem{Kind: kind, Reason: reason, Origin: line.Origin, Sum: hashOf(line.Bytes)}
	case !v.IsObject():
		return Value{}, &transcript.Problem{Kind: "not an object", Reason: "a JSON value of another type", Origin: line.Origin, Sum: hashOf(line.Bytes)}
	}
	return v, nil
}

// hashOf returns the FNV-1a hash of bad bytes: see transcript.Problem.Sum.
func hashOf(b []byte) int64 {
	h := fnv.New64a()
	h.Write(b)
	return int64(h.Sum64())
}

// FirstElement returns what the first bytes of a file have of the first object that [Elements] would yield, and whether that is a bare
// object. The value is absent if the file begins otherwise.
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
