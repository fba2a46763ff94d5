package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for --timezone on machines without a time zone database

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/report"
	"github.com/txarchive/txarchive/internal/rows"
)

type costOptions struct {
	query                        string
	by                           []string
	mode, since, until, timezone string
	weekStart                    string
	format, run                  string
	explain, tree, budget        string
	blocks, chart, fileTimes     bool
	out                          string
	limit                        int
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

func newCostCommand(a *app) *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use:   "cost [QUERY...]",
		Short: "Report token usage and cost",
		Long: "Sum up tokens and cost by day and model, or by any of these keys, in any order:\n" +
			strings.Join(cost.Keys, ", ") + ".\n\n" +
			"A query restricts the report (docs/query-language.md), for example format:awf, flow:build or after:7d. Without dates,\n" +
			"all time is included. Unknown cost is shown as - (null in JSON), never as 0, and is listed below the totals.\n" +
			"docs/cost.md has the rules.\n\n" +
			"--explain lists every usage record behind a figure: its line in the original, the row of the price table, the\n" +
			"arithmetic, and the records that do not count. It takes the id of a run, conversation, event or usage record, a row of\n" +
			"the report (day=2026-11-20,model=gpt-5; an empty value stands for records without one), or the word all." +
			exitCodes("4 no such id or row", "6 the budget is exceeded", "10 no archive"),
		Example: "  txarchive cost\n" +
			"  txarchive cost --by month,project --since 2026-01\n" +
			"  txarchive cost --by step flow:build after:7d\n" +
			"  txarchive cost --json --by model | jq .totals.cost_microusd\n" +
			"  txarchive cost --explain r7sk2   # where a figure comes from\n" +
			"  txarchive cost --by day,model --chart --since 30d\n" +
			"  txarchive cost --by month,project --out cost.html\n" +
			"  txarchive cost --tree r7sk2      # a run with all its sub-runs\n" +
			"  txarchive cost --budget 200      # exit code 6 if exceeded this month",
		RunE: func(cmd *cobra.Command, v []string) error {
			o.query = strings.Join(v, " ")
			return runCost(cmd.Context(), a, o, cmd.Flags().Changed)
		},
		ValidArgsFunction: a.completeQuery,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", []string{cost.Day, "model"}, "group by these `KEYS`, in this order (\"\" = totals only)")
	f.StringVar(&o.mode, "mode", string(cost.Auto), "use cost `MODE`: reported, calculated, or auto (reported if there is one, else calculated)")
	f.StringVar(&o.since, "since", "", "only usage since this `DATE` (2026-11, 2026-11-20) or age (7d)")
	f.StringVar(&o.until, "until", "", "only usage until the end of this `DATE`")
	f.StringVar(&o.timezone, "timezone", "", "time `ZONE` of days and hours, such as Europe/Berlin (default local)")
	f.StringVar(&o.weekStart, "week-start", weekdays[0], "`DAY` on which weeks begin, also in dates such as this-week")
	f.BoolVar(&o.fileTimes, "file-times", false, "date requests that state no time by the last change of their file")
	f.StringVar(&o.format, "format", "", "output `FORMAT`: table, csv, json (an object), ndjson or markdown (default table)")
	f.IntVarP(&o.limit, "limit", "n", 0, "show at most `N` rows, and sum up the rest (0 = no limit)")
	f.StringVar(&o.run, "run", "", "only usage of the run `ID`")
	f.StringVar(&o.explain, "explain", "", "list the usage records behind the figure of `ID`")
	f.StringVar(&o.tree, "tree", "", "show the cost of the run or group `ID` with all its sub-runs")
	f.BoolVar(&o.chart, "chart", false, "draw bars, and lines over time if a key is a time")
	a.pathVar(f, &o.out, "out", "write a chart to `FILE`.svg, or a chart and its table to FILE.html")
	f.BoolVar(&o.blocks, "blocks", false, "show windows of five hours, as some subscriptions count")
	f.StringVar(&o.budget, "budget", "", "compare this calendar month with a limit in `USD`, with a forecast")
	completeFlags(cmd, map[string]cobra.CompletionFunc{
		"by": fixedWords(cost.Keys...), "mode": fixed("auto", "reported", "calculated"), "format": fixed(rows.Formats...), "week-start": fixed(weekdays...),
		"run": a.completeSome(""), "explain": a.completeThings, "tree": a.completeRuns,
	})
	return cmd
}

