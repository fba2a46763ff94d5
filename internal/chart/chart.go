// Package chart draws the reports of what was spent: as blocks on a terminal, as SVG, and as an HTML page with the numbers.
package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Chart is a report prepared for drawing: the total of each bucket of time, or of each group if the report is not by time, and the
// series that it is made of.
type Chart struct {
	unit    string // "cost" or "tokens"
	time    string // the key that is time: cost.Day for instance; "" for none
	buckets []string
	totals  []float64
	unknown []bool   // of buckets: nothing in them has a known cost
	used    []bool   // of buckets: there is something in them
	series  []series // the largest first
}

// series is a group, with its value in each bucket.
type series struct {
	name   string
	values []float64
	sum    float64
	known  bool // the cost of any of it
}

const (
	maxSeries = 8   // in a file; the others are drawn as one. On a terminal twice as many, and the number of the others is printed
	maxGap    = 366 // more buckets than this without usage, one after the other, are skipped
	maxUnused = 31  // and on a terminal, where each is a line, more than this
)

// skipped is the name of the bucket that stands for all those of a gap.
const skipped = "…"

// New returns the chart of a report. It shows costs if any is known, else tokens.
func New(r *cost.Report) *Chart {
	c := &Chart{unit: "cost"}
	if r.Totals.Cost == nil {
		c.unit = "tokens"
	}
	at := slices.IndexFunc(r.By, cost.IsTime)
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
	c.totals, c.unknown, c.used = make([]float64, len(c.buckets)), make([]bool, len(c.buckets)), make([]bool, len(c.buckets))
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
		c.used[n] = true
		known[n] = known[n] || ok
		c.unknown[n] = !known[n]
	}
	for _, s := range named {
		c.series = append(c.series, *s)
	}
	slices.SortFunc(c.series, func(a, b series) int { return cmp.Or(cmp.Compare(b.sum, a.sum), strings.Compare(a.name, b.name)) })
	return c
}

// keys returns the bucket and the name of the series of a row. at is the index of the key that is time, negative for none.
func (c *Chart) keys(row *cost.Row, at int) (bucket, name string) {
	var rest []string
	for i, k := range row.Keys {
		if i != at {
			rest = append(rest, terminal.OneLine(terminal.TextOrDash(k.Value)))
		}
	}
	name = strings.Join(rest, ", ")
	if at < 0 {
		return name, ""
	}
	return terminal.OneLine(terminal.TextOrDash(row.Keys[at].Value)), name
}

// value returns what a row adds in the unit of the chart.
func (c *Chart) value(f *cost.Figures) (v float64, known bool) {
	switch {
	case c.unit == "tokens":
		return float64(f.All()), true
	case f.Cost == nil:
		return 0, false
	}
	return float64(*f.Cost) / 1e6, true
}

// fillGaps adds empty buckets for the days, weeks and months in which nothing was spent, or one that says that there are too many of them.
// It updates place, the index of each bucket.
func (c *Chart) fillGaps(place map[string]int) {
	slices.Sort(c.buckets)
	layout, step := time.DateOnly, [2]int{0, 1}
	switch c.time {
	case cost.Week:
		step[1] = 7
	case cost.Month:
		layout, step = "2006-01", [2]int{1, 0}
	case cost.Hour: // the hour that occurs twice when clocks go back has one name; gaps are not filled
		step[1] = 0
	}
	var all []string
	for i, b := range c.buckets {
		if i > 0 && step != [2]int{} && b != "-" {
			from, err := time.Parse(layout, c.buckets[i-1])
			to, err2 := time.Parse(layout, b)
			var gap []string
			for err == nil && err2 == nil && len(gap) <= maxGap {
				if from = from.AddDate(0, step[0], step[1]); !from.Before(to) {
					break
				}
				gap = append(gap, from.Format(layout))
			}
			if len(gap) > maxGap {
				gap = []string{skipped}
			}
			all = append(all, gap...)
		}
		all = append(all, b)
	}
	c.buckets = all
	for i, b := range all {
		place[b] = i
	}
}

