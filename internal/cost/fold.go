package cost

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
)

// fold merges the groups of an index into the rows of a report.
type fold struct {
	o        *Options
	rows     map[string]*row
	total    tally
	unpriced map[[2]string]*tally // by model and reason
}

type row struct {
	keys []Key
	tally
}

func newFold(o *Options) *fold {
	f := &fold{o: o, rows: map[string]*row{}, unpriced: map[[2]string]*tally{}}
	f.total.mode = o.Mode
	return f
}

func (f *fold) add(s index.Sum) {
	keys := f.keys(s)
	id := identity(keys)
	r := f.rows[id]
	if r == nil {
		r = &row{keys: keys, tally: tally{mode: f.o.Mode}}
		f.rows[id] = r
	}
	f.total.add(s)
	if reason := r.add(s); reason != "" {
		of := [2]string{s.Model, reason}
		if f.unpriced[of] == nil {
			f.unpriced[of] = &tally{mode: f.o.Mode}
		}
		f.unpriced[of].add(s)
	}
}

// keys returns the keys of a group in the order of the report.
func (f *fold) keys(s index.Sum) []Key {
	keys := make([]Key, 0, len(f.o.By))
	next := 0
	for _, by := range f.o.By {
		k := Key{Name: by}
		switch by {
		case Hour, Day, Week, Month:
			k.Value = f.timeKey(by, s)
		default:
			if v := s.Keys[next]; v.Valid {
				k.Value = &v.Text
			}
			next++
		}
		keys = append(keys, k)
	}
	return keys
}

// timeKey returns the hour, day, week or month of a group: 2026-11-20T10:00:00+01:00, 2026-11-20, the first day of
// the week, 2026-11. It is nil if no time is stated.
func (f *fold) timeKey(by string, s index.Sum) *string {
	if !s.Time.Known {
		return nil
	}
	local := time.Unix(s.Time.N*86400, 0).UTC()
	if slices.Contains(f.o.By, Hour) {
		local = time.Unix(s.Time.N, 0).In(f.o.location())
	}
	switch by {
	case Hour:
		return new(local.Format(time.RFC3339))
	case Week:
		sinceFirst := (int(local.Weekday()-time.Monday) + 7 - f.o.WeekShift) % 7
		return new(local.AddDate(0, 0, -sinceFirst).Format(time.DateOnly))
	case Month:
		return new(local.Format("2006-01"))
	}
	return new(local.Format(time.DateOnly))
}

func (f *fold) report() *Report {
	r := &Report{Rows: []Row{}, Unpriced: []Unpriced{}, Mode: f.o.Mode, By: f.o.By, TimeZone: f.o.location().String(), Totals: f.total.figures()}
	r.Mode = cmp.Or(r.Mode, Auto)
	if r.By == nil {
		r.By = []string{}
	}
	r.Totals.Share = shareOf(r.Totals.Nano, r.Totals.Nano)
	for _, row := range f.rows {
		if row.Records != 0 { // skip groups whose records have all moved to other groups
			figures := row.figures()
			figures.Share = shareOf(figures.Nano, r.Totals.Nano)
			r.Rows = append(r.Rows, Row{row.keys, figures})
		}
	}
	slices.SortFunc(r.Rows, f.compare)
	apportion(r.Rows, r.Totals.Cost)
	for of, t := range f.unpriced {
		if t.Records != 0 {
			u := Unpriced{Reason: of[1], Tokens: t.tokens()}
			if of[0] != "" {
				u.Model = &of[0]
			}
			r.Unpriced = append(r.Unpriced, u)
		}
	}
	slices.SortFunc(r.Unpriced, func(a, b Unpriced) int {
		return cmp.Or(cmp.Compare(b.All(), a.All()), cmp.Compare(b.Requests, a.Requests), comparePtr(a.Model, b.Model), strings.Compare(a.Reason, b.Reason))
	})
	if f.o.Limit > 0 && len(r.Rows) > f.o.Limit {
		f.cut(r)
	}
	return r
}

// cut keeps the first rows and sums up the rest from their rounded figures, so that rows and rest still add up to the
// totals.
func (f *fold) cut(r *Report) {
	r.LeftOut.Rows = len(r.Rows) - f.o.Limit
	for _, row := range r.Rows[f.o.Limit:] {
		r.LeftOut.Figures = r.LeftOut.plus(row.Figures)
	}
	r.LeftOut.Share = shareOf(r.LeftOut.Nano, r.Totals.Nano)
	r.Rows = r.Rows[:f.o.Limit]
}

// plus adds figures as they are shown, that is, rounded.
func (a Figures) plus(b Figures) Figures {
	return Figures{
		Tokens: Tokens{a.Requests + b.Requests, a.Input + b.Input, a.Output + b.Output, a.CacheRead + b.CacheRead,
			a.CacheCreation + b.CacheCreation, a.CacheCreation1h + b.CacheCreation1h, a.Reasoning + b.Reasoning},
		Cost: sumOf(a.Cost, b.Cost), Nano: sumOf(a.Nano, b.Nano), Reported: sumOf(a.Reported, b.Reported), Calculated: sumOf(a.Calculated, b.Calculated),
		Unpriced: a.Unpriced + b.Unpriced, Stub: a.Stub + b.Stub, Elsewhere: a.Elsewhere + b.Elsewhere,
	}
}

// sumOf adds two numbers; nil is unknown and adds nothing.
func sumOf(x, y *int64) *int64 {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return new(index.SaturatingAdd(*x, *y))
}

// compare orders rows: by time, the earliest first and those without one last, then by cost and tokens, the largest
// first, then by keys.
func (f *fold) compare(a, b Row) int {
	for i, k := range a.Keys {
		if k.Name == Hour || k.Name == Day || k.Name == Week || k.Name == Month {
			if n := f.compareTime(k.Name, k.Value, b.Keys[i].Value); n != 0 {
				return n
			}
		}
	}
	cost := func(f Figures) int64 {
		if f.Nano == nil {
			return -1
		}
		return *f.Nano
	}
	if n := cmp.Or(cmp.Compare(cost(b.Figures), cost(a.Figures)), cmp.Compare(b.All(), a.All())); n != 0 {
		return n
	}
	for i, k := range a.Keys {
		if n := comparePtr(k.Value, b.Keys[i].Value); n != 0 {
			return n
		}
	}
	return 0
}

// compareTime compares hours as instants: when clocks are put back, the repeated hour would sort first by its text.
func (f *fold) compareTime(by string, a, b *string) int {
	if by == Hour && a != nil && b != nil {
		x, err := time.Parse(time.RFC3339, *a)
		y, err2 := time.Parse(time.RFC3339, *b)
		if err == nil && err2 == nil {
			return x.Compare(y)
		}
	}
	return comparePtr(a, b)
}

// comparePtr compares strings and sorts nil last.
func comparePtr(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return strings.Compare(*a, *b)
}

// apportion rounds the costs of rows so that they add up to total: down, and then up where the remainder is largest.
func apportion(rows []Row, total *int64) {
	if total == nil {
		return
	}
	left := *total
	var order []int
	for i := range rows {
		if n := rows[i].Nano; n != nil {
			down, _ := floor(*n)
			rows[i].Cost = &down
			left -= down
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		_, x := floor(*rows[a].Nano)
		_, y := floor(*rows[b].Nano)
		return cmp.Compare(y, x)
	})
	for _, i := range order {
		if left <= 0 {
			break
		}
		*rows[i].Cost++
		left--
	}
}
