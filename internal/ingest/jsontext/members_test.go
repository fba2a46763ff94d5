package jsontext

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/transcript"
)

// membersOf returns the members of an object with their places, followed by the problems.
func membersOf(r io.Reader) (out string, err error) {
	var problems string
	for m, err := range Members(r, "s", func(p *transcript.Problem) { problems += fmt.Sprintf("%d %s: %s", p.Origin.Offset, p.Kind, p.Reason) }) {
		if err != nil {
			return out, err
		}
		item := ""
		if m.Item {
			item = "[]"
		}
		out += fmt.Sprintf("%s%s %d+%d %s|", m.Key, item, m.Origin.Offset, m.Origin.Length, m.Bytes)
	}
	return out + problems, nil
}

func TestMembers(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, ""},
		{"\xef\xbb\xbf { } \n", ""},
		{`{"a":1,"s":[{"b":"]"} , [2]],"c\n\"":"}"}`, `a 5+1 1|s[] 12+9 {"b":"]"}|s[] 24+3 [2]|` + "c\n\"" + ` 37+3 "}"|`},
		{`{"s":[],"t":[1]}`, "t 12+3 [1]|"},
		{`{"s":null,"s":7}`, "s 5+4 null|s 14+1 7|"},
		{`{"\u0073":[NaN]}`, "s[] 11+3 NaN|"},
		{``, "0 bad json: no object"},
		{`[1]`, "0 bad json: no object"},
		{`{"a":1`, "5 bad json: the object is cut off"},
		{`{"a":{"b":1}`, `a 5+7 {"b":1}|12 bad json: the object is cut off`},
		{`{"a":1,`, "a 5+1 1|7 bad json: no key, or the object is cut off"},
		{`{"a`, "1 bad json: no key, or the object is cut off"},
		{`{"a" 1}`, "5 bad json: no key, or the object is cut off"},
		{`{"a":}`, "5 bad json: no value"},
		{`{"s":[1,{"a":2}`, `s[] 6+1 1|s[] 8+7 {"a":2}|15 bad json: the object is cut off`},
		{`{"s":[{}{}]}`, "s[] 6+2 {}|8 bad json: no comma between elements"},
		{`{"a":{}"b":1}`, "a 5+2 {}|7 bad json: no comma between members"},
		{`{"a":1}}`, "a 5+1 1|7 bad json: bytes after the object"},
		{`{"` + strings.Repeat("k", 2000) + `":1}`, "1 bad json: no key, or the object is cut off"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			if got, err := membersOf(r); err != nil || got != c.want {
				t.Errorf("Members(%.80q)\n got %s, %v\nwant %s", c.in, got, err, c.want)
			}
		}
	}
	broken := errors.New("broken disk")
	if _, err := membersOf(io.MultiReader(strings.NewReader(`{"a":1,"s":[{"b"`), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestNested(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":[{"n":1,"b":[{"m":2}, 3],"o":"b"},{}],"b":[4]}`, `a 6 opens|n1 11 1|b1[] 18 {"m":2}|b1[] 27 3|o1 34 "b"|a 39 opens|b 47 [4]|`},
		{`{"a":[7,{"a":[8],"b":{}}]}`, `a[] 6 7|a 8 opens|a1 13 [8]|b1 21 {}|`},
		{`{"a":{"b":[1]}}`, `a 5 {"b":[1]}|`},
		{`{"a":[{"b":[1,`, `a 6 opens|b1[] 12 1|14 the object is cut off`},
		{`{"a":[{"b":[1]}`, `a 6 opens|b1[] 12 1|15 the object is cut off`},
		{`{"a":[{"b":[]}{}]}`, `a 6 opens|14 no comma between elements`},
		{`{"a":[{}]}]`, `a 6 opens|10 bytes after the object`},
	} {
		var got strings.Builder
		problem := func(p *transcript.Problem) { fmt.Fprintf(&got, "%d %s", p.Origin.Offset, p.Reason) }
		for m, err := range Nested(iotest.OneByteReader(strings.NewReader(c.in)), []string{"a", "b"}, problem) {
			switch {
			case err != nil:
				t.Fatal(err)
			case m.Opens:
				fmt.Fprintf(&got, "%s %d opens|", m.Key, m.Origin.Offset)
			default:
				fmt.Fprintf(&got, "%s%s%s %d %s|", m.Key, strings.Repeat("1", m.Depth), map[bool]string{true: "[]"}[m.Item], m.Origin.Offset, m.Bytes)
			}
		}
		if got.String() != c.want {
			t.Errorf("Nested(%s)\n got %s\nwant %s", c.in, got.String(), c.want)
		}
	}
	for range Nested(strings.NewReader(`{"a":[{"b":[1]}]}`), []string{"a", "b"}, nil) {
		break
	}
}

// TestLongMembers has a member that is not kept in memory, between others.
func TestLongMembers(t *testing.T) {
	long := strings.Repeat(" ", MaxLine)
	var got []string
	for m, err := range Members(io.MultiReader(strings.NewReader(`{"s":["`), strings.NewReader(long), strings.NewReader(`",1],"b":2}`)), "s", func(p *transcript.Problem) { t.Error(p) }) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(m.Key, m.Bytes != nil, m.Origin.Length))
	}
	if want := []string{fmt.Sprint("s", false, len(long)+2), fmt.Sprint("s", true, 1), fmt.Sprint("b", true, 1)}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
