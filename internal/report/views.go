package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/suggest"
	"github.com/txarchive/txarchive/internal/terminal"
)

// blocks prints usage in windows of five hours.
func (v *reporter) blocks(ctx context.Context) error {
	all, err := cost.Blocks(ctx, v.store.Index(), v.o.Options, v.Now())
	if err != nil {
		return err
	}
	whole := v.o.Options
	whole.By = nil
	r, err := cost.Run(ctx, v.store.Index(), whole)
	if err != nil {
		return err
	}
	undated := r.Totals.Requests // of which no block has any
	for i := range all {
		undated -= all[i].Requests
	}
	left := 0
	if v.o.Limit > 0 && len(all) > v.o.Limit { // the latest blocks matter most
		left = len(all) - v.o.Limit
		all = all[left:]
	}
	switch v.o.Format {
	case "json":
		return v.PrintJSON(map[string]any{"blocks": all, "left_out": left, "mode": v.o.Mode, "time_zone": v.ZoneName(v.o.Location), "undated_requests": r.Undated + undated, "file_dated_requests": r.FileDated})
	case "csv", "ndjson":
		var rows [][]any
		utc := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
		for i := range all {
			b := &all[i]
			rows = append(rows, append([]any{utc(b.Start), utc(b.End), utc(b.First), utc(b.Last), b.Gap, b.Active}, figureValues(&b.Figures)...))
		}
		return v.sheet(append([]string{"start", "end", "first", "last", "gap", "active"}, figureNames...), rows)
	}
	switch {
	case len(all) > 0:
		fmt.Fprintln(v.Out, v.Fit(v.blockGrid(all)))
	case undated == 0:
		v.explainEmpty(ctx)
	}
	if left > 0 {
		v.Note("%s before these: --limit 0 shows all", terminal.Plural(left, "block", "blocks"))
	}
	if undated > 0 {
		v.Note("Excluded: %s without a time (--file-times)", terminal.Plural(undated, "request", "requests"))
	}
	v.remarks(r)
	return nil
}

// explainEmpty notes that there is no usage, or none that matches the flags, and on which days there is some that does but for dates.
func (v *reporter) explainEmpty(ctx context.Context) {
	if !v.o.Narrowed {
		v.Note("The archive holds no usage yet.")
		return
	}
	v.Note("Nothing was spent: no usage matches")
	ever := v.o.Options
	ever.By, ever.Since, ever.Until, ever.Limit = []string{cost.Day}, time.Time{}, time.Time{}, 0
	if q := ever.Query; q != nil {
		if undated := suggest.Undated(q); undated != nil {
			ever.Query = undated
		}
	}
	r, err := cost.Run(ctx, v.store.Index(), ever)
	if err != nil { // what explains an empty report is not worth an error
		return
	}
	days := slices.DeleteFunc(r.Rows, func(row cost.Row) bool { return row.Keys[0].Value == nil })
	if n := len(days); n > 0 {
		v.Note("At other times there is some: from %s to %s", *days[0].Keys[0].Value, *days[n-1].Keys[0].Value)
	}
}

// count formats a number exactly where the terminal is wide enough, else in few characters.
func (v *reporter) count(n int64) string {
	if v.width == 0 {
		return terminal.Count(n)
	}
	return terminal.CompactCount(n)
}

func (v *reporter) blockGrid(all []cost.Block) *terminal.Table {
	g := &terminal.Table{Columns: []terminal.Column{{Head: "begin"}, {Head: "last"}, {Head: "req", Right: true, DropRank: 4}, {Head: "in", Right: true, DropRank: 2},
		{Head: "out", Right: true, DropRank: 1}, {Head: "cached", Right: true, DropRank: 3}, {Head: "cost", Right: true}}}
	for i := range all {
		b := &all[i]
		begin, last := b.Start.In(v.o.Location).Format("2006-01-02 15:04"), b.Last.In(v.o.Location).Format("15:04")
		switch {
		case b.Gap:
			g.Add(begin, gapText(b.End.Sub(b.Start)), "", "", "", "", "")
			continue
		case b.Active:
			last += " active"
		}
		g.Add(begin, last, v.count(b.Requests), v.count(b.Input), v.count(b.Output), v.count(b.CacheRead+b.CacheCreation), terminal.Dollars(b.Cost))
	}
	return g
}

// gapText formats how long there was no request.
func gapText(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("gap of %d days", d/(24*time.Hour))
	}
	return "gap of " + strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// budget compares this month with a limit.
