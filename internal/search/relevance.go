package search

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// relevance ranks the newest hits with bm25, weighted by who speaks. Scores depend only on the row and on the weights
// of the words, which the cursor carries, so that a page continues where the previous one ended.
func (a *Answer) relevance(ctx context.Context) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		ranked, err := a.rank(ctx)
		if err != nil {
			yield(found{}, err)
			return
		}
		slices.SortFunc(ranked, func(a, b found) int {
			return cmp.Or(cmp.Compare(b.score, a.score), index.Compare(&a.Event, &b.Event))
		})
		if c := a.resumeAt; c != nil {
			ranked = slices.DeleteFunc(ranked, func(f found) bool { return cmp.Or(cmp.Compare(c.score, f.score), index.Compare(&f.Event, &c.row)) <= 0 })
		}
		for batch := range slices.Chunk(ranked, reverseBatch) {
			if a.o.Limit > 0 {
				batch = batch[:min(len(batch), a.o.Limit+1)] // no more are wanted
			}
			if err := a.completeHits(ctx, batch); err != nil {
				yield(found{}, err)
				return
			}
			for _, f := range batch {
				if a.skimmed && f.Place.Path == "" {
					continue // it has been removed meanwhile
				}
				f.Cursor = fmt.Sprintf("%s:%d.%s:%x:%d:%s", Relevance, a.top, a.weights, math.Float64bits(f.score), f.Near, f.ID)
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// completeHits completes hits that come from Index.Skim.
func (a *Answer) completeHits(ctx context.Context, batch []found) error {
	if !a.skimmed {
		return nil
	}
	hits := make([]*index.Hit, len(batch))
	for i := range batch {
		hits[i] = &batch[i].Hit
	}
	return a.s.Index.Fill(ctx, hits)
}

// rank returns the newest hits, up to Options.Window, with their scores.
func (a *Answer) rank(ctx context.Context) ([]found, error) {
	var bounds []query.Node
	if a.resumeAt != nil { // leave out hits that were added since the first page
		a.top = a.resumeAt.top
		bounds = append(bounds, query.Range{To: time.UnixMicro(a.top + 1).UTC()})
	}
	var ranked []found
	a.skimmed = len(a.highlighter.phrases) == len(a.highlighter.each) && len(a.patterns()) == 0 // the index can rank by phrases
	for f, err := range a.stream(ctx, "", bounds...) {
		if err != nil {
			return nil, err
		}
		if len(ranked) == a.o.Window {
			a.windowed = true
			break
		}
		if len(ranked) == 0 && a.resumeAt == nil {
			a.top = f.Near
		}
		if f.read {
			f.score = a.score(&f)
		}
		ranked = append(ranked, f)
		ranked[len(ranked)-1].text = "" // do not hold the texts of a whole window in memory
	}
	if a.skimmed {
		return ranked, a.bm25(ctx, ranked)
	}
	return ranked, a.scores(ctx, ranked)
}

// Ranker provides term statistics.
type Ranker interface {
	// Skim is Find for ranking: its hits have only ids, kind, role, size and time. Fill completes those that are
	// shown.
	Skim(ctx context.Context, q *query.Tree, page index.Page) iter.Seq2[index.Hit, error]
	Fill(ctx context.Context, hits []*index.Hit) error
	// Frequencies returns how often phrases occur in each of the rows (Hit.Row), and about how many rows contain each
	// phrase.
	Frequencies(ctx context.Context, rows []int64, phrases [][]string) (counts [][]int, having []int64, err error)
	// Having returns about how many rows contain each of the terms as a whole word.
	Having(ctx context.Context, terms []string) ([]int64, error)
}

// bm25 scores hits without reading their texts.
func (a *Answer) bm25(ctx context.Context, ranked []found) error {
	phrases := a.highlighter.phrases
	rows := make([]int64, len(ranked))
	for i := range ranked {
		rows[i] = ranked[i].Row
	}
	counts, having, err := a.s.Index.Frequencies(ctx, rows, phrases)
	if err != nil {
		return err
	}
	if a.weights = weightsOf(having); a.resumeAt != nil && len(a.resumeAt.weights) == len(phrases) {
		a.weights = a.resumeAt.weights
	}
	for i := range ranked {
		f := &ranked[i]
		sum := 0.0
		for p := range phrases {
			sum += saturated(counts[p][i], f.TextBytes) * float64(1+a.weights[p]-'a')
		}
		f.score = sum * speakerWeight(&f.Event)
	}
	return nil
}

// weightsOf returns one letter per phrase: the fewer rows contain it, the later in the alphabet. The letter stands
// for the logarithm of the inverse document frequency and changes only when the number of rows doubles.
func weightsOf(having []int64) string {
	b := make([]byte, len(having))
	for i, n := range having {
		b[i] = 'a' + byte(max(0, 25-bits.Len64(uint64(n))))
	}
	return string(b)
}

// saturated is one phrase's contribution to a score: it grows with the number of occurrences with diminishing
// returns, and more slowly in long texts.
func saturated(n int, size int64) float64 {
	const typical = 1200 // bytes of a text
	norm := 0.25 + 0.75*float64(size)/typical
	return float64(n) / (float64(n) + 1.2*norm)
}

// scores reads the texts of hits that have no score yet, in parallel, and scores them. A hit whose text cannot be
// read has score 0; Results reports the error when the hit is shown.
func (a *Answer) scores(ctx context.Context, ranked []found) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(ranked) {
					return
				}
				f := &ranked[n]
				if f.read {
					f.read = false
					continue
				}
				if text, err := a.s.text(ctx, &f.Event); err == nil {
					f.text = text
					f.score = a.score(f)
					f.text = ""
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// score returns a score between 0 and about ten: the saturated number of occurrences of every text of the query,
// weighted by who speaks.
func (a *Answer) score(f *found) float64 {
	sum := 0.0
	for _, m := range a.highlighter.each {
		sum += saturated(len(m.spans(f.text)), int64(len(f.text)))
	}
	return sum * speakerWeight(&f.Event)
}

// speakerWeight ranks what people asked and were answered above what tools printed.
func speakerWeight(e *index.Event) float64 {
	switch e.Kind {
	case transcript.KindMessage:
		if e.Role == "user" {
			return 3
		}
		return 2.5
	case transcript.KindReasoning, transcript.KindError:
		return 1.5
	case transcript.KindToolCall:
		return 1.2
	}
	return 1
}
