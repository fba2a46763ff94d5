package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Bytes formats a number of bytes with binary prefixes: "1.5 KiB".
func Bytes(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// Count formats a number with thousands separators: "1,234,567".
func Count[N int | int64](n N) string { return humanize.Comma(int64(n)) }

// CountOrDash is Count for a number that may be unknown: "-" for nil.
func CountOrDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return Count(*n)
}

// TextOrDash returns the text that s points to; "-" for nil and for text that shows nothing.
func TextOrDash(s *string) string {
	if s == nil || OneLine(*s) == "" {
		return "-"
	}
	return *s
}

// Dollars formats micro-USD: "$1.2346", or "-" for nil. What is not 0 does not look like it: "$0.000028".
func Dollars(micro *int64) string {
	switch {
	case micro == nil:
		return "-"
	case *micro != 0 && -50 < *micro && *micro < 50:
		return "$" + strconv.FormatFloat(float64(*micro)/1e6, 'f', 6, 64)
	}
	return "$" + humanize.FormatFloat("#,###.####", float64(*micro)/1e6)
}

// CompactCount formats a number in few characters: "950", "12.3k", "1.2M".
func CompactCount(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	value, prefix := humanize.ComputeSI(float64(n))
	digits := 1
	switch {
	case value >= 999.5: // rounds to 1000, which has a prefix of its own
		return CompactCount(n + n/1000)
	case value >= 100:
		digits = 0
	}
	return strings.TrimSuffix(fmt.Sprintf("%.*f", digits, value), ".0") + prefix
}

// Percent formats a share between 0 and 1: "12.5%", or "-" for nil.
func Percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(100**share, 'f', 1, 64) + "%"
}

// Plural formats a number with its noun: "1 file" or "2,000 files".
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// FirstNonEmpty returns the first text that is more than white space; "" for none.
func FirstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// NonEmpty returns the texts that show something, each on one line.
func NonEmpty(texts ...string) []string {
	var some []string
	for _, s := range texts {
		if s = OneLine(s); s != "" {
			some = append(some, s)
		}
	}
	return some
}
