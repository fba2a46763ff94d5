package query

import (
	"fmt"
	"strings"
	"time"
)

// span is the interval that a date, age or word stands for.
type span struct {
	from, to time.Time
	point    bool // given to the second: a range ends at from, not at to
}

const datesHelp = "write a date (2026-11, 2026-11-20, 2026-11-20T10:00), an age (7d, 3h, 2w, 6mo, 1y) or a word (today, yesterday, tuesday, this-week, last-month)"

// Times returns words and ages that a time field accepts, for completion.
func Times() []string {
	return []string{"today", "yesterday", "this-week", "last-week", "this-month", "last-month", "this-year", "last-year", "1h", "24h", "7d", "30d"}
}

// timeField parses the value of a time field.
func (p *parser) timeField(name string) (Node, error) {
	from := p.i
	text, quoted := "", p.text[p.i] == '"'
	if quoted {
		var err error
		if text, err = p.quoted(); err != nil {
			return nil, err
		}
		if !p.delimited(p.i) {
			return nil, p.errorf(p.i, "text follows the quoted value", "put a space between them")
		}
	} else {
		text, _ = p.bare("")
	}
	a, b, isRange := strings.Cut(text, "..")
	if isRange && (name == "after" || name == "before") {
		return nil, p.errorf(from, name+": takes one date, not a range", "write during:%s", text)
	}
	var r Range
	var ok bool
	switch {
	case isRange:
		r, ok = p.between(a, b)
	default:
		var s span
		if s, ok = p.span(text); ok {
			switch name {
			case "after":
				r.From = s.from
			case "before":
				r.To = s.from
			default:
				r = Range{s.from, s.to}
			}
		}
	}
	if !ok {
		return nil, p.errorf(from, fmt.Sprintf("%q is not a date for %s:", text, name), datesHelp)
	}
	if !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return nil, p.errorf(from, "the range ends before it starts", "write the earlier date first")
	}
	return r, nil
}

// between parses a..b, one of which may be missing: from the beginning of a to the end of b.
func (p *parser) between(a, b string) (Range, bool) {
	var r Range
	if a != "" {
		s, ok := p.span(a)
		if !ok {
			return r, false
		}
		r.From = s.from
	}
	if b != "" {
		s, ok := p.span(b)
		if !ok {
			return r, false
		}
		if r.To = s.to; s.point {
			r.To = s.from
		}
	}
	return r, a != "" || b != ""
}

// printable reports whether t is within the years that can be printed and parsed again.
func printable(t time.Time) bool { return t.Year() >= 1000 && t.Year() < 9999 }

// span parses a date, an age or a word.
func (p *parser) span(text string) (span, bool) {
	s, ok := p.named(strings.ToLower(text))
	if !ok && !strings.Contains(text, "M") { // M could be minutes or months, and a prune must not guess
		s, ok = p.age(strings.ToLower(text))
	}
	if !ok {
		s, ok = p.date(text)
	}
	s.from, s.to = s.from.UTC(), s.to.UTC()
	return s, ok && printable(s.from) && printable(s.to)
}

// weekdays are the words for days of the week.
var weekdays = map[string]time.Weekday{
	"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday,
	"friday": time.Friday, "saturday": time.Saturday, "sunday": time.Sunday,
}

// named parses a word such as today. A day of the week is the latest one before today.
func (p *parser) named(word string) (span, bool) {
	y, m, d := p.now.Date()
	day := func(y int, m time.Month, d int) time.Time { return midnight(y, m, d, p.loc) }
	week := d - (int(p.now.Weekday())+13-p.weekShift)%7 // its first day
	if weekday, ok := weekdays[strings.TrimPrefix(word, "last-")]; ok {
		back := (int(p.now.Weekday()-weekday)+6)%7 + 1
		return span{from: day(y, m, d-back), to: day(y, m, d-back+1)}, true
	}
	switch word {
	case "now":
		return span{p.now, p.now.Add(time.Second), true}, true
	case "today":
		return span{from: day(y, m, d), to: day(y, m, d+1)}, true
	case "yesterday":
		return span{from: day(y, m, d-1), to: day(y, m, d)}, true
	case "this-week":
		return span{from: day(y, m, week), to: day(y, m, week+7)}, true
	case "last-week":
		return span{from: day(y, m, week-7), to: day(y, m, week)}, true
	case "this-month":
		return span{from: day(y, m, 1), to: day(y, m+1, 1)}, true
	case "last-month":
		return span{from: day(y, m-1, 1), to: day(y, m, 1)}, true
	case "this-year":
		return span{from: day(y, 1, 1), to: day(y+1, 1, 1)}, true
	case "last-year":
		return span{from: day(y-1, 1, 1), to: day(y, 1, 1)}, true
	}
	return span{}, false
}

