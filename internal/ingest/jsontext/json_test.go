package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// plain converts a Value to what encoding/json returns with UseNumber.
func plain(v Value) any {
	switch v.Type() {
	case '{':
		m := map[string]any{}
		for key, value := range v.Fields() {
			m[key] = plain(value)
		}
		return m
	case '[':
		a := []any{}
		for item := range v.Items() {
			a = append(a, plain(item))
		}
		return a
	case '"':
		return v.Str()
	case '0':
		return json.Number(v.Raw())
	case 't', 'f':
		return v.Bool() == 2
	}
	return nil
}

// allStrings is a naive AllStrings.
func allStrings(v Value, to *[]string) {
	for _, item := range v.Fields() {
		allStrings(item, to)
	}
	for item := range v.Items() {
		allStrings(item, to)
	}
	if s := v.Str(); s != "" {
		*to = append(*to, s)
	}
}

// allScalars is a naive AllScalars of few numbers.
func allScalars(v Value, to *[]string) (numbers int) {
	for _, item := range v.Fields() {
		numbers += allScalars(item, to)
	}
	for item := range v.Items() {
		numbers += allScalars(item, to)
	}
	if s := v.Str(); s != "" {
		*to = append(*to, s)
	}
	if v.Type() == '0' {
		*to = append(*to, string(v.Raw()))
		numbers++
	}
	return numbers
}

// used is a document that is reused.
var used = new(document)

// checkAgainst compares all methods of a Value with encoding/json.
func checkAgainst(t *testing.T, b []byte) {
	t.Helper()
	v, err := Parse(b)
	if want := json.Valid(b); want != (err == nil) {
		t.Fatalf("Parse(%q) = %v, encoding/json valid: %v", b, err, want)
	}
	if err != nil {
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > int64(len(b)) {
			t.Fatalf("Parse(%q): bad error %#v", b, err)
		}
		return
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if got := plain(v); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q\n got %#v\nwant %#v", b, got, want)
	}
	used.parse(b)
	if got := plain(Value{doc: used}); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q in a document that was used before\n got %#v\nwant %#v", b, got, want)
	}
	var all []string
	allStrings(v, &all)
	if got, want := AllStrings(v), strings.Join(all, "\n"); got != want {
		t.Fatalf("AllStrings(%q) = %q, want %q", b, got, want)
	}
	var scalars []string
	if allScalars(v, &scalars) <= maxNumbers {
		walked := Build(func(b []byte) []byte { return AppendTextAndNumbers(b, v, visitAll) })
		if got, want := AllScalars(v), strings.Join(scalars, "\n"); got != want || walked != want {
			t.Fatalf("AllScalars(%q) = %q, AppendTextAndNumbers %q, want %q", b, got, walked, want)
		}
	}
	for key, value := range v.Fields() {
		off := OffsetIn(v, value)
		if off < 0 || !bytes.Equal(v.Raw()[off:off+int64(value.Len())], value.Raw()) {
			t.Fatalf("OffsetIn(%q, %q) = %d", v.Raw(), value.Raw(), off)
		}
		if !reflect.DeepEqual(plain(v.Get(key)), want.(map[string]any)[key]) {
			t.Fatalf("Get(%q) of %q = %q", key, v.Raw(), v.Get(key).Raw())
		}
	}
	if v.Type() == '0' {
		n, ok := v.Int()
		if m, err := json.Number(v.Raw()).Int64(); err == nil && (!ok || n != m) {
			t.Fatalf("Int(%s) = %d %v", v.Raw(), n, ok)
		}
		if f, isFloat := v.Float(); ok && isFloat && math.Abs(f-float64(n)) > math.Abs(f)*1e-15 {
			t.Fatalf("Int(%s) = %d, Float %v", v.Raw(), n, f)
		}
	}
}