// amount formats a value in the unit of the chart.
func (c *Chart) amount(v float64) string {
	if c.unit == "tokens" {
		return terminal.CompactCount(int64(v))
	}
	return terminal.Dollars(new(int64(math.Round(v * 1e6))))
}

// amountOrDash is amount, or "-" if nothing of the value is known.
func (c *Chart) amountOrDash(v float64, unknown bool) string {
	if unknown {
		return "-"
	}
	return c.amount(v)
}

// eighths are the blocks that a bar ends in, by the number of eighths that they fill.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar returns a bar of blocks for v, where most would take width columns. A bar of any positive value is visible.
func bar(v, most float64, width int) string {
	if most <= 0 || v <= 0 || width <= 0 {
		return ""
	}
	n := min(max(int(math.Round(v/most*float64(width)*8)), 1), width*8)
	full := strings.Repeat("█", n/8)
	if n%8 > 0 {
		full += string(eighths[n%8])
	}
	return full
}

// sparkline returns values as one line of blocks of at most width columns. If there are more values than columns, neighbors are added up.
func sparkline(values []float64, width int) string {
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

// Draw returns the chart as text of a width; 0 means 80 columns. It has a bar for each bucket, and a sparkline for each series over time.
func (c *Chart) Draw(width int, k terminal.Style) string {
	if width == 0 {
		width = 80
	}
	most := slices.Max(append(slices.Clone(c.totals), 0))
	var rows []drawnRow
	for i := 0; i < len(c.buckets); i++ {
		gap := max(slices.Index(c.used[i:], true), 0) // the last bucket is used
		switch {
		case c.buckets[i] == skipped:
			rows = append(rows, drawnRow{name: skipped, blocks: func(int) string { return "" }})
		case gap > maxUnused:
			rows = append(rows, drawnRow{name: fmt.Sprintf("%s %d %ss", skipped, gap, c.time), blocks: func(int) string { return "" }})
			i += gap - 1
		default:
			rows = append(rows, drawnRow{c.buckets[i], c.amountOrDash(c.totals[i], c.unknown[i]), func(width int) string { return bar(c.totals[i], most, width) }})
		}
	}
	out := drawRows(rows, width, math.MaxInt, k.Bold)
	if c.time != "" && len(c.buckets) > 1 && (len(c.series) > 1 || c.series[0].name != "") {
		out += "\n" + c.sparklines(width)
	}
	return strings.TrimSuffix(out, "\n")
}

// sparklines returns a line for each of the largest series.
func (c *Chart) sparklines(width int) string {
	var rows []drawnRow
	for _, s := range c.series[:min(len(c.series), 2*maxSeries)] {
		rows = append(rows, drawnRow{s.name, c.amountOrDash(s.sum, !s.known), func(width int) string { return sparkline(s.values, width) }})
	}
	out := drawRows(rows, width, len(c.buckets), func(s string) string { return s })
	if n := len(c.series) - len(rows); n > 0 {
		out += fmt.Sprintf("and %d more\n", n)
	}
	return out
}

// drawnRow is a line of a chart: a name, blocks and an amount.
type drawnRow struct {
	name, amount string
	blocks       func(width int) string
}

// drawRows returns rows below each other. The column of blocks is at most maxBlocks wide.
func drawRows(rows []drawnRow, width, maxBlocks int, paint func(string) string) string {
	label, money := 0, 0
	for _, r := range rows {
		label, money = max(label, terminal.Width(r.name)), max(money, len(r.amount))
	}
	label = min(label, max(width/3, 10))
	blocksWidth := max(width-label-money-4, 4)
	var b strings.Builder
	for _, r := range rows {
		blocks := r.blocks(blocksWidth)
		padding := max(min(blocksWidth, maxBlocks)-len([]rune(blocks)), 0)
		fmt.Fprintf(&b, "%s  %s%s  %*s\n", terminal.Pad(terminal.TruncateMiddle(r.name, label), label), paint(blocks), strings.Repeat(" ", padding), money, r.amount)
	}
	return b.String()
}
