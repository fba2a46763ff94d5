// Package msgpack turns a MessagePack value into JSON.
//
// What JSON has no form for becomes an object: bytes are {"bytes":"base64"}, and an extension is {"ext":5,"value":...} where its bytes are a
// MessagePack value themselves, as programs write objects of their own, else {"ext":5,"bytes":"base64"}. A key that is no text becomes its JSON as
// text, or base64 if it has values in it. No name in the data is looked up, and no length is believed before its bytes are there.
package msgpack

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// ErrMalformed is the error for bytes that are no MessagePack value, or more than one, or one that is too deep.
var ErrMalformed = errors.New("no MessagePack value")

// maxDepth is how deep values may be nested, each extension included. Programs that write such values read them less deep.
const maxDepth = 200

// JSON returns the value, or the member of it that the names lead to: of a map the member that is called by the first one, and so on. It is null if there
// is none.
func JSON(b []byte, names ...string) ([]byte, error) {
	whole := len(names) == 0
	for _, name := range names {
		var err error
		if b, err = member(b, name); err != nil {
			return nil, err
		}
		if b == nil {
			return []byte("null"), nil
		}
	}
	out, rest, err := appendValue(nil, b, 0)
	if err == nil && whole && len(rest) > 0 {
		err = ErrMalformed
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Bytes returns what JSON gives for bytes in a value: for bytes that are none.
func Bytes(b []byte) []byte { return appendScalar(nil, item{kind: isBytes, data: b}) }

// member returns what follows a key in a map, nil if the map has no such key or the value is no map.
func member(b []byte, name string) ([]byte, error) {
	it, b, err := next(b)
	if err != nil || it.kind != isMap {
		return nil, err
	}
	for ; it.n > 0; it.n-- {
		key, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		if key.kind == isText && string(key.data) == name {
			return rest, nil
		}
		for range 2 {
			if b, err = skip(b); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// skip returns what follows a value.
func skip(b []byte) ([]byte, error) {
	for n := uint64(1); n > 0; n-- {
		it, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		switch b = rest; it.kind {
		case isArray:
			n += it.n
		case isMap:
			n += 2 * it.n
		}
	}
	return b, nil
}

// kind is what an item is.
type kind byte

const (
	isWord  kind = iota // nil, false or true, as JSON
	isInt               // n, as two's complement
	isUint              // n
	isFloat             // n, as IEEE 754
	isText
	isBytes
	isExtension
	isArray // of n values
	isMap   // of n keys and values
)

// item is the first item of a value: all of it, but for arrays and maps, whose values follow.
type item struct {
	kind kind
	ext  int8
	n    uint64
	data []byte
}

// next reads an item.
func next(b []byte) (it item, rest []byte, err error) {
	if len(b) == 0 {
		return it, nil, ErrMalformed
	}
	code, b := b[0], b[1:]
	switch {
	case code < 0x80:
		return item{kind: isUint, n: uint64(code)}, b, nil
	case code < 0x90:
		return item{kind: isMap, n: uint64(code & 0x0f)}, b, nil
	case code < 0xa0:
		return item{kind: isArray, n: uint64(code & 0x0f)}, b, nil
	case code < 0xc0:
		return sized(item{kind: isText, n: uint64(code & 0x1f)}, b)
	case code >= 0xe0:
		return item{kind: isInt, n: uint64(int64(int8(code)))}, b, nil
	}
	return long(code, b)
}

// long reads an item whose length, number or kind does not fit into its first byte.
func long(code byte, b []byte) (it item, rest []byte, err error) {
	switch code {
	case 0xc0:
		return item{data: []byte("null")}, b, nil
	case 0xc2:
		return item{data: []byte("false")}, b, nil
	case 0xc3:
		return item{data: []byte("true")}, b, nil
	case 0xc4, 0xc5, 0xc6:
		it.kind, it.n = isBytes, 1<<(code-0xc4)
	case 0xc7, 0xc8, 0xc9:
		it.kind, it.n = isExtension, 1<<(code-0xc7)
	case 0xca, 0xcb:
		it.kind, it.n = isFloat, 4<<(code-0xca)
	case 0xcc, 0xcd, 0xce, 0xcf:
		it.kind, it.n = isUint, 1<<(code-0xcc)
	case 0xd0, 0xd1, 0xd2, 0xd3:
		it.kind, it.n = isInt, 1<<(code-0xd0)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return extension(item{kind: isExtension, n: 1 << (code - 0xd4)}, b)
	case 0xd9, 0xda, 0xdb:
		it.kind, it.n = isText, 1<<(code-0xd9)
	case 0xdc, 0xdd:
		it.kind, it.n = isArray, 2<<(code-0xdc)
	case 0xde, 0xdf:
		it.kind, it.n = isMap, 2<<(code-0xde)
	default:
		return it, nil, ErrMalformed
	}
	width := it.n
	if uint64(len(b)) < width {
		return it, nil, ErrMalformed
	}
	it.n = number(b[:width])
	b = b[width:]
	switch it.kind {
	case isText, isBytes:
		return sized(it, b)
	case isExtension:
		return extension(it, b)
	case isInt:
		shift := 64 - 8*width
		it.n = uint64(int64(it.n<<shift) >> shift)
	case isFloat:
		if width == 4 {
			it.n = math.Float64bits(float64(math.Float32frombits(uint32(it.n))))
		}
	}
	return it, b, nil
}

// number reads a number of 1, 2, 4 or 8 bytes.
func number(b []byte) uint64 {
	var wide [8]byte
	copy(wide[8-len(b):], b)
	return binary.BigEndian.Uint64(wide[:])
}

// sized reads the data of an item that has n bytes.
func sized(it item, b []byte) (item, []byte, error) {
	if it.n > uint64(len(b)) {
		return it, nil, ErrMalformed
	}
	it.data = b[:it.n]
	return it, b[it.n:], nil
}

// extension reads the type and the data of an extension.
func extension(it item, b []byte) (item, []byte, error) {
	if len(b) == 0 {
		return it, nil, ErrMalformed
	}
	it.ext = int8(b[0])
	return sized(it, b[1:])
}

// appendValue appends a value as JSON.
func appendValue(dst, b []byte, depth int) (out, rest []byte, err error) {
	it, b, err := next(b)
	if err != nil || depth == maxDepth {
		return nil, nil, ErrMalformed
	}
	switch it.kind {
	case isArray:
		dst = append(dst, '[')
		for i := range it.n {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, b, err = appendValue(dst, b, depth+1); err != nil {
				return nil, nil, err
			}
		}
		return append(dst, ']'), b, nil
	case isMap:
		dst = append(dst, '{')
		for i := range it.n {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, b, err = appendMember(dst, b, depth); err != nil {
				return nil, nil, err
			}
		}
		return append(dst, '}'), b, nil
	case isExtension:
		return appendExtension(dst, it, depth), b, nil
	}
	return appendScalar(dst, it), b, nil
}

// appendMember appends a key of a map and its value. A key that has values in it is kept as its bytes: as JSON in JSON, each level of keys in keys would
// double the one before.
func appendMember(dst, b []byte, depth int) (out, rest []byte, err error) {
	key, rest, err := next(b)
	if err != nil {
		return nil, nil, err
	}
	switch key.kind {
	case isText:
		dst = append(dst, quote(string(key.data))...)
	case isArray, isMap, isExtension:
		if rest, err = skip(b); err != nil {
			return nil, nil, err
		}
		dst = append(base64.StdEncoding.AppendEncode(append(dst, '"'), b[:len(b)-len(rest)]), '"')
	default:
		dst = append(dst, quote(string(appendScalar(nil, key)))...)
	}
	return appendValue(append(dst, ':'), rest, depth+1)
}

// appendExtension appends an extension. Those of negative types are MessagePack's own, and hold no value.
func appendExtension(dst []byte, it item, depth int) []byte {
	dst = strconv.AppendInt(append(dst, `{"ext":`...), int64(it.ext), 10)
	if it.ext >= 0 {
		if out, rest, err := appendValue(append(dst, `,"value":`...), it.data, depth+1); err == nil && len(rest) == 0 {
			return append(out, '}')
		}
	}
	return append(appendBytes(append(dst, ','), it.data), '}')
}

// appendBytes appends bytes as a member of an object.
func appendBytes(dst, b []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, `"bytes":"`...), b), '"')
}

// appendScalar appends a value that has no others in it.
func appendScalar(dst []byte, it item) []byte {
	switch it.kind {
	case isInt:
		return strconv.AppendInt(dst, int64(it.n), 10)
	case isUint:
		return strconv.AppendUint(dst, it.n, 10)
	case isFloat:
		return appendFloat(dst, math.Float64frombits(it.n))
	case isText:
		return append(dst, quote(string(it.data))...)
	case isBytes:
		return append(appendBytes(append(dst, '{'), it.data), '}')
	}
	return append(dst, it.data...)
}

// appendFloat appends a number. What is infinite is one that every reader takes as infinite; what is none is null.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "null"...)
	case math.IsInf(f, 1):
		return append(dst, "9e999"...)
	case math.IsInf(f, -1):
		return append(dst, "-9e999"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// quote returns a text as JSON; bytes that are no UTF-8 are replaced.
func quote(s string) []byte {
	b, _ := json.Marshal(s) // a text has always a form in JSON
	return b
}
