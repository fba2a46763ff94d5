package protobuf

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// shop is a message with numbers, texts, messages and lists of them.
var shop = Message{
	{Number: 1, Name: "name"},
	{Number: 2, Name: "size"},
	{Number: 3, Name: "owner", Message: Message{{Number: 1, Name: "name"}}},
	{Number: 4, Name: "shelves", List: true, Message: Message{{Number: 2, Name: "size"}}},
	{Number: 5, Name: "tags", List: true},
	{Number: 7, Name: "prices", Packed: true},
	{Number: 8, Name: "rooms", Map: true, Message: Message{{Number: 2, Name: "size"}}},
	{Number: 9, Name: "input", Struct: true},
}

// TestRest: what no field names is kept as it is, numbers of a fixed width as well, but nothing that is left out on purpose.
func TestRest(t *testing.T) {
	m := Message{{Number: 1, Name: "name"}, {Number: 2, Skip: true}, {Name: "rest", Rest: true}}
	for message, want := range map[string]string{
		"":                                    `{}`,
		"0a03696e6e" + "10ac02":               `{"name":"inn"}`,
		"1a0161" + "10ac02" + "0a03696e6e":    `{"name":"inn","rest":"GgFh"}`,
		"1a0161" + "10ac02" + "3d01020304":    `{"rest":"GgFhPQECAwQ="}`,
		"0d01020304" + "0a03696e6e" + "18 01": `{"name":"inn","rest":"DQECAwQYAQ=="}`,
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(message, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.JSON(b); err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", message, got, err, want)
		}
	}
}

func TestJSON(t *testing.T) {
	for message, want := range map[string]string{
		"":                             `{}`,
		"0a03696e6e":                   `{"name":"inn"}`,
		"10ac02":                       `{"size":300}`,
		"10ac020a03696e6e":             `{"name":"inn","size":300}`,
		"10011002":                     `{"size":2}`,
		"10ffffffffffffffffff01":       `{"size":18446744073709551615}`,
		"1a050a03616461":               `{"owner":{"name":"ada"}}`,
		"1a00":                         `{"owner":{}}`,
		"220210012200220210072a0161":   `{"shelves":[{"size":1},{},{"size":7}],"tags":["a"]}`,
		"3a0401ac0205":                 `{"prices":[1,300,5]}`,
		"3a00":                         `{"prices":[]}`,
		"0a00":                         `{"name":""}`,
		"0a02c328":                     `{"name":"\ufffd("}`,
		"0a04220a003c":                 `{"name":"\"\n\u0000\u003c"}`,
		"320161" + "10013d01020304":    `{"size":1}`,
		"110102030405060708" + "10 05": `{"size":5}`,
		"42070a016212021002" + "42070a016112021001" + "42070a016212021003": `{"rooms":{"a":{"size":1},"b":{"size":3}}}`,
		"42030a0161" + "4200": `{"rooms":{"":{},"a":{}}}`,
		"4a00":                `{"input":{}}`,
		// A text, true, 5, infinity, which is no number in JSON, and a list with a list and nothing.
		"4a0b" + "0a090a0161" + "12041a02226e":           `{"input":{"a":"\"n"}}`,
		"4a09" + "0a070a0161" + "12022001":               `{"input":{"a":true}}`,
		"4a10" + "0a0e0a0161" + "1209110000000000001440": `{"input":{"a":5}}`,
		"4a10" + "0a0e0a0161" + "120911000000000000f07f": `{"input":{"a":null}}`,
		"4a0f" + "0a0d0a0161" + "120832060a0232000a00":   `{"input":{"a":[[],null]}}`,
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(message, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := shop.JSON(b); err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", message, got, err, want)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, message := range []string{"0a", "0a05696e6e", "10", "10ff", "10ffffffffffffffffffff01", "00", "0b", "1701", "1a020a05", "0a03696e6e15", "3a02ac", "9501020304", "420a0a", "42020a05", "4a020a05", "4a050a031201" + "0a", "4a060a0412021a05", "fa" + strings.Repeat("ff", 8) + "01"} {
		b, err := hex.DecodeString(message)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := shop.JSON(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %s (%v), want an error", message, got, err)
		}
	}
}

// TestDeepStruct: a struct of structs is read as deep as other readers do, and no deeper.
func TestDeepStruct(t *testing.T) {
	within := func(b []byte, number byte) []byte {
		return append(protowire.AppendVarint([]byte{number<<3 | 2}, uint64(len(b))), b...)
	}
	for depth, want := range map[int]error{90: nil, 200: ErrMalformed} {
		var b []byte
		for range depth {
			b = within(within(within(b, 5), 2), 1) // a struct with one entry, whose value is the struct before
		}
		if _, err := shop.JSON(within(b, 9)); !errors.Is(err, want) {
			t.Errorf("%d deep: %v, want %v", depth, err, want)
		}
	}
}

// FuzzJSON: any bytes give an error or valid JSON on one line.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"0a03696e6e10ac02", "220210012200220210072a0161", "1a050a03616461", "110102030405060708", "42070a016212021002", "4a0f0a0d0a0161120832060a0232000a00"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := shop.JSON(b); err == nil && (!json.Valid(got) || bytes.IndexByte(got, '\n') >= 0) {
			t.Errorf("%x: %s", b, got)
		}
	})
}