var documents = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `null`, `true`, `false`, ` { "a" : 1 , "b" : [ 1 , "x" , { } ] } `,
	`{"a":1,"a":2}`, `{"a\u0062":"c"}`, `{"a":{"b":{"c":"deep"}}}`, "\"\u00e9\u4e2d\U0001F600\"",
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00x"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"a\u0000b"`,
	`"\"\\\/\b\f\n\r\t"`, `"\\"`, `"\\\\\""`, `{"k\\":"v\\\""}`, "\"\xff\xfe\"", "\"a\xffb\\n\xc3\"", "\"\xed\xa0\x80\"",
	`1e3`, `12.0`, `12.5`, `1.2e1`, `120e-1`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`,
	`1e18`, `1e19`, `1e999999999`, `1e-999999999`, `0.000`, `0e5`, `18446744073709551616`, `"</script>"`,
	``, ` `, `{`, `}`, `[`, `[1`, `[1,`, `[1,]`, `[,]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":1 "b":2}`,
	`"a`, "\"a\nb\"", "\"\x00\"", `"\x"`, `"\u12"`, `"\u12g4"`, `"\`, `01`, `1.`, `.5`, `-`, `+1`, `1e`, `1e+`, `0x1`,
	`nul`, `nulll`, `tru`, `True`, `1 2`, `{} {}`, "\ufeff{}", `"abcdefgh"`, `"abcdefg\nh"`, "\"abcdefgh\x1f\"",
	`[[[[[[]]]]]]`, `[[1,2],[3,[4]],"]"]`, `{"a":"}","b":"{"}`,
}

func TestJSONLikeTheLibrary(t *testing.T) {
	for _, doc := range documents {
		checkAgainst(t, []byte(doc))
	}
	for _, depth := range []int{MaxDepth, MaxDepth + 1} {
		b := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if _, err := Parse(b); (err == nil) != json.Valid(b) || (err == nil) != (depth == MaxDepth) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAgainst(t, b)
		walk(ParseStart(b), 0)
	})
}

// walk calls all methods without arguments on the values before a cut or an error: none may panic or hang.
func walk(v Value, depth int) {
	if depth > 50 || !v.Exists() {
		return
	}
	AllStrings(v)
	for i := range reflect.TypeFor[Value]().NumMethod() {
		if m := reflect.ValueOf(v).Method(i); m.Type().NumIn() == 0 {
			m.Call(nil)
		}
	}
	for _, value := range v.Fields() {
		walk(value, depth+1)
	}
	for value := range v.Items() {
		walk(value, depth+1)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int64
		ok   bool
		nano int64
		usd  bool
	}{
		{"0.548835", 0, false, 548835000, true},
		{"12", 12, true, 12e9, true},
		{"-1.5", 0, false, -1500000000, true},
		{"0.0000000005", 0, false, 1, true},
		{"0.00000000049999999", 0, false, 0, true},
		{"-0.0000000005", 0, false, -1, true},
		{"0.05", 0, false, 5e7, true},
		{"1.23456789012345", 0, false, 1234567890, true},
		{"1e-3", 0, false, 1e6, true},
		{"1.5e3", 1500, true, 1500e9, true},
		{"9223372036854775807", math.MaxInt64, true, 0, false},
		{"-9223372036854775808", math.MinInt64, true, 0, false},
		{"9223372036854775808", 0, false, 0, false},
		{"10e18", 0, false, 0, false},
		{"0e99999999999", 0, true, 0, true},
		{"9007199254740993", 9007199254740993, true, 0, false},
		{`"12"`, 0, false, 0, false},
		{"null", 0, false, 0, false},
	} {
		v, err := Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := v.Int(); n*btoi(ok) != c.n || ok != c.ok {
			t.Errorf("Int(%s) = %d %v", c.in, n, ok)
		}
		if got := v.NanoUSD(); got.Known != c.usd || got.Known && got.N != c.nano {
			t.Errorf("NanoUSD(%s) = %v", c.in, got)
		}
	}
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func visitAll(dst []byte, _ int, _ string, _ Value) ([]byte, bool) { return dst, false }

// TestNumbersInARow: a list of many numbers is data, whatever its brackets are, and what stands around it is text.
func TestNumbersInARow(t *testing.T) {
	list := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	bytesOf := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":7`, i)
		}
		return b.String()[1:]
	}
	words := func(n int, one string) string { return strings.Repeat(one+" ", n) }
	for name, c := range map[string]struct{ in, want string }{
		"a list":            {`{"a":"x","b":[` + list(maxNumbers, "-4.5e1") + `],"c":3}`, "x " + words(maxNumbers, "-4.5e1") + "3"},
		"a long list":       {`{"a":"x","b":[` + list(maxNumbers+1, "-4.5e1") + `],"c":3}`, "x 3"},
		"a very long list":  {`["x",[` + list(9*maxNumbers, "7") + `],"y",7]`, "x y 7"},
		"lists":             {`{"a":[` + list(maxNumbers/2, "[7,7]") + `]}`, words(maxNumbers, "7")},
		"many lists":        {`{"a":[` + list(maxNumbers/2+1, "[7,[7]]") + `],"b":"y"}`, "y"},
		"other values":      {`[` + list(maxNumbers+1, "7,null,true") + `]`, ""},
		"texts between":     {`["` + strings.Repeat(`",7,"`, maxNumbers+1) + `"]`, words(maxNumbers+1, "7")},
		"names between":     {`[` + list(maxNumbers+1, `{"n":7}`) + `]`, words(maxNumbers+1, "7")},
		"a typed array":     {`{"a":{` + bytesOf(maxNumbers) + `}}`, words(maxNumbers, "7")},
		"a long one":        {`{"a":{` + bytesOf(maxNumbers+1) + `},"b":7}`, "7"},
		"two lists in turn": {`{"a":[` + list(maxNumbers, "7") + `],"b":[` + list(maxNumbers, "8") + `]}`, words(maxNumbers, "7") + words(maxNumbers, "8")},
	} {
		v, err := Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{AllScalars(v), Build(func(b []byte) []byte { return AppendTextAndNumbers(b, v, visitAll) })} {
			if got = strings.ReplaceAll(got, "\n", " "); got != strings.TrimSpace(c.want) {
				t.Errorf("%s: %.200q, want %.200q", name, got, c.want)
			}
		}
	}
}

