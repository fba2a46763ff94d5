package damaged

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/transcript"
)

// remainsOf returns a text whose bytes in [from, to) are lost.
func remainsOf(text string, from, to int64) *Original {
	r := &Original{size: int64(len(text)), holes: []*hole{{from: from, to: to}}}
	part := func(from, to int64) io.Reader {
		return &edgeScanner{r: iotest.OneByteReader(strings.NewReader(text[from:to])), at: from, holes: &r.holes}
	}
	r.Reader = io.MultiReader(part(0, from), &filler{size: to - from}, part(to, r.size))
	return r
}

// TestRemains loses every possible range of a text: what is read has the length of the text, all bytes but the lost ones,
// and exactly the lines without lost bytes count as whole.
func TestRemains(t *testing.T) {
	for _, text := range []string{`{"a":1}` + "\n" + `{"b":[2]}` + "\n\n" + `{"c":"d"}` + "\n", "plain one\nplain two\n\nthree", "{\n", "x"} {
		for from := range int64(len(text)) {
			for to := from + 1; to <= int64(len(text)); to++ {
				r := remainsOf(text, from, to)
				got, err := io.ReadAll(r.Reader)
				if err != nil || int64(len(got)) != r.size || string(got[:from]) != text[:from] || string(got[to:]) != text[to:] {
					t.Fatalf("%q without %d to %d is read as %q: %v", text, from, to, got, err)
				}
				if rest := bytes.Trim(got[from:to], "\n\x00"); len(rest) > 0 {
					t.Fatalf("%q without %d to %d: %q", text, from, to, rest)
				}
				check(t, r, text, got)
			}
		}
	}
}

// check checks every line that a parser would see.
func check(t *testing.T, r *Original, text string, got []byte) {
	h, at := r.holes[0], int64(0)
	for line := range bytes.Lines(got) {
		n := int64(len(bytes.TrimSuffix(line, []byte("\n"))))
		whole := (at == 0 || text[at-1] == '\n') && at+n <= int64(len(text)) && (at+n == int64(len(text)) || text[at+n] == '\n') &&
			text[at:at+n] == string(line[:n]) && (at+n <= h.from || at >= h.to)
		touched := r.affects(transcript.Origin{Offset: at, Length: n})
		what := fmt.Sprintf("%q without %d to %d: line %q at %d", text, h.from, h.to, line, at)
		if object := n > 1 && line[0] == '{' && line[n-1] == '}' && bytes.Count(line, []byte("{")) == 1; object && whole && touched {
			t.Errorf("%s is left out", what)
		}
		if !whole && !touched && n > 0 && line[0] != '{' {
			t.Errorf("%s is taken for whole", what)
		}
		at += int64(len(line))
	}
}
