package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
)

func newStatsCommand(a *app) *cobra.Command {
	var storage bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what the archive holds",
		Long: "Count files, runs, events, tokens and problems, in total and for each format; docs/formats/ says what counts. Sums\n" +
			"are of what originals state. Sub-agents are not counted as runs here; `list` has them. Files that are kept but not\n" +
			"read (locks, configuration) belong to no format and are in the total only." + exits("10 no archive"),
		Example: "  txarchive stats\n  txarchive stats --storage\n  txarchive stats --json | jq .totals.events",
		Args:    takes(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStats(cmd.Context(), a, storage) },
	}
	cmd.Flags().BoolVar(&storage, "storage", false, "also say what the archive takes on disk, and each table of its index")
	return cmd
}

func runStats(ctx context.Context, a *app, storage bool) error {
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer a.leave(store)
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
	if a.json {
		return a.printJSON(struct {
			index.Stats
			Storage *archive.Storage `json:"storage,omitempty"`
			Tables  []index.Table    `json:"index_tables,omitempty"`
		}{s, disk, tables})
	}
	fmt.Fprintln(a.out, a.fitted(statsGrid(s)))
	if disk != nil {
		a.printStorage(s.Totals, *disk)
		a.printTables(tables)
	}
	if s.Totals.Files == 0 {
		a.note("The archive is empty. Next: txarchive ingest DIR")
	}
	return nil
}

// measures are the rows of stats.
var measures = []struct {
	name string
	of   func(index.Sums) string
}{
	{"files", func(s index.Sums) string { return number(s.Files) }},
	{"size", func(s index.Sums) string { return size(s.Bytes) }},
	{"stored", func(s index.Sums) string { return size(s.StoredBytes) }},
	{"runs", func(s index.Sums) string { return number(s.Runs) }},
	{"conversations", func(s index.Sums) string { return number(s.Conversations) }},
	{"events", func(s index.Sums) string { return number(s.Events) }},
	{"tool calls", func(s index.Sums) string { return number(s.ToolCalls) }},
	{"tool results", func(s index.Sums) string { return number(s.ToolResults) }},
	{"input tokens", func(s index.Sums) string { return known(s.Input) }},
	{"output tokens", func(s index.Sums) string { return known(s.Output) }},
	{"cache read", func(s index.Sums) string { return known(s.CacheRead) }},
	{"cache creation", func(s index.Sums) string { return known(s.CacheCreation) }},
	{"reported cost", func(s index.Sums) string { return reported(s.ReportedCost) }},
	{"links", func(s index.Sums) string { return number(s.Links) }},
	{"problems", func(s index.Sums) string { return number(s.Problems) }},
}

// reported is a sum of reported costs for people: nothing where no original states any.
func reported(cost *int64) string {
	if cost == nil || *cost == 0 {
		return "-"
	}
	return dollars(cost)
}

func statsGrid(s index.Stats) *grid {
	g := &grid{columns: []column{{head: ""}}, folds: true}
	names := slices.Sorted(maps.Keys(s.Formats))
	for _, name := range names {
		g.columns = append(g.columns, column{head: name, right: true})
	}
	g.columns = append(g.columns, column{head: "total", right: true})
	for _, m := range measures {
		cells := []string{m.name}
		for _, name := range names {
			cells = append(cells, m.of(s.Formats[name]))
		}
		g.add(append(cells, m.of(s.Totals))...)
	}
	return g
}

func (a *app) printStorage(t index.Sums, d archive.Storage) {
	of := func(n int64) string {
		if t.Bytes == 0 {
			return ""
		}
		return fmt.Sprintf("%.1f %% of %s", 100*float64(n)/float64(t.Bytes), size(t.Bytes))
	}
	g := &grid{columns: []column{{head: "on disk"}, {head: "", right: true}, {head: "", right: true}}}
	g.add("packs ("+number(d.Packs)+")", size(d.PackBytes), of(d.PackBytes))
	g.add("index", size(d.IndexBytes), of(d.IndexBytes))
	if d.OldIndexBytes > 0 {
		g.add("older index", size(d.OldIndexBytes), of(d.OldIndexBytes))
	}
	if d.Leftovers > 0 {
		g.add("unfinished ("+number(d.Leftovers)+")", size(d.LeftoverBytes), of(d.LeftoverBytes))
	}
	g.add("all", size(d.Total()), of(d.Total()))
	fmt.Fprintf(a.out, "\n%s\n", a.fitted(g))
}

// shownTables leaves out what takes less than a hundredth of the index.
const shownTables = 0.01

func (a *app) printTables(all []index.Table) {
	total := int64(0)
	for _, t := range all {
		total += t.Bytes + t.IndexBytes
	}
	g := &grid{columns: []column{{head: "table of the index"}, {head: "rows", right: true, spare: 1}, {head: "size", right: true, spare: 2}, {head: "its indexes", right: true, spare: 3}, {head: "of the index", right: true}}}
	var rest index.Table
	for _, t := range all {
		if n := t.Bytes + t.IndexBytes; float64(n) < shownTables*float64(total) {
			rest.Bytes, rest.IndexBytes = rest.Bytes+t.Bytes, rest.IndexBytes+t.IndexBytes
			continue
		}
		g.add(tableCells(t.Name, number(t.Rows), t, total)...)
	}
	g.add(tableCells("others", "", rest, total)...)
	fmt.Fprintf(a.out, "\n%s\n", a.fitted(g))
}

func tableCells(name, rows string, t index.Table, total int64) []string {
	share := ""
	if total > 0 {
		share = fmt.Sprintf("%.1f %%", 100*float64(t.Bytes+t.IndexBytes)/float64(total))
	}
	return []string{name, rows, size(t.Bytes), size(t.IndexBytes), share}
}
