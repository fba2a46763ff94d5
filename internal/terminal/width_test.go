package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"":                                 0,
		"plain":                            5,
		"héllo…":                           6,
		"e\u0301":                          1,
		"数据/库":                             7,
		"🚀":                                2,
		"👩‍👩‍👧":                            2,
		"│ ─ └":                            5,
		"\x1b[1;31mred\x1b[0m":             3,
		"\x1b[2m数\x1b[0m \x1b[36m…\x1b[0m": 4,
	} {
		if got := Width(s); got != want {
			t.Errorf("%q: %d columns, want %d", s, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		s     string
		want  string
	}{
		{"what fits", 20, "one\n  two\n\nthree", "one\n  two\n\nthree"},
		{"code keeps its lines", 10, "func f() {\n    return\n}\n", "func f() {\n    return\n}\n"},
		{"between words", 10, "one two three four", "one two\nthree four"},
		{"at the end of a word", 7, "one two three", "one two\nthree"},
		{"as far in as the line", 12, "    one two three", "    one two\n    three"},
		{"far in", 10, "         one two", "     one\n     two"},
		{"long words", 4, "a bcdefghi j", "a\nbcde\nfghi\nj"},
		{"spaces inside are kept", 12, "a   b   c   d   e", "a   b   c\nd   e"},
		{"spaces at ends", 4, "a  \nb   c   \n   ", "a\nb\nc\n"},
		{"tabs", 40, "\tx\n12\ty\n123\t4\tz", "        x\n12      y\n123     4       z"},
		{"a tab that breaks", 10, "abc\tdefg", "abc\ndefg"},
		{"without spaces", 6, "数据库数据库", "数据库\n数据库"},
		{"no punctuation first", 6, "数据库，数据", "数据\n库，数\n据"},
		{"mixed", 9, "修复bug：Type error", "修复bug：\nType\nerror"},
		{"emoji stay whole", 4, "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧👩‍👩‍👧\n👩‍👩‍👧"},
		{"colors end and begin with lines", 5, "a \x1b[1;31mbb cc dd\x1b[0m e", "a \x1b[1;31mbb\x1b[0m\n\x1b[1;31mcc dd\x1b[0m\ne"},
		{"colors begin with a word", 3, "aa \x1b[31mbb\x1b[0m cc", "aa\n\x1b[31mbb\x1b[0m\ncc"},
		{"wider than the terminal", 1, "数据", "数\n据"},
	} {
		if got := Wrap(c.s, c.width); got != c.want {
			t.Errorf("%s: %q in %d columns:\n got %q\nwant %q", c.name, c.s, c.width, got, c.want)
		}
	}
}

// TestWrapKeepsText wraps random texts: nothing but spaces is lost, no line is too wide, and lines that fit are not touched.
func TestWrapKeepsText(t *testing.T) {
	parts := []string{" ", "  ", "\t", "\n", "a", "bcd", "efghijklmnop", "数", "据库。", "…", "e\u0301", "👩‍👩‍👧", "\x1b[31mxx yyy\x1b[0m", "-", "❤\ufe0f", "\xff"}
	squeeze := strings.NewReplacer(" ", "", "\t", "", "\n", "", "\x1b[31m", "", "\x1b[0m", "")
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		s, width := b.String(), 4+r.IntN(20)
		got := Wrap(s, width)
		if squeeze.Replace(got) != squeeze.Replace(s) {
			t.Fatalf("%q in %d columns: %q", s, width, got)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if Width(line) > width {
				t.Fatalf("%q in %d columns: %q has %d", s, width, line, Width(line))
			}
		}
		if again := Wrap(got, width); again != got {
			t.Fatalf("%q in %d columns: %q, wrapped again %q", s, width, got, again)
		}
	}
}
