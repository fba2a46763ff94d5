package retention

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// Up to these numbers everything is measured; of more, a sample.
const (
	sampledRuns    = 2000
	searchedRows   = 250_000 // that are looked for in the full-text index
	measuredEvents = 20_000  // whose sizes in tables are measured
	measuredLeaves = 1000    // of the full-text index
)

// facetText is the bytes of text that take as much of the full-text index as a row's facets and its places in their lists.
const facetText = 120

// estimator estimates how much the file shrinks. It counts what goes and what comes for each B-tree, from which the number of
// pages follows.
type estimator struct {
	ctx     context.Context
	tx      *sqlx.Tx
	trees   map[string][]*tree // by table, the table's own first
	leaving *index.Removal
	page    float64 // bytes
	sample  []index.RemovedRun
	ids     map[int64]struct{}
	text    map[string]float64 // of runs of the sample
}

// EstimateFreed measures rows and words, in a sample where there are many, and computes how many pages each table and index has
// once the file is rewritten. So it includes the pages that are free now.
func (r *Reader) EstimateFreed(ctx context.Context, l *index.Removal) (freed index.Freed, err error) {
	freed.Words = make([]int64, len(l.Runs))
	if len(l.Runs) == 0 {
		return freed, nil
	}
	tx, err := r.pool.BeginTxx(ctx, nil)
	if err != nil {
		return freed, fmt.Errorf("weigh index: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	w := &estimator{ctx: ctx, tx: tx, leaving: l, trees: map[string][]*tree{}, ids: map[int64]struct{}{}, text: map[string]float64{}}
	w.choose()
	words := 0.0
	for _, step := range []func() error{w.readTrees, w.readRows, w.takeEvents, w.takeOthers, w.addLedgers,
		func() (err error) { words, err = w.takeWords(); return err }} {
		if err := step(); err != nil {
			return freed, fmt.Errorf("weigh index: %w", engine.Damage(err))
		}
	}
	pages := 0.0
	if err := tx.GetContext(ctx, &pages, "PRAGMA freelist_count"); err != nil {
		return freed, fmt.Errorf("weigh index: %w", engine.Damage(err))
	}
	for _, trees := range w.trees {
		for _, t := range trees {
			pages += t.pages - t.after()
		}
	}
	freed.Bytes = int64(words + pages*w.page)
	w.share(words, freed.Words)
	return freed, nil
}

func (w *estimator) readTrees() error {
	if err := w.tx.GetContext(w.ctx, &w.page, "PRAGMA page_size"); err != nil {
		return err
	}
	all, err := readTrees(w.ctx, w.tx)
	for _, t := range all {
		w.trees[t.table] = append(w.trees[t.table], t)
	}
	for table, trees := range w.trees {
		if own := slices.IndexFunc(trees, func(t *tree) bool { return t.name == table }); own > 0 {
			trees[0], trees[own] = trees[own], trees[0]
		}
	}
	return err
}

// choose samples every n-th run of each format.
func (w *estimator) choose() {
	order := make([]int32, len(w.leaving.Runs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		return cmp.Compare(w.leaving.Runs[i].Format, w.leaving.Runs[j].Format)
	})
	_, rows := count(w.leaving.Runs, func(index.RemovedRun) bool { return true })
	step := 1 + max((len(order)-1)/sampledRuns, int(rows-1)/searchedRows)
	for i := step / 2; i < len(order); i += step {
		w.sample = append(w.sample, w.leaving.Runs[order[i]])
	}
}

// count returns how many runs pass a test, and how many rows these have.
func count(runs []index.RemovedRun, passes func(index.RemovedRun) bool) (n, rows float64) {
	for _, r := range runs {
		if passes(r) {
			n, rows = n+1, rows+float64(r.RowCount)
		}
	}
	return n, rows
}

// part is the runs that pass a test, or the versions that they lose.
type part struct {
	ids            string  // of the sample, a JSON array
	perRun, perRow float64 // how many of all runs and rows one of the sample stands for
}

// part is about runs that lose more than versions.
func (w *estimator) part(passes func(index.RemovedRun) bool) part {
	names := []string{}
	passesAsRun := func(r index.RemovedRun) bool { return r.Versions == nil && passes(r) }
	for _, r := range w.sample {
		if passesAsRun(r) {
			names = append(names, r.ID)
		}
	}
	ids, _ := json.Marshal(names) // strings always can be
	return w.scaled(string(ids), passesAsRun)
}

// versions are what runs lose that lose nothing else.
func (w *estimator) versions() part {
	all := []int64{}
	for _, r := range w.sample {
		all = append(all, r.Versions...)
	}
	return w.scaled(numbers(all), func(r index.RemovedRun) bool { return r.Versions != nil })
}

func (w *estimator) scaled(ids string, passes func(index.RemovedRun) bool) part {
	all, allRows := count(w.leaving.Runs, passes)
	some, someRows := count(w.sample, passes)
	return part{ids, all / max(1, some), allRows / max(1, someRows)}
}

func numbers(list []int64) string {
	b, _ := json.Marshal(list) // numbers always can be
	return string(b)
}

const (
	namesOfRuns    = `json_each(?1) j CROSS JOIN runs r ON r.run_id = j.value CROSS JOIN run_names n ON n.run = r.id `
	eventsOf       = `CROSS JOIN events e ON e.transcript = t.id `
	rowsOfRuns     = namesOfRuns + `CROSS JOIN transcripts t ON t.run_name = n.id AND t.indexed = 1 ` + eventsOf
	rowsOfVersions = `json_each(?1) j CROSS JOIN transcripts t ON t.version = j.value AND t.indexed = 1
		CROSS JOIN run_names n ON n.id = t.run_name CROSS JOIN runs r ON r.id = n.run ` + eventsOf
)

// readRows reads the row ids of the sample, and how much text some of them have.
func (w *estimator) readRows() error {
	rows := map[string]string{rowsOfRuns: w.part(func(index.RemovedRun) bool { return true }).ids, rowsOfVersions: w.versions().ids}
	for from, ids := range rows {
		if err := engine.Each(w.ctx, w.tx, "SELECT e.id FROM "+from, []any{ids}, func(r *sqlx.Rows) (id int64, err error) { return id, r.Scan(&id) },
			func(id int64) bool { w.ids[id] = struct{}{}; return true }); err != nil {
			return err
		}
	}
	type text struct {
		run   string
		bytes float64
	}
	for from, ids := range rows {
		if err := engine.Each(w.ctx, w.tx, "SELECT r.run_id, sum(e.text_bytes) * ?2 FROM "+from+"WHERE e.seq % ?2 = 0 GROUP BY 1", []any{ids, w.everyEvent()},
			func(r *sqlx.Rows) (x text, err error) { return x, r.Scan(&x.run, &x.bytes) },
			func(x text) bool { w.text[x.run] += x.bytes; return true }); err != nil {
			return err
		}
	}
	return nil
}

func (w *estimator) everyEvent() int { return 1 + len(w.ids)/measuredEvents }

// share distributes the bytes of words among runs in proportion to their text.
func (w *estimator) share(words float64, to []int64) {
	text, rows := 0.0, 1.0
	for _, r := range w.sample {
		text, rows = text+w.text[r.ID], rows+float64(r.RowCount)
	}
	all, sum := make([]float64, len(to)), 0.0
	for i := range w.leaving.Runs {
		r := &w.leaving.Runs[i]
		if r.Thinned {
			continue
		}
		known, ok := w.text[r.ID]
		if !ok {
			known = text / rows * float64(r.RowCount)
		}
		all[i] = known + facetText*float64(r.RowCount)
		sum += all[i]
	}
	for i := range to {
		to[i] = int64(words * all[i] / max(1, sum))
	}
}
