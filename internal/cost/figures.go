package cost

import (
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Tokens counts requests and their tokens. Classes are disjoint, except for the two that are parts of others.
type Tokens struct {
	Requests        int64 `json:"requests"`
	Input           int64 `json:"input_tokens"`
	Output          int64 `json:"output_tokens"`
	CacheRead       int64 `json:"cache_read_tokens"`
	CacheCreation   int64 `json:"cache_creation_tokens"`
	CacheCreation1h int64 `json:"cache_creation_1h_tokens"` // a part of CacheCreation
	Reasoning       int64 `json:"reasoning_tokens"`         // a part of Output
}

// All returns the number of all tokens that are paid for.
func (t Tokens) All() int64 { return t.Input + t.Output + t.CacheRead + t.CacheCreation }

// Figures are the numbers of a group. Costs are null if unknown.
type Figures struct {
	Tokens
	Cost       *int64   `json:"cost_microusd"` // by the mode of the report
	Nano       *int64   `json:"cost_nanousd"`  // the same, exact
	Reported   *int64   `json:"reported_cost_microusd"`
	Calculated *int64   `json:"calculated_cost_microusd"`
	Share      *float64 `json:"share"`             // of the total cost, rounded to a millionth
	Unpriced   int64    `json:"unpriced_requests"` // requests without a known cost, which Cost therefore lacks
	Stub       int64    `json:"stub_requests"`     // requests of stub engines, which call no model
	// Elsewhere counts requests whose cost another record of the conversation reports.
	Elsewhere int64 `json:"cost_elsewhere_requests"`
}

// Row is a group with its keys.
type Row struct {
	Keys []Key
	Figures
}

// Key is the value of one key of a report; Value is nil if not stated.
type Key struct {
	Name  string
	Value *string
}

// MarshalJSON writes the keys, in the order of the report's By, before the figures.
func (r Row) MarshalJSON() ([]byte, error) { return withKeys(r.Keys, r.Figures) }

// withKeys returns the JSON object of rest with keys before its own.
func withKeys(keys []Key, rest any) ([]byte, error) {
	fields, err := transcript.AppendJSON(nil, rest)
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for _, k := range keys {
		pair, err := transcript.AppendJSON(nil, map[string]*string{k.Name: k.Value})
		if err != nil {
			return nil, err
		}
		out = append(append(out, pair[1:len(pair)-1]...), ',')
	}
	return append(out, fields[1:]...), nil
}

// identity returns a string that is unique to a list of keys.
func identity(keys []Key) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Value != nil {
			b.WriteByte('=')
			b.WriteString(strings.ReplaceAll(*k.Value, "\x00", "\x00\xff"))
		}
		b.WriteString("\x00\x01") // cannot occur in an escaped value
	}
	return b.String()
}

// tally adds up groups of an index in one mode.
type tally struct {
	mode Mode
	index.Spent
	nano                         int64 // by mode
	priced, unpriced             int64 // records with and without a cost
	costElsewhere, stub          int64
	withReported, withCalculated int64 // records with a reported and with a calculated cost
}

// add adds s and returns why its records have no cost, or "" if they have one or need none.
func (t *tally) add(s index.Sum) (reason string) {
	requests := s.Requests
	if s.Twin == index.CostTwin {
		s.Requests = 0 // count the records with the tokens instead
	}
	t.Spent = t.Plus(s.Spent)
	if price.IsStub(s.Model) {
		t.stub += s.Records
	}
	if s.HasReported {
		t.withReported += s.Records
	}
	if s.Reason == "" {
		t.withCalculated += s.Records
	}
	nano, known, reason := costOf(t.mode, s)
	switch {
	case known:
		t.nano, t.priced = index.SaturatingAdd(t.nano, nano), t.priced+s.Records
	case reason == "":
		t.costElsewhere += requests
	default:
		t.unpriced += requests
	}
	return reason
}

// costOf returns the cost of records in a mode, or why it is unknown. Records whose cost their twin states have
// neither: tokens whose cost another record reports and, in Calculated mode, reports of a cost whose tokens another
// record has.
func costOf(mode Mode, s index.Sum) (nano int64, known bool, reason string) {
	switch {
	case mode != Calculated && s.HasReported:
		return s.Reported, true, ""
	case mode != Calculated && s.Twin == index.TokenTwin, mode == Calculated && s.Twin == index.CostTwin:
		return 0, false, ""
	case mode == Reported:
		return 0, false, "no cost reported"
	case s.Reason == "":
		return s.Calculated, true, ""
	}
	return 0, false, s.Reason
}

func (t *tally) tokens() Tokens {
	return Tokens{t.Spent.Requests, t.Input, t.Output, t.CacheRead, t.CacheWrite + t.CacheLong, t.CacheLong, t.Reasoning}
}

// figures returns the numbers of t, with its cost rounded on its own.
func (t *tally) figures() Figures {
	f := Figures{Tokens: t.tokens(), Unpriced: t.unpriced, Stub: t.stub, Elsewhere: t.costElsewhere}
	if t.priced > 0 {
		f.Nano, f.Cost = new(t.nano), new(micro(t.nano))
	}
	if t.withReported > 0 {
		f.Reported = new(micro(t.Spent.Reported))
	}
	if t.withCalculated > 0 {
		f.Calculated = new(micro(t.Spent.Calculated))
	}
	return f
}

// micro rounds nano-USD to micro-USD, half up.
func micro(nano int64) int64 {
	down, rest := floor(nano)
	if rest >= 500 {
		down++
	}
	return down
}

// floor returns nano-USD in micro-USD, rounded down, and the remainder.
func floor(nano int64) (down, rest int64) {
	down, rest = nano/1000, nano%1000
	if rest < 0 {
		down, rest = down-1, rest+1000
	}
	return down, rest
}

// shareOf returns nano/total rounded to a millionth, nil if unknown.
func shareOf(nano, total *int64) *float64 {
	if nano == nil || total == nil || *total <= 0 {
		return nil
	}
	return new(math.Round(float64(*nano)/float64(*total)*1e6) / 1e6)
}
