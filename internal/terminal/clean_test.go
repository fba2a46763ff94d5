package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colors", "\x1b[31mred\x1b[0m", "red"},
		{"cursor", "a\x1b[2J\x1b[1;1Hb", "ab"},
		{"title with BEL", "a\x1b]0;owned\ab", "ab"},
		{"title with ST", "a\x1b]0;owned\x1b\\b", "ab"},
		{"link", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device string", "a\x1bPq#0\x1b\\b", "ab"},
		{"8-bit", "a\u009b31mb\u009d0;x\u009cc", "abc"},
		{"raw 8-bit byte", "a\x9b31m", "a\ufffd31m"},
		{"charset", "a\x1b(0b", "ab"},
		{"reset", "a\x1bcb", "ab"},
		{"unfinished", "a\x1b[31", "a"},
		{"lone escape", "a\x1b", "a"},
		{"title without end", "a\x1b]0;xyz", "a0;xyz"},
		{"title cut by a line", "a\x1b]0;x\nrest", "a0;x\nrest"},
		{"CRLF", "a\r\nb", "a\nb"},
		{"carriage return overwrites nothing", "real\rfake", "real\nfake"},
		{"backspace", "ab\b\bxy", "abxy"},
		{"NUL and BEL", "a\x00\ab", "ab"},
		{"DEL", "a\x7fb", "ab"},
		{"bidi", "a\u202eb\u2066c", "abc"},
		{"invisible", "a\u200bb\ufeffc\U000e0041d", "abcd"},
		{"soft hyphen, joiner of nothing, fillers", "a\u00adb\u034fc\u3164d\u115fe\uffa0f", "abcdef"},
		{"invisible operators, annotations", "a\u2063b\u206ac\ufff9d\ufffae\ufffb\u180ef\U0001d173", "abcdef"},
		{"bytes in selectors of variants", "a\U000e0100\U000e01ef\ufe00b", "ab"},
		{"joined and colored emoji, Persian, a sign before a number", "👩\u200d🚀 ❤\ufe0f می\u200cخواهم \u06005", "👩\u200d🚀 ❤\ufe0f می\u200cخواهم \u06005"},
		{"line separators", "a\u2028b", "a\nb"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"CJK and emoji", "数据库 🚀", "数据库 🚀"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]0;t\a", "\u009b1m", "\xff\xfe", strings.Repeat("\x1b", 9), "\x1b\x1b[0m", "\xc2\x9c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		for _, r := range got {
			if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0 || IsHidden(r)) {
				t.Fatalf("clean(%q) leaves %q", s, r)
			}
		}
		if !utf8.ValidString(got) {
			t.Fatalf("clean(%q) is no UTF-8", s)
		}
		if again := Clean(got); again != got {
			t.Fatalf("clean(%q) = %q, and cleaned again %q", s, got, again)
		}
	})
}

func TestEncode(t *testing.T) {
	in := map[string]string{"k": "a\u009b31m\u202e<b>\x7f\U000e0041 数\n"}
	s, err := EncodeJSON(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s {
		if IsHidden(r) {
			t.Errorf("%s has %q", s, r)
		}
	}
	if !strings.Contains(s, "<b>") || strings.Contains(s, "\n") {
		t.Errorf("got %s", s)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(s), &back); err != nil || back["k"] != in["k"] {
		t.Errorf("%s gives back %q, %v", s, back["k"], err)
	}
}

func TestCleaner(t *testing.T) {
	var b strings.Builder
	c := CleanWriter{W: &b}
	for _, s := range []string{"a\x1b", "[31mb\n", "c\x1b[0", "m"} {
		if _, err := c.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil || b.String() != "ab\nc" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