// TestVisitedBesideNumbers: a number in front takes nothing behind it from the visitor.
func TestVisitedBesideNumbers(t *testing.T) {
	v, err := Parse([]byte(`[1,"data:image/png;base64,aGVsbG8=",[2,{"type":"image","data":"aGVsbG8="}],{"0":3,"data":"aGVsbG8="},"seen"]`))
	if err != nil {
		t.Fatal(err)
	}
	got := AppendTextAndNumbers(nil, v, func(dst []byte, _ int, key string, v Value) ([]byte, bool) {
		return dst, key == "data" || v.IsDataURL()
	})
	if string(got) != "1\n2\nimage\n3\nseen" {
		t.Errorf("%q", got)
	}
}

// TestScalarsOfCutText: what ParseStart returns may end anywhere.
func TestScalarsOfCutText(t *testing.T) {
	const text = `{"0":{"1":[[7,{"2":8}],"x"],"a":{"3":9}},"":5}`
	for end := range text {
		v := ParseStart([]byte(text[:end]))
		if got, walked := AllScalars(v), Build(func(b []byte) []byte { return AppendTextAndNumbers(b, v, visitAll) }); got != walked {
			t.Errorf("%s: %q, AppendTextAndNumbers %q", text[:end], got, walked)
		}
	}
}

