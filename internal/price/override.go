package price

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ParseRate parses a price as people write it: input=3, cache_read=0.30, input@200000=6 for prompts longer than that,
// output.batch=7.5 for a service tier. The number is in US dollars per million tokens.
func ParseRate(text string) (Rate, error) {
	name, usd, ok := strings.Cut(text, "=")
	if !ok {
		return Rate{}, fmt.Errorf("invalid price %q: write input=3, in US dollars per million tokens", text)
	}
	r, err := parseRateName(strings.TrimSpace(name))
	if err != nil {
		return r, err
	}
	r.Pico, err = ParseUSDPerMillion(strings.TrimSpace(usd))
	return r, err
}

// ReadOverrides reads a CSV file of overrides. Its first line names the columns: model, from (YYYY-MM-DD, empty for
// always), note, and prices as ParseRate names them (input, output, cache_read, output.batch, ...), in US dollars per
// million tokens; an empty field means no price. Errors name the line.
func ReadOverrides(r io.Reader) ([]Override, error) {
	c := csv.NewReader(r)
	c.TrimLeadingSpace = true
	head, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	for i := range head {
		head[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(head[i], "\ufeff")))
	}
	if !slices.Contains(head, "model") {
		return nil, errors.New("line 1: no column model")
	}
	var all []Override
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		o, err := overrideOf(head, row)
		if err == nil {
			err = o.Validate()
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		all = append(all, o)
	}
}

func overrideOf(head, row []string) (o Override, err error) {
	for i, field := range row {
		field = strings.TrimSpace(field)
		switch head[i] {
		case "model":
			o.Model = field
		case "from":
			o.From = field
		case "note":
			o.Note = field
		default:
			if field == "" {
				continue
			}
			r, err := ParseRate(head[i] + "=" + field)
			if err != nil {
				return o, err
			}
			o.Rates = append(o.Rates, r)
		}
	}
	sortRates(o.Rates)
	return o, nil
}
