package format

import (
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

// latest is the first second that no time is valid at: the year 10000.
const latest = 253402300800

// Time reads a date and time as RFC 3339 and its relatives write them: "T", "t" or a space between the two, any
// number of decimals (cut at microseconds) or none, seconds or none, an offset as Z, +hh:mm, +hhmm or +hh, an
// offset and a Z (the Z is dropped), or neither (UTC). Anything else is invalid, and so are Go's and other
// programs' zero times (before the year 2).
func Time(s string) transcript.Time {
	p := clock{s: strings.TrimSpace(s), ok: true}
	year := p.number(4)
	month := p.after('-')
	day := p.after('-')
	if p.ok = p.ok && p.one("Tt "); !p.ok {
		return transcript.Time{}
	}
	hour := p.number(2)
	minute := p.after(':')
	second, micro := 0, 0
	if p.peek() == ':' {
		second = p.after(':')
		micro = p.micros()
	}
	offset := p.offset()
	if !p.ok || p.s != "" || year < 2 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) ||
		hour > 23 || minute > 59 || second > 60 {
		return transcript.Time{}
	}
	t := time.Date(year, time.Month(month), day, hour, minute-offset, second, micro*1000, time.UTC)
	return transcript.Time{UnixMicro: t.UnixMicro(), Offset: int16(offset), Valid: true}
}

// UnixSeconds reads seconds since 1970. What is not after 1970 or not before the year 10000 is invalid: programs
// write 0 and worse for "never".
func UnixSeconds(n int64) transcript.Time { return unix(n, 1, 1e6) }

// UnixMilli reads milliseconds since 1970, as UnixSeconds does seconds.
func UnixMilli(n int64) transcript.Time { return unix(n, 1e3, 1e3) }

// UnixNano reads nanoseconds since 1970, as UnixSeconds does seconds.
func UnixNano(n int64) transcript.Time {
	t := unix(n, 1e9, 1)
	t.UnixMicro /= 1e3
	return t
}

func unix(n, perSecond, scale int64) transcript.Time {
	if n <= 0 || n/perSecond >= latest {
		return transcript.Time{}
	}
	return transcript.Time{UnixMicro: n * scale, Valid: true}
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// clock eats a time from the left.
type clock struct {
	s  string
	ok bool
}

func (p *clock) peek() byte {
	if p.s == "" {
		return 0
	}
	return p.s[0]
}

func (p *clock) one(of string) bool {
	if p.s == "" || strings.IndexByte(of, p.s[0]) < 0 {
		return false
	}
	p.s = p.s[1:]
	return true
}

// number reads exactly so many digits.
func (p *clock) number(digits int) int {
	if len(p.s) < digits {
		p.ok = false
		return 0
	}
	n := 0
	for _, c := range []byte(p.s[:digits]) {
		if c-'0' > 9 {
			p.ok = false
			return 0
		}
		n = n*10 + int(c-'0')
	}
	p.s = p.s[digits:]
	return n
}

// after reads a separator and two digits.
func (p *clock) after(separator byte) int {
	if p.peek() != separator {
		p.ok = false
		return 0
	}
	p.s = p.s[1:]
	return p.number(2)
}

func (p *clock) micros() int {
	if !p.one(".,") {
		return 0
	}
	n, digits := 0, 0
	for ; p.s != "" && p.s[0]-'0' <= 9; p.s = p.s[1:] {
		if digits < 6 {
			n = n*10 + int(p.s[0]-'0')
		}
		digits++
	}
	p.ok = p.ok && digits > 0
	for ; digits < 6; digits++ {
		n *= 10
	}
	return n
}

// offset reads the zone, in minutes east of UTC.
func (p *clock) offset() int {
	sign := 1
	switch c := p.peek(); c {
	case '+', '-':
		if c == '-' {
			sign = -1
		}
		p.s = p.s[1:]
	default:
		p.one("Zz")
		return 0
	}
	hours, minutes := p.number(2), 0
	switch c := p.peek(); {
	case c == ':':
		minutes = p.after(':')
	case c-'0' <= 9:
		minutes = p.number(2)
	}
	p.ok = p.ok && hours < 24 && minutes < 60
	p.one("Zz")
	return sign * (hours*60 + minutes)
}