func TestAccessors(t *testing.T) {
	v, err := Parse([]byte(` {"s":"x","n":7,"o":{"a":[1]},"z":null,"t":true} `))
	if err != nil {
		t.Fatal(err)
	}
	if v.Get("o", "a").Text() != "[1]" || v.Get("n").Text() != "7" || v.Get("z").Text() != "" || v.Get("q").Text() != "" {
		t.Error("Text")
	}
	if v.Get("s", "x").Exists() || v.Get("o", "b").Exists() || !v.Get("z").IsNull() || !v.Get("q").IsNull() || v.Get("q").Type() != 0 {
		t.Error("Get of what is not there")
	}
	if v.Get("t").Bool() != 2 || v.Get("s").Bool() != 0 || v.Get("n").Count().N != 7 || v.Get("s").Count().Known {
		t.Error("Bool or Count")
	}
	if string(AppendScalars([]byte("before"), v)) != "before\nx\n7\n1" || AllScalars(v.Get("n")) != "7" || AllScalars(Value{}) != "" {
		t.Error("AppendScalars")
	}
	if string(AppendStrings([]byte("before"), v)) != "before\nx" || AllStrings(v.Get("n")) != "" || AllStrings(Value{}) != "" {
		t.Error("AppendStrings")
	}
	for in, want := range map[string]string{
		`"{\"a\":\"\\u6570\",\"b\":\"c\"}"`: "数\nc",
		`"{\"a\":\"b\"}"`:                   "",
		`"{\"a\":\"\\u65"`:                  "",
		`{"a":"\u6570"}`:                    "",
	} {
		if v, err := Parse([]byte(in)); err != nil || string(AppendUnescaped(nil, v)) != want {
			t.Errorf("AppendUnescaped of %s: %q, %v", in, AppendUnescaped(nil, v), err)
		}
	}
	if OffsetIn(v, v) != 0 || OffsetIn(v, ParseStart([]byte("1"))) != -1 || OffsetIn(v.Get("o"), v.Get("s")) != -1 || OffsetIn(v, Value{}) != -1 {
		t.Error("OffsetIn")
	}
}

// sampleLines returns the lines of the examples in the repository.
func sampleLines(tb testing.TB) [][]byte {
	tb.Helper()
	names, _ := filepath.Glob("../../../testdata/runs/awf/storage/transcripts/*.jsonl")
	var lines [][]byte
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, bytes.Split(bytes.TrimSpace(b), []byte("\n"))...)
	}
	long, _ := json.Marshal(map[string]any{"type": "message", "payload": map[string]any{"text": strings.Repeat("for (i = 0; i < n; i++) { sum += a[i]; }\n", 60)}})
	for range 20 {
		lines = append(lines, long)
	}
	return lines
}

func TestScanningAllocatesNothing(t *testing.T) {
	lines := sampleLines(t)
	lines = append(lines, []byte(`{"a":[`+strings.Repeat("7,", 2*maxNumbers)+`7],"b":{"c":[1.5,-2]}}`))
	var d document
	text := make([]byte, 0, 1<<20)
	n := testing.AllocsPerRun(20, func() {
		for _, line := range lines {
			if _, reason := d.parse(line); reason != "" {
				t.Fatal(reason)
			}
			scan(Value{doc: &d})
			text = AppendScalars(text[:0], Value{doc: &d})
		}
	})
	if n > 0 {
		t.Errorf("%v allocations for %d lines", n, len(lines))
	}
}

func scan(v Value) (size int) {
	for key, value := range v.Fields() {
		size += len(key) + value.Len()
	}
	return size + v.Get("payload", "blocks").Len()
}

func BenchmarkJSON(b *testing.B) {
	lines := sampleLines(b)
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	var text []byte
	var d document
	for _, c := range []struct {
		name string
		do   func(line []byte)
	}{
		{"parse", func(line []byte) { d.parse(line) }},
		{"parse+fields", func(line []byte) { d.parse(line); scan(Value{doc: &d}) }},
		{"parse+fields+strings", func(line []byte) {
			d.parse(line)
			scan(Value{doc: &d})
			text = AppendStrings(text[:0], Value{doc: &d})
		}},
		{"encoding/json.Valid", func(line []byte) { json.Valid(line) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					c.do(line)
				}
			}
		})
	}
}

func ExampleValue_Get() {
	v, _ := Parse([]byte(`{"usage":{"input_tokens":12},"text":"caf\u00e9"}`))
	fmt.Println(v.Get("usage", "input_tokens").Count().N, v.Get("text").Str())
	// Output: 12 café
}

// TestStrings puts quotes, escapes and control bytes at every position of the eight bytes that are scanned at once.
func TestStrings(t *testing.T) {
	for _, special := range []string{
		`\"`, `\\`, `\/`, `\n`, `\u0041`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\u12`, `\x`, `\`, `"`, "\x1f", "\x00", "\t", " ", "!", "#", "\x7f", "\x80", "é", "\xc3", "😀",
	} {
		for before := range 18 {
			for after := range 10 {
				text := strings.Repeat("a", before) + special + strings.Repeat("b", after)
				checkAgainst(t, []byte(`"`+text+`"`))
				checkAgainst(t, []byte(`{"`+text+`":["`+text+text+`",1]}`))
			}
		}
	}
}

