package ask

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Skim is Find for ranking: hits have only the ids of the event, its place in the conversation, kind, role, size of text
// and time, and no cursor. Fill completes those that are wanted.
func (db *Reader) Skim(ctx context.Context, q *query.Tree, page index.Page) iter.Seq2[index.Hit, error] {
	return db.find(ctx, q, page, true)
}

// skim yields hits with what their keys have.
func (f *finder) skim(keys []key) error {
	var scenes []int64
	for _, k := range keys {
		scenes = append(scenes, k.scene)
	}
	if err := f.tx.loadScenes(f.ctx, scenes); err != nil {
		return err
	}
	for _, k := range keys {
		scene := f.tx.scenes[k.scene]
		e := index.Event{ID: schema.EventID(k.conversation, k.seq, k.part, k.parts), Conversation: k.conversation, Seq: k.seq, Part: k.part, Parts: k.parts,
			Near: k.at, Kind: transcript.Kind(scene.kind), Role: scene.role, TextBytes: k.size}
		f.yielded++
		if !f.yield(index.Hit{Event: e, Row: k.id}, nil) {
			return engine.ErrStop
		}
	}
	return nil
}

// Fill completes hits of Skim. A hit whose row no longer exists is left unchanged.
func (db *Reader) Fill(ctx context.Context, hits []*index.Hit) error {
	byRow, ids := map[int64]*index.Hit{}, []int64{}
	for _, h := range hits {
		byRow[h.Row], ids = h, append(ids, h.Row)
	}
	tx, err := db.read(ctx)
	if err != nil {
		return fmt.Errorf("fill hits: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	rows, err := tx.events(ctx, "WHERE e.id IN (SELECT value FROM json_each(?))", asList(ids))
	if err != nil {
		return fmt.Errorf("fill hits: %w", engine.Damage(err))
	}
	for _, e := range rows {
		byRow[e.id].Event = e.Event
	}
	return nil
}

// Frequencies returns the term frequencies of phrases in rows (Hit.Row), and the approximate document frequency of each
// phrase, from the full-text index without reading any text. A phrase is terms as term.Words returns them, the last one
// with a star if it is a prefix. A phrase of several terms counts as often as the rarest of them.
func (db *Reader) Frequencies(ctx context.Context, rows []int64, phrases [][]string) (counts [][]int, having []int64, err error) {
	tx, err := db.read(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("frequencies: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	f := termFrequencies{rows: rows, terms: map[string]fts5.Frequency{}}
	view, err := tx.view(ctx)
	if err == nil {
		err = f.read(view, phrases)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("frequencies: %w", engine.Damage(err))
	}
	for _, p := range phrases {
		sum := f.phrase(p)
		counts, having = append(counts, sum.Counts), append(having, sum.Rows)
	}
	return counts, having, nil
}

// Having returns the approximate number of rows with each of some whole terms. Parts of identifiers do not count.
func (db *Reader) Having(ctx context.Context, terms []string) ([]int64, error) {
	tx, err := db.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("frequencies: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	var found []fts5.Frequency
	view, err := tx.view(ctx)
	if err == nil {
		found, err = view.Frequencies(where.TermColumn, terms, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("frequencies: %w", engine.Damage(err))
	}
	having := make([]int64, len(found))
	for i, f := range found {
		having[i] = f.Rows
	}
	return having, nil
}

// termFrequencies has the frequencies of terms, as words and as parts of identifiers, in some rows.
type termFrequencies struct {
	rows  []int64
	terms map[string]fts5.Frequency
}

// termKinds returns the prefixes of the terms that match the i-th word of a phrase: the first of several words may be the
// last part of an identifier, the last word its first part, a single word any part.
func termKinds(i, words int) []string {
	switch {
	case words == 1:
		return []string{"", string(term.Leading), string(term.Trailing), string(term.Inner)}
	case i == 0:
		return []string{"", string(term.Trailing)}
	case i == words-1:
		return []string{"", string(term.Leading)}
	}
	return []string{""}
}

// read looks up all terms at once.
func (f *termFrequencies) read(view *fts5.View, phrases [][]string) error {
	var all []string
	for _, words := range phrases {
		for i, w := range words {
			for _, sign := range termKinds(i, len(words)) {
				all = append(all, sign+strings.TrimSuffix(w, "*"))
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	order := make([]int, len(f.rows)) // descending
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(f.rows[b], f.rows[a]) })
	falling := make([]int64, len(order))
	for i, k := range order {
		falling[i] = f.rows[k]
	}
	found, err := view.Frequencies(where.TermColumn, all, falling)
	if err != nil {
		return err
	}
	for i, t := range all {
		of := fts5.Frequency{Counts: make([]int, len(order)), Rows: found[i].Rows}
		for at, k := range order {
			if len(found[i].Counts) > 0 {
				of.Counts[k] = found[i].Counts[at]
			}
		}
		f.terms[t] = of
	}
	return nil
}

func (f *termFrequencies) phrase(words []string) fts5.Frequency {
	least := fts5.Frequency{Counts: make([]int, len(f.rows))}
	for i, w := range words {
		w, open := strings.CutSuffix(w, "*")
		sum := fts5.Frequency{Counts: make([]int, len(f.rows))}
		for _, sign := range termKinds(i, len(words)) {
			one := f.terms[sign+w]
			sum.Rows += one.Rows
			for k, n := range one.Counts {
				sum.Counts[k] += n
			}
		}
		for k := range sum.Counts {
			if open {
				sum.Counts[k] = max(sum.Counts[k], 1)
			}
			if i > 0 {
				sum.Counts[k] = min(sum.Counts[k], least.Counts[k])
			}
		}
		if i > 0 {
			sum.Rows = min(sum.Rows, least.Rows)
		}
		least = sum
	}
	return least
}