// age parses an age such as 7d, 3h, 2w, 6mo, 1y, 90m or 1d12h: the interval from that long ago, to the second, until
// now. Units of a day and more are calendar units.
func (p *parser) age(text string) (span, bool) {
	t := p.now
	for rest := text; rest != ""; {
		n, digits := 0, 0
		for ; digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
			if n = n*10 + int(rest[digits]-'0'); n > 1e8 {
				return span{}, false
			}
		}
		unit := strings.TrimLeft(rest[digits:], "abcdefghijklmnopqrstuvwxyz")
		unit, rest = rest[digits:len(rest)-len(unit)], unit
		switch {
		case digits == 0:
			return span{}, false
		case unit == "y":
			t = monthsBefore(t, 12*n)
		case unit == "mo":
			t = monthsBefore(t, n)
		case unit == "w":
			t = t.AddDate(0, 0, -7*n)
		case unit == "d":
			t = t.AddDate(0, 0, -n)
		case unit == "h":
			t = secondsBefore(t, 3600*int64(n))
		case unit == "m" || unit == "min":
			t = secondsBefore(t, 60*int64(n))
		case unit == "s":
			t = secondsBefore(t, 1*int64(n))
		default:
			return span{}, false
		}
	}
	t = t.Truncate(time.Second) // fractions are never meant, and would be printed
	return span{from: t, to: p.now, point: true}, text != "" && (t.Before(p.now) || t.Equal(p.now))
}

// secondsBefore returns the instant n seconds earlier, n being more than a Duration may have.
func secondsBefore(t time.Time, n int64) time.Time {
	return time.Unix(t.Unix()-n, int64(t.Nanosecond())).In(t.Location())
}

// monthsBefore returns the same day n months earlier, or the last day of that month if it has no such day: a month
// before 31 March is the end of February, not 3 March.
func monthsBefore(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	last := time.Date(y, m-time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	hour, minute, second := t.Clock()
	return time.Date(y, m-time.Month(n), min(d, last), hour, minute, second, t.Nanosecond(), t.Location())
}

// midnight returns the first instant of a day. Where clocks are put forward at midnight, that is later than 00:00.
func midnight(y int, m time.Month, d int, loc *time.Location) time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, loc)
	if t.Hour() < 12 {
		return t
	}
	_, forward := t.ZoneBounds()
	return forward
}

// date parses a date of any precision, with T or a space before the time, with or without a zone.
func (p *parser) date(text string) (span, bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, l := range []struct {
		layout              string
		years, months, days int
	}{{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}, {"2006/01/02", 0, 0, 1}} {
		for _, zone := range []string{"", "Z07:00"} {
			t, err := time.Parse(l.layout+zone, text)
			if err != nil {
				continue
			}
			loc := p.loc
			if zone != "" {
				_, offset := t.Zone()
				loc = time.FixedZone("", offset)
			}
			y, m, d := t.Date()
			return span{from: midnight(y, m, d, loc), to: midnight(y+l.years, m+time.Month(l.months), d+l.days, loc)}, true
		}
	}
	for _, l := range []struct {
		layout string
		end    func(time.Time) time.Time
	}{
		{"2006-01-02T15", func(t time.Time) time.Time { return t.Add(time.Hour) }},
		{"2006-01-02T15:04", func(t time.Time) time.Time { return t.Add(time.Minute) }},
		{"2006-01-02T15:04:05", nil},
	} {
		for _, zone := range []string{"", "Z07:00"} {
			t, err := time.ParseInLocation(l.layout+zone, text, p.loc)
			switch {
			case err != nil:
			case l.end == nil:
				return span{t, t.Add(time.Second), true}, true
			default:
				return span{from: t, to: l.end(t)}, true
			}
		}
	}
	return span{}, false
}
