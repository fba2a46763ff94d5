package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/price"
)

// report prints what was spent, in groups.
func (v *accountant) report(ctx context.Context) error {
	r, err := cost.Run(ctx, v.store.Index(), v.options)
	if err != nil {
		return err
	}
	r.TimeZone = v.a.zoneName(v.options.Location)
	if len(r.Rows) > 0 {
		if err := v.outdated(ctx); err != nil {
			return err
		}
	}
	if v.o.out != "" && len(r.Rows) > 0 {
		if err := v.a.writeChart(v.o.out, r); err != nil {
			return err
		}
		v.a.note("The chart is in %s", v.a.shown(v.o.out))
	}
	switch v.o.format {
	case "json":
		return v.a.printJSON(r)
	case "csv", "ndjson":
		names, rows := reportSheet(r)
		if err := v.sheet(names, rows); err != nil {
			return err
		}
		v.leftOut(r)
		v.remarks(r)
		return nil
	}
	if len(r.Rows) == 0 {
		v.nothingSpent()
		v.remarks(r)
		v.a.tryLooser(ctx, v.store, "cost", v.o.query)
		return nil
	}
	if v.o.chart {
		fmt.Fprintln(v.a.out, chartOf(r).draw(v.width, v.ink))
		v.leftOut(r)
		return v.unpriced(r)
	}
	if v.o.format == "markdown" {
		if err := v.markdown(reportGrid(r, false)); err != nil {
			return err
		}
	} else {
		g := reportGrid(r, false)
		if v.width > 0 && g.natural() > v.width {
			g = reportGrid(r, true)
		}
		fmt.Fprintln(v.a.out, v.a.fitted(g))
	}
	return v.unpriced(r)
}

// leftOut says what --limit has cut off, where no row of its own does.
func (v *accountant) leftOut(r *cost.Report) {
	if n := r.LeftOut.Rows; n > 0 {
		v.a.note("Left out by --limit: %s, %s", plural(n, "row", "rows"), dollars(r.LeftOut.Cost))
	}
}

// reportGrid is the report for people; short has short heads, rounded tokens, and no cache that nobody used.
func reportGrid(r *cost.Report, short bool) *grid {
	g := &grid{footer: true}
	for _, by := range r.By {
		key := column{head: by, flex: cutMiddle}
		if by == cost.Day || by == cost.Week || by == cost.Month || by == cost.Hour {
			key.flex = nil
		}
		g.columns = append(g.columns, key)
	}
	if len(r.By) == 0 {
		g.columns = append(g.columns, column{})
	}
	columns := figureColumns(&r.Totals, short)
	for _, c := range columns {
		g.columns = append(g.columns, column{head: c.head, right: true, spare: c.spare})
	}
	add := func(keys []string, f *cost.Figures) {
		for len(keys) < max(len(r.By), 1) {
			keys = append(keys, "")
		}
		for _, c := range columns {
			keys = append(keys, c.of(f))
		}
		g.add(keys...)
	}
	if len(r.By) > 0 {
		for i := range r.Rows {
			var keys []string
			for _, k := range r.Rows[i].Keys {
				keys = append(keys, keyText(k.Value))
			}
			add(keys, &r.Rows[i].Figures)
		}
		if r.LeftOut.Rows > 0 {
			add([]string{"+" + number(r.LeftOut.Rows) + " more"}, &r.LeftOut.Figures)
		}
	}
	add([]string{"total"}, &r.Totals)
	return g
}

// figureColumn is a column of the report.
type figureColumn struct {
	head  string
	spare int
	of    func(*cost.Figures) string
}

func figureColumns(totals *cost.Figures, short bool) []figureColumn {
	head, amount := func(long, _ string) string { return long }, number[int64]
	if short {
		head, amount = func(_, short string) string { return short }, compact
	}
	columns := []figureColumn{
		{head("requests", "req"), 1, func(f *cost.Figures) string { return amount(f.Requests) }},
		{head("input", "in"), 0, func(f *cost.Figures) string { return amount(f.Input) }},
		{head("output", "out"), 0, func(f *cost.Figures) string { return amount(f.Output) }},
	}
	if !short || totals.CacheRead+totals.CacheCreation > 0 {
		columns = append(columns,
			figureColumn{head("cache read", "read"), 2, func(f *cost.Figures) string { return amount(f.CacheRead) }},
			figureColumn{head("cache write", "write"), 3, func(f *cost.Figures) string { return amount(f.CacheCreation) }})
	}
	columns = append(columns,
		figureColumn{"cost", 0, func(f *cost.Figures) string { return dollars(f.Cost) }},
		figureColumn{"share", 4, func(f *cost.Figures) string { return percent(f.Share) }})
	if totals.Unpriced > 0 {
		columns = append(columns, figureColumn{head("unpriced", "unpr"), 5, func(f *cost.Figures) string { return amount(f.Unpriced) }})
	}
	return columns
}

