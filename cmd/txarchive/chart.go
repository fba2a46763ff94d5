package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txarchive/txarchive/internal/cost"
)

// chart is a report as pictures show it: what each bucket of time, or each group where there is no time, adds up to, and
// which series that is made of.
type chart struct {
	unit    string // cost or tokens
	time    string // key of time, "" for none
	buckets []string
	totals  []float64
	unknown []bool   // of buckets: nothing in them has a known cost
	series  []series // the largest first
}

// series is a group over all buckets.
type series struct {
	name   string
	values []float64
	sum    float64
	known  bool // any of it
}

// Bounds of a picture: what is beyond is put together or named as left out.
const (
	maxSeries  = 8
	maxBuckets = 366
)

// chartOf reads a report. Costs are shown where any is known, else tokens.
func chartOf(r *cost.Report) *chart {
	c := &chart{unit: "cost"}
	if r.Totals.Cost == nil {
		c.unit = "tokens"
	}
	at := slices.IndexFunc(r.By, func(by string) bool {
		return by == cost.Day || by == cost.Week || by == cost.Month || by == cost.Hour
	})
	if at >= 0 {
		c.time = r.By[at]
	}
	place := map[string]int{}
	named := map[string]*series{}
	for i := range r.Rows {
		bucket, name := c.keys(&r.Rows[i], at)
		if _, ok := place[bucket]; !ok {
			place[bucket] = len(c.buckets)
			c.buckets = append(c.buckets, bucket)
		}
		if named[name] == nil {
			named[name] = &series{name: name}
		}
	}
	if c.time != "" {
		c.fillGaps(place)
	}
	c.totals, c.unknown = make([]float64, len(c.buckets)), make([]bool, len(c.buckets))
	known := make([]bool, len(c.buckets))
	for i := range r.Rows {
		bucket, name := c.keys(&r.Rows[i], at)
		s, n := named[name], place[bucket]
		v, ok := c.value(&r.Rows[i].Figures)
		if s.values == nil {
			s.values = make([]float64, len(c.buckets))
		}
		s.values[n] += v
		s.sum += v
		s.known = s.known || ok
		c.totals[n] += v
		known[n] = known[n] || ok
		c.unknown[n] = !known[n]
	}
	for _, s := range named {
		c.series = append(c.series, *s)
	}
	slices.SortFunc(c.series, func(a, b series) int { return cmp.Or(cmp.Compare(b.sum, a.sum), strings.Compare(a.name, b.name)) })
	return c
}

// keys are the bucket and the series of a row.
func (c *chart) keys(row *cost.Row, at int) (bucket, name string) {
	var rest []string
	for i, k := range row.Keys {
		if i != at {
			rest = append(rest, line(keyText(k.Value)))
		}
	}
	name = strings.Join(rest, ", ")
	if at < 0 {
		return name, ""
	}
	return line(keyText(row.Keys[at].Value)), name
}

func (c *chart) value(f *cost.Figures) (v float64, known bool) {
	switch {
	case c.unit == "tokens":
		return float64(f.All()), true
	case f.Cost == nil:
		return 0, false
	}
	return float64(*f.Cost) / 1e6, true
}

// fillGaps adds the days, weeks and months in which nothing was spent, as far as that is not too many.
func (c *chart) fillGaps(place map[string]int) {
	slices.Sort(c.buckets)
	layout, step := time.DateOnly, [2]int{0, 1}
	switch c.time {
	case cost.Week:
		step[1] = 7
	case cost.Month:
		layout, step = "2006-01", [2]int{1, 0}
	case cost.Hour: // the two hours of a clock that goes back have one name in a picture, and no gap is filled
		step[1] = 0
	}
	var all []string
	for i, b := range c.buckets {
		if i > 0 && step != [2]int{} && b != "-" {
			from, err := time.Parse(layout, c.buckets[i-1])
			to, err2 := time.Parse(layout, b)
			for err == nil && err2 == nil && to.Sub(from) < maxBuckets*24*time.Hour {
				if from = from.AddDate(0, step[0], step[1]); !from.Before(to) {
					break
				}
				all = append(all, from.Format(layout))
			}
		}
		all = append(all, b)
	}
	c.buckets = all
	for i, b := range all {
		place[b] = i
	}
}

