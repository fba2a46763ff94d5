package retention

import (
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// takeWords measures leaves of the full-text index, and returns how many bytes go of it and of the list of words.
func (w *estimator) takeWords() (bytes float64, err error) {
	l := ask.FTSStore(w.ctx, w.tx)
	block, err := l.Records([]int64{fts5.StructureID})
	if err != nil {
		return 0, err
	}
	s, err := fts5.DecodeStructure(block[0])
	if err != nil {
		return 0, err
	}
	all := 0
	for _, g := range s.All() {
		all += g.Pages()
	}
	var chosen []int64
	step := 1 + all/measuredLeaves
	at := step / 2 // in the segment
	for _, g := range s.All() {
		for ; at < g.Pages(); at += step {
			chosen = append(chosen, fts5.PageID(g.ID, int64(g.First+at)))
		}
		at -= g.Pages()
	}
	var x fts5.Weight
	goes := func(row int64) bool { _, yes := w.ids[row]; return yes }
	for some := range slices.Chunk(chosen, 64) {
		leaves, err := l.Records(some)
		if err != nil {
			return 0, err
		}
		for _, leaf := range leaves {
			if err := x.Add(leaf, goes); err != nil {
				return 0, err
			}
		}
	}
	var list float64
	if err := w.tx.GetContext(w.ctx, &list, "SELECT coalesce(sum(length(words)), 0) FROM terms"); err != nil {
		return 0, err
	}
	p := w.scaled("", func(index.RemovedRun) bool { return true })
	share := min(1, p.perRow*float64(x.Freed)/max(1, float64(x.Bytes)))
	for _, t := range w.trees["fts_idx"] {
		t.newCells, t.newBytes = -share*t.cells, -share*t.bytes
	}
	return share*float64(all)*w.page + min(1, p.perRow*float64(x.WordsFreed)/max(1, float64(x.Words)))*list, nil
}
