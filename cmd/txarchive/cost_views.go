package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
)

// blocks prints usage in windows of five hours.
func (v *accountant) blocks(ctx context.Context) error {
	all, err := cost.Blocks(ctx, v.store.Index(), v.options, v.a.now())
	if err != nil {
		return err
	}
	left := 0
	if v.o.limit > 0 && len(all) > v.o.limit { // the latest are those that somebody asks about
		left = len(all) - v.o.limit
		all = all[left:]
	}
	switch v.o.format {
	case "json":
		return v.a.printJSON(map[string]any{"blocks": all, "left_out": left, "mode": v.o.mode, "time_zone": v.a.zoneName(v.options.Location)})
	case "csv", "ndjson":
		var rows [][]any
		utc := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
		for i := range all {
			b := &all[i]
			rows = append(rows, append([]any{utc(b.Start), utc(b.End), utc(b.First), utc(b.Last), b.Gap, b.Active}, figureValues(&b.Figures)...))
		}
		return v.sheet(append([]string{"start", "end", "first", "last", "gap", "active"}, figureNames...), rows)
	}
	if len(all) == 0 {
		v.nothingSpent()
		return nil
	}
	fmt.Fprintln(v.a.out, v.a.fitted(v.blockGrid(all)))
	if left > 0 {
		v.a.note("%s before these: --limit 0 shows all", plural(left, "block", "blocks"))
	}
	return nil
}

// nothingSpent says that there is no usage, or none like what was asked for.
func (v *accountant) nothingSpent() {
	if o := &v.o; o.query+o.run+o.since+o.until == "" {
		v.a.note("The archive holds no usage yet.")
		return
	}
	v.a.note("Nothing was spent: no usage is like that")
}

// count is exact where there is room for it.
func (v *accountant) count(n int64) string {
	if v.width == 0 {
		return number(n)
	}
	return compact(n)
}

func (v *accountant) blockGrid(all []cost.Block) *grid {
	g := &grid{columns: []column{{head: "begin"}, {head: "last"}, {head: "req", right: true, spare: 4}, {head: "in", right: true, spare: 2},
		{head: "out", right: true, spare: 1}, {head: "cached", right: true, spare: 3}, {head: "cost", right: true}}}
	for i := range all {
		b := &all[i]
		begin, last := b.Start.In(v.options.Location).Format("2006-01-02 15:04"), b.Last.In(v.options.Location).Format("15:04")
		switch {
		case b.Gap:
			g.add(begin, gapText(b.End.Sub(b.Start)), "", "", "", "", "")
			continue
		case b.Active:
			last += " active"
		}
		g.add(begin, last, v.count(b.Requests), v.count(b.Input), v.count(b.Output), v.count(b.CacheRead+b.CacheCreation), dollars(b.Cost))
	}
	return g
}

// gapText is how long nothing was asked.
func gapText(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("gap of %d days", d/(24*time.Hour))
	}
	return "gap of " + strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// budget holds this month against a limit.
func (v *accountant) budget(ctx context.Context) error {
	limit, err := price.ParseUSDPerMillion(strings.TrimPrefix(v.o.budget, "$")) // millionths of dollars, as the price of a token
	if err != nil {
		return usage(fmt.Sprintf("%q is no amount", v.o.budget), "--budget takes US dollars: 200 or 49.90")
	}
	b, err := cost.MonthBudget(ctx, v.store.Index(), v.options, limit, v.a.now())
	if err != nil {
		return err
	}
	if v.o.format == "json" {
		err = v.a.printJSON(b)
	} else {
		v.printBudget(&b)
	}
	if err != nil || !b.Over {
		return err
	}
	return crossed(fmt.Sprintf("the budget is crossed: %s of %s", dollars(&b.Spent), dollars(&b.Limit)),
		"`txarchive cost --since this-month --by project,model` shows what took it")
}

func (v *accountant) printBudget(b *cost.Budget) {
	spent, forecast := dollars(&b.Spent), dollars(&b.Forecast)
	if b.Limit > 0 {
		spent += fmt.Sprintf("  %.1f%%", 100*float64(b.Spent)/float64(b.Limit))
		forecast += fmt.Sprintf("  %.1f%%", 100*float64(b.Forecast)/float64(b.Limit))
	}
	switch {
	case b.Over:
		spent = v.ink.red(spent)
		forecast = v.ink.red(forecast)
	case b.WillBe:
		forecast = v.ink.yellow(forecast + "  over the budget")
	}
	rows := [][2]string{{"month", b.From.Format("January 2006")}, {"budget", dollars(&b.Limit)}, {"spent", spent}, {"forecast", forecast}}
	if b.Unpriced > 0 {
		rows = append(rows, [2]string{"unpriced", plural(b.Unpriced, "request", "requests") + " of unknown cost, not included"})
	}
	for _, r := range rows {
		fmt.Fprintln(v.a.out, v.ink.dim(fmt.Sprintf("%-10s", r[0]))+r[1])
	}
}

// tree prints what the run or group `ID` spent with all that it started.
func (v *accountant) tree(ctx context.Context) error {
	root, err := v.root(ctx)
	if err != nil {
		return err
	}
	b, err := cost.Tree(ctx, v.store.Index(), root, v.options)
	if err != nil {
		return err
	}
	if v.o.format == "json" {
		return v.a.printJSON(b)
	}
	g := &grid{columns: []column{{head: "run"}, {head: "", flex: cutMiddle}, {head: "tokens", right: true, spare: 4}, {head: "cost", right: true, spare: 1},
		{head: "all tokens", right: true, spare: 3}, {head: "all cost", right: true}, {head: "share", right: true, spare: 2}}}
	v.branchRows(g, b, "", "")
	fmt.Fprintln(v.a.out, v.a.fitted(g))
	if n := b.Whole.Unpriced; n > 0 {
		v.a.note("The total is without %s whose cost is unknown: txarchive cost --explain RUN", plural(n, "request", "requests"))
	}
	return nil
}

// root is the run or group that --tree names.
func (v *accountant) root(ctx context.Context) (index.Node, error) {
	run, err := onlyRun(ctx, v.store, v.o.tree, "--tree takes a run or a group; --explain takes conversations and events")
	var f *failure
	if errors.As(err, &f) && f.code == exitNotFound {
		for r, bad := range v.store.Index().Runs(ctx, index.Selection{Group: v.o.tree}, index.Page{Limit: 1}) {
			if bad != nil {
				return index.Node{}, bad
			}
			return index.Node{Format: r.Format, Group: r.Group}, nil
		}
	}
	return index.Node{Run: run}, err
}

// branchRows adds a branch and what is below it. The cells are not added by add, which would take the margin away.
func (v *accountant) branchRows(g *grid, b *cost.Branch, lead, margin string) {
	name, title := line(firstOf(b.RunID, b.NativeID, b.Type)), line(firstOf(b.Title, b.NativeID))
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
		cells = []string{v.count(b.Own.All()), dollars(b.Own.Cost), v.count(b.Whole.All()), dollars(b.Whole.Cost), percent(b.Whole.Share)}
	}
	g.rows = append(g.rows, append([]string{lead + name, title}, cells...))
	for i := range b.Children {
		if i < len(b.Children)-1 {
			v.branchRows(g, &b.Children[i], margin+"├─ ", margin+"│  ")
		} else {
			v.branchRows(g, &b.Children[i], margin+"└─ ", margin+"   ")
		}
	}
}
