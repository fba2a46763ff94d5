package price

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Request is what is priced: one model request, or the sum of several that no original separates.
type Request struct {
	Model    string
	Provider string
	Tier     string // service tier as written
	Speed    string
	Geo      string // inference region as written
	Time     transcript.Time

	Input        transcript.Count // uncached
	Output       transcript.Count // reasoning included
	CacheRead    transcript.Count
	CacheWrite   transcript.Count
	CacheWrite1h transcript.Count
	Reasoning    transcript.Count // part of Output
	Requests     transcript.Count // number of requests summed up; unknown may be one or any number
}

// Line prices one class of a request: Tokens at Price picodollars each, times the factors of the result.
type Line struct {
	Class  Class
	Tokens int64
	Price  int64 // picodollars per token
	Amount int64 // picodollars, factors included, rounded half up
}

// Result is what a request cost, or why that is unknown.
type Result struct {
	NanoUSD transcript.Count // sum of the lines, rounded half up once
	Match   Match
	Service Service
	Above   int64 // threshold of the long-prompt tier, 0 for the base price
	Lines   []Line
	Factors []Factor // applied to every line
	Flags   []string
	Reason  string // why NanoUSD is unknown: no price for model X, no model, synthetic, ...
}

// Price prices one request. Classes whose count is unknown are left out of the amount; if both input and output are
// unknown, so is the cost. A stub engine and a request without tokens cost 0 whatever the model.
func (b *Book) Price(u Request) Result {
	var r Result
	tokens := counts(u, &r)
	switch {
	case IsStub(u.Model):
		r.flag(FlagStub)
		r.NanoUSD = transcript.Known(0)
		return r
	case !tokens[Input].Known && !tokens[Output].Known:
		r.Reason = "no token counts"
		return r
	case zeroTokens(tokens):
		r.NanoUSD = transcript.Known(0)
		return r
	case strings.TrimSpace(u.Model) == "":
		r.Reason = "no model"
		return r
	case strings.EqualFold(u.Model, "<synthetic>"):
		r.Reason = "synthetic"
		return r
	}
	day := ""
	if u.Time.Valid {
		day = dayOf(time.UnixMicro(u.Time.UnixMicro))
	}
	m := b.resolve(u.Model, u.Provider, day)
	if r.Match = *m; m.entry == nil {
		r.Reason = m.Reason
		return r
	}
	r.flagMatch(day, tokens)
	r.charge(u, tokens)
	return r
}

// counts returns the token counts of u by Class, with negative ones as unknown.
func counts(u Request, r *Result) [numClasses]transcript.Count {
	c := [numClasses]transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Reasoning}
	for i := range c {
		if c[i].Known && c[i].N < 0 {
			c[i] = transcript.Count{}
			r.flag(FlagNegative)
		}
	}
	return c
}

// zeroTokens reports whether input and output are known to be 0 and all other known counts are 0 too.
func zeroTokens(c [numClasses]transcript.Count) bool {
	for i := range c {
		if c[i].N != 0 && c[i].Known {
			return false
		}
	}
	return c[Input].Known && c[Output].Known
}

// flagMatch flags assumptions about the day, the table and the counts.
func (r *Result) flagMatch(day string, c [numClasses]transcript.Count) {
	if day == "" {
		r.flag(FlagNoTime)
	}
	if r.Match.Stale {
		r.flag(FlagStale)
	}
	if !c[Input].Known || !c[Output].Known {
		r.flag(FlagClassUnknown)
	}
}

// charge computes the lines and their total.
func (r *Result) charge(u Request, c [numClasses]transcript.Count) {
	e := r.Match.entry
	t := tariff{entry: e, service: r.serviceOf(e, u), above: e.tierFor(promptOf(u.Requests, c))}
	ppm := r.factorsOf(e, t.service, u)
	r.Service, r.Above = t.service, t.above
	if t.above > 0 {
		r.flag(FlagLongPrompt)
	}
	if one := transcript.Known(1); u.Requests != one && e.tierFor(promptOf(one, c)) > 0 {
		r.flag(FlagPromptsUnknown)
	}
	if in, _, _ := t.price(Input); in == 0 {
		if out, _, _ := t.price(Output); out == 0 {
			r.flag(FlagZeroPrice)
		}
	}
	r.Lines = make([]Line, 0, numClasses)
	reasoning, pr, flag := reasoningOf(t, c)
	for class := Input; class < Reasoning; class++ {
		n := c[class].N
		if class == Output {
			n -= reasoning
		}
		if !c[class].Known || n <= 0 {
			continue
		}
		p, flag, _ := t.price(class)
		r.line(class, n, p, flag, ppm)
	}
	if reasoning > 0 {
		r.line(Reasoning, reasoning, pr, flag, ppm)
	}
	r.total()
}

// reasoningOf returns how many output tokens are priced as reasoning, and their price; 0 if the row does not price
// reasoning separately.
func reasoningOf(t tariff, c [numClasses]transcript.Count) (tokens, pico int64, flag string) {
	pico, flag, apart := t.price(Reasoning)
	if !apart || !c[Output].Known || !c[Reasoning].Known {
		return 0, 0, ""
	}
	return min(c[Reasoning].N, c[Output].N), pico, flag
}

// promptOf returns the prompt size that determines the tier: everything that was sent, cached or not. The prompts of
// several requests do not add up to a long one: the size is their average, and 0 if their number is unknown.
func promptOf(requests transcript.Count, c [numClasses]transcript.Count) int64 {
	if !requests.Known {
		return 0
	}
	var n int64
	for _, class := range []Class{Input, CacheRead, CacheWrite, CacheWrite1h} {
		if c[class].Known {
			if n += c[class].N; n < 0 {
				return math.MaxInt64
			}
		}
	}
	return n / max(requests.N, 1)
}

func (r *Result) line(c Class, tokens, price int64, flag string, ppm int64) {
	n, ok := amount(tokens, price, ppm)
	if !ok {
		r.Reason = "token count out of range"
	}
	if flag != "" {
		r.flag(flag)
	}
	r.Lines = append(r.Lines, Line{c, tokens, price, n})
}

func (r *Result) total() {
	var sum int64
	for _, l := range r.Lines {
		if sum += l.Amount; sum < 0 {
			r.Reason = "token count out of range"
		}
	}
	if r.Reason == "" {
		r.NanoUSD = transcript.Known(sum/1000 + (sum%1000+500)/1000)
	}
}

func (r *Result) flag(f string) {
	if !slices.Contains(r.Flags, f) {
		r.Flags = append(r.Flags, f)
	}
}
