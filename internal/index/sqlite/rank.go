package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/term"
)

// Frequencies returns how often phrases stand in rows, which are Hit.Row, and about how many rows have each: what ranking
// counts with, read from the full-text index without a look at any text. A phrase is terms as term.Words gives them, the
// last one with a star when it may go on; one of several terms is taken to stand as often as the rarest of them.
func (db *DB) Frequencies(ctx context.Context, rows []int64, phrases [][]string) (counts [][]int, having []int64, err error) {
	tx, err := db.r.BeginTxx(ctx, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("frequencies: %w", damage(err))
	}
	defer tx.Rollback()
	f := &frequencies{leaves: leaves{ctx: ctx, tx: tx}, rows: map[int64]int{}, memo: map[string]*frequency{}}
	for i, id := range rows {
		f.rows[id] = i
	}
	if len(rows) > 0 {
		f.from = slices.Min(rows)
	}
	if err = f.structure(); err != nil {
		return nil, nil, fmt.Errorf("frequencies: %w", damage(err))
	}
	for _, p := range phrases {
		sum, err := f.phrase(p)
		if err != nil {
			return nil, nil, fmt.Errorf("frequencies: %w", damage(err))
		}
		counts, having = append(counts, sum.counts), append(having, sum.rows)
	}
	return counts, having, nil
}

type frequencies struct {
	leaves
	rows map[int64]int // place in the answer
	from int64
	memo map[string]*frequency
}

// frequency is how often something stands in each row, and in how many of all.
type frequency struct {
	counts []int
	rows   int64
}

func (f *frequencies) phrase(words []string) (least *frequency, err error) {
	for i, w := range words {
		w, open := strings.CutSuffix(w, "*")
		signs := []string{""}
		if len(words) == 1 {
			signs = []string{"", string(term.Leading), string(term.Trailing), string(term.Inner)}
		} else if i == 0 {
			signs = []string{"", string(term.Trailing)}
		} else if i == len(words)-1 {
			signs = []string{"", string(term.Leading)}
		}
		sum := &frequency{counts: make([]int, len(f.rows))}
		for _, sign := range signs {
			one, err := f.term(sign + w)
			if err != nil {
				return nil, err
			}
			sum.rows += one.rows
			for k, n := range one.counts {
				sum.counts[k] += n
			}
		}
		for k := range sum.counts {
			if open {
				sum.counts[k] = max(sum.counts[k], 1)
			}
			if least != nil {
				sum.counts[k] = min(sum.counts[k], least.counts[k])
			}
		}
		if least != nil {
			sum.rows = min(sum.rows, least.rows)
		}
		least = sum
	}
	if least == nil {
		least = &frequency{counts: make([]int, len(f.rows))}
	}
	return least, nil
}

func (f *frequencies) term(t string) (*frequency, error) {
	if have := f.memo[t]; have != nil {
		return have, nil
	}
	sum := &frequency{counts: make([]int, len(f.rows))}
	f.memo[t] = sum
	for _, s := range f.segments {
		leaf, err := f.leaf(s, t)
		if err != nil {
			return nil, err
		}
		n, err := fts5.Frequencies(f, s, leaf, t, f.from, func(row int64, n int) {
			if i, ok := f.rows[row]; ok {
				sum.counts[i] += n
			}
		})
		if err != nil {
			return nil, err
		}
		sum.rows += int64(n)
	}
	return sum, nil
}
