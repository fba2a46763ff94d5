package cost

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
)

// Tokens counts requests and their tokens. Classes are disjoint, but for the two that are parts of others.
type Tokens struct {
	Requests        int64 `json:"requests"`
	Input           int64 `json:"input_tokens"`
	Output          int64 `json:"output_tokens"`
	CacheRead       int64 `json:"cache_read_tokens"`
	CacheCreation   int64 `json:"cache_creation_tokens"`
	CacheCreation1h int64 `json:"cache_creation_1h_tokens"` // a part of CacheCreation
	Reasoning       int64 `json:"reasoning_tokens"`         // a part of Output
}

// All is every token that was paid for.
func (t Tokens) All() int64 { return t.Input + t.Output + t.CacheRead + t.CacheCreation }

// Figures are the numbers of a group. Costs are null where nothing is known of them.
type Figures struct {
	Tokens
	Cost       *int64   `json:"cost_microusd"` // by the mode of the report
	Nano       *int64   `json:"cost_nanousd"`  // the same, exact
	Reported   *int64   `json:"reported_cost_microusd"`
	Calculated *int64   `json:"calculated_cost_microusd"`
	Share      *float64 `json:"share"`             // of the total cost, rounded to a millionth
	Unpriced   int64    `json:"unpriced_requests"` // without a cost: Cost is too low by what they cost
	Stub       int64    `json:"stub_requests"`     // of stub engines, which ask no model
	// Elsewhere counts requests whose cost another record of the conversation reports.
	Elsewhere int64 `json:"cost_elsewhere_requests"`
}

// Row is a group with its keys.
type Row struct {
	Keys []Key
	Figures
}

// Key is the value of one key of a report; Value is nil where nothing states it.
type Key struct {
	Name  string
	Value *string
}

// MarshalJSON puts the keys, in the order in which they were asked for, before the figures.
func (r Row) MarshalJSON() ([]byte, error) { return withKeys(r.Keys, r.Figures) }

// withKeys is the object of rest with keys before its own.
func withKeys(keys []Key, rest any) ([]byte, error) {
	fields, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, k := range keys {
		pair, err := json.Marshal(map[string]*string{k.Name: k.Value})
		if err != nil {
			return nil, err
		}
		b.Write(pair[1 : len(pair)-1])
		b.WriteByte(',')
	}
	b.Write(fields[1:])
	return b.Bytes(), nil
}

// identity tells groups apart: no two lists of keys give the same.
func identity(keys []Key) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Value != nil {
			b.WriteByte('=')
			b.WriteString(strings.ReplaceAll(*k.Value, "\x00", "\x00\xff"))
		}
		b.WriteString("\x00\x01") // which nothing else becomes
	}
	return b.String()
}

// tally adds groups of an index up, by one mode.
type tally struct {
	mode Mode
	index.Spent
	nano                   int64 // by mode
	priced, unpriced       int64 // records with and without a cost
	elsewhere, stub        int64
	isReported, calculable int64 // records that have them
}

// add returns why the records of s have no cost, "" when they have one or need none.
func (t *tally) add(s index.Sum) (reason string) {
	requests := s.Requests
	if s.Twin == index.CostTwin {
		s.Requests = 0 // the records with the tokens are the requests
	}
	t.Spent = t.Plus(s.Spent)
	if price.IsStub(s.Model) {
		t.stub += s.Records
	}
	if s.HasReported {
		t.isReported += s.Records
	}
	if s.Reason == "" {
		t.calculable += s.Records
	}
	nano, known, reason := worth(t.mode, s)
	switch {
	case known:
		t.nano, t.priced = index.SaturatingAdd(t.nano, nano), t.priced+s.Records
	case reason == "":
		t.elsewhere += requests
	default:
		t.unpriced += requests
	}
	return reason
}

// worth is what records cost by a mode, and why that is unknown. Neither is given for records whose twin tells
// it: tokens whose cost is reported apart, and, when costs are calculated, reports of cost whose tokens stand apart.
func worth(mode Mode, s index.Sum) (nano int64, known bool, reason string) {
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

// figures are the numbers of t, the cost rounded by itself.
func (t *tally) figures() Figures {
	f := Figures{Tokens: t.tokens(), Unpriced: t.unpriced, Stub: t.stub, Elsewhere: t.elsewhere}
	if t.priced > 0 {
		f.Nano, f.Cost = new(t.nano), new(micro(t.nano))
	}
	if t.isReported > 0 {
		f.Reported = new(micro(t.Spent.Reported))
	}
	if t.calculable > 0 {
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

// floor is nano-USD in micro-USD, rounded down, and what that leaves.
func floor(nano int64) (down, rest int64) {
	down, rest = nano/1000, nano%1000
	if rest < 0 {
		down, rest = down-1, rest+1000
	}
	return down, rest
}

func shareOf(nano, total *int64) *float64 {
	if nano == nil || total == nil || *total <= 0 {
		return nil
	}
	return new(math.Round(float64(*nano)/float64(*total)*1e6) / 1e6)
}
