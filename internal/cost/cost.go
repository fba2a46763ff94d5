// Package cost reports what was spent: usage in groups, over time, along trees of runs and against a budget, with
// each figure traceable to the lines of the originals that it comes from.
//
// It owns the rules by which usage becomes money (modes, twins, rounding) and no storage: an index computes sums and
// this package folds them. It promises: a figure contains only usage that counts, and contains it once; all sums are
// of integers, in nano-USD; the rows of a report add up to its totals exactly, as shown and by any grouping; unknown
// is never 0, and whatever has no price is named beside every total.
//
// Rounding. A figure is the exact sum in nano-USD, rounded once, half up, to micro-USD. The rows of one report are
// rounded so that they add up to their total: all are rounded down, then those with the largest remainders are
// increased by one until the sum is right. No row is off by a whole micro-dollar.
//
// docs/cost.md describes all of it for users.
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

// Mode selects which cost counts: the one that the producer reports, or the one calculated from the tokens with the
// price table of their day.
type Mode string

// The modes.
const (
	Auto       Mode = "auto" // reported if stated, otherwise calculated
	Reported   Mode = "reported"
	Calculated Mode = "calculated"
)

// The time keys by which reports group; the other keys are the dimensions of package index.
const (
	Hour  = "hour"
	Day   = "day"
	Week  = "week"
	Month = "month"
)

// IsTime reports whether a key is one of time.
func IsTime(key string) bool { return key == Hour || key == Day || key == Week || key == Month }

// Keys are all keys that a report can be grouped by.
var Keys = []string{Day, Week, Month, Hour, string(index.ByModel), string(index.ByAgent), string(index.ByFormat), string(index.ByProject),
	string(index.ByRun), string(index.ByConversation), string(index.ByFlow), string(index.ByStep), string(index.ByTool),
	string(index.ByStatus), string(index.BySource)}

// OptionError says which option is invalid, and which values are valid.
type OptionError struct {
	Option, Value string
	Known         []string // nil if the value is valid but given twice
}

func (e *OptionError) Error() string {
	if e.Known == nil {
		return fmt.Sprintf("%s %q is given twice", e.Option, e.Value)
	}
	return fmt.Sprintf("%s %q is unknown: one of %s", e.Option, e.Value, strings.Join(e.Known, ", "))
}

// Options configure a report. The zero value reports everything that was ever spent, in one row.
type Options struct {
	Query        *query.Tree // nil means all usage
	By           []string    // Keys, in any order
	Mode         Mode        // "" means Auto
	Location     *time.Location
	Since, Until time.Time // inclusive and exclusive; zero means unbounded
	Limit        int       // maximum number of rows; 0 means all
	FileTimes    bool      // usage that states no time has that of its file
	WeekShift    int       // weeks begin so many days after Monday, 0 to 6
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

// windowed reports whether the report is restricted to a time window.
func (o *Options) windowed() bool {
	if o.Query == nil || !o.Since.IsZero() || !o.Until.IsZero() {
		return !o.Since.IsZero() || !o.Until.IsZero()
	}
	return slices.ContainsFunc(query.Conditions(o.Query.Root), func(n query.Node) bool { _, window := n.(query.Range); return window })
}

// sum returns the index query that the report needs.
func (o *Options) sum() index.SumQuery {
	q := index.SumQuery{UsageFilter: index.UsageFilter{Query: o.Query, From: o.Since, To: o.Until, FileTimes: o.FileTimes}, Location: o.location()}
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

// Report is what was spent. Rows are ordered by time, then by cost, the largest first.
type Report struct {
	Rows     []Row      `json:"rows"`
	Totals   Figures    `json:"totals"`
	Unpriced []Unpriced `json:"unpriced"`
	Mode     Mode       `json:"mode"`
	By       []string   `json:"by"`
	TimeZone string     `json:"time_zone"`
	// LeftOut is what Limit cut off: how many rows, and their sum.
	LeftOut struct {
		Rows int `json:"rows"`
		Figures
	} `json:"left_out"`
	// Undated is how many requests a time window leaves out because they state no time.
	Undated int64 `json:"undated_requests"`
	// FileDated is how many requests in the report have the time of their file (Options.FileTimes).
	FileDated int64 `json:"file_dated_requests"`
}

// Unpriced is usage without a cost, by model and reason. Model is nil if none is stated.
type Unpriced struct {
	Model  *string `json:"model"`
	Reason string  `json:"reason"`
	Tokens
}

// Run computes a report. Errors: *OptionError, *index.UnsupportedError, those of the index.
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
	var err error
	switch {
	case o.FileTimes:
		r.FileDated, err = undated(ctx, accounts, o)
	case o.windowed():
		r.Undated, err = undated(ctx, accounts, o)
	}
	return r, err
}

// undated returns how many requests state no time.
func undated(ctx context.Context, accounts index.Accounts, o Options) (int64, error) {
	o.By, o.Limit = nil, 0
	f, q := newFold(&o), o.sum()
	q.Undated = index.OnlyUndated
	for s, err := range accounts.Sum(ctx, q) {
		if err != nil {
			return 0, err
		}
		f.add(s)
	}
	return f.report().Totals.Requests, nil
}
