package query

import (
	"fmt"
	"math/big"
	"strings"
)

// operator returns the comparison operator at the beginning of text, or "".
func operator(text string) string {
	for _, op := range []string{">=", "<=", ">", "<", "="} {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

// compare parses the number after a field and its operator. skip is the number of bytes before the operator. Text
// such as input=stdin is not a comparison: compare then returns nil, nil and consumes nothing.
func (p *parser) compare(info Info, skip int, op string) (Node, error) {
	start := p.i
	p.i += skip + len(op)
	from := p.i
	word, _ := p.bare("")
	if op == "=" && (word == "" || !strings.ContainsRune("$.0123456789", rune(word[0]))) {
		p.i = start
		return nil, nil
	}
	if op == "" {
		op = "="
	}
	n, ok := number(info.Name, word)
	if !ok {
		return nil, p.errorf(from, fmt.Sprintf("%q cannot be compared with %s", word, info.Name), "write for example %s; to search for the text, quote it", info.Example)
	}
	return Compare{info.Name, op, n}, nil
}

// units returns the unit suffixes of a field with their factors. The first is the unit of a bare number.
func units(field string) []unit {
	switch field {
	case "cost":
		return []unit{{"", 1e9}, {"usd", 1e9}}
	case "duration":
		return []unit{{"", 1e6}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"min", 60e6}, {"h", 3600e6}, {"d", 86400e6}}
	}
	return []unit{{"", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}}
}

type unit struct {
	name   string
	factor int64
}

// number parses an amount exactly: cost in nano-USD, duration in microseconds (several units may be combined, as in
// 1h30m), counts. It fails for values that are out of range or finer than that unit.
func number(field, text string) (int64, bool) {
	text = strings.ReplaceAll(strings.ToLower(text), "_", "")
	if field == "cost" {
		text = strings.TrimPrefix(text, "$")
	}
	sum := new(big.Rat)
	for first := true; text != "" || first; first = false {
		digits := strings.TrimLeft(text, "0123456789.")
		amount := text[:len(text)-len(digits)]
		rest := strings.TrimLeft(digits, "abcdefghijklmnopqrstuvwxyz")
		name := digits[:len(digits)-len(rest)]
		if strings.Trim(amount, ".") == "" || strings.Count(amount, ".") > 1 || len(amount) > 40 || !first && field != "duration" {
			return 0, false
		}
		factor := int64(0)
		for _, u := range units(field) {
			if u.name == name {
				factor = u.factor
			}
		}
		r, ok := new(big.Rat).SetString(strings.TrimSuffix("0"+amount, "."))
		if !ok || factor == 0 {
			return 0, false
		}
		sum.Add(sum, r.Mul(r, new(big.Rat).SetInt64(factor)))
		text = rest
	}
	if !sum.IsInt() || !sum.Num().IsInt64() {
		return 0, false
	}
	return sum.Num().Int64(), true
}

// amount formats n so that number parses it back.
func amount(field string, n int64) string {
	suffix := ""
	if field == "duration" {
		suffix = "s"
	}
	r := new(big.Rat).SetFrac64(n, units(field)[0].factor)
	text := r.FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + suffix
}
