package main

import "fmt"

// goal is a bound that the program sets itself, on figures that do not depend on the size of the corpus, or hold at the
// size that is named.
type goal struct {
	section, name string
	most          float64
	small         bool // of corpora of many small files only
	from, upTo    int  // MiB; 0 is any size
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
	{section: "increment", name: "nothing new / find -printf, wall", most: 1.3, small: true}, // of few files a start takes longer than find,
	{section: "increment", name: "a line more, whole command, wall", most: 120},
	{section: "increment", name: "a line more, commit, wall, p95", most: 25},
	{section: "read", name: "search, common word / rg -c", most: 0.15, from: 500},
	{section: "read", name: "cost by day and model / DuckDB", most: 0.03, from: 500},
	{section: "upkeep", name: "gc of all, archive / raw", most: 0.55},
	{section: "upkeep", name: "prune and gc, wall", most: 10, upTo: 500},
}

// met is what became of a goal.
type met struct {
	figure
	most float64
}

// goals returns the goals that the figures tell of.
func (r *report) goals() (all []met) {
	small := r.figure(figure{Section: "ingest", Name: "files", Unit: "count"})
	raw := r.figure(figure{Section: "ingest", Name: "raw", Unit: "MB"})
	for _, g := range goals {
		// Small are files of which a gigabyte has a hundred thousand and more.
		if g.small && (small == nil || raw == nil || raw.Value*1e6/small.Value > 10_000) || r.Parameters.MB < g.from || g.upTo > 0 && r.Parameters.MB > g.upTo {
			continue
		}
		for _, f := range r.Figures {
			if f.Section == g.section && f.Name == g.name {
				all = append(all, met{f, g.most})
			}
		}
	}
	return all
}

func (m met) String() string {
	if m.Value <= m.most {
		return "met"
	}
	return fmt.Sprintf("%.2f times too much", m.Value/m.most)
}
