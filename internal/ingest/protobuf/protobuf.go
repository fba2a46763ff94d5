// Package protobuf turns fields of a protobuf message into JSON. A program that publishes no schema keeps its field numbers all the same, since it
// has to read its own files after an update: so a Message names the fields that are known, and all others are skipped.
//
// The JSON does not depend on the order of the fields in the message, which writers may change with each save.
package protobuf

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// Message is the fields of a message that become members of an object, by number. An object with no members stands for a message that has none
// of them.
type Message map[uint64]Field

// Field says what a field becomes: a number if it is encoded as one; else an object, if it is a message, or a string.
type Field struct {
	Name    string
	Message Message // nil if it is none
	List    bool    // it may occur several times: it becomes an array. Of other fields the last occurrence counts
	Packed  bool    // it is a list of numbers one after another: each occurrence becomes an array
}

// ErrMalformed is the error for bytes that are no protobuf message, or one with the groups of early versions.
var ErrMalformed = errors.New("no protobuf message")

// maxNumber is the highest number of a field.
const maxNumber = 1<<29 - 1

// JSON returns the known fields of a message as an object, in the order of their numbers.
func (m Message) JSON(b []byte) ([]byte, error) { return m.appendJSON(nil, b) }

func (m Message) appendJSON(dst, b []byte) ([]byte, error) {
	found := map[uint64][][]byte{} // the JSON of each field's values
	for len(b) > 0 {
		number, v, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		b = rest
		f, known := m[number]
		if !known || v.skipped {
			continue
		}
		one, err := f.json(v)
		if err != nil {
			return nil, err
		}
		if !f.List {
			found[number] = found[number][:0]
		}
		found[number] = append(found[number], one)
	}
	dst = append(dst, '{')
	for i, number := range slices.Sorted(maps.Keys(found)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m[number].appendMember(dst, found[number])
	}
	return append(dst, '}'), nil
}

// appendMember appends the name and the values of a field.
func (f Field) appendMember(dst []byte, values [][]byte) []byte {
	dst = append(strconv.AppendQuote(dst, f.Name), ':')
	if !f.List {
		return append(dst, values[0]...)
	}
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, v...)
	}
	return append(dst, ']')
}

// json returns one value of the field.
func (f Field) json(v value) ([]byte, error) {
	switch {
	case v.bytes == nil:
		return strconv.AppendUint(nil, v.number, 10), nil
	case f.Message != nil:
		return f.Message.appendJSON(nil, v.bytes)
	case f.Packed:
		return numbers(v.bytes)
	}
	return json.Marshal(string(v.bytes))
}

// numbers returns packed numbers as an array.
func numbers(b []byte) ([]byte, error) {
	dst := []byte{'['}
	for len(b) > 0 {
		n, rest, ok := varint(b)
		if !ok {
			return nil, ErrMalformed
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst, b = strconv.AppendUint(dst, n, 10), rest
	}
	return append(dst, ']'), nil
}

// value is one value as it is encoded: bytes if they are not nil, else a number.
type value struct {
	number  uint64
	bytes   []byte
	skipped bool // a fixed-width number, which no known field is
}

// next reads the first field of a message.
func next(b []byte) (number uint64, v value, rest []byte, err error) {
	tag, b, ok := varint(b)
	if number = tag >> 3; !ok || number == 0 || number > maxNumber {
		return 0, v, nil, ErrMalformed
	}
	size := uint64(0)
	switch tag & 7 {
	case 0:
		if v.number, b, ok = varint(b); !ok {
			return 0, v, nil, ErrMalformed
		}
		return number, v, b, nil
	case 1:
		size, v.skipped = 8, true
	case 2:
		if size, b, ok = varint(b); !ok {
			return 0, v, nil, ErrMalformed
		}
	case 5:
		size, v.skipped = 4, true
	default:
		return 0, v, nil, ErrMalformed
	}
	if size > uint64(len(b)) {
		return 0, v, nil, ErrMalformed
	}
	v.bytes = b[:size:size]
	return number, v, b[size:], nil
}

// varint reads a number of up to ten bytes, the first of which has its lowest seven bits.
func varint(b []byte) (n uint64, rest []byte, ok bool) {
	for i, c := range b[:min(len(b), 10)] {
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
