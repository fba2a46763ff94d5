package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestNumbersForPeople(t *testing.T) {
	n := int64(1234567)
	for _, c := range []struct{ got, want string }{
		{Count(n), "1,234,567"}, {Bytes(1536), "1.5 KiB"}, {Dollars(&n), "$1.2346"}, {Dollars(nil), "-"},
		{Dollars(new(int64)), "$0.0000"}, {Dollars(new(int64(28))), "$0.000028"}, {Dollars(new(int64(-1))), "$-0.000001"}, {Dollars(new(int64(50))), "$0.0001"}, {CountOrDash(nil), "-"},
		{Ago(90 * time.Second), "1m ago"}, {Ago(-time.Second), "just now"}, {Ago(-time.Hour), "1h from now"},
		{Plural(1, "file", "files"), "1 file"}, {Plural(1200, "file", "files"), "1,200 files"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestShortForms(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 12345: "12.3k", 999499: "999k", 999500: "1M", 999_999_999: "1G", 99_950: "100k", 1234567: "1.2M", 5e9: "5G"} {
		if got := CompactCount(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "1s", 90 * time.Minute: "1h", 26 * time.Hour: "26h", 80 * time.Hour: "3d"} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for width := 2; width < 12; width++ {
		if s := TruncateStart("/数据/库/abc", width); Width(s) > width || !strings.HasSuffix("/数据/库/abc", strings.TrimPrefix(s, "…")) {
			t.Errorf("%d: %q", width, s)
		}
	}
}

func TestWrapHanging(t *testing.T) {
	for _, c := range []struct {
		lead, words string
		width       int
		want        string
	}{
		{"hint: ", "one two three", 0, "hint: one two three"},
		{"hint: ", "one two three", 13, "hint: one two\n  three"},
		{"hint: ", "one two three", 12, "hint: one\n  two three"},
		{"", "数据 数据 数据", 9, "数据 数据\n  数据"},
		{"", "Try: it   (because)", 19, "Try: it   (because)"},
		{"", "Try: it   (because)", 18, "Try: it\n  (because)"},
		{"", "unbreakable", 4, "unbreakable"},
		{"", "the command `txarchive verify` lists", 24, "the command\n  `txarchive verify`\n  lists"},
		{"", "`txarchive search 'a b'`, or not", 9, "`txarchive search 'a b'`,\n  or not"},
		{"", "Next: txarchive list 'it'\\''s, so' b, or stop", 20, "Next:\ntxarchive list 'it'\\''s, so' b,\n  or stop"},
		{"", "Try: txarchive list a   (why)", 20, "Try:\n  txarchive list a\n  (why)"},
		{"", "it says `txarchive verify`, too", 20, "it says\n`txarchive verify`,\n  too"},
		{"hint: ", "txarchive show --help has examples", 22, "hint: txarchive show --help\n  has examples"},
		{"", "more: --after 'a b' shows it", 12, "more:\n--after 'a b'\n  shows it"},
		{"", "Try: txarchive search --after 'a b' c   (why)", 20, "Try:\ntxarchive search --after 'a b' c\n  (why)"},
		{"hint: ", "txarchive verify", 9, "hint: txarchive verify"},
	} {
		if got := WrapHanging(c.lead, c.words, "  ", c.width); got != c.want {
			t.Errorf("%q, %q in %d columns: %q, want %q", c.lead, c.words, c.width, got, c.want)
		}
	}
}
