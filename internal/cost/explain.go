package cost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Subject selects what to explain: usage for which all nonzero fields hold. The zero Subject is the whole report.
type Subject struct {
	Run, Conversation, Usage string // public ids
	// Event is an event of the conversation. It selects the records whose bytes overlap the event's.
	Event *index.Event
	// Keys are the keys of one row of the report.
	Keys []Key
}

// Explanation is a figure with every record that is in it, and those that were left out of it.
type Explanation struct {
	Figures Figures  `json:"figures"`
	Records []Record `json:"records"`
	LeftOut int      `json:"left_out"` // how many records were cut off, which the figures include: see Cut
}

// Cut keeps the first limit records, all if it is 0.
func (x *Explanation) Cut(limit int) {
	if limit > 0 && len(x.Records) > limit {
		x.LeftOut, x.Records = len(x.Records)-limit, x.Records[:limit]
	}
}

// Record is one usage record: where it is, what it states and how it was counted.
type Record struct {
	ID           string          `json:"usage_id"`
	Run          string          `json:"run_id"`
	Conversation transcript.Text `json:"conversation_id"`
	Place        Place           `json:"place"`
	Time         *time.Time      `json:"time"`
	FileTime     *time.Time      `json:"file_time"` // when the file was last changed, of a record that states no time
	Model        transcript.Text `json:"model"`
	Tokens       []Amount        `json:"tokens"` // the classes that it states
	Requests     *int64          `json:"requests"`
	Agent        transcript.Text `json:"agent"`
	Flow         transcript.Text `json:"flow"`
	Step         transcript.Text `json:"step"`
	Status       transcript.Text `json:"status"`
	Verdict      string          `json:"verdict"`
	Counted      bool            `json:"counted"`
	Of           *Place          `json:"of"` // the record of the same request that counts instead
	Reported     *int64          `json:"reported_cost_nanousd"`
	ReportedBy   transcript.Text `json:"reported_by"` // field of the original
	Calculated   *int64          `json:"calculated_cost_nanousd"`
	Difference   *int64          `json:"difference_nanousd"` // calculated less reported
	Cost         *int64          `json:"cost_nanousd"`       // its contribution to the figure
	Used         string          `json:"used"`               // reported, calculated, or why neither
	Price        PriceTrace      `json:"price"`
}

// Place is a line of an original.
type Place struct {
	Source  string          `json:"source"`
	Path    string          `json:"path"`
	Version int             `json:"version"`
	Inner   transcript.Text `json:"inner"`
	Line    int             `json:"line"`
	Offset  int64           `json:"offset"`
	Length  int64           `json:"length"`
	Chain   int64           `json:"-"` // for the text of the line: private to the index
}

// Amount is the tokens of one class.
type Amount struct {
	Class  string `json:"class"`
	Tokens int64  `json:"tokens"`
}

// PriceTrace says how the tokens were priced.
type PriceTrace struct {
	Row      transcript.Text `json:"row"`   // row of the price table
	Rule     transcript.Text `json:"rule"`  // rule that matched the model to the row
	Table    transcript.Text `json:"table"` // date of the table, or first day of an override
	Override bool            `json:"override"`
	Lines    []PriceLine     `json:"lines"`
	Factors  []string        `json:"factors"`
	Service  string          `json:"service"`
	Above    int64           `json:"above"` // threshold of the long-prompt price in tokens, 0 for the base price
	Flags    []string        `json:"flags"`
	Reason   transcript.Text `json:"reason"` // why there is no price
	// Outdated means that the index holds another price than this one: it was built with other tables.
	Outdated bool `json:"outdated"`
}

// PriceLine prices one class of tokens: Tokens at PicoPerToken each, times the factors.
type PriceLine struct {
	Class        string `json:"class"`
	Tokens       int64  `json:"tokens"`
	PicoPerToken int64  `json:"picodollars_per_token"`
	Pico         int64  `json:"amount_picousd"`
}

