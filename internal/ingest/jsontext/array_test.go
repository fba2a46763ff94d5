package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// elements returns the elements of an array with their places, followed by the problems.
func elements(r io.Reader) (out string, err error) {
	var problems []string
	for o, err := range Elements(r, func(p *transcript.Problem) {
		problems = append(problems, fmt.Sprintf("%d+%d %s: %s", p.Origin.Offset, p.Origin.Length, p.Kind, p.Reason))
	}) {
		if err != nil {
			return out, err
		}
		out += fmt.Sprintf("%d+%d %s|", o.Origin.Offset, o.Origin.Length, o.Value.Raw())
	}
	return out + strings.Join(problems, "|"), nil
}

func TestElements(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`[]`, ""},
		{" [ ] \n", ""},
		{"\xef\xbb\xbf[1]", "4+1 1|"},
		{`[{"a":"]}"} , [1,[2]],"x\"]\\",null,-1e3 ]`, `1+10 {"a":"]}"}|14+7 [1,[2]]|22+8 "x\"]\\"|31+4 null|36+5 -1e3|`},
		{`["\\\\\"\\",{"\\":"\""}]`, `1+10 "\\\\\"\\"|12+11 {"\\":"\""}|`},
		{"", "0+0 bad json: no array"},
		{"{}", "0+2 {}|"},
		{"\xef\xbb\xbf {\"a\":[{}]}\n", `4+10 {"a":[{}]}|`},
		{`{"a":1`, "0+0 bad json: the object is cut off"},
		{`{"a":nope}`, "0+10 bad json: byte 6: not the start of a value"},
		{`{},{}`, "0+2 {}|2+0 bad json: bytes after the object"},
		{"1", "0+0 bad json: no array"},
		{"[", "1+0 bad json: the array is cut off"},
		{`[1,`, "1+1 1|3+0 bad json: the array is cut off"},
		{`[1,{"a":"b`, "1+1 1|3+0 bad json: the array is cut off"},
		{`[1 2]`, "1+3 bad json: byte 3: bytes after the value"},
		{`["a" "b"]`, `1+7 bad json: byte 5: bytes after the value`},
		{`[{}{}]`, "1+2 {}|3+0 bad json: no comma between elements"},
		{`[{"a":nope},{"b":1}]`, `12+7 {"b":1}|1+10 bad json: byte 6: not the start of a value`},
		{`[1,,2,]`, "1+1 1|4+1 2|3+0 bad json: byte 1: value is missing|6+0 bad json: byte 1: value is missing"},
		{`[1}`, "1+1 1|2+0 bad json: no comma between elements"},
		{`[1]]`, "1+1 1|3+0 bad json: bytes after the array"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			if got, err := elements(r); err != nil || got != c.want {
				t.Errorf("Elements(%q)\n got %s, %v\nwant %s", c.in, got, err, c.want)
			}
		}
	}
}

// TestElementsAreThoseOfJSON compares the elements of arrays of random values with those of encoding/json.
func TestElementsAreThoseOfJSON(t *testing.T) {
	random := seedtest.Rand(t)
	var value func(depth int) any
	value = func(depth int) any {
		switch kind := random.IntN(6); {
		case kind == 0:
			return random.Float64()
		case kind < 4 || depth > 4:
			var b strings.Builder
			for range random.IntN(200) {
				b.WriteString([]string{`\`, `"`, "]", "}", "{", "[", ",", "ä", "word "}[random.IntN(9)])
			}
			return b.String()
		case kind == 4:
			list := []any{}
			for range random.IntN(5) {
				list = append(list, value(depth+1))
			}
			return list
		}
		members := map[string]any{}
		for range random.IntN(5) {
			members[fmt.Sprint(value(9))] = value(depth + 1)
		}
		return members
	}
	for range 200 {
		var want strings.Builder
		all := "["
		for i := range random.IntN(8) {
			b, err := json.Marshal(value(0))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				all += ",\n"
			}
			fmt.Fprintf(&want, "%d+%d %s|", len(all), len(b), b)
			all += string(b)
		}
		all += "]"
		for _, r := range []io.Reader{strings.NewReader(all), iotest.HalfReader(strings.NewReader(all)), iotest.OneByteReader(strings.NewReader(all))} {
			if got, err := elements(r); err != nil || got != want.String() {
				t.Fatalf("Elements(%s)\n got %s, %v\nwant %s", all, got, err, &want)
			}
		}
	}
}

// TestElementTooLong skips an element longer than MaxLine, whatever it ends with, and continues.
func TestElementTooLong(t *testing.T) {
	quoted := `"` + strings.Repeat(`\\\"`, MaxLine/4+1) + `"`
	got, err := elements(strings.NewReader(`[1,{"a":` + quoted + `},2]`))
	want := fmt.Sprintf("1+1 1|%d+1 2|3+%d element too long: %d bytes, more than %d", len(quoted)+10, len(quoted)+6, len(quoted)+6, MaxLine)
	if err != nil || got != want {
		t.Errorf("got %.200s, %v; want %s", got, err, want)
	}
}

func TestElementsPassErrorsOn(t *testing.T) {
	bad := errors.New("bad disk")
	if _, err := elements(io.MultiReader(strings.NewReader(`[1,{"a"`), iotest.ErrReader(bad))); !errors.Is(err, bad) {
		t.Errorf("error %v, want %v", err, bad)
	}
	for o := range Elements(strings.NewReader(`[1,2]`), func(*transcript.Problem) { t.Error("a problem after the end") }) {
		_ = o
		break
	}
}

func TestFirstElement(t *testing.T) {
	for in, want := range map[string]string{
		` [ {"a":1,"b":{"c":`: `{"a":1,"b":{"c":`, `[{"a":1},{"b"`: `{"a":1}`, "\xef\xbb\xbf[{}]": "{}", `[[{}]]`: "",
		"\xef\xbb\xbf {}": "alone {}", `{"a":[`: `alone {"a":[`, `[`: "", "": "", `[7,{}]`: "",
	} {
		v, alone := FirstElement([]byte(in))
		got := string(v.Raw())
		if alone {
			got = "alone " + got
		}
		if got != want {
			t.Errorf("FirstElement(%q) = %q, want %q", in, got, want)
		}
	}
}
