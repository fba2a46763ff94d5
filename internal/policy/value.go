package policy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// maxDuration keeps sums of times and durations far from overflow.
const maxDuration = 200 * 365 * day

var durationUnits = map[string]time.Duration{
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": day, "w": 7 * day, "y": 365 * day,
}

// ParseDuration parses a duration as written in policies: 30d, 12h or 1d12h. A unit is required.
func ParseDuration(s string) (time.Duration, error) {
	var total time.Duration
	rest := s
	for rest != "" {
		i := 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		j := i
		for j < len(rest) && (rest[j] < '0' || rest[j] > '9') {
			j++
		}
		n, err := strconv.ParseInt(rest[:i], 10, 64)
		unit, ok := durationUnits[rest[i:j]]
		if err != nil || !ok {
			return 0, fmt.Errorf("%q is not a duration", s)
		}
		if n > int64(maxDuration-total)/int64(unit) {
			return 0, fmt.Errorf("%q is too long", s)
		}
		total += time.Duration(n) * unit
		rest = rest[j:]
	}
	if s == "" {
		return 0, errors.New("a duration is missing")
	}
	return total, nil
}

var byteUnits = map[string]float64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// ParseBytes parses a size as written in policies: 64KB, 1.5GiB or 1000.
func ParseBytes(s string) (int64, error) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	unit, ok := byteUnits[strings.ToLower(strings.TrimSpace(s[i:]))]
	if err != nil || !ok || n*unit > 1<<60 {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return int64(n * unit), nil
}

// parseCost parses an amount of US dollars, 0.50 or $0.50, and returns nano-USD. It works on decimal digits: money is
// never a binary fraction.
func parseCost(s string) (int64, error) {
	whole, frac, _ := strings.Cut(strings.TrimPrefix(s, "$"), ".")
	if len(frac) > 9 {
		return 0, fmt.Errorf("%q has more than nine decimals", s)
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 9-len(frac)), 10, 62)
	if err != nil || whole == "" {
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	}
	return int64(n), nil
}

// span is a range of integers, both ends included. The zero span is not set and contains everything.
type span struct {
	set    bool
	lo, hi int64
}

// parseSpan parses >30d, >=1, <5, <=5, 7d..30d, =0 or a bare value, which means the same as =.
func parseSpan[T ~int64](s string, value func(string) (T, error)) (span, error) {
	s = strings.TrimSpace(s)
	if a, b, ok := strings.Cut(s, ".."); ok {
		lo, err := value(strings.TrimSpace(a))
		if err != nil {
			return span{}, err
		}
		hi, err := value(strings.TrimSpace(b))
		return span{true, int64(lo), int64(hi)}, err
	}
	op := s[:len(s)-len(strings.TrimLeft(s, "<>="))]
	got, err := value(strings.TrimSpace(s[len(op):]))
	if err != nil {
		return span{}, err
	}
	n := int64(got)
	switch op {
	case ">":
		return span{true, n + 1, math.MaxInt64}, nil
	case ">=":
		return span{true, n, math.MaxInt64}, nil
	case "<":
		return span{true, 0, n - 1}, nil
	case "<=":
		return span{true, 0, n}, nil
	case "=", "==", "":
		return span{true, n, n}, nil
	}
	return span{}, fmt.Errorf("%q is not a comparison", op)
}

func (s span) empty() bool { return s.set && s.lo > s.hi }

func (s span) contains(n int64) bool { return !s.set || s.lo <= n && n <= s.hi }

// intersect returns the intersection of two ranges.
func (s span) intersect(o span) span {
	if !s.set {
		return o
	}
	if !o.set {
		return s
	}
	return span{true, max(s.lo, o.lo), min(s.hi, o.hi)}
}

// covers reports whether s contains all of o.
func (s span) covers(o span) bool {
	if !s.set {
		return true
	}
	return o.set && s.lo <= o.lo && o.hi <= s.hi
}

// formatAge formats an age for display: whole days, hours if it is shorter, or else minutes.
func formatAge(d time.Duration) string {
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%d days", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	default:
		return fmt.Sprintf("%d minutes", max(0, d/time.Minute))
	}
}

// formatLimit formats a limit as written in policies.
func formatLimit(d time.Duration) string {
	switch {
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return d.String()
	}
}

func formatSize(n int64) string {
	for _, u := range []struct {
		name string
		n    int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if n >= u.n {
			s := strconv.FormatFloat(float64(n)/float64(u.n), 'f', 1, 64)
			return strings.TrimSuffix(s, ".0") + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
