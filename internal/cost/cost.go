// Package cost says what was spent: usage in groups, over time, along trees of runs, against a budget, and each
// figure traced to the lines of the originals that it comes from.
//
// It owns the rules by which usage becomes money (modes, twins, rounding) and no storage: an index adds up and
// this package folds. It promises: only usage that counts is in a figure, and once; all sums are of integers, in
// nano-USD; the rows of a report add up to its totals exactly, as shown and by any grouping; unknown is never 0,
// and what has no price is named beside every total.
//
// Rounding. A figure is the exact sum in nano-USD, rounded once, half up, to micro-USD. The rows of one report are
// rounded so that they add up to their total: down, and then up by one for as many as are missing, those with the
// largest remainder first. No row is off by a whole micro-dollar.
//
// docs/cost.md describes all of it for its users.
package cost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// Mode says which of two costs counts: the one that the producer reports or the one that the tokens have by the
// price table of their day.
type Mode string

// The modes.
const (
	Auto       Mode = "auto" // reported where it is, else calculated
	Reported   Mode = "reported"
	Calculated Mode = "calculated"
)

// The keys of time by which reports group; the others are the dimensions of package index.
const (
	Hour  = "hour"
	Day   = "day"
	Week  = "week"
	Month = "month"
)

// Keys are all that a report can be grouped by.
var Keys = []string{Day, Week, Month, Hour, string(index.ByModel), string(index.ByAgent), string(index.ByFormat), string(index.ByProject),
	string(index.ByRun), string(index.ByConversation), string(index.ByFlow), string(index.ByStep), string(index.ByTool),
	string(index.ByStatus), string(index.BySource)}

// OptionError says which option cannot be used, and what can.
type OptionError struct {
	Option, Value string
	Known         []string // nil when it is the value's combination that is wrong
}

func (e *OptionError) Error() string {
	if e.Known == nil {
		return fmt.Sprintf("%s %q is given twice", e.Option, e.Value)
	}
	return fmt.Sprintf("%s %q is unknown: one of %s", e.Option, e.Value, strings.Join(e.Known, ", "))
}

// Options say what a report is about. The zero value is everything that was ever spent, in one row.
type Options struct {
	Query        *query.Tree // nil is all usage
	By           []string    // Keys, in any order
	Mode         Mode        // "" is Auto
	Location     *time.Location
	Since, Until time.Time // from included, to excluded; zero is open
	Limit        int       // rows; 0 is all
}

func (o *Options) check() error {
	if !slices.Contains([]Mode{"", Auto, Reported, Calculated}, o.Mode) {
		return &OptionError{"mode", string(o.Mode), []string{string(Auto), string(Reported), string(Calculated)}}
	}
	for i, by := range o.By {
		if !slices.Contains(Keys, by) {
			return &OptionError{"by", by, Keys}
		}
		if slices.Contains(o.By[:i], by) {
			return &OptionError{"by", by, nil}
		}
	}
	return nil
}

func (o *Options) location() *time.Location {
	if o.Location == nil {
		return time.UTC
	}
	return o.Location
}

// windowed says whether all that is in the report lies in a window of time.
func (o *Options) windowed() bool {
	if o.Query == nil || !o.Since.IsZero() || !o.Until.IsZero() {
		return !o.Since.IsZero() || !o.Until.IsZero()
	}
	return slices.ContainsFunc(query.Conditions(o.Query.Root), func(n query.Node) bool { _, window := n.(query.Range); return window })
}

// sum is the question that answers the report.
func (o *Options) sum() index.SumQuery {
	q := index.SumQuery{UsageFilter: index.UsageFilter{Query: o.Query, From: o.Since, To: o.Until}, Location: o.location()}
	for _, by := range o.By {
		switch by {
		case Hour:
			q.Unit = index.Hour
		case Day, Week, Month:
			q.Unit = max(q.Unit, index.Day)
		default:
			q.By = append(q.By, index.Dimension(by))
		}
	}
	return q
}

// Report is what was spent. Rows are ordered by their time, then by cost, the largest first.
type Report struct {
	Rows     []Row      `json:"rows"`
	Totals   Figures    `json:"totals"`
	Unpriced []Unpriced `json:"unpriced"`
	Mode     Mode       `json:"mode"`
	By       []string   `json:"by"`
	TimeZone string     `json:"time_zone"`
	// LeftOut is what Limit cut off: how many rows, and what they sum up to.
	LeftOut struct {
		Rows int `json:"rows"`
		Figures
	} `json:"left_out"`
	// Undated is how many requests a window of time leaves out because they state no time.
	Undated int64 `json:"undated_requests"`
}

// Unpriced is usage without a cost, by model and reason. Model is nil where none is stated.
type Unpriced struct {
	Model  *string `json:"model"`
	Reason string  `json:"reason"`
	Tokens
}

// Run answers with a report. Errors: *OptionError, *index.UnsupportedError, those of the index.
func Run(ctx context.Context, accounts index.Accounts, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f := newFold(&o)
	for s, err := range accounts.Sum(ctx, o.sum()) {
		if err != nil {
			return nil, err
		}
		f.add(s)
	}
	r := f.report()
	if !o.windowed() {
		return r, nil
	}
	q := Options{Query: o.Query, Mode: o.Mode}
	f, sum := newFold(&q), q.sum()
	sum.Undated = true
	for s, err := range accounts.Sum(ctx, sum) {
		if err != nil {
			return nil, err
		}
		f.add(s)
	}
	r.Undated = f.report().Totals.Requests
	return r, nil
}