// amount is a value for people.
func (c *chart) amount(v float64) string {
	if c.unit == "tokens" {
		return compact(int64(v))
	}
	return dollars(new(int64(math.Round(v * 1e6))))
}

// shown is a sum for people, of which all may be unknown.
func (c *chart) shown(v float64, unknown bool) string {
	if unknown {
		return "-"
	}
	return c.amount(v)
}

// eighths are the blocks that a bar ends in.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar is a value as blocks, of width columns for most.
func bar(v, most float64, width int) string {
	if most <= 0 || v <= 0 || width <= 0 {
		return ""
	}
	n := min(max(int(math.Round(v/most*float64(width)*8)), 1), width*8) // what is there is seen
	full := strings.Repeat("█", n/8)
	if n%8 > 0 {
		full += string(eighths[n%8])
	}
	return full
}

// spark is values as a line of blocks, of at most width columns: neighbours share one where they are more.
func spark(values []float64, width int) string {
	if width <= 0 {
		return ""
	}
	per := (len(values) + width - 1) / width
	var columns []float64
	for i := 0; i < len(values); i += per {
		sum := 0.0
		for _, v := range values[i:min(i+per, len(values))] {
			sum += v
		}
		columns = append(columns, sum)
	}
	most := slices.Max(append(columns, 0))
	var b strings.Builder
	for _, v := range columns {
		switch {
		case v <= 0 || most <= 0:
			b.WriteRune(' ')
		default:
			b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(int(math.Ceil(v/most*8))-1, 7)])
		}
	}
	return b.String()
}

// draw prints a chart: a bar for each bucket, and a line for each series over time.
func (c *chart) draw(width int, k ink) string {
	if width == 0 {
		width = 80
	}
	most := slices.Max(append(slices.Clone(c.totals), 0))
	rows := make([]drawn, len(c.buckets))
	for i, b := range c.buckets {
		rows[i] = drawn{b, c.shown(c.totals[i], c.unknown[i]), func(room int) string { return bar(c.totals[i], most, room) }}
	}
	out := drawRows(rows, width, math.MaxInt, k.bold)
	if c.time != "" && len(c.buckets) > 1 && (len(c.series) > 1 || c.series[0].name != "") {
		out += "\n" + c.sparks(width)
	}
	return strings.TrimSuffix(out, "\n")
}

// sparks has a line for each of the largest series.
func (c *chart) sparks(width int) string {
	var rows []drawn
	for _, s := range c.series[:min(len(c.series), 2*maxSeries)] {
		rows = append(rows, drawn{s.name, c.shown(s.sum, !s.known), func(room int) string { return spark(s.values, room) }})
	}
	out := drawRows(rows, width, len(c.buckets), func(s string) string { return s })
	if n := len(c.series) - len(rows); n > 0 {
		out += fmt.Sprintf("and %d more\n", n)
	}
	return out
}

// drawn is a line of a chart: a name, blocks for as much room as there is, and an amount.
type drawn struct {
	name, amount string
	blocks       func(room int) string
}

// drawRows prints lines with their blocks, of at most so many, below each other.
func drawRows(rows []drawn, width, most int, paint func(string) string) string {
	label, money := 0, 0
	for _, r := range rows {
		label, money = max(label, widthOf(r.name)), max(money, len(r.amount))
	}
	label = min(label, max(width/3, 10))
	room := max(width-label-money-4, 4)
	var b strings.Builder
	for _, r := range rows {
		blocks := r.blocks(room)
		air := max(min(room, most)-len([]rune(blocks)), 0)
		fmt.Fprintf(&b, "%s  %s%s  %*s\n", pad(cutMiddle(r.name, label), label), paint(blocks), strings.Repeat(" ", air), money, r.amount)
	}
	return b.String()
}

// pad fills a cell up to a width, and cuts what is wider.
func pad(s string, width int) string {
	if widthOf(s) > width {
		s = cut(s, width)
	}
	return text.Pad(s, width, ' ')
}