// keyText is a key for people: "-" where nothing states it.
func keyText(value *string) string {
	if value == nil || line(*value) == "" {
		return "-"
	}
	return *value
}

// percent is a share for people.
func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(100**share, 'f', 1, 64) + "%"
}

// unpriced names what the totals know no cost of, and says what else they are not.
func (v *accountant) unpriced(r *cost.Report) error {
	if len(r.Unpriced) > 0 {
		g := &grid{columns: []column{{head: "no cost known of", flex: cutMiddle}, {head: "requests", right: true, spare: 2}, {head: "tokens", right: true, spare: 1}, {head: "because", flex: cut}}}
		for _, u := range r.Unpriced {
			g.add(keyText(u.Model), number(u.Requests), number(u.All()), u.Reason)
		}
		fmt.Fprintln(v.a.out)
		if v.o.format == "markdown" {
			if err := v.markdown(g); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(v.a.out, v.a.fitted(g))
		}
	}
	v.remarks(r)
	return nil
}

// remarks says what the totals are not, for whoever looks at less than the JSON.
func (v *accountant) remarks(r *cost.Report) {
	if n := r.Undated; n > 0 {
		v.a.note("Left out by the dates: %s without a time", plural(n, "request", "requests"))
	}
	if n := r.Totals.Unpriced; n > 0 {
		v.a.note("The total is without %s whose cost is unknown", plural(n, "request", "requests"))
	}
	if n := r.Totals.Elsewhere; n > 0 {
		v.a.note("The cost of %s stands in other records of their conversations (docs/cost.md)", plural(n, "request", "requests"))
	}
	if n := r.Totals.Stub; n > 0 {
		v.a.note("%s of stub engines cost nothing", plural(n, "record", "records"))
	}
}

// outdated says when the costs are those of an older program, or of prices before another machine set some.
func (v *accountant) outdated(ctx context.Context) error {
	book, err := index.Prices(ctx, v.store.Index(), price.Default())
	if err != nil {
		return err
	}
	in, err := ingest.Priced(ctx, v.store.Index(), book)
	if err == nil && !in {
		v.a.note("These costs are by older prices; the next command that writes, such as txarchive ingest, brings them up to date")
	}
	return err
}

// markdown prints a grid as a table of Markdown.
func (v *accountant) markdown(g *grid) error {
	var names []string
	for _, c := range g.columns {
		names = append(names, c.head)
	}
	rows := make([][]any, len(g.rows))
	for i, cells := range g.rows {
		for _, cell := range cells {
			rows[i] = append(rows[i], cell)
		}
	}
	return v.sheet(names, rows)
}

// sheet prints rows in the format that is asked for.
func (v *accountant) sheet(names []string, rows [][]any) error {
	w, err := newRowWriter(v.a, v.o.format)
	if err != nil {
		return err
	}
	if err := w.columns(names); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.row(row); err != nil {
			return err
		}
	}
	return w.end()
}

// reportSheet is the rows of a report for spreadsheets and programs: exact, and without totals, which they would add.
func reportSheet(r *cost.Report) (names []string, rows [][]any) {
	names = append(append(names, r.By...), figureNames...)
	for i := range r.Rows {
		var row []any
		for _, k := range r.Rows[i].Keys {
			row = append(row, value(k.Value))
		}
		rows = append(rows, append(row, figureValues(&r.Rows[i].Figures)...))
	}
	return names, rows
}

var figureNames = []string{"requests", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "cache_creation_1h_tokens",
	"reasoning_tokens", "cost_microusd", "cost_nanousd", "reported_cost_microusd", "calculated_cost_microusd", "share", "unpriced_requests",
	"stub_requests", "cost_elsewhere_requests"}

func figureValues(f *cost.Figures) []any {
	return []any{f.Requests, f.Input, f.Output, f.CacheRead, f.CacheCreation, f.CacheCreation1h, f.Reasoning, value(f.Cost), value(f.Nano),
		value(f.Reported), value(f.Calculated), value(f.Share), f.Unpriced, f.Stub, f.Elsewhere}
}

// value is what a pointer points at, nil for none.
func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
