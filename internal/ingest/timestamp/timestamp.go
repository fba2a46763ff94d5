// Package timestamp reads the times that programs write: RFC 3339 and its relatives, and numbers since 1970.
package timestamp

import (
	"math"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

// maxUnixSeconds is the first second of the year 10000: times from there on are invalid.
const maxUnixSeconds = 253402300800

// Parse parses a date and time in RFC 3339 or a similar form: "T", "t" or a space between date and time, any
// number of decimals (truncated to microseconds) or none, seconds or none, an offset as Z, +hh:mm, +hhmm or +hh, an
// offset and a Z (which is ignored), or neither (UTC). Anything else is invalid, and so are the zero times of Go and other
// programs (before the year 2).
func Parse(s string) transcript.Time {
	p := timeParser{s: strings.TrimSpace(s), ok: true}
	year := p.number(4)
	month := p.twoDigitsAfter('-')
	day := p.twoDigitsAfter('-')
	if p.ok = p.ok && p.accept("Tt "); !p.ok {
		return transcript.Time{}
	}
	hour := p.number(2)
	minute := p.twoDigitsAfter(':')
	second, micro := 0, 0
	if p.peek() == ':' {
		second = p.twoDigitsAfter(':')
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

// UnixSeconds converts seconds since 1970. A number that is not positive, or not before the year 10000, is invalid: programs
// write 0 and negative numbers for "never".
func UnixSeconds(n int64) transcript.Time { return unix(n, 1, 1e6) }

// UnixMilli is UnixSeconds for milliseconds.
func UnixMilli(n int64) transcript.Time { return unix(n, 1e3, 1e3) }

// UnixNano is UnixSeconds for nanoseconds.
func UnixNano(n int64) transcript.Time {
	t := unix(n, 1e9, 1)
	t.UnixMicro /= 1e3
	return t
}

// Epoch converts seconds or milliseconds since 1970: a number above 1e11, which would be a second after the year 5000, is one of milliseconds.
func Epoch(n int64) transcript.Time {
	if n > 1e11 {
		return UnixMilli(n)
	}
	return UnixSeconds(n)
}

func unix(n, perSecond, scale int64) transcript.Time {
	if n <= 0 || n/perSecond >= maxUnixSeconds {
		return transcript.Time{}
	}
	return transcript.Time{UnixMicro: n * scale, Valid: true}
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// timeParser consumes a time from the left. ok turns false at the first error.
type timeParser struct {
	s  string
	ok bool
}

func (p *timeParser) peek() byte {
	if p.s == "" {
		return 0
	}
	return p.s[0]
}

// accept consumes one byte if it is in set, and reports whether it did.
func (p *timeParser) accept(set string) bool {
	if p.s == "" || strings.IndexByte(set, p.s[0]) < 0 {
		return false
	}
	p.s = p.s[1:]
	return true
}

// number consumes a number of exactly so many digits.
func (p *timeParser) number(digits int) int {
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

// twoDigitsAfter consumes a separator and a number of two digits.
func (p *timeParser) twoDigitsAfter(separator byte) int {
	if p.peek() != separator {
		p.ok = false
		return 0
	}
	p.s = p.s[1:]
	return p.number(2)
}

// micros consumes the decimals of a second, if any, and returns microseconds.
func (p *timeParser) micros() int {
	if !p.accept(".,") {
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

// offset consumes the zone and returns it in minutes east of UTC.
func (p *timeParser) offset() int {
	sign := 1
	switch c := p.peek(); c {
	case '+', '-':
		if c == '-' {
			sign = -1
		}
		p.s = p.s[1:]
	default:
		p.accept("Zz")
		return 0
	}
	hours, minutes := p.number(2), 0
	switch c := p.peek(); {
	case c == ':':
		minutes = p.twoDigitsAfter(':')
	case c-'0' <= 9:
		minutes = p.number(2)
	}
	p.ok = p.ok && hours < 24 && minutes < 60
	p.accept("Zz")
	return sign * (hours*60 + minutes)
}

// RankAt returns the second of t as a Rank, 0 if t is not valid: of the copies of a document, the one that its producer
// wrote last describes the run. There is room for a base of up to 15 in an int of any size.
func RankAt(t transcript.Time) int {
	const most = math.MaxInt32 - 15
	return int(min(max(t.UnixMicro/1e6, 0), most))
}
