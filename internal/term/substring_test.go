package term

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/txarchive/txarchive/internal/seedtest"
)

func TestSubstrings(t *testing.T) {
	for _, c := range []struct {
		text, part string
		want       []string
	}{
		{"parseConfig(x) PARSECONFIG", "seconf", []string{"seConf", "SECONF"}},
		{"def main():", "N():", []string{"n():"}},
		{"Cre\u0300me brûlée", "eme br", []string{"e\u0300me br"}},
		{"creme", "è", []string{"e", "e"}},
		{"数据库", "据", []string{"据"}},
		{"バグ ﾊﾞｸﾞ", "グ", []string{"グ", "ｸﾞ"}},
		{"㍿ Straße", "式会", []string{"㍿"}},
		{"Straße", "s", []string{"S", "ß"}},
		{"aaaa", "aa", []string{"aa", "aa"}},
		{"x", "", nil},
		{"", "x", nil},
		{"a\u0301", "\u0301", nil},
	} {
		var got []string
		for _, s := range Substrings(c.text, c.part, 0) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %q, want %q", c.part, c.text, got, c.want)
		}
	}
	if got := Substrings("a a a a", "a", 2); len(got) != 2 {
		t.Errorf("limit: %v", got)
	}
}

// Any stretch of whole characters of a text is found in it, at ranges that rise and are valid.
func TestSubstringsRandom(t *testing.T) {
	r := seedtest.Rand(t)
	for range 20000 {
		text := randomText(r)
		a, b := r.IntN(len(text)+1), r.IntN(len(text)+1)
		a, b = min(a, b), max(a, b)
		if !whole(text, a) || !whole(text, b) {
			continue
		}
		spans := Substrings(text, text[a:b], 0)
		if len(spans) == 0 && len(Fold(nil, text[a:b])) > 0 {
			t.Fatalf("%q not found in %q", text[a:b], text)
		}
		end := 0
		for _, s := range spans {
			if s.Start < end || s.End <= s.Start || s.End > len(text) || !boundary(text, s.Start) || !boundary(text, s.End) {
				t.Fatalf("%q in %q: %v", text[a:b], text, spans)
			}
			end = s.End
		}
	}
}

// whole reports whether i lies between two characters that do not compose.
func whole(text string, i int) bool {
	if i == len(text) || i == 0 {
		return true
	}
	for _, r := range text[i:] {
		return boundary(text, i) && r != unicode.ReplacementChar && !dropped(r) && (r < 0x1100 || r > 0x11ff)
	}
	return true
}

func TestFold(t *testing.T) {
	if got := string(Fold([]byte("> "), "Crème—Straße ｶﾞ ㍿ \x00\xff")); got != "> creme—strasse ガ 株式会社 \x00\xff" {
		t.Errorf("%q", got)
	}
	text := strings.Repeat("Some ordinary text, with parseConfig(x) in it. ", 20)
	if got := string(Fold(nil, text)); got != strings.ToLower(text) {
		t.Errorf("%q", got)
	}
}
