package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newStatsCommand(a *app) *cobra.Command {
	var storage bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count files, runs, events and tokens",
		Long: "Count files, runs, events, tokens and problems, in total and by format. docs/formats/ says what counts. Tokens and\n" +
			"costs are sums of what the originals state. Sub-agents are not counted as runs; `list` includes them. Files that are\n" +
			"archived but not parsed (lock files, configuration) belong to no format, and are counted in the total only." +
			exitCodes("10 no archive"),
		Example: "  txarchive stats\n  txarchive stats --storage\n  txarchive stats --json | jq .totals.events",
		Args:    argCount(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStats(cmd.Context(), a, storage) },
	}
	cmd.Flags().BoolVar(&storage, "storage", false, "also show the disk usage of the archive, and of each table of its index")
	return cmd
}

func runStats(ctx context.Context, a *app, storage bool) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer a.closeRead(store)
	s, err := store.Index().Totals(ctx)
	if err != nil {
		return err
	}
	var disk *archive.Storage
	var tables []index.Table
	if storage {
		d, err := store.Storage(ctx)
		if err != nil {
			return err
		}
		disk = &d
		if tables, err = store.Index().Tables(ctx); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(struct {
			index.Stats
			Storage *archive.Storage `json:"storage,omitempty"`
			Tables  []index.Table    `json:"index_tables,omitempty"`
		}{s, disk, tables})
	}
	fmt.Fprintln(a.Out, a.Fit(statsGrid(s)))
	if disk != nil {
		a.printStorage(s.Totals, *disk)
		a.printTables(tables)
	}
	if s.Totals.Files == 0 {
		a.Note("The archive is empty. Next: txarchive ingest DIR")
	}
	return nil
}

// measures are the rows of stats.
var measures = []struct {
	name string
	of   func(index.Sums) string
}{
	{"files", func(s index.Sums) string { return terminal.Count(s.Files) }},
	{"size", func(s index.Sums) string { return terminal.Bytes(s.Bytes) }},
	{"stored", func(s index.Sums) string { return terminal.Bytes(s.StoredBytes) }},
	{"runs", func(s index.Sums) string { return terminal.Count(s.Runs) }},
	{"conversations", func(s index.Sums) string { return terminal.Count(s.Conversations) }},
	{"events", func(s index.Sums) string { return terminal.Count(s.Events) }},
	{"tool calls", func(s index.Sums) string { return terminal.Count(s.ToolCalls) }},
	{"tool results", func(s index.Sums) string { return terminal.Count(s.ToolResults) }},
	{"input tokens", func(s index.Sums) string { return terminal.CountOrDash(s.Input) }},
	{"output tokens", func(s index.Sums) string { return terminal.CountOrDash(s.Output) }},
	{"cache read", func(s index.Sums) string { return terminal.CountOrDash(s.CacheRead) }},
	{"cache creation", func(s index.Sums) string { return terminal.CountOrDash(s.CacheCreation) }},
	{"reported cost", func(s index.Sums) string { return reported(s.ReportedCost) }},
	{"links", func(s index.Sums) string { return terminal.Count(s.Links) }},
	{"problems", func(s index.Sums) string { return terminal.Count(s.Problems) }},
}

// reported formats a sum of reported costs; "" if no original states any.
func reported(cost *int64) string {
	if cost == nil || *cost == 0 {
		return "-"
	}
	return terminal.Dollars(cost)
}

func statsGrid(s index.Stats) *terminal.Table {
	g := &terminal.Table{Columns: []terminal.Column{{Head: ""}}, Fold: true}
	names := slices.Sorted(maps.Keys(s.Formats))
	for _, name := range names {
		g.Columns = append(g.Columns, terminal.Column{Head: name, Right: true})
	}
	g.Columns = append(g.Columns, terminal.Column{Head: "total", Right: true})
	for _, m := range measures {
		cells := []string{m.name}
		for _, name := range names {
			cells = append(cells, m.of(s.Formats[name]))
		}
		g.Add(append(cells, m.of(s.Totals))...)
	}
	return g
}

func (a *app) printStorage(t index.Sums, d archive.Storage) {
	of := func(n int64) string {
		if t.Bytes == 0 {
			return ""
		}
		return fmt.Sprintf("%.1f %% of %s", 100*float64(n)/float64(t.Bytes), terminal.Bytes(t.Bytes))
	}
	g := &terminal.Table{Columns: []terminal.Column{{Head: "on disk"}, {Head: "", Right: true}, {Head: "", Right: true}}}
	g.Add("packs ("+terminal.Count(d.Packs)+")", terminal.Bytes(d.PackBytes), of(d.PackBytes))
	g.Add("index", terminal.Bytes(d.IndexBytes), of(d.IndexBytes))
	if d.OldIndexBytes > 0 {
		g.Add("older index", terminal.Bytes(d.OldIndexBytes), of(d.OldIndexBytes))
	}
	if d.Leftovers > 0 {
		g.Add("unfinished ("+terminal.Count(d.Leftovers)+")", terminal.Bytes(d.LeftoverBytes), of(d.LeftoverBytes))
	}
	g.Add("all", terminal.Bytes(d.Total()), of(d.Total()))
	fmt.Fprintf(a.Out, "\n%s\n", a.Fit(g))
}

// shownTables is the share of the index from which a table is shown.
const shownTables = 0.01

func (a *app) printTables(all []index.Table) {
	total := int64(0)
	for _, t := range all {
		total += t.Bytes + t.IndexBytes
	}
	g := &terminal.Table{Columns: []terminal.Column{{Head: "table of the index"}, {Head: "rows", Right: true, DropRank: 1}, {Head: "size", Right: true, DropRank: 2}, {Head: "its indexes", Right: true, DropRank: 3}, {Head: "of the index", Right: true}}}
	var rest index.Table
	for _, t := range all {
		if n := t.Bytes + t.IndexBytes; float64(n) < shownTables*float64(total) {
			rest.Bytes, rest.IndexBytes = rest.Bytes+t.Bytes, rest.IndexBytes+t.IndexBytes
			continue
		}
		g.Add(tableCells(t.Name, terminal.Count(t.Rows), t, total)...)
	}
	g.Add(tableCells("others", "", rest, total)...)
	fmt.Fprintf(a.Out, "\n%s\n", a.Fit(g))
}

func tableCells(name, rows string, t index.Table, total int64) []string {
	share := ""
	if total > 0 {
		share = fmt.Sprintf("%.1f %%", 100*float64(t.Bytes+t.IndexBytes)/float64(total))
	}
	return []string{name, rows, terminal.Bytes(t.Bytes), terminal.Bytes(t.IndexBytes), share}
}
