// Package report prints what was spent: as tables, charts and rows for programs, with the records behind each figure, beside a budget or
// beside another period. It also has the reports that are shipped or saved under a name.
package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/chart"
	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/suggest"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Options say which report is printed, and how. Those of cost say of what.
type Options struct {
	cost.Options
	Format string // table, csv, json, ndjson or markdown

	// At most one of these asks for another report than sums by keys.
	Explain string // the records behind the figure of an id or row
	Tree    string // a run or group with all its sub-runs
	Blocks  bool   // windows of five hours
	Budget  string // this month beside a limit in USD

	Chart    bool   // bars and lines in place of the table
	Out      string // a file for the chart, .svg or .html
	Asked    string // the query as it was typed
	Narrowed bool   // that there are a query, a run or dates
}

// reporter prints one report.
type reporter struct {
	*printer.Printer
	o       Options
	store   *archive.Archive
	suggest *suggest.Suggester
	style   terminal.Style
	width   int
}

// Print prints the report that the options ask for.
func Print(ctx context.Context, p *printer.Printer, store *archive.Archive, s *suggest.Suggester, o Options) error {
	v := reporter{Printer: p, o: o, store: store, suggest: s, style: p.Style(), width: p.Width()}
	switch {
	case o.Explain != "":
		return v.explain(ctx)
	case o.Tree != "":
		return v.tree(ctx)
	case o.Blocks:
		return v.blocks(ctx)
	case o.Budget != "":
		return v.budget(ctx)
	}
	return v.report(ctx)
}

// report prints what was spent, in groups.
func (v *reporter) report(ctx context.Context) error {
	r, err := cost.Run(ctx, v.store.Index(), v.o.Options)
	if err != nil {
		return err
	}
	r.TimeZone = v.ZoneName(v.o.Location)
	if len(r.Rows) > 0 {
		if err := v.outdated(ctx); err != nil {
			return err
		}
	}
	if v.o.Out != "" && len(r.Rows) > 0 {
		if err := v.writeChart(r); err != nil {
			return err
		}
		v.Note("Wrote the chart to %s", v.DisplayPath(v.o.Out))
	}
	switch v.o.Format {
	case "json":
		return v.PrintJSON(r)
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
		v.explainEmpty(ctx)
		v.remarks(r)
		v.suggest.Relaxed(ctx, "cost", v.o.Asked, func(t *query.Tree) bool {
			o := v.o.Options
			o.Query = t
			r, err := cost.Run(ctx, v.store.Index(), o)
			return err == nil && len(r.Rows) > 0
		})
		return nil
	}
	if v.o.Chart {
		fmt.Fprintln(v.Out, chart.New(r).Draw(v.width, v.style))
		v.leftOut(r)
		return v.unpriced(r)
	}
	if v.o.Format == "markdown" {
		if err := v.markdown(reportGrid(r, false)); err != nil {
			return err
		}
	} else {
		g := reportGrid(r, false)
		if v.width > 0 && g.FullWidth() > v.width {
			g = reportGrid(r, true)
		}
		fmt.Fprintln(v.Out, v.Fit(g))
	}
	return v.unpriced(r)
}

// leftOut notes what --limit has cut off, for formats that have no row for the rest.
func (v *reporter) leftOut(r *cost.Report) {
	if n := r.LeftOut.Rows; n > 0 {
		v.Note("Omitted by --limit: %s, %s", terminal.Plural(n, "row", "rows"), terminal.Dollars(r.LeftOut.Cost))
	}
}