func (v *reporter) budget(ctx context.Context) error {
	limit, err := price.ParseUSDPerMillion(strings.TrimPrefix(v.o.Budget, "$")) // in micro-USD, as the price of a token is
	if err != nil {
		return failure.Usage(fmt.Sprintf("%q is not an amount", v.o.Budget), "--budget takes US dollars: 200 or 49.90")
	}
	b, err := cost.MonthBudget(ctx, v.store.Index(), v.o.Options, limit, v.Now())
	if err != nil {
		return err
	}
	if v.o.Format == "json" {
		utc := b
		utc.From, utc.To = b.From.UTC(), b.To.UTC()
		err = v.PrintJSON(utc)
	} else {
		v.printBudget(&b)
	}
	if err != nil || !b.Over {
		return err
	}
	return failure.LimitCrossed(fmt.Sprintf("budget exceeded: %s of %s", terminal.Dollars(&b.Spent), terminal.Dollars(&b.Limit)),
		"`txarchive cost --since this-month --by project,model` shows what it was spent on")
}

func (v *reporter) printBudget(b *cost.Budget) {
	spent, forecast := terminal.Dollars(&b.Spent), terminal.Dollars(&b.Forecast)
	if b.Limit > 0 {
		spent += fmt.Sprintf("  %.1f%%", 100*float64(b.Spent)/float64(b.Limit))
		forecast += fmt.Sprintf("  %.1f%%", 100*float64(b.Forecast)/float64(b.Limit))
	}
	switch {
	case b.Over:
		spent = v.style.Red(spent)
		forecast = v.style.Red(forecast)
	case b.WillBe:
		forecast = v.style.Yellow(forecast + "  over the budget")
	}
	rows := [][2]string{{"month", b.From.Format("January 2006")}, {"budget", terminal.Dollars(&b.Limit)}, {"spent", spent}, {"forecast", forecast}}
	if b.Unpriced > 0 {
		rows = append(rows, [2]string{"unpriced", terminal.Plural(b.Unpriced, "request", "requests") + " of unknown cost, not included"})
	}
	if b.Undated > 0 {
		rows = append(rows, [2]string{"undated", terminal.Plural(b.Undated, "request", "requests") + " without a time, not included: --file-times"})
	}
	for _, r := range rows {
		fmt.Fprintln(v.Out, v.Wrap(v.style.Dim(fmt.Sprintf("%-10s", r[0])), r[1], strings.Repeat(" ", 10)))
	}
}

// tree prints what the run or group of --tree spent with everything that it started.
func (v *reporter) tree(ctx context.Context) error {
	root, err := v.root(ctx)
	if err != nil {
		return err
	}
	b, err := cost.Tree(ctx, v.store.Index(), root, v.o.Options)
	if err != nil {
		return err
	}
	if v.o.Format == "json" {
		return v.PrintJSON(b)
	}
	g := &terminal.Table{Columns: []terminal.Column{{Head: "run"}, {Head: "", Shorten: terminal.TruncateMiddle}, {Head: "tokens", Right: true, DropRank: 4}, {Head: "cost", Right: true, DropRank: 1},
		{Head: "all tokens", Right: true, DropRank: 3}, {Head: "all cost", Right: true}, {Head: "share", Right: true, DropRank: 2}}}
	v.branchRows(g, b, "", "")
	fmt.Fprintln(v.Out, v.Fit(g))
	if n := b.Whole.Unpriced; n > 0 {
		v.Note("The total excludes %s of unknown cost: txarchive cost --explain RUN", terminal.Plural(n, "request", "requests"))
	}
	return nil
}

// root returns the run or group that --tree names.
func (v *reporter) root(ctx context.Context) (index.Node, error) {
	run, err := lookup.RequireRun(ctx, v.store.Index(), v.o.Tree, "--tree takes a run or a group; --explain takes conversations and events")
	if failure.IsNotFound(err) {
		for r, bad := range v.store.Index().Runs(ctx, index.Selection{Group: v.o.Tree}, index.Page{Limit: 1}) {
			if bad != nil {
				return index.Node{}, bad
			}
			return index.Node{Format: r.Format, Group: r.Group}, nil
		}
	}
	return index.Node{Run: run}, err
}

// branchRows adds a branch and everything below it. It appends the cells itself because Add would remove the margin.
func (v *reporter) branchRows(g *terminal.Table, b *cost.Branch, lead, margin string) {
	name, title := terminal.OneLine(terminal.FirstNonEmpty(string(b.RunID), string(b.NativeID), b.Type)), terminal.OneLine(terminal.FirstNonEmpty(string(b.Title), string(b.NativeID)))
	if title == name {
		title = ""
	}
	cells := []string{"", "", "", "", ""}
	switch {
	case b.Seen:
		title = "(see above)"
	case b.Type == "run" && !b.Found:
		title = "announced, never found"
	default:
		cells = []string{v.count(b.Own.All()), terminal.Dollars(b.Own.Cost), v.count(b.Whole.All()), terminal.Dollars(b.Whole.Cost), terminal.Percent(b.Whole.Share)}
	}
	g.Rows = append(g.Rows, append([]string{lead + name, title}, cells...))
	for i := range b.Children {
		if i < len(b.Children)-1 {
			v.branchRows(g, &b.Children[i], margin+"├─ ", margin+"│  ")
		} else {
			v.branchRows(g, &b.Children[i], margin+"└─ ", margin+"   ")
		}
	}
}
