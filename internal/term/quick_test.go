package term

import (
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// slowly is Split with each word taken by next, and what Next should give.
func slowly(text string) (dst []byte, all []One) {
	var s Splitter
	s.reset()
	t := Terms{}
	for i := 0; ; {
		at := len(t.Text)
		dst := space(t.Text)
		from := len(dst)
		var w word
		w, dst = s.next(dst, text, i)
		if w.next == 0 {
			return dst[:at], t.All
		}
		size := len(dst) - from
		switch {
		case size > MaxTerm && !w.single:
			dst = s.chunk(dst[:from], text, w)
		case w.mixed():
			dst = s.appendParts(dst, from, text, w, 1, 1)
		}
		if size <= MaxTerm && w.escaped(text) {
			dst = s.appendUnescaped(dst, from, text, w)
		}
		t.Text = dst
		t.addFrom(from)
		i = w.next
	}
}

// TestQuick compares words that are taken eight bytes at a time with the same taken one by one.
func TestQuick(t *testing.T) {
	r := seedtest.Rand(t)
	pieces := []string{"a", "Z", "7", "the", "Error", "HTTP", "parseConfig", "x86", "v2", "é", "字", "ﬁ", "—", "’", "\u0301", "\x80", "\x00", "_", " ", " ", "  ", "\n\t", "\": {", `\`, `\n`, `\t`, `\nparseConfig`, "\x1b", "\x1b[", "\x1b[1;31m", "\x1b[0K",
		"internationalisation", "ABCDEFGH", "abcdefgh", "12345678", "abcdefghABCDEFGH", "0123456789abcdef", "@", "[", "`", "{", "/", ":"}
	for range 20_000 {
		var text []byte
		for range r.IntN(30) {
			piece := pieces[r.IntN(len(pieces))]
			for n := 1 + r.IntN(2)*r.IntN(2)*r.IntN(40); n > 0; n-- {
				text = append(text, piece...)
			}
		}
		compareSplit(t, string(text))
	}
	for range 20 {
		compareSplit(t, randomText(r))
	}
}

func compareSplit(t *testing.T, text string) {
	t.Helper()
	var s Splitter
	want, all := slowly(text)
	if got := string(s.Split(nil, text)); got != string(want) {
		t.Fatalf("%q gives %q, want %q", text, got, want)
	}
	s.Begin(text)
	var some Terms
	for s.Next(&some) {
		for i := range some.All {
			if len(all) == 0 {
				t.Fatalf("%q gives more terms than it has", text)
			}
			one, other := some.All[i], all[0]
			if string(some.Of(&one)) != string(want[other.Start:][:other.Size()]) || one.Prefix != other.Prefix || one.Same() != other.Same() {
				t.Fatalf("%q gives %q, want %q", text, some.Of(&one), want[other.Start:][:other.Size()])
			}
			all = all[1:]
		}
	}
	if len(all) > 0 {
		t.Fatalf("%q lacks %d terms", text, len(all))
	}
}
