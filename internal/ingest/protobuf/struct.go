package protobuf

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth is how deep a google.protobuf.Struct may be, as in other readers.
const maxDepth = 100

// appendMap appends the entries of a map, one after another with their lengths, as an object. Of entries with one key the last counts.
func appendMap(dst, entries []byte, appendValue func(dst, b []byte) ([]byte, error)) ([]byte, error) {
	type entry struct {
		key   string
		value []byte
	}
	var all []entry
	for len(entries) > 0 {
		one, size := protowire.ConsumeBytes(entries)
		entries = entries[size:]
		var e entry
		for len(one) > 0 {
			number, v, rest, err := next(one)
			if err != nil {
				return nil, err
			}
			switch one = rest; number {
			case 1:
				e.key = string(v.bytes)
			case 2:
				e.value = v.bytes
			}
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i, e := range all {
		if i+1 < len(all) && all[i+1].key == e.key {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		key, err := json.Marshal(e.key)
		if err != nil {
			return nil, err
		}
		if dst, err = appendValue(append(append(dst, key...), ':'), e.value); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendStruct appends a google.protobuf.Struct, which is a map of values.
func appendStruct(dst, b []byte, depth int) ([]byte, error) {
	var entries []byte
	for len(b) > 0 {
		number, v, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		if b = rest; number == 1 {
			entries = protowire.AppendBytes(entries, v.bytes)
		}
	}
	return appendMap(dst, entries, func(dst, b []byte) ([]byte, error) { return appendAny(dst, b, depth+1) })
}

// appendAny appends a google.protobuf.Value: of null, a number, a text, a truth value, a struct and a list, the last that it has.
func appendAny(dst, b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, ErrMalformed
	}
	begin := len(dst)
	dst = append(dst, "null"...)
	for len(b) > 0 {
		number, encoding, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return nil, ErrMalformed
		}
		size := protowire.ConsumeFieldValue(number, encoding, b[tag:])
		if size < 0 {
			return nil, ErrMalformed
		}
		value := b[tag : tag+size]
		b = b[tag+size:]
		var err error
		switch {
		case number == 1:
			dst = append(dst[:begin], "null"...)
		case number == 2 && encoding == protowire.Fixed64Type:
			bits, _ := protowire.ConsumeFixed64(value)
			if digits, bad := json.Marshal(math.Float64frombits(bits)); bad == nil { // JSON has no infinity
				dst = append(dst[:begin], digits...)
			}
		case number == 3 && encoding == protowire.BytesType:
			text, _ := protowire.ConsumeBytes(value)
			var quoted []byte
			if quoted, err = json.Marshal(string(text)); err == nil {
				dst = append(dst[:begin], quoted...)
			}
		case number == 4 && encoding == protowire.VarintType:
			n, _ := protowire.ConsumeVarint(value)
			dst = strconv.AppendBool(dst[:begin], n != 0)
		case number == 5 && encoding == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			dst, err = appendStruct(dst[:begin], inner, depth)
		case number == 6 && encoding == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			dst, err = appendList(dst[:begin], inner, depth)
		}
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendList appends a google.protobuf.ListValue.
func appendList(dst, b []byte, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for len(b) > 0 {
		number, v, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		if b = rest; number != 1 {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		if dst, err = appendAny(dst, v.bytes, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}
