package main

import "fmt"

// goal is an upper bound on a figure that does not depend on the size of the corpus, or that applies to the given
// sizes.
type goal struct {
	section, name string
	most          float64
	small         bool // only for corpora of many small files
	from, upTo    int  // corpus size in MiB; 0 means any
}

var goals = []goal{
	{section: "ingest", name: "CPU / tar | gzip -6", most: 1.5},
	{section: "ingest", name: "wall / tar | gzip -6", most: 1.1},
	{section: "ingest", name: "CPU per raw MB", most: 35.6}, // 1.15 of the same work with SQLite in C
	{section: "ingest", name: "CPU per raw MB / that of 100 MiB", most: 1.1, from: 500, upTo: 999},
	{section: "ingest", name: "CPU per raw MB / that of 100 MiB", most: 1.2, from: 1000},
	{section: "ingest", name: "CPU per event / that of 100 MiB", most: 1.2, from: 1000},
	{section: "ingest", name: "CPU per file", most: 150, small: true},
	{section: "ingest", name: "peak memory", most: 350},
	{section: "size", name: "packs and index / raw", most: 0.60},
	{section: "size", name: "packs / tar | zstd -3", most: 1.3},
	{section: "increment", name: "nothing new / find -printf, wall", most: 1.3, small: true}, // with few files, starting the program takes longer than find
	{section: "increment", name: "a line more, whole command, wall", most: 120},
	{section: "increment", name: "a line more, commit, wall, p95", most: 25},
	{section: "read", name: "search, common word / rg -c", most: 0.15, from: 500},
	{section: "read", name: "cost by day and model / DuckDB", most: 0.03, from: 500},
	{section: "upkeep", name: "gc of all, archive / raw", most: 0.55},
	{section: "upkeep", name: "prune and gc, wall", most: 10, upTo: 500},
}

// goalResult is a goal with the figure that was measured.
type goalResult struct {
	figure
	most float64
}

// goals returns the goals for which there are figures.
func (r *report) goals() (all []goalResult) {
	small := r.figure(figure{Section: "ingest", Name: "files", Unit: "count"})
	raw := r.figure(figure{Section: "ingest", Name: "raw", Unit: "MB"})
	for _, g := range goals {
		// Files are small if a gigabyte has a hundred thousand or more of them.
		if g.small && (small == nil || raw == nil || raw.Value*1e6/small.Value > 10_000) || r.Parameters.MB < g.from || g.upTo > 0 && r.Parameters.MB > g.upTo {
			continue
		}
		for _, f := range r.Figures {
			if f.Section == g.section && f.Name == g.name {
				all = append(all, goalResult{f, g.most})
			}
		}
	}
	return all
}

func (m goalResult) String() string {
	if m.Value <= m.most {
		return "met"
	}
	return fmt.Sprintf("%.2f times too much", m.Value/m.most)
}
