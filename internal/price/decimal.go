package price

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// maxPico bounds a price: one dollar per token is a mistake in any table.
const maxPico = 1_000_000_000_000

// maxPPM bounds a factor: a thousandfold.
const maxPPM = 1_000_000_000

const one = 1_000_000 // a factor of one, in millionths

var errRange = errors.New("out of range")

// ParseUSDPerMillion parses a decimal price in US dollars per million tokens ("3", "0.075") and returns picodollars
// per token. More than six decimals, signs and anything except digits and one point are errors.
func ParseUSDPerMillion(s string) (int64, error) {
	if strings.ContainsAny(s, "eE+-") {
		return 0, fmt.Errorf("price %q: want a plain decimal such as 3 or 0.075", s)
	}
	if _, frac, ok := strings.Cut(s, "."); ok && len(strings.TrimRight(frac, "0")) > 6 {
		return 0, fmt.Errorf("price %q: more than six decimals of a dollar per million tokens", s)
	}
	n, err := scaled(s, 6, maxPico)
	if err != nil {
		return 0, fmt.Errorf("price %q: %w", s, err)
	}
	return n, nil
}

// FormatUSDPerMillion is the inverse of ParseUSDPerMillion, without trailing zeros.
func FormatUSDPerMillion(pico int64) string {
	s := fmt.Sprintf("%d.%06d", pico/1e6, pico%1e6)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// scaled returns the non-negative JSON number s times ten to the power of places, rounded half up to an integer of at
// most limit. It works on decimal digits, because binary fractions are not exact.
func scaled(s string, places int, limit int64) (int64, error) {
	mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
	if hasExp {
		e, err := strconv.Atoi(exp)
		if err != nil || e < -400 || e > 400 {
			return 0, errRange
		}
		places += e
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + frac
	if digits == "" || len(digits) > 100 || strings.Trim(digits, "0123456789") != "" {
		return 0, errors.New("not a decimal number")
	}
	keep := len(whole) + places // how many digits stand before the point of the result
	digits = strings.TrimLeft(digits, "0")
	keep -= len(whole) + len(frac) - len(digits)
	if digits == "" || keep < 0 {
		return 0, nil
	}
	if keep > 19 {
		return 0, errRange
	}
	up := keep < len(digits) && digits[keep] >= '5'
	if keep < len(digits) {
		digits = digits[:keep]
	} else {
		digits += strings.Repeat("0", keep-len(digits))
	}
	var n int64
	if digits != "" {
		var err error
		if n, err = strconv.ParseInt(digits, 10, 64); err != nil {
			return 0, errRange
		}
	}
	if up && n < math.MaxInt64 {
		n++
	}
	if n > limit {
		return 0, errRange
	}
	return n, nil
}

// mulDiv returns a*b/c rounded half up, and false on overflow. All are non-negative, c is positive.
func mulDiv(a, b, c int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c)/2, 0)
	hi += carry
	if hi >= uint64(c) {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q), q <= math.MaxInt64
}

// amount returns tokens*pico*ppm/1e6 picodollars, rounded half up; on overflow, math.MaxInt64 and false.
func amount(tokens, pico, ppm int64) (int64, bool) {
	if hi, lo := bits.Mul64(uint64(tokens), uint64(pico)); hi == 0 && lo <= math.MaxInt64 {
		if ppm == one {
			return int64(lo), true
		}
		if n, ok := mulDiv(int64(lo), ppm, one); ok {
			return n, true
		}
		return math.MaxInt64, false
	}
	n := new(big.Int).Mul(big.NewInt(tokens), big.NewInt(pico))
	n.Mul(n, big.NewInt(ppm)).Add(n, big.NewInt(one/2)).Div(n, big.NewInt(one))
	if !n.IsInt64() {
		return math.MaxInt64, false
	}
	return n.Int64(), true
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

func indexOf(names []string, what, s string) (int, error) {
	if i := slices.Index(names, s); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("unknown %s %q (known: %s)", what, s, strings.Join(names, ", "))
}