// reportGrid returns the report as a table. With short it has short headings, rounded tokens, and no columns for caches that were not
// used.
func reportGrid(r *cost.Report, short bool) *terminal.Table {
	g := &terminal.Table{Footer: true}
	for _, by := range r.By {
		key := terminal.Column{Head: by, Shorten: terminal.TruncateMiddle}
		if cost.IsTime(by) {
			key.Shorten = nil
		}
		g.Columns = append(g.Columns, key)
	}
	if len(r.By) == 0 {
		g.Columns = append(g.Columns, terminal.Column{})
	}
	columns := figureColumns(&r.Totals, short)
	for _, c := range columns {
		g.Columns = append(g.Columns, terminal.Column{Head: c.head, Right: true, DropRank: c.spare})
	}
	add := func(keys []string, f *cost.Figures) {
		for len(keys) < max(len(r.By), 1) {
			keys = append(keys, "")
		}
		for _, c := range columns {
			keys = append(keys, c.of(f))
		}
		g.Add(keys...)
	}
	if len(r.By) > 0 {
		for i := range r.Rows {
			var keys []string
			for _, k := range r.Rows[i].Keys {
				keys = append(keys, terminal.TextOrDash(k.Value))
			}
			add(keys, &r.Rows[i].Figures)
		}
		if r.LeftOut.Rows > 0 {
			add([]string{"+" + terminal.Count(r.LeftOut.Rows) + " more"}, &r.LeftOut.Figures)
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
	head, amount := func(long, _ string) string { return long }, terminal.Count[int64]
	if short {
		head, amount = func(_, short string) string { return short }, terminal.CompactCount
	}
	columns := []figureColumn{
		{head("requests", "req"), 3, func(f *cost.Figures) string { return amount(f.Requests) }},
		{head("input", "in"), 2, func(f *cost.Figures) string { return amount(f.Input) }},
		{head("output", "out"), 1, func(f *cost.Figures) string { return amount(f.Output) }},
	}
	if !short || totals.CacheRead+totals.CacheCreation > 0 {
		columns = append(columns,
			figureColumn{head("cache read", "read"), 4, func(f *cost.Figures) string { return amount(f.CacheRead) }},
			figureColumn{head("cache write", "write"), 5, func(f *cost.Figures) string { return amount(f.CacheCreation) }})
	}
	columns = append(columns,
		figureColumn{"cost", 0, func(f *cost.Figures) string { return terminal.Dollars(f.Cost) }},
		figureColumn{"share", 6, func(f *cost.Figures) string { return terminal.Percent(f.Share) }})
	if totals.Unpriced > 0 {
		columns = append(columns, figureColumn{head("unpriced", "unpr"), 7, func(f *cost.Figures) string { return amount(f.Unpriced) }})
	}
	return columns
}

// unpriced prints the usage without a known cost, and the other caveats of the totals.
func (v *reporter) unpriced(r *cost.Report) error {
	if len(r.Unpriced) > 0 {
		g := &terminal.Table{Columns: []terminal.Column{{Head: "cost unknown", Shorten: terminal.TruncateMiddle}, {Head: "requests", Right: true, DropRank: 2}, {Head: "tokens", Right: true, DropRank: 1}, {Head: "reason", Shorten: terminal.Truncate}}}
		for _, u := range r.Unpriced {
			g.Add(terminal.TextOrDash(u.Model), terminal.Count(u.Requests), terminal.Count(u.All()), u.Reason)
		}
		fmt.Fprintln(v.Out)
		if v.o.Format == "markdown" {
			if err := v.markdown(g); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(v.Out, v.Fit(g))
		}
	}
	v.remarks(r)
	return nil
}

// remarks prints what the totals do not include, which the JSON has in full.
func (v *reporter) remarks(r *cost.Report) {
	if n := r.Undated; n > 0 {
		v.Note("Excluded by the dates: %s without a time (--file-times)", terminal.Plural(n, "request", "requests"))
	}
	if n := r.FileDated; n > 0 {
		v.Note("Dated by their files: %s", terminal.Plural(n, "request", "requests"))
	}
	if n := besideDays(r); n > 0 {
		v.Note("Without a time: %s (--file-times)", terminal.Plural(n, "request", "requests"))
	}
	if n := r.Totals.Unpriced; n > 0 {
		v.Note("The total excludes %s of unknown cost", terminal.Plural(n, "request", "requests"))
	}
	if n := r.Totals.Elsewhere; n > 0 {
		v.Note("The cost of %s is in other records of the conversation: docs/cost.md", terminal.Plural(n, "request", "requests"))
	}
	if n := r.Totals.Stub; n > 0 {
		v.Note("%s of stub engines cost nothing", terminal.Plural(n, "record", "records"))
	}
}

// besideDays returns how many requests are in rows for usage without a time.
func besideDays(r *cost.Report) (n int64) {
	for i := range r.Rows {
		if slices.ContainsFunc(r.Rows[i].Keys, func(k cost.Key) bool { return k.Value == nil && cost.IsTime(k.Name) }) {
			n += r.Rows[i].Requests
		}
	}
	return n
}

// outdated notes that costs were computed by an older program, or before another machine set prices.
func (v *reporter) outdated(ctx context.Context) error {
	book, err := index.Prices(ctx, v.store.Index(), price.Default())
	if err != nil {
		return err
	}
	in, err := ingest.Priced(ctx, v.store.Index(), book)
	if err == nil && !in {
		v.Note("These costs use older prices; the next command that writes, such as txarchive ingest, updates them")
	}
	return err
}

// markdown prints a table as Markdown.
func (v *reporter) markdown(g *terminal.Table) error {
	var names []string
	for _, c := range g.Columns {
		names = append(names, c.Head)
	}
	rows := make([][]any, len(g.Rows))
	for i, cells := range g.Rows {
		for _, cell := range cells {
			rows[i] = append(rows[i], cell)
		}
	}
	return v.sheet(names, rows)
}

// sheet prints rows in the format of the flags.
func (v *reporter) sheet(names []string, rows [][]any) error {
	w, err := v.Rows(v.o.Format)
	if err != nil {
		return err
	}
	if err := w.Columns(names); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.Row(row); err != nil {
			return err
		}
	}
	return w.End()
}

// reportSheet returns the rows of a report for spreadsheets and programs: exact, and without totals, which those would add to the sum.
func reportSheet(r *cost.Report) (names []string, rows [][]any) {
	names = append(append(names, r.By...), figureNames...)
	for i := range r.Rows {
		var row []any
		for _, k := range r.Rows[i].Keys {
			row = append(row, printer.Value(k.Value))
		}
		rows = append(rows, append(row, figureValues(&r.Rows[i].Figures)...))
	}
	return names, rows
}

var figureNames = []string{"requests", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "cache_creation_1h_tokens",
	"reasoning_tokens", "cost_microusd", "cost_nanousd", "reported_cost_microusd", "calculated_cost_microusd", "share", "unpriced_requests",
	"stub_requests", "cost_elsewhere_requests"}

func figureValues(f *cost.Figures) []any {
	return []any{f.Requests, f.Input, f.Output, f.CacheRead, f.CacheCreation, f.CacheCreation1h, f.Reasoning, printer.Value(f.Cost), printer.Value(f.Nano),
		printer.Value(f.Reported), printer.Value(f.Calculated), printer.Value(f.Share), f.Unpriced, f.Stub, f.Elsewhere}
}
