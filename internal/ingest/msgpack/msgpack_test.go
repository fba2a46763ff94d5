package msgpack

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// decode returns the bytes of hexadecimal digits with spaces.
func decode(t testing.TB, digits string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestJSON(t *testing.T) {
	for value, want := range map[string]string{
		"c0": `null`, "c2": `false`, "c3": `true`, "00": `0`, "7f": `127`, "e0": `-32`, "ff": `-1`,
		"cc ff": `255`, "cd ffff": `65535`, "ce ffffffff": `4294967295`, "cf ffffffffffffffff": `18446744073709551615`,
		"d0 80": `-128`, "d1 8000": `-32768`, "d2 80000000": `-2147483648`, "d3 8000000000000000": `-9223372036854775808`, "d0 05": `5`,
		"ca 3fc00000": `1.5`, "cb 3ff8000000000000": `1.5`, "cb 4014000000000000": `5`, "cb 7ff8000000000000": `null`,
		"cb 7ff0000000000000": `9e999`, "ca ff800000": `-9e999`,
		"a0": `""`, "a3 696e6e": `"inn"`, "d9 03 696e6e": `"inn"`, "da 0003 696e6e": `"inn"`, "db 00000003 696e6e": `"inn"`,
		"a4 220a003c": `"\"\n\u0000\u003c"`, "a2 c328": `"\ufffd("`,
		"c4 02 0102": `{"bytes":"AQI="}`, "c5 0001 00": `{"bytes":"AA=="}`, "c6 00000000": `{"bytes":""}`,
		"90": `[]`, "92 01 92 02 03": `[1,[2,3]]`, "dc 0001 01": `[1]`, "dd 00000001 01": `[1]`,
		"80": `{}`, "82 a161 01 a162 c0": `{"a":1,"b":null}`, "de 0001 a161 01": `{"a":1}`, "df 00000001 a161 01": `{"a":1}`,
		"83 05 01 c3 02 c0 03": `{"5":1,"true":2,"null":3}`,
		"82 92 01 02 03 80 04": `{"kgEC":3,"gA==":4}`,
		// An object as LangGraph writes it: ["m","C",{"a":1},"f"].
		"c7 0b 05 94 a16d a143 81 a161 01 a166": `{"ext":5,"value":["m","C",{"a":1},"f"]}`,
		"d4 02 01":                              `{"ext":2,"value":1}`, "d4 7f c1": `{"ext":127,"bytes":"wQ=="}`, "d5 02 0101": `{"ext":2,"bytes":"AQE="}`,
		"d6 ff 00000000": `{"ext":-1,"bytes":"AAAAAA=="}`, "d7 02 a7 61616161616161": `{"ext":2,"value":"aaaaaaa"}`,
		"c8 0001 02 91": `{"ext":2,"bytes":"kQ=="}`, "c9 00000001 02 c3": `{"ext":2,"value":true}`,
		"d8 00 dc000d" + strings.Repeat("01", 13): `{"ext":0,"value":[1,1,1,1,1,1,1,1,1,1,1,1,1]}`,
	} {
		if got, err := JSON(decode(t, value)); err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", value, got, err, want)
		}
	}
}

func TestMember(t *testing.T) {
	const state = "83 a176 93 01 02 80 05 c0 a163 82 a161 d5 01 0101 a16d 91 a168 a178"
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"c", "m"}, `["h"]`},
		{[]string{"v"}, `[1,2,{}]`},
		{nil, ""}, // there is more after it
		{[]string{"x"}, "null"},
		{[]string{"v", "m"}, "null"},
		{[]string{"c", "m", "h"}, "null"},
	} {
		got, err := JSON(decode(t, state), test.names...)
		if string(got) != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q: %s (%v), want %s", test.names, got, err, test.want)
		}
	}
	for _, value := range []string{"", "c1", "81", "81 a161", "81 a16d", "82 a161 91 a16d 01", "de 00"} {
		if got, err := JSON(decode(t, value), "m"); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %s (%v), want an error", value, got, err)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, value := range []string{"", "c1", "cc", "cd 00", "a1", "d9", "d9 01", "c4 02 01", "91", "92 01", "81", "81 a161", "81 c1 01", "81 92 01", "d4", "d4 00", "c7 01", "c7 01 00", "01 01",
		"dd ffffffff", "df ffffffff", "db ffffffff 61", "c6 ffffffff", "c9 ffffffff 00", "cf 00"} {
		if got, err := JSON(decode(t, value)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %s (%v), want an error", value, got, err)
		}
	}
}

// TestDeep: values are read as deep as programs write them and no deeper, and what is deep costs no more than what is long.
func TestDeep(t *testing.T) {
	for depth, want := range map[int]error{maxDepth - 1: nil, maxDepth: ErrMalformed, 1 << 20: ErrMalformed} {
		if _, err := JSON(append(bytes.Repeat([]byte{0x91}, depth), 0x01)); !errors.Is(err, want) {
			t.Errorf("%d deep: %v, want %v", depth, err, want)
		}
	}
	if got, err := JSON(append(bytes.Repeat([]byte{0x81}, 1<<20), 0x01)); err == nil {
		t.Errorf("keys in keys: %d bytes", len(got))
	}
	keys, ext := []byte{0x01}, []byte{0xc1}
	for range 1000 {
		keys = append(append([]byte{0x81}, keys...), 0x01)
		ext = append([]byte{0xc9, byte(len(ext) >> 24), byte(len(ext) >> 16), byte(len(ext) >> 8), byte(len(ext)), 5}, ext...)
	}
	for name, b := range map[string][]byte{"keys": keys, "extensions": ext} {
		if got, err := JSON(b); err != nil || len(got) > 2000*len(b) {
			t.Errorf("%s: %d bytes (%v) of %d", name, len(got), err, len(b))
		}
	}
}

// FuzzJSON: any bytes give an error or valid JSON on one line, and a member of a value is in it.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"82a16101a162c0", "c70b0594a16da14381a16101a166", "cb7ff0000000000000", "8292010203a16d91a168", "d6ff00000000", "da0003696e6e"} {
		f.Add(decode(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := JSON(b)
		if err == nil && (!json.Valid(whole) || bytes.IndexByte(whole, '\n') >= 0) {
			t.Errorf("%x: %s", b, whole)
		}
		if got, of := JSON(b, "m"); of == nil && (!json.Valid(got) || err == nil && string(got) != `null` && !bytes.Contains(whole, got)) {
			t.Errorf("%x: %s in %s", b, got, whole)
		}
	})
}
