package price

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// FromLiteLLM converts a copy of LiteLLM's model_prices_and_context_window.json to the table of date. Models of modes
// other than chat, responses and completion are left out. An entry with values of an invalid type is left out and
// named in skipped, so that one mistake upstream does not invalidate the file. A model that is listed without both
// main prices is kept without any: it must not be priced by another vendor's row.
func FromLiteLLM(r io.Reader, date string) (t Table, skipped []string, err error) {
	if !validDay(date) {
		return t, nil, fmt.Errorf("date %q is not YYYY-MM-DD", date)
	}
	var models map[string]json.RawMessage
	if err := json.NewDecoder(r).Decode(&models); err != nil {
		return t, nil, fmt.Errorf("read LiteLLM prices: %w", err)
	}
	t = Table{
		Date:    date,
		Source:  "https://github.com/BerriAI/litellm model_prices_and_context_window.json",
		Licence: "MIT, Berri AI",
	}
	for key, raw := range models {
		e, keep, err := fromLiteLLM(key, raw)
		switch {
		case err != nil:
			skipped = append(skipped, key+": "+err.Error())
		case keep:
			t.Entries = append(t.Entries, e)
		}
	}
	if len(t.Entries) == 0 {
		return t, skipped, fmt.Errorf("read LiteLLM prices: no model in it")
	}
	slices.Sort(skipped)
	slices.SortFunc(t.Entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return t, skipped, nil
}

// liteLLM has the fields of an entry that are not prices per token.
type liteLLM struct {
	Mode     string                       `json:"mode"`
	Provider string                       `json:"litellm_provider"`
	Tiered   []map[string]json.RawMessage `json:"tiered_pricing"`
	Specific map[string]json.RawMessage   `json:"provider_specific_entry"`
}

func fromLiteLLM(key string, raw json.RawMessage) (e Entry, keep bool, err error) {
	if key == "sample_spec" { // documentation in the shape of an entry
		return e, false, nil
	}
	var m liteLLM
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(raw, &m) != nil {
		return e, false, fmt.Errorf("unusable types")
	}
	if m.Mode != "chat" && m.Mode != "responses" && m.Mode != "completion" {
		return e, false, nil
	}
	if key == "" || strings.ContainsAny(key+m.Provider, "\t\r\n") || key[0] == '#' {
		return e, false, fmt.Errorf("unusable name")
	}
	e = Entry{Key: key, Provider: m.Provider}
	if hit, ok := fields["input_cost_per_token_cache_hit"]; ok && (fields[cacheRead] == nil || string(fields[cacheRead]) == "null") {
		fields[cacheRead] = hit // eight rows, of DeepSeek's models, state it only so
	}
	if e.Rates, err = rates(nil, fields, 0); err != nil {
		return e, false, err
	}
	for _, tier := range m.Tiered {
		var span []float64 // bounds are token counts; tables write some of them as 256000.0
		if json.Unmarshal(tier["range"], &span) != nil || len(span) != 2 || span[0] < 0 || span[0] > 1e12 {
			return e, false, fmt.Errorf("unusable tier range")
		}
		if e.Rates, err = rates(e.Rates, tier, int64(span[0])); err != nil {
			return e, false, err
		}
	}
	sortRates(e.Rates)
	if !e.Priced() {
		e.Rates = nil
		return e, true, nil
	}
	if e.Factors, err = factors(m.Specific, fields); err != nil {
		return e, false, err
	}
	return e, true, nil
}

// cacheRead is the field with the price of tokens read from a cache.
const cacheRead = "cache_read_input_token_cost"

var fieldClass = []struct {
	prefix string
	class  Class
}{ // longer prefixes first
	{"cache_creation_input_token_cost_above_1hr", CacheWrite1h},
	{"cache_creation_input_token_cost", CacheWrite},
	{cacheRead, CacheRead},
	{"output_cost_per_reasoning_token", Reasoning},
	{"output_cost_per_token", Output},
	{"input_cost_per_token", Input},
}

var fieldService = map[string]Service{"": Standard, "_priority": Priority, "_flex": Flex, "_batches": Batch}

func rates(out []Rate, fields map[string]json.RawMessage, above int64) ([]Rate, error) {
	for name, raw := range fields {
		r, ok := rateOf(name)
		if !ok || string(raw) == "null" {
			continue
		}
		var num json.Number
		if raw[0] == '"' || json.Unmarshal(raw, &num) != nil {
			return nil, fmt.Errorf("%s is not a number", name)
		}
		pico, err := scaled(num.String(), 12, maxPico)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.Pico = pico
		r.Above = max(r.Above, above)
		out = append(out, r)
	}
	return out, nil
}

// rateOf parses a field name such as input_cost_per_token_above_272k_tokens_priority.
func rateOf(field string) (r Rate, ok bool) {
	for _, f := range fieldClass {
		rest, found := strings.CutPrefix(field, f.prefix)
		if !found {
			continue
		}
		r.Class = f.class
		if s, above := strings.CutPrefix(rest, "_above_"); above {
			k, after, found := strings.Cut(s, "k_tokens")
			n, err := strconv.ParseInt(k, 10, 32)
			if !found || err != nil || n <= 0 {
				return r, false
			}
			r.Above, rest = n*1000, after
		}
		r.Service, ok = fieldService[rest]
		return r, ok
	}
	return r, false
}

func factors(specific, fields map[string]json.RawMessage) (out []Factor, err error) {
	add := func(name string, raw json.RawMessage) {
		var num json.Number
		if err != nil || len(raw) == 0 || raw[0] == '"' || json.Unmarshal(raw, &num) != nil {
			return // a setting, not a factor
		}
		var ppm int64
		if ppm, err = scaled(num.String(), 6, maxPPM); err == nil && ppm > 0 {
			out = append(out, Factor{name, ppm})
		}
	}
	for _, name := range []string{"fast", "us", "eu"} {
		add(name, specific[name])
	}
	add("us", fields["regional_processing_uplift_multiplier_us"])
	add("eu", fields["regional_processing_uplift_multiplier_eu"])
	slices.SortFunc(out, func(a, b Factor) int { return strings.Compare(a.Name, b.Name) })
	out = slices.CompactFunc(out, func(a, b Factor) bool { return a.Name == b.Name })
	return out, err
}
