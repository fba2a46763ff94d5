package price

import "strings"

// The flags of a Result: every assumption that went into an amount, and what made it differ from the base
// price. They are stable words for scripts.
const (
	FlagStub            = "stub"                    // made by a stub engine: no model was asked
	FlagZeroPrice       = "zero_price"              // the table lists the model at 0: free, or its price is not known
	FlagLongPrompt      = "long_prompt"             // the whole request at the price for long prompts
	FlagPromptsUnknown  = "prompt_lengths_unknown"  // the sum of several requests, priced at the tier of their average prompt; at the base price if their number is unknown
	FlagCacheRead       = "cache_read_assumed"      // no price for the class: Anthropic's 0.1 x input, else as input
	FlagCacheWrite      = "cache_write_assumed"     // likewise, 1.25 x input, else as input
	FlagCacheWrite1h    = "cache_write_1h_assumed"  // likewise, 2 x input, else as the 5 minute write, else as input
	FlagTierDerived     = "tier_price_derived"      // a class without a price of its own at this tier follows the input's ratio
	FlagServiceUnpriced = "service_tier_unpriced"   // the service tier has no price: standard was used
	FlagBatchHalf       = "batch_half_assumed"      // Anthropic's published half price for batches
	FlagFastPriority    = "fast_as_priority"        // fast mode priced as the priority tier
	FlagFastUnpriced    = "fast_unpriced"           // fast mode has no price: standard was used
	FlagGeoUnpriced     = "geo_unpriced"            // the region has no factor: times one was used
	FlagRegion          = "region_price_assumed"    // Bedrock region without a row of its own
	FlagStale           = "price_of_another_day"    // see Match.Stale
	FlagNoTime          = "no_time"                 // priced by the newest table
	FlagClassUnknown    = "input_or_output_unknown" // one of them is not stated and thus not in the amount
	FlagNegative        = "negative_tokens_ignored" // a negative count is taken as unknown
)

// tariff is one row at the service tier and prompt size of a request.
type tariff struct {
	entry   *Entry
	service Service
	above   int64
}

// tierFor returns the threshold of the tier for a prompt of n tokens. A request whose prompt exceeds a threshold is
// billed at that tier as a whole, as the vendors do.
func (e *Entry) tierFor(n int64) int64 {
	var above int64
	for i := range e.Rates {
		if a := e.Rates[i].Above; a > above && n > a {
			above = a
		}
	}
	return above
}

// hasService reports whether the entry has input and output prices at a service tier.
func (e *Entry) hasService(s Service) bool {
	_, in := e.rate(Input, s, 0)
	_, out := e.rate(Output, s, 0)
	return in && out
}

// price returns the picodollars per token of a class, and the flag of any assumption that was needed. For Reasoning,
// ok is false if it has no price of its own.
func (t tariff) price(c Class) (pico int64, flag string, ok bool) {
	if p, ok := t.entry.rate(c, t.service, t.above); ok {
		return p, "", true
	}
	if c == Reasoning && !t.pricesReasoning() {
		return 0, "", false
	}
	if p, ok := t.derived(c); ok {
		return p, FlagTierDerived, true
	}
	if c == Input || c == Output {
		return 0, "", false // not a priced entry
	}
	in, _, _ := t.price(Input)
	switch c {
	case CacheRead:
		if t.anthropic() {
			in, _ = mulDiv(in, 10, 100)
		}
		return in, FlagCacheRead, true
	case CacheWrite:
		if t.anthropic() {
			in, _ = mulDiv(in, 125, 100)
		}
		return in, FlagCacheWrite, true
	case CacheWrite1h:
		if t.anthropic() {
			return 2 * in, FlagCacheWrite1h, true
		}
		p, _, _ := t.price(CacheWrite)
		return p, FlagCacheWrite1h, true
	}
	return 0, "", false
}

// derived computes a price that is listed only at a lower tier or at the standard service, by the ratio of the input
// prices (for output, of the output prices).
func (t tariff) derived(c Class) (int64, bool) {
	if t.service != Standard {
		std := tariff{t.entry, Standard, t.above}
		base, ok := t.entry.rate(c, Standard, t.above)
		if !ok && t.above > 0 {
			base, ok = std.derived(c)
		}
		if !ok {
			return 0, false
		}
		return t.scale(base, c, t.service, 0)
	}
	if t.above == 0 {
		return 0, false
	}
	base, ok := t.entry.rate(c, Standard, 0)
	if !ok {
		return 0, false
	}
	return t.scale(base, c, Standard, t.above)
}

// scale changes a standard price by the ratio of what the row states of input, or of output, for a service and prompt size to the
// standard price.
func (t tariff) scale(base int64, c Class, to Service, above int64) (int64, bool) {
	like := Input
	if c == Output || c == Reasoning {
		like = Output
	}
	a, ok1 := t.entry.rate(like, Standard, 0)
	b, ok2 := t.entry.rate(like, to, above)
	if !ok1 || !ok2 || a == 0 {
		return base, true // no ratio is known: keep the price
	}
	return mulDiv(base, b, a)
}

// pricesReasoning reports whether reasoning has a price of its own.
func (t tariff) pricesReasoning() bool {
	_, ok := t.entry.rate(Reasoning, Standard, 0)
	return ok
}

// anthropic reports whether Anthropic's published ratios between the classes apply to the row.
func (t tariff) anthropic() bool {
	return t.entry.Provider == "anthropic" || strings.Contains(strings.ToLower(t.entry.Key), "claude")
}
