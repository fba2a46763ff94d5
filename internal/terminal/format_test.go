package terminal

import (
	"testing"
	"time"
)

func TestNumbersForPeople(t *testing.T) {
	n := int64(1234567)
	for _, c := range []struct{ got, want string }{
		{Count(n), "1,234,567"}, {Bytes(1536), "1.5 KiB"}, {Dollars(&n), "$1.2346"}, {Dollars(nil), "-"}, {CountOrDash(nil), "-"},
		{Ago(90 * time.Second), "1m ago"}, {Ago(-time.Second), "just now"}, {Ago(-time.Hour), "1h from now"},
		{Plural(1, "file", "files"), "1 file"}, {Plural(1200, "file", "files"), "1,200 files"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
