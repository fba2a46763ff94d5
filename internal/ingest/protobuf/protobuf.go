// Package protobuf turns fields of a protobuf message into JSON. A program that publishes no schema keeps its field numbers all the same, since it
// has to read its own files after an update: so a Message names the fields that are known. All others are skipped, or kept as they are (Field.Rest).
//
// The JSON does not depend on the order of the fields in the message, which writers may change with each save.
package protobuf

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message is the fields of a message that become members of an object, in this order. An object with no members stands for a message that has
// none of them. It is a list, not a map: tables of fields are part of the program's file then, and not made whenever it starts.
type Message []Field

// Field says what a field becomes: a number if it is encoded as one; else an object, if it is a message, or a string.
type Field struct {
	Number  protowire.Number
	Name    string
	Message Message // nil if it is none
	List    bool    // it may occur several times: it becomes an array. Of other fields the last occurrence counts
	Packed  bool    // it is a list of numbers one after another: each occurrence becomes an array
	Map     bool    // it is a map with texts as keys: it becomes an object, sorted by them
	Struct  bool    // it is a google.protobuf.Struct: it becomes the object that it stands for
	Skip    bool    // it is known and left out
	Rest    bool    // it is no field, but what becomes of all that no other Field names: their bytes, in base64
}

// ErrMalformed is the error for bytes that are no protobuf message, or one with the groups of early versions.
var ErrMalformed = errors.New("no protobuf message")

// JSON returns the known fields of a message as an object.
func (m Message) JSON(b []byte) ([]byte, error) { return m.appendJSON(nil, b) }

func (m Message) appendJSON(dst, b []byte) ([]byte, error) {
	found := make([][]byte, len(m)) // the JSON of each field; of a list, with a comma before each value
	rest := slices.IndexFunc(m, func(f Field) bool { return f.Rest })
	for len(b) > 0 {
		number, v, left, err := next(b)
		if err != nil {
			return nil, err
		}
		field := b[:len(b)-len(left)]
		b = left
		at := slices.IndexFunc(m, func(f Field) bool { return f.Number == number && !f.Rest })
		if at < 0 || v.skipped {
			if rest >= 0 {
				found[rest] = append(found[rest], field...)
			}
			continue
		}
		if m[at].Skip {
			continue
		}
		if m[at].Map {
			found[at] = protowire.AppendBytes(found[at], v.bytes)
			continue
		}
		if m[at].List {
			found[at] = append(found[at], ',')
		} else {
			found[at] = found[at][:0]
		}
		if found[at], err = m[at].appendValue(found[at], v); err != nil {
			return nil, err
		}
	}
	begin := len(dst)
	for at, f := range m {
		switch values := found[at]; {
		case len(values) == 0:
		case f.Rest:
			dst = append(strconv.AppendQuote(append(dst, ','), f.Name), ":\""...)
			dst = append(base64.StdEncoding.AppendEncode(dst, values), '"')
		case f.Map:
			var err error
			if dst, err = appendMap(append(strconv.AppendQuote(append(dst, ','), f.Name), ':'), values, f.Message.appendJSON); err != nil {
				return nil, err
			}
		case f.List:
			dst = append(strconv.AppendQuote(append(dst, ','), f.Name), ":["...)
			dst = append(append(dst, values[1:]...), ']')
		default:
			dst = append(append(strconv.AppendQuote(append(dst, ','), f.Name), ':'), values...)
		}
	}
	if len(dst) == begin {
		dst = append(dst, '{')
	}
	dst[begin] = '{'
	return append(dst, '}'), nil
}

// appendValue appends one value of the field.
func (f Field) appendValue(dst []byte, v value) ([]byte, error) {
	switch {
	case v.bytes == nil:
		return strconv.AppendUint(dst, v.number, 10), nil
	case f.Struct:
		return appendStruct(dst, v.bytes, 0)
	case f.Message != nil:
		return f.Message.appendJSON(dst, v.bytes)
	case f.Packed:
		return appendNumbers(dst, v.bytes)
	}
	text, err := json.Marshal(string(v.bytes))
	return append(dst, text...), err
}

// appendNumbers appends packed numbers as an array.
func appendNumbers(dst, b []byte) ([]byte, error) {
	dst = append(dst, '[')
	for first := true; len(b) > 0; first = false {
		n, size := protowire.ConsumeVarint(b)
		if size < 0 {
			return nil, ErrMalformed
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, b = strconv.AppendUint(dst, n, 10), b[size:]
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
func next(b []byte) (number protowire.Number, v value, rest []byte, err error) {
	number, encoding, tag := protowire.ConsumeTag(b)
	if tag < 0 {
		return 0, v, nil, ErrMalformed
	}
	b = b[tag:]
	size := -1
	switch encoding {
	case protowire.VarintType:
		v.number, size = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		v.bytes, size = protowire.ConsumeBytes(b)
	case protowire.Fixed32Type, protowire.Fixed64Type:
		size, v.skipped = protowire.ConsumeFieldValue(number, encoding, b), true
	}
	if size < 0 {
		return 0, v, nil, ErrMalformed
	}
	return number, v, b[size:], nil
}
