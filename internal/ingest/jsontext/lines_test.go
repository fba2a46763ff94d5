package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/transcript"
)

func show(r io.Reader) (out []string, err error) {
	for line, err := range Lines(r, "") {
		if err != nil {
			return out, err
		}
		torn := ""
		if line.Torn {
			torn = " torn"
		}
		o := line.Origin
		out = append(out, fmt.Sprintf("%d %d+%d %q%s", o.Line, o.Offset, o.Length, line.Bytes, torn))
	}
	return out, nil
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"\xef\xbb\xbf", ""},
		{"a", `1 0+1 "a" torn`},
		{"a\n", `1 0+1 "a"`},
		{"a\n\n", `1 0+1 "a"|2 2+0 ""`},
		{"\n", `1 0+0 ""`},
		{"a\r\nb\r", `1 0+1 "a"|2 3+2 "b\r" torn`},
		{"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", `1 3+1 "a"|2 5+4 "\ufeffb"`},
		{"\xef\xbb\xbf\n", `1 3+0 ""`},
		{"a\x00b\nc", `1 0+3 "a\x00b"|2 4+1 "c" torn`},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			got, err := show(r)
			if err != nil || strings.Join(got, "|") != c.want {
				t.Errorf("Lines(%q) = %s, %v; want %s", c.in, strings.Join(got, "|"), err, c.want)
			}
		}
	}
}

func TestLinesGiveBackTheFile(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	for round := range 50 {
		var b []byte
		for range random.IntN(30) {
			b = append(b, bytes.Repeat([]byte{"abc{}\r\n\x00"[random.IntN(8)]}, random.IntN(9000))...)
			b = append(b, "\n\r\nx"[random.IntN(4)])
		}
		end := int64(0)
		for line, err := range Lines(iotest.HalfReader(bytes.NewReader(b)), "") {
			o := line.Origin
			if err != nil || o.Offset < end || o.End() > int64(len(b)) || !bytes.Equal(b[o.Offset:o.End()], line.Bytes) || bytes.IndexByte(line.Bytes, '\n') >= 0 {
				t.Fatalf("seed %d round %d: line %+v, %v", seed, round, o, err)
			}
			if gap := bytes.Trim(b[end:o.Offset], "\r\n"); len(gap) > 0 {
				t.Fatalf("seed %d round %d: %d bytes lost before line %d", seed, round, len(gap), o.Line)
			}
			end = o.End()
		}
		if rest := bytes.Trim(b[end:], "\r\n"); len(rest) > 0 {
			t.Fatalf("seed %d round %d: %d bytes lost at the end", seed, round, len(rest))
		}
	}
}

func TestReaderErrorsEndLines(t *testing.T) {
	broken := errors.New("broken")
	got, err := show(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
	if _, err := show(stuck{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// letters is a reader of n bytes that takes no memory.
func letters(n int64) io.Reader { return io.LimitReader(same('x'), n) }

type same byte

func (s same) Read(p []byte) (int, error) {
	p[0] = byte(s)
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
	return len(p), nil
}

func TestObjects(t *testing.T) {
	in := io.MultiReader(strings.NewReader("\xef\xbb\xbf {\"a\":1} \r\n\n  \n[1]\n{\"a\":\"\x00\"}\n"),
		letters(MaxLine+5), strings.NewReader("\r\n{\"b\":2}\n{\"torn"))
	var got []string
	for o, err := range Objects(in, "gzip", func(p *transcript.Problem) {
		got = append(got, fmt.Sprintf("%d %d+%d %s (%s)", p.Origin.Line, p.Origin.Offset, p.Origin.Length, p.Kind, p.Reason))
	}) {
		if err != nil || o.Origin.Inner != "gzip" {
			t.Fatal(err, o)
		}
		got = append(got, fmt.Sprintf("%d %d+%d %s", o.Origin.Line, o.Origin.Offset, o.Origin.Length, o.Value.Raw()))
	}
	want := []string{
		`1 4+7 {"a":1}`,
		`4 18+3 not an object (a JSON value of another type)`,
		`5 22+9 bad json (column 7: control byte in a string)`,
		`6 32+67108869 line too long (67108869 bytes, more than 67108864)`,
		`7 67108903+7 {"b":2}`,
		`8 67108911+6 torn line (column 7: string is not closed)`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLongLastLine(t *testing.T) {
	for _, n := range []int64{MaxLine, MaxLine + 1, MaxLine + 70000} {
		for line, err := range Lines(letters(n), "") {
			if err != nil || line.Origin.Length != n || !line.Torn || line.Long != (n > MaxLine) {
				t.Errorf("%d: %+v torn %v long %v, %v", n, line.Origin, line.Torn, line.Long, err)
			}
		}
	}
}
