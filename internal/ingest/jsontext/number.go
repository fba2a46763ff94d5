package jsontext

import (
	"bytes"
	"math"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TimeOrUnix returns a string as Time does, and anything else as UnixTime does.
func (v Value) TimeOrUnix() transcript.Time {
	if v.IsString() {
		return v.Time()
	}
	return v.UnixTime()
}

// MilliTime returns an integer of milliseconds since 1970 as a time; see timestamp.UnixMilli.
func (v Value) MilliTime() transcript.Time {
	n, _ := v.Int()
	return timestamp.UnixMilli(n)
}

// TimeOrMilli returns a string as Time does, and anything else as MilliTime does.
func (v Value) TimeOrMilli() transcript.Time {
	if v.IsString() {
		return v.Time()
	}
	return v.MilliTime()
}

// UnixTime returns a number of seconds since 1970, with or without decimals, as a time; see timestamp.UnixSeconds.
func (v Value) UnixTime() transcript.Time {
	n, _, _ := v.scaled(9)
	return timestamp.UnixNano(n)
}

// ProtobufTime returns the time in a google.protobuf.Timestamp: an object with seconds and nanos.
func (v Value) ProtobufTime() transcript.Time {
	seconds, _ := v.Get("seconds").Int()
	nanos, _ := v.Get("nanos").Int()
	t := timestamp.UnixSeconds(seconds)
	if t.Valid && nanos > 0 && nanos < 1e9 {
		t.UnixMicro += nanos / 1e3
	}
	return t
}

// Int returns an integer, which may be written as 12.0 or 1e3. It returns false for other types, fractions and numbers that
// do not fit.
func (v Value) Int() (int64, bool) {
	if n, ok := digits(v.Raw()); ok {
		return n, true
	}
	if n, exact, ok := v.scaled(0); ok && exact {
		return n, true
	}
	return 0, false
}

// Count is Int as a Count, unknown if Int returns false.
func (v Value) Count() transcript.Count {
	if n, ok := v.Int(); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}

// MaxTokens is an upper bound for numbers of tokens, more than any request has: no sum of them overflows.
const MaxTokens = 1 << 40

// Tokens is Count for a number of tokens: negative ones are 0, and larger ones than MaxTokens are cut to it.
func (v Value) Tokens() transcript.Count {
	n := v.Count()
	n.N = min(max(n.N, 0), MaxTokens)
	return n
}

// Float returns a number as the nearest float64, and 0 and false for other types and numbers that do not fit.
func (v Value) Float() (float64, bool) {
	if v.Type() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil {
		return 0, false // and not infinity
	}
	return f, true
}

// NanoUSD returns a dollar amount in nano-USD. It converts the decimal digits and uses no float; more than
// nine decimals are rounded half away from zero. It is unknown for other types and amounts that do not fit.
func (v Value) NanoUSD() transcript.Count {
	if n, _, ok := v.scaled(9); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}

// digits parses a number of 1 to 18 digits, which fits an int64. It returns false for anything else.
func digits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, 0 < len(b) && len(b) <= 18
}

// scaled returns v times ten to the power of scale, rounded half away from zero. exact reports whether nothing was
// rounded, ok whether v is a number and the result fits.
func (v Value) scaled(scale int) (n int64, exact, ok bool) {
	if v.Type() != '0' {
		return 0, false, false
	}
	b := v.Raw()
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	// point is how many digits, not counting the dot, are in the integer part of the result.
	mantissa, point := b, scale
	if e := bytes.IndexAny(b, "eE"); e >= 0 {
		mantissa = b[:e]
		point += exponent(b[e+1:])
	}
	if dot := bytes.IndexByte(mantissa, '.'); dot >= 0 {
		point += dot
	} else {
		point += len(mantissa)
	}
	sum, exact, ok := roundDigits(mantissa, point)
	switch {
	case !ok:
		return 0, false, false
	case negative && sum <= 1<<63:
		return -int64(sum), exact, true
	case !negative && sum <= math.MaxInt64:
		return int64(sum), exact, true
	}
	return 0, false, false
}

// roundDigits returns the first point digits of a mantissa as a number, padded with zeros, and rounded by the next
// digit.
func roundDigits(mantissa []byte, point int) (sum uint64, exact, ok bool) {
	const most = 1 << 63
	exact, ok = true, true
	up, at := false, 0
	push := func(d uint64) {
		if sum > (most-d)/10 {
			ok = false
			return
		}
		sum = sum*10 + d
	}
	for _, c := range mantissa {
		if c == '.' {
			continue
		}
		d := uint64(c - '0')
		switch {
		case at < point:
			push(d)
		default:
			exact = exact && d == 0
			up = up || at == point && d >= 5
		}
		at++
	}
	for ; at < point && sum > 0 && ok; at++ {
		push(0)
	}
	if up {
		sum++
	}
	return sum, exact, ok
}

// exponent parses a signed decimal number. Beyond 1<<20 it ignores further digits.
func exponent(b []byte) int {
	const enough = 1 << 20
	sign, n := 1, 0
	for _, c := range b {
		switch {
		case c == '-':
			sign = -1
		case c != '+' && n < enough:
			n = n*10 + int(c-'0')
		}
	}
	return sign * n
}
