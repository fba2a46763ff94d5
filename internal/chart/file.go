package chart

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	svg "github.com/ajstarks/svgo"

	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
)

// seriesColors are distinct for most color-blind people, too (Okabe and Ito).
var seriesColors = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444", "#aaaaaa"}

// Dimensions in pixels: the chart without its legend, the margins around the bars, a line of the legend.
const (
	chartWidth, chartHeight = 960, 480
	marginLeft, marginTop   = 120, 40
	marginRight             = 20
	marginBottom            = 130
	legendLine              = 18
)

// Labels below the bars. Those of times may be left out, as they follow from those beside them; names are all shown, as closely as they fit.
const (
	maxTimes   = 24
	maxNames   = 60
	labelWidth = 22 // in characters, which the margins have room for
)

// SVG returns the chart as an SVG file of stacked bars: one for each bucket, made of its series. The library escapes labels, fonts are
// given by name, and nothing is loaded from anywhere.
func (c *Chart) SVG() []byte {
	var out bytes.Buffer
	s, few := svg.New(&out), c.fewer()
	height := chartHeight
	if c.hasLegend() {
		height += legendLine * (len(few) + 1)
	}
	s.Startview(chartWidth, height, 0, 0, chartWidth, height)
	s.Rect(0, 0, chartWidth, height, "fill:#fff")
	s.Gstyle("font-family:system-ui,sans-serif;font-size:12px;fill:#222")
	title := map[string]string{"cost": "Cost in US dollars", "tokens": "Tokens"}[c.unit]
	if c.time != "" {
		title += " by " + c.time
	}
	s.Text(marginLeft, 24, title, "font-size:16px")
	c.bars(s, few, c.axis(s))
	for i, one := range few {
		if y := chartHeight + legendLine*i; c.hasLegend() {
			s.Rect(marginLeft, y, 12, 12, "fill:"+seriesColors[i%len(seriesColors)])
			s.Text(marginLeft+20, y+11, terminal.TruncateMiddle(cmp.Or(one.name, "-"), 90)+"  "+c.amountOrDash(one.sum, !one.known))
		}
	}
	s.Gend()
	s.End()
	return out.Bytes()
}

// hasLegend reports whether there are several series, or one with a name.
func (c *Chart) hasLegend() bool {
	return c.time != "" && len(c.series) > 0 && (len(c.series) > 1 || c.series[0].name != "")
}

// bars draws the bars of all buckets, with labels below. most is the value at the top.
func (c *Chart) bars(s *svg.SVG, few []series, most float64) {
	const height = chartHeight - marginTop - marginBottom
	step := float64(chartWidth-marginLeft-marginRight) / float64(max(len(c.buckets), 1))
	labels := maxNames
	if c.time != "" {
		labels = maxTimes
	}
	every := (len(c.buckets) + labels - 1) / labels
	for i, b := range c.buckets {
		x, top := marginLeft+step*float64(i), 0.0
		for j, one := range few {
			low := int(math.Round(top / most * height))
			top += max(one.values[i], 0)
			if high := min(int(math.Round(top/most*height)), height); high > low {
				s.Rect(int(x+step*0.1), chartHeight-marginBottom-high, max(int(step*0.8), 1), high-low, "fill:"+seriesColors[j%len(seriesColors)])
			}
		}
		if i%every == 0 || b == skipped {
			s.TranslateRotate(int(x+step/2), chartHeight-marginBottom+14, -40)
			s.Text(0, 0, terminal.TruncateMiddle(b, labelWidth), "text-anchor:end")
			s.Gend()
		}
	}
}

// axis draws grid lines at round values and returns the value at the top.
func (c *Chart) axis(s *svg.SVG) float64 {
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
		y := chartHeight - marginBottom - int(math.Round(v/most*(chartHeight-marginTop-marginBottom)))
		s.Line(marginLeft, y, chartWidth-marginRight, y, "stroke:#ddd")
		s.Text(marginLeft-8, y+4, c.tick(v, step), "text-anchor:end")
	}
	return most
}

// tick formats the value of a grid line. It is a multiple of step and needs no more digits than that.
func (c *Chart) tick(v, step float64) string {
	switch {
	case c.unit == "tokens":
		return c.amount(v)
	case step >= 1000:
		return "$" + terminal.CompactCount(int64(v))
	case step >= 1:
		return fmt.Sprintf("$%.0f", v)
	}
	return c.amount(v)
}

// fewer returns the largest series, and the sum of all others as one more.
func (c *Chart) fewer() []series {
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

const pageStyle = `body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
svg { width: 100%; height: auto } table { border-collapse: collapse; font-size: 13px } th, td { padding: .1rem .7rem .1rem 0; text-align: left; white-space: nowrap }
.n { text-align: right; font-variant-numeric: tabular-nums } tr:last-child { font-weight: bold } p { color: #555 }
`

// Page returns an HTML page of a picture in SVG, a table, whose last row is a total, and notes. All text is escaped.
func Page(title string, picture []byte, g *terminal.Table, notes []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s<body><h1>%s</h1>\n%s\n<table>\n", rows.PageHead(title, pageStyle), rows.EscapeHTML(title), picture[bytes.Index(picture, []byte("<svg")):])
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for i, cell := range cells {
			class := ""
			if g.Columns[i].Right {
				class = ` class="n"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%[1]s>", tag, class, rows.EscapeHTML(terminal.OneLine(cell)))
		}
		b.WriteString("</tr>\n")
	}
	heads := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		heads[i] = c.Head
	}
	row("th", heads)
	for _, cells := range g.Rows {
		row("td", cells)
	}
	b.WriteString("</table>\n")
	for _, n := range notes {
		fmt.Fprintf(&b, "<p>%s</p>\n", rows.EscapeHTML(n))
	}
	b.WriteString("</body></html>\n")
	return b.Bytes()
}

// WriteFile writes a file completely or not at all. It is private to its owner: charts name projects.
func WriteFile(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".chart-*")
	if err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
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
