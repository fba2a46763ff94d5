package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	svg "github.com/ajstarks/svgo"

	"github.com/txarchive/txarchive/internal/cost"
)

// chartColors tell series apart, also for most who see few colors (Okabe and Ito).
var chartColors = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444", "#aaaaaa"}

// Size of a chart, the margins around its bars, and how many labels have room below it.
const (
	chartWidth, chartHeight          = 960, 480
	chartLeft, chartTop, chartBottom = 80, 40, 110
	chartRight, chartLabels          = 20, 24
	legendLine                       = 18
)

// svg draws stacked bars: one for each bucket, of its series. Labels are escaped by the library, fonts are named only, and
// nothing is loaded from anywhere.
func (c *chart) svg() []byte {
	var out bytes.Buffer
	s, few := svg.New(&out), c.fewer()
	height := chartHeight
	if c.legend() {
		height += legendLine * (len(few) + 1)
	}
	s.Startview(chartWidth, height, 0, 0, chartWidth, height)
	s.Rect(0, 0, chartWidth, height, "fill:#fff")
	s.Gstyle("font-family:system-ui,sans-serif;font-size:12px;fill:#222")
	title := map[string]string{"cost": "Cost in US dollars", "tokens": "Tokens"}[c.unit]
	if c.time != "" {
		title += " by " + c.time
	}
	s.Text(chartLeft, 24, title, "font-size:16px")
	c.bars(s, few, c.axis(s))
	for i, one := range few {
		if y := chartHeight + legendLine*i; c.legend() {
			s.Rect(chartLeft, y, 12, 12, "fill:"+chartColors[i%len(chartColors)])
			s.Text(chartLeft+20, y+11, cutMiddle(firstOf(one.name, "-"), 90)+"  "+c.shown(one.sum, !one.known))
		}
	}
	s.Gend()
	s.End()
	return out.Bytes()
}

// legend says whether the colors must be told apart.
func (c *chart) legend() bool {
	return c.time != "" && len(c.series) > 0 && (len(c.series) > 1 || c.series[0].name != "")
}

// bars draws those of all buckets, with names below.
func (c *chart) bars(s *svg.SVG, few []series, most float64) {
	const height = chartHeight - chartTop - chartBottom
	step := float64(chartWidth-chartLeft-chartRight) / float64(max(len(c.buckets), 1))
	every := (len(c.buckets) + chartLabels - 1) / chartLabels
	for i, b := range c.buckets {
		x, top := chartLeft+step*float64(i), 0.0
		for j, one := range few {
			low := int(math.Round(top / most * height))
			top += max(one.values[i], 0)
			if high := min(int(math.Round(top/most*height)), height); high > low {
				s.Rect(int(x+step*0.1), chartHeight-chartBottom-high, max(int(step*0.8), 1), high-low, "fill:"+chartColors[j%len(chartColors)])
			}
		}
		if i%every == 0 {
			s.TranslateRotate(int(x+step/2), chartHeight-chartBottom+14, -40)
			s.Text(0, 0, cutMiddle(b, 22), "text-anchor:end")
			s.Gend()
		}
	}
}

// axis draws lines at round values and returns the value at the top.
func (c *chart) axis(s *svg.SVG) float64 {
	most := 0.0
	for _, v := range c.totals {
		most = max(most, v)
	}
	if most <= 0 {
		most = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for most/step < 3 {
		step /= 2
	}
	for n := 0; float64(n)*step <= most; n++ {
		v := float64(n) * step
		y := chartHeight - chartBottom - int(math.Round(v/most*(chartHeight-chartTop-chartBottom)))
		s.Line(chartLeft, y, chartWidth-chartRight, y, "stroke:#ddd")
		s.Text(chartLeft-8, y+4, c.mark(v, step), "text-anchor:end")
	}
	return most
}

// mark is a value beside a line of the axis: round as it is, it needs no smaller parts than the step.
func (c *chart) mark(v, step float64) string {
	switch {
	case c.unit == "tokens":
		return c.amount(v)
	case step >= 1000:
		return "$" + compact(int64(v))
	case step >= 1:
		return fmt.Sprintf("$%.0f", v)
	}
	return c.amount(v)
}

// fewer are the largest series, and all others in one.
func (c *chart) fewer() []series {
	if len(c.series) <= maxSeries {
		return c.series
	}
	few := append([]series(nil), c.series[:maxSeries]...)
	rest := series{name: fmt.Sprintf("%d others", len(c.series)-maxSeries), values: make([]float64, len(c.buckets))}
	for _, s := range c.series[maxSeries:] {
		for i, v := range s.values {
			rest.values[i] += v
		}
		rest.sum += s.sum
		rest.known = rest.known || s.known
	}
	return append(few, rest)
}

// pageHead is what comes before the title of a page: nothing in it may run or be loaded.
const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
svg { width: 100%; height: auto } table { border-collapse: collapse } th, td { padding: .1rem .8rem .1rem 0; text-align: left; white-space: nowrap }
.n { text-align: right; font-variant-numeric: tabular-nums } tr:last-child { font-weight: bold } p { color: #555 }
</style>
`

// writeChart writes the picture of a report: SVG, or a page with its numbers.
func (a *app) writeChart(path string, r *cost.Report) error {
	a.listens()
	picture := chartOf(r).svg()
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		return replaceFile(path, picture)
	}
	return replaceFile(path, pageOf(r, picture[bytes.Index(picture, []byte("<svg")):]))
}

// pageOf is a page of a picture and the numbers of its report. All that comes from transcripts is escaped here, or by svg.
func pageOf(r *cost.Report, picture []byte) []byte {
	var b bytes.Buffer
	title := html.EscapeString("What was spent, by " + line(firstOf(strings.Join(r.By, " and "), "nothing")))
	fmt.Fprintf(&b, "%s<title>%s</title></head><body><h1>%[2]s</h1>\n%s\n<table>\n", pageHead, title, picture)
	g := reportGrid(r, false)
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for i, cell := range cells {
			class := ""
			if g.columns[i].right {
				class = ` class="n"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%[1]s>", tag, class, html.EscapeString(line(cell)))
		}
		b.WriteString("</tr>\n")
	}
	heads := make([]string, len(g.columns))
	for i, c := range g.columns {
		heads[i] = c.head
	}
	row("th", heads)
	for _, cells := range g.rows {
		row("td", cells)
	}
	b.WriteString("</table>\n")
	for _, u := range r.Unpriced {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(fmt.Sprintf("No cost is known of %s of %s: %s", plural(u.Requests, "request", "requests"), line(keyText(u.Model)), line(u.Reason))))
	}
	b.WriteString("</body></html>\n")
	return b.Bytes()
}

// replaceFile writes a file whole or not at all. It may name projects: nobody else may read it.
func replaceFile(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".chart-*")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			at.Path = path // which somebody named
		}
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