// TestLongStrings reads strings with escapes in a document too long for them to be decoded during the scan.
func TestLongStrings(t *testing.T) {
	long := strings.Repeat(`line\n\t\"é\u00e9\ud83d\ude00`, maxPooled/20)
	checkAgainst(t, []byte(`{"a":"`+long+`","b\n":["`+long+`\x"]}`))
	checkAgainst(t, []byte(`{"a":"`+long+`","b\n":["`+long+`",1,"\ud83d"]}`))
}

// TestReadingByNotes overwrites the inside of strings and objects after the parse: a reader that searched for their ends again would
// fail.
func TestReadingByNotes(t *testing.T) {
	b := []byte(`{"first":"aaaaaaaaaaaaaaaa","second":{"deep":["bbbbbbbb",{"deeper":12}]},"third":true}`)
	v, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	first, second := v.Get("first"), v.Get("second")
	for _, inside := range []Value{first, second} {
		raw := b[inside.Offset()+1 : inside.Offset()+int64(inside.Len())-1]
		copy(raw, strings.Repeat(`"}],`, len(raw)))
	}
	var got []string
	for key, m := range v.Fields() {
		got = append(got, fmt.Sprint(key, " ", OffsetIn(v, m), "+", m.Len()))
	}
	if want := "[first 9+18 second 37+35 third 81+4]"; fmt.Sprint(got) != want || v.Get("third").Bool() != 2 {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestTooManyValues(t *testing.T) {
	b := append([]byte("["), bytes.Repeat([]byte("0,"), MaxValues)...)
	if _, err := Parse(append(b, "0]"...)); err == nil || !strings.Contains(err.Error(), "too many values") {
		t.Errorf("%v", err)
	}
}

func TestInside(t *testing.T) {
	v, err := Parse([]byte(`["{\"a\":\"b\\n\"}","[1","{\"c\":2}",{"d":3},"5"]`))
	if err != nil {
		t.Fatal(err)
	}
	var inside, unwrapped, containers []string
	for item := range v.Items() {
		inside = append(inside, string(item.Inside().Raw()))
		unwrapped = append(unwrapped, string(item.Unwrap().Raw()))
		containers = append(containers, string(item.UnwrapContainer().Raw()))
	}
	for _, c := range [][2][]string{
		{inside, {`{"a":"b\n"}`, "", `{"c":2}`, "", "5"}},
		{unwrapped, {`{"a":"b\n"}`, `"[1"`, `{"c":2}`, `{"d":3}`, "5"}},
		{containers, {`{"a":"b\n"}`, `"[1"`, `{"c":2}`, `{"d":3}`, `"5"`}},
	} {
		if !reflect.DeepEqual(c[0], c[1]) {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
	if own := v.Clone(); string(own.Raw()) != string(v.Raw()) || own.Offset() != 0 || (Value{}).Clone().Exists() {
		t.Error("Clone")
	}
}

// TestParseStart reads the truncated start of a document.
func TestParseStart(t *testing.T) {
	const doc = `{"a":"b","c":{"d":[1,{"e":"f"}],"g":2},"h":null}`
	for n := range len(doc) {
		v := ParseStart([]byte(doc[:n]))
		walk(v, 0)
		if n > len(`{"a":"b"`) && v.Get("a").Str() != "b" || n > len(`{"a":"b","c":{"d":[1,`) && !v.Get("c", "d").IsArray() {
			t.Errorf("%s: %q", doc[:n], v.Raw())
		}
	}
}

// TestBlank has every kind of white space, escaped or not.
func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		`""`: true, `"  "`: true, `"\n\t"`: true, `"\u2028"`: true, "\"\u2028\u00a0\u3000\"": true, `3`: true, `null`: true, `["a"]`: true,
		`"a"`: false, `"  a"`: false, `"\n\u0061"`: false, `"。"`: false, `"\u0000"`: false,
	} {
		v, err := Parse([]byte(text))
		if err != nil || v.IsBlank() != want {
			t.Errorf("%s: %v, %v", text, v.IsBlank(), err)
		}
	}
}
