package timestamp

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in, utc string
		offset  int16
	}{
		{"2026-11-20T23:51:14.41928257Z", "2026-11-20T23:51:14.419282Z", 0},
		{"2026-11-20T23:49:35.021958+00:00Z", "2026-11-20T23:49:35.021958Z", 0},
		{"2026-11-20T23:49:35.021958+02:00Z", "2026-11-20T21:49:35.021958Z", 120},
		{"2026-11-21T01:02:03.5+05:30", "2026-11-20T19:32:03.5Z", 330},
		{"2026-11-21T01:02:03-0800", "2026-11-21T09:02:03Z", -480},
		{"2026-11-21T01:02:03-08", "2026-11-21T09:02:03Z", -480},
		{"2026-11-21t01:02:03z", "2026-11-21T01:02:03Z", 0},
		{" 2026-11-21 01:02:03 ", "2026-11-21T01:02:03Z", 0},
		{"2026-11-21 01:02", "2026-11-21T01:02:00Z", 0},
		{"2026-11-21T01:02:03,25Z", "2026-11-21T01:02:03.25Z", 0},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", 0},
		{"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z", 0},
		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z", 0},
	} {
		want, err := time.Parse(time.RFC3339Nano, c.utc)
		if err != nil {
			t.Fatal(err)
		}
		got := Parse(c.in)
		if !got.Valid || got.UnixMicro != want.UnixMicro() || got.Offset != c.offset {
			t.Errorf("Parse(%q) = %+v, want %s", c.in, got, c.utc)
		}
	}
	for _, s := range []string{
		"", "yesterday", "2026-11-20", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+08:05", "0000-12-31T16:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
		"2026-11-20T23:60:00Z", "2026-11-20T23:51:61Z", "2026-11-20T23:51:14.Z", "2026-11-20T23:51:14+24:00",
		"2026-11-20T23:51:14+0a:00", "2026-11-20T23:51:14ZZ", "2026-11-20T23:51:14 UTC", "12026-11-20T23:51:14Z",
		"2026-1-2T03:04:05Z", "2026-11-20T23", "NaN-NaN-NaNTNaN:NaN",
	} {
		if got := Parse(s); got.Valid {
			t.Errorf("Parse(%q) = %+v, want invalid", s, got)
		}
	}
}

func TestUnix(t *testing.T) {
	const micro = 1795218674419054
	for name, got := range map[string]int64{
		"seconds": UnixSeconds(1795218674).UnixMicro - 1795218674000000,
		"either":  Epoch(1795218674).UnixMicro - 1795218674000000 + Epoch(1795218674419).UnixMicro - 1795218674419000,
		"milli":   UnixMilli(1795218674419).UnixMicro - 1795218674419000,
		"nano":    UnixNano(1795218674419054201).UnixMicro - micro,
	} {
		if got != 0 {
			t.Errorf("%s: off by %d", name, got)
		}
	}
	for _, n := range []int64{0, -1, -6795364578871345152} {
		if UnixSeconds(n).Valid || UnixMilli(n).Valid || UnixNano(n).Valid || Epoch(n).Valid {
			t.Errorf("%d is a time", n)
		}
	}
	if UnixSeconds(maxUnixSeconds).Valid || !UnixSeconds(maxUnixSeconds-1).Valid || UnixMilli(maxUnixSeconds*1000).Valid || UnixSeconds(1795218674419).Valid {
		t.Error("the year 10000")
	}
}

// FuzzParse compares Parse with package time for inputs that both accept.
func FuzzParse(f *testing.F) {
	f.Add("2026-11-20T23:51:14.41928257+01:00")
	f.Fuzz(func(t *testing.T, s string) {
		got := Parse(s)
		want, err := time.Parse(time.RFC3339Nano, s)
		if err != nil || want.UTC().Year() < 3 || s[len("2026-11-20T23")] != ':' || strings.HasSuffix(s, ":60") { // the library reads hours of one digit, and zones of sixty minutes
			return
		}
		if !got.Valid || got.UnixMicro != want.UnixMicro() {
			t.Errorf("Parse(%q) = %+v, want %s", s, got, want)
		}
	})
}