// Explain traces a figure to its records. The records are in chronological order; the sum of their Cost is the
// figure. book should be the one with which the index was priced; a record says so where it gives another price.
func Explain(ctx context.Context, accounts index.Accounts, o Options, of Subject, book *price.Book) (*Explanation, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	x := &explainer{o: &o, of: of, book: book, wanted: map[string]bool{}, counted: map[string]Place{}}
	if err := x.selectRecords(ctx, accounts); err != nil {
		return nil, err
	}
	q := x.filter()
	var found []index.Usage
	for u, err := range accounts.Usage(ctx, q) {
		if err != nil {
			return nil, err
		}
		if !x.wanted[u.ID] || of.Event != nil && !overlaps(u.Place, of.Event.Place) {
			continue
		}
		found = append(found, u)
		if u.Verdict == transcript.Counted {
			x.counted[u.ID] = placeOf(u.Place)
		}
	}
	out := &Explanation{Records: []Record{}}
	t := tally{mode: o.Mode}
	for i := range found {
		out.Records = append(out.Records, x.record(&found[i], &t))
	}
	out.Figures = t.figures()
	return out, nil
}

type explainer struct {
	o       *Options
	of      Subject
	book    *price.Book
	wanted  map[string]bool  // usage ids
	counted map[string]Place // place of the counted record of each usage id
}

// filter selects everything that could be in the figure, including what is not counted.
func (x *explainer) filter() index.UsageFilter {
	f := x.o.sum().UsageFilter
	f.Conversation, f.ID, f.All = x.of.Conversation, x.of.Usage, true
	if x.of.Run != "" {
		f.Runs = []string{x.of.Run}
	}
	return f
}

// selectRecords determines the records of the figure by running the report again, grouped by record.
func (x *explainer) selectRecords(ctx context.Context, accounts index.Accounts) error {
	q := x.o.sum()
	q.UsageFilter = x.filter()
	q.By = append(q.By, index.ByUsage)
	f := newFold(x.o)
	for s, err := range accounts.Sum(ctx, q) {
		if err != nil {
			return err
		}
		if x.matches(f.keys(s)) {
			x.wanted[s.Keys[len(s.Keys)-1].Text] = true
		}
	}
	return nil
}

func (x *explainer) matches(keys []Key) bool {
	for _, want := range x.of.Keys {
		for _, k := range keys {
			if k.Name == want.Name && comparePtr(k.Value, want.Value) != 0 {
				return false
			}
		}
	}
	return true
}

// overlaps reports whether a record and an event share bytes of an original.
func overlaps(u, event index.Place) bool {
	return u.Chain == event.Chain && u.Inner == event.Inner && u.Offset < event.End() && event.Offset < u.End()
}

func placeOf(p index.Place) Place {
	return Place{p.Source, p.Path, p.Number, transcript.Text(p.Inner), p.Line, p.Offset, p.Length, p.Chain}
}

func (x *explainer) record(u *index.Usage, t *tally) Record {
	r := Record{
		ID: u.ID, Run: u.RunID, Conversation: transcript.Text(u.ConversationID), Place: placeOf(u.Place), Time: stamp(u.Time), Model: transcript.Text(u.Model),
		Requests: u.Requests.OrNil(), Agent: transcript.Text(u.Agent), Flow: transcript.Text(u.Flow), Step: transcript.Text(u.Step), Status: transcript.Text(u.Status),
		Verdict: string(u.Verdict), Counted: u.Verdict == transcript.Counted, Tokens: []Amount{},
		Reported: u.Cost.OrNil(), ReportedBy: transcript.Text(u.CostSource), Calculated: u.Calculated.OrNil(), Price: x.trace(u),
	}
	for _, c := range []struct {
		class price.Class
		n     transcript.Count
	}{{price.Input, u.Input}, {price.Output, u.Output}, {price.CacheRead, u.CacheRead}, {price.CacheWrite, u.CacheWrite},
		{price.CacheWrite1h, u.CacheWrite1h}, {price.Reasoning, u.Reasoning}} {
		if c.n.Known {
			r.Tokens = append(r.Tokens, Amount{c.class.String(), c.n.N})
		}
	}
	if r.Reported != nil && r.Calculated != nil {
		r.Difference = new(*r.Calculated - *r.Reported)
	}
	if place, ok := x.counted[u.ID]; ok && !r.Counted {
		r.Of = &place
	}
	if r.Time == nil {
		r.FileTime = stamp(u.FileTime)
	}
	x.account(&r, u, t)
	return r
}