func runCost(ctx context.Context, a *app, o costOptions, changed func(string) bool) error {
	if err := o.check(a, changed); err != nil {
		return err
	}
	options, err := o.options(a)
	if err != nil {
		return err
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer a.closeRead(store)
	if err := o.restrictToRun(ctx, a, store, &options); err != nil {
		return err
	}
	if o.out != "" {
		a.handleSignals() // the chart is written whole or not at all
	}
	return optionError(report.Print(ctx, &a.Printer, store, a.suggester(store), report.Options{
		Options: options, Format: o.format, Explain: o.explain, Tree: o.tree, Blocks: o.blocks, Budget: o.budget, Chart: o.chart, Out: o.out,
		Asked: o.query, Narrowed: o.query+o.run+o.since+o.until != "",
	}))
}

// optionError returns the error for a wrong value of a flag of cost, and any other as it is.
func optionError(err error) error {
	if wrong, ok := errors.AsType[*cost.OptionError](err); ok {
		return failure.Usage("--"+wrong.Error(), "docs/cost.md describes keys and modes")
	}
	return err
}

// check rejects flags that do not go together.
func (o *costOptions) check(a *app, changed func(string) bool) error {
	o.format = a.FormatOr(o.format, "json")
	if err := a.checkOutput(o.format); err != nil {
		return err
	}
	if err := printer.CheckLimit(o.limit); err != nil {
		return err
	}
	var views []string
	for _, name := range []string{"explain", "tree", "blocks", "budget"} {
		if changed(name) {
			views = append(views, "--"+name)
		}
	}
	switch {
	case len(views) > 1:
		return failure.Usage(strings.Join(views, " and ")+" cannot be combined", "each is a separate report")
	case len(views) == 1 && changed("by"):
		hint := "omit --by"
		if views[0] == "--explain" {
			hint = "name the row instead: --explain day=2026-11-20,model=gpt-5"
		}
		return failure.Usage("--by cannot be combined with "+views[0], hint)
	case changed("budget") && (o.since != "" || o.until != ""):
		return failure.Usage("--since and --until cannot be combined with --budget", "a budget always covers the current calendar month")
	case len(views) == 1 && o.format != "table" && o.format != "json" && (!o.blocks || o.format == "markdown"):
		return failure.Usage(fmt.Sprintf("%s does not support format %q", views[0], o.format), "--format table or json")
	}
	if o.chart || changed("out") {
		ext := strings.ToLower(filepath.Ext(o.out))
		switch {
		case len(views) == 1:
			return failure.Usage("--chart and --out cannot be combined with "+views[0], "only the plain report has charts: txarchive cost --by day,model --chart")
		case o.chart && o.format != "table":
			return failure.Usage("--chart cannot be combined with --format "+o.format, "--out FILE.svg writes a chart as well, whatever the format")
		case changed("out") && ext != ".svg" && ext != ".html":
			return failure.Usage(fmt.Sprintf("--out %q: unknown type of file", o.out), "--out FILE.svg or --out FILE.html")
		}
	}
	for _, name := range []string{"explain", "tree", "budget", "run"} {
		if changed(name) && map[string]string{"explain": o.explain, "tree": o.tree, "budget": o.budget, "run": o.run}[name] == "" {
			return failure.Usage("--"+name+" needs a value", "txarchive cost --help has examples")
		}
	}
	return nil
}

// options returns the options of the report.
func (o *costOptions) options(a *app) (cost.Options, error) {
	zone, err := a.zone(o.timezone)
	if err != nil {
		return cost.Options{}, err
	}
	c := cost.Options{By: o.by, Mode: cost.Mode(o.mode), Location: zone, Limit: o.limit, FileTimes: o.fileTimes}
	if c.WeekShift = slices.Index(weekdays, strings.ToLower(o.weekStart)); c.WeekShift < 0 {
		return c, failure.Usage(fmt.Sprintf("--week-start %q is not a day of the week", o.weekStart), "--week-start sunday")
	}
	calendar := query.Calendar{Now: a.Now(), Location: zone, WeekShift: c.WeekShift}
	if c.Since, c.Until, err = timeRange(o.since, o.until, calendar); err != nil {
		return c, err
	}
	if o.query != "" {
		c.Query, err = calendar.Parse(o.query)
	}
	return c, err
}

// restrictToRun restricts the report to --run.
func (o *costOptions) restrictToRun(ctx context.Context, a *app, store *archive.Archive, c *cost.Options) error {
	if o.run == "" {
		return nil
	}
	run, err := lookup.RequireRun(ctx, store.Index(), o.run, "--explain takes conversations and events as well")
	if err != nil {
		return err
	}
	node, err := fieldNode(a, "run", run)
	if err != nil {
		return err
	}
	if c.Query != nil {
		node = query.Conjunction(node, c.Query.Root)
	}
	c.Query = &query.Tree{Root: node}
	return nil
}

// zone returns the time zone of a name; for "" the one of dates that people type.
func (a *app) zone(name string) (*time.Location, error) {
	switch strings.ToLower(name) {
	case "":
		return a.Location(), nil
	case "local":
		return a.LocalZone(), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, failure.Usage(fmt.Sprintf("unknown time zone %q", name), "--timezone takes names such as Europe/Berlin, UTC and local")
	}
	return zone, nil
}

// calendar returns what dates that people type are relative to.
func (a *app) calendar() query.Calendar {
	return query.Calendar{Now: a.Now(), Location: a.Location()}
}

// timeRange returns the time from the start of since to the end of until, in the syntax of queries; "" is open.
func timeRange(since, until string, c query.Calendar) (from, to time.Time, err error) {
	if since == "" && until == "" {
		return from, to, nil
	}
	for _, date := range []struct{ flag, text string }{{"--since", since}, {"--until", until}} {
		const help = "write 2026-11, 2026-11-20, 2026-11-20T10:00, 7d, yesterday or last-month"
		_, bad := c.Parse(`during:"` + date.text + `.."`)
		if date.text != "" && (bad != nil || strings.ContainsAny(date.text, `"\`) || strings.Contains(date.text, "..")) {
			return from, to, failure.Usage(fmt.Sprintf("%s %q is not a date", date.flag, date.text), help)
		}
	}
	tree, err := c.Parse(`during:"` + since + ".." + until + `"`)
	if err != nil {
		return from, to, failure.Usage("--until is before --since", "give the earlier date to --since")
	}
	if r, ok := tree.Root.(query.Range); ok {
		return r.From, r.To, nil
	}
	return from, to, fmt.Errorf("%q..%q is not a period", since, until)
}
