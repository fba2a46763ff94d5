// Package price turns the tokens of one request into money, with the row of the price table that was used, or
// says why it cannot.
//
// It owns dated price tables (shipped in the binary, added or overridden by whoever runs the archive), the
// strict rules by which a model name finds its row, and the arithmetic. It owns no I/O, no clock and no state
// besides a cache of matches. It promises: integers only; the price of the request's own day; never a match by
// substring; unknown is unknown with a reason, never 0; every assumption is a flag of the result.
//
// Units. A price is an integer of picodollars (1e-12 USD) per token, which is the same number as micro-USD per
// million tokens: 3 USD per million tokens is 3000000. An amount of a line is picodollars; the cost of a
// request is nano-USD, the exact sum of its lines rounded half up once.
//
// The shipped table is made by
//
//	go run ./internal/price/gen -in model_prices_and_context_window.json -date 2026-08-01 -out internal/price/prices_2026-08-01.tsv
package price

import (
	"cmp"
	"slices"
)

// Class is a kind of token that is priced on its own. Classes are disjoint, as in transcript.Usage; reasoning
// is a part of output and only told apart where its price differs.
type Class uint8

// The classes of tokens.
const (
	Input Class = iota
	Output
	CacheRead
	CacheWrite   // kept 5 minutes, or not told apart
	CacheWrite1h // kept 1 hour
	Reasoning
	numClasses
)

var classNames = [numClasses]string{"input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning"}

// String returns the name used in tables, overrides and output.
func (c Class) String() string { return nameOf(classNames[:], int(c)) }

// MarshalText is String.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText accepts what String returns.
func (c *Class) UnmarshalText(b []byte) error {
	i, err := indexOf(classNames[:], "class", string(b))
	*c = Class(i)
	return err
}

// Service is the service tier that a request was bought at.
type Service uint8

// The service tiers that tables know.
const (
	Standard Service = iota
	Priority
	Flex
	Batch
	numServices
)

var serviceNames = [numServices]string{"standard", "priority", "flex", "batch"}

// String returns the name used in tables, overrides and output.
func (s Service) String() string { return nameOf(serviceNames[:], int(s)) }

// MarshalText is String.
func (s Service) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what String returns.
func (s *Service) UnmarshalText(b []byte) error {
	i, err := indexOf(serviceNames[:], "service", string(b))
	*s = Service(i)
	return err
}

// Rate is one price: of a class, at a service tier, for requests whose prompt is longer than Above tokens
// (0 for the base price).
type Rate struct {
	Class   Class   `json:"class"`
	Service Service `json:"service"`
	Above   int64   `json:"above"`
	Pico    int64   `json:"picodollars_per_token"`
}

// Factor is a multiplier of a whole request, in millionths (1000000 is times one): "fast" for fast mode, or
// the name of an inference region ("us", "eu").
type Factor struct {
	Name string `json:"name"`
	PPM  int64  `json:"ppm"`
}

// Entry is the row of one model. An entry without a price for input or output is listed but not priced: a
// subscription, or a vendor that publishes none.
type Entry struct {
	Key      string // model name in the table, with its provider prefix if it has one
	Provider string // who sells it, as the table says
	Rates    []Rate // sorted by Above, Service, Class
	Factors  []Factor

	from string // of an override: the day from which it holds
}

// Priced says whether the entry has a base price for both input and output.
func (e *Entry) Priced() bool {
	var in, out bool
	for _, r := range e.Rates {
		base := r.Service == Standard && r.Above == 0
		in = in || base && r.Class == Input
		out = out || base && r.Class == Output
	}
	return in && out
}

// free says whether the entry is listed at 0: without charge there, or its price is not known.
func (e *Entry) free() bool {
	in, _ := e.rate(Input, Standard, 0)
	out, _ := e.rate(Output, Standard, 0)
	return e.Priced() && in == 0 && out == 0
}

// Table is the prices of one day.
type Table struct {
	Date    string // YYYY-MM-DD, the day on which these prices were in force
	Source  string // where they come from, for people
	Licence string
	Entries []Entry // sorted by Key
}

func (e *Entry) rate(c Class, s Service, above int64) (int64, bool) {
	for i := range e.Rates {
		if r := &e.Rates[i]; r.Class == c && r.Service == s && r.Above == above {
			return r.Pico, true
		}
	}
	return 0, false
}

func (e *Entry) factor(name string) (int64, bool) {
	for _, f := range e.Factors {
		if f.Name == name {
			return f.PPM, true
		}
	}
	return 0, false
}

func (e *Entry) samePrices(o *Entry) bool {
	return slices.Equal(e.Rates, o.Rates) && slices.Equal(e.Factors, o.Factors)
}

func sortRates(rates []Rate) {
	slices.SortFunc(rates, func(a, b Rate) int {
		return cmp.Or(cmp.Compare(a.Above, b.Above), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Pico, b.Pico))
	})
}