// account decides what a record contributes to the figure, and adds it.
func (x *explainer) account(r *Record, u *index.Usage, t *tally) {
	if !r.Counted {
		r.Used = "left out: " + r.Verdict
		return
	}
	s := toSum(u)
	reason := t.add(s)
	switch nano, ok, _ := costOf(x.o.Mode, s); {
	case ok && s.HasReported && x.o.Mode != Calculated:
		r.Cost, r.Used = &nano, "reported"
	case ok:
		r.Cost, r.Used = &nano, "calculated"
	case reason == "" && s.Twin == index.TokenTwin:
		r.Used = "another record of the conversation reports the cost"
	case reason == "":
		r.Used = "another record of the conversation has the tokens"
	default:
		r.Used = "unknown: " + reason
	}
}

// toSum returns one record as a group of its own.
func toSum(u *index.Usage) index.Sum {
	n := func(c transcript.Count) int64 {
		if !c.Known {
			return 0
		}
		return c.N
	}
	s := index.Sum{Model: u.Model, HasReported: u.Cost.Known, Twin: u.Twin, Spent: index.Spent{Records: 1, Requests: 1,
		Input: n(u.Input), Output: n(u.Output), CacheRead: n(u.CacheRead), CacheWrite: n(u.CacheWrite), CacheLong: n(u.CacheWrite1h),
		Reasoning: n(u.Reasoning), Reported: n(u.Cost), Calculated: n(u.Calculated)}}
	if u.Requests.Known {
		s.Requests = u.Requests.N
	}
	if !u.Calculated.Known {
		if s.Reason = u.PriceNote; s.Reason == "" {
			s.Reason = "not priced"
		}
	}
	return s
}

// trace prices a record and reports how.
func (x *explainer) trace(u *index.Usage) PriceTrace {
	p := PriceTrace{Row: transcript.Text(u.PriceModel), Table: transcript.Text(u.PriceTable), Lines: []PriceLine{}, Factors: []string{}, Flags: []string{}}
	if x.book == nil {
		return p
	}
	r := x.book.Price(price.Request{Model: u.Model, Provider: u.Provider, Tier: u.Tier, Speed: u.Speed, Geo: u.Geo, Time: u.Time,
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWrite1h: u.CacheWrite1h, Reasoning: u.Reasoning,
		Requests: u.Requests})
	p.Row, p.Rule, p.Table, p.Override = transcript.Text(r.Match.Key), transcript.Text(r.Match.Rule), transcript.Text(r.Match.TableDate), r.Match.Override
	p.Service, p.Above, p.Reason = r.Service.String(), r.Above, transcript.Text(r.Reason)
	p.Outdated = r.NanoUSD != u.Calculated
	p.Flags = append(p.Flags, r.Flags...)
	for _, l := range r.Lines {
		p.Lines = append(p.Lines, PriceLine{l.Class.String(), l.Tokens, l.Price, l.Amount})
	}
	for _, f := range r.Factors {
		p.Factors = append(p.Factors, f.Name+" x"+strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", f.PPM/1e6, f.PPM%1e6), "0"), "."))
	}
	return p
}

func stamp(t transcript.Time) *time.Time {
	if !t.Valid {
		return nil
	}
	return new(time.UnixMicro(t.UnixMicro).UTC())
}
