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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// cursor is a place in an order that the index does not know. Its text is
// "oldest:<near>:<event>" or "relevance:<near of the newest>.<weights>:<score>:<near>:<event>".
type cursor struct {
	top     int64  // of the newest hit that was ranked
	weights string // Answer.weights of the first page
	score   float64
	row     index.Event // as far as compare looks at it
}

func badCursor(s string) error {
	return &index.UnsupportedError{What: "cursor " + strconv.Quote(s), Why: "it is none that a search in this order gave", Hint: "a cursor is what the search before named as the next, with the same query and --sort"}
}

func (a *Answer) order() (err error) {
	if a.alternatives, err = plan(a.tree.Root); err != nil {
		return err
	}
	a.candidates = &candidates{index: a.s.Index, memo: map[string]guess{}, most: maxTerms / max(1, len(a.patterns()))}
	if a.o.Sort == Newest {
		a.candidates.want = a.o.Limit
	}
	after := a.o.After
	switch a.o.Sort {
	case Newest:
		if strings.HasPrefix(after, string(Oldest)+":") || strings.HasPrefix(after, string(Relevance)+":") {
			return badCursor(after)
		}
		return nil
	case Oldest, Relevance:
		if after != "" {
			a.from, err = parseCursor(a.o.Sort, after)
		}
		return err
	}
	return &index.UnsupportedError{What: "sort " + string(a.o.Sort), Why: "it is newest, oldest or relevance"}
}

func parseCursor(sort Sort, s string) (*cursor, error) {
	rest, ok := strings.CutPrefix(s, string(sort)+":")
	c := &cursor{}
	var errs [3]error
	if sort == Relevance {
		parts := strings.SplitN(rest, ":", 3)
		if len(parts) != 3 {
			return nil, badCursor(s)
		}
		var bits uint64
		top, weights, _ := strings.Cut(parts[0], ".")
		c.weights = weights
		c.top, errs[0] = strconv.ParseInt(top, 10, 64)
		bits, errs[1] = strconv.ParseUint(parts[1], 16, 64)
		c.score, rest = math.Float64frombits(bits), parts[2]
	}
	near, event, _ := strings.Cut(rest, ":")
	c.row.Near, errs[2] = strconv.ParseInt(near, 10, 64)
	if !ok || errs != [3]error{} || !parseID(event, &c.row) {
		return nil, badCursor(s)
	}
	return c, nil
}

// parseID reads the public id of a row.
func parseID(id string, e *index.Event) bool {
	conversation, rest, ok := strings.Cut(id, ":")
	number, part, parted := strings.Cut(rest, ".")
	seq, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return false
	}
	e.Conversation, e.Seq = conversation, seq
	if parted {
		e.Part, err = strconv.Atoi(part)
		e.Part--
	}
	return err == nil
}

// ordered yields the hits of the page and those that follow.
func (a *Answer) ordered(ctx context.Context) iter.Seq2[found, error] {
	switch a.o.Sort {
	case Oldest:
		return a.oldest(ctx)
	case Relevance:
		return a.relevance(ctx)
	}
	return a.stream(ctx, a.o.After)
}

// slice is how many hits are held to turn their order round.
const slice = 2048

// oldest walks time forward, a stretch that may have less than slice hits after the other, and turns those round.
func (a *Answer) oldest(ctx context.Context) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		w := walker{a: a, ctx: ctx, yield: yield}
		var newest *found
		for f, err := range a.stream(ctx, "") {
			if err != nil {
				yield(found{}, err)
				return
			}
			newest = &f
			break
		}
		if newest == nil {
			return
		}
		from := int64(math.MinInt64)
		if a.from != nil {
			from = a.from.row.Near
		}
		w.forward(from, newest.Near+1)
	}
}

// walker is one walk.
type walker struct {
	a     *Answer
	ctx   context.Context
	yield func(found, error) bool
	hits  int // met so far
}

// firstPace is how many rows it looks at first: a page is often full with their hits.
const firstPace = 1000

// forward walks as walk does, by stretches of as many rows as will have some hits, but less than can be held.
func (w *walker) forward(from, to int64) {
	for pace := firstPace; from < to; {
		next, err := w.a.s.Index.Pace(w.ctx, from, pace)
		if err != nil {
			w.yield(found{}, err)
			return
		}
		if next = min(next, to); next <= from {
			next = to
		}
		before := w.hits
		if !w.walk(from, next) {
			return
		}
		from = next
		switch n := w.hits - before; {
		case n < slice/8:
			pace *= 4
		case n < slice/2:
			pace *= 2
		case n > slice:
			pace = max(pace/2, firstPace)
		}
	}
}

// earliest is the oldest time that bounds a search; what is older has no bound.
const earliest = -62_000_000_000_000_000

// walk yields what lies at or after from and before to, microseconds, and says whether to go on. It halves that until at most
// slice hits are left.
func (w *walker) walk(from, to int64) bool {
	if from >= to {
		return true
	}
	hits, more, err := w.collect(from, to, slice)
	if err != nil {
		return w.yield(found{}, err)
	}
	if !more {
		return w.emit(hits)
	}
	last := hits[len(hits)-1].Near // the oldest of those that were seen
	if low := max(from, earliest); last > low {
		mid := low + (last-low+1)/2
		return w.walk(from, mid) && w.walk(mid, to)
	}
	if hits, _, err = w.collect(from, last+1, 0); err != nil { // one instant, however many there are
		return w.yield(found{}, err)
	}
	return w.emit(hits) && w.walk(last+1, to)
}

// collect returns at most limit hits, newest first, without their texts.
func (w *walker) collect(from, to int64, limit int) (hits []found, more bool, err error) {
	span := query.Range{To: time.UnixMicro(to).UTC()}
	if from > earliest {
		span.From = time.UnixMicro(from).UTC()
	}
	for f, err := range w.a.stream(w.ctx, "", span) {
		if err != nil {
			return nil, false, err
		}
		if limit > 0 && len(hits) == limit {
			return hits, true, nil
		}
		f.text, f.read = "", false
		hits = append(hits, f)
	}
	return hits, false, nil
}

func (w *walker) emit(hits []found) bool {
	w.hits += len(hits)
	for _, f := range slices.Backward(hits) {
		if from := w.a.from; from != nil && compare(&f.Event, &from.row) >= 0 {
			continue
		}
		f.Cursor = fmt.Sprintf("%s:%d:%s", Oldest, f.Near, f.ID)
		if !w.yield(f, nil) {
			return false
		}
	}
	return true
}

// relevance ranks the newest hits with bm25, weighted by who speaks. Scores depend on nothing but the row and the weights
// of the words, which the cursor carries, so that a page goes on where the one before it ended.
func (a *Answer) relevance(ctx context.Context) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		ranked, err := a.rank(ctx)
		if err != nil {
			yield(found{}, err)
			return
		}
		slices.SortFunc(ranked, func(a, b found) int {
			return cmp.Or(cmp.Compare(b.score, a.score), compare(&a.Event, &b.Event))
		})
		if c := a.from; c != nil {
			ranked = slices.DeleteFunc(ranked, func(f found) bool { return cmp.Or(cmp.Compare(c.score, f.score), compare(&f.Event, &c.row)) <= 0 })
		}
		for some := range slices.Chunk(ranked, slice) {
			if a.o.Limit > 0 {
				some = some[:min(len(some), a.o.Limit+1)] // no more are wanted
			}
			if err := a.fill(ctx, some); err != nil {
				yield(found{}, err)
				return
			}
			for _, f := range some {
				if a.skimmed && f.Place.Path == "" {
					continue // it has gone meanwhile
				}
				f.Cursor = fmt.Sprintf("%s:%d.%s:%x:%d:%s", Relevance, a.top, a.weights, math.Float64bits(f.score), f.Near, f.ID)
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// fill completes hits that were only skimmed.
func (a *Answer) fill(ctx context.Context, some []found) error {
	if !a.skimmed {
		return nil
	}
	hits := make([]*index.Hit, len(some))
	for i := range some {
		hits[i] = &some[i].Hit
	}
	return a.s.Index.Fill(ctx, hits)
}

func (a *Answer) rank(ctx context.Context) ([]found, error) {
	var more []query.Node
	if a.from != nil { // what came since the first page has no place in the order
		a.top = a.from.top
		more = append(more, query.Range{To: time.UnixMicro(a.top + 1).UTC()})
	}
	var ranked []found
	a.skimmed = len(a.marks.phrases) == len(a.marks.each) && len(a.patterns()) == 0 // the index can rank by phrases
	for f, err := range a.stream(ctx, "", more...) {
		if err != nil {
			return nil, err
		}
		if len(ranked) == a.o.Window {
			a.windowed = true
			break
		}
		if len(ranked) == 0 && a.from == nil {
			a.top = f.Near
		}
		if f.read {
			f.score = a.score(&f)
		}
		ranked = append(ranked, f)
		ranked[len(ranked)-1].text = "" // a window of whole texts would be too much to hold
	}
	if a.skimmed {
		return ranked, a.bm25(ctx, ranked)
	}
	return ranked, a.scores(ctx, ranked)
}

// Ranker tells how often words stand in rows.
type Ranker interface {
	// Skim is Find for those who rank hits: they have their ids, kind, role, size and time. Fill completes those that are
	// wanted.
	Skim(ctx context.Context, q *query.Tree, page index.Page) iter.Seq2[index.Hit, error]
	Fill(ctx context.Context, hits []*index.Hit) error
	// Frequencies returns how often phrases stand in each of some rows (Hit.Row), and about how many rows have each.
	Frequencies(ctx context.Context, rows []int64, phrases [][]string) (counts [][]int, having []int64, err error)
	// Having returns about how many rows have each of some terms whole.
	Having(ctx context.Context, terms []string) ([]int64, error)
}

// bm25 scores hits without a look at their texts.
func (a *Answer) bm25(ctx context.Context, ranked []found) error {
	phrases := a.marks.phrases
	rows := make([]int64, len(ranked))
	for i := range ranked {
		rows[i] = ranked[i].Row
	}
	counts, having, err := a.s.Index.Frequencies(ctx, rows, phrases)
	if err != nil {
		return err
	}
	if a.weights = weightsOf(having); a.from != nil && len(a.from.weights) == len(phrases) {
		a.weights = a.from.weights
	}
	for i := range ranked {
		f := &ranked[i]
		sum := 0.0
		for p := range phrases {
			sum += saturated(counts[p][i], f.TextBytes) * float64(1+a.weights[p]-'a')
		}
		f.score = sum * voice(&f.Event)
	}
	return nil
}

// weightsOf gives each phrase a letter: the fewer rows have it, the further in the alphabet. It stands for the logarithm
// of the inverse frequency, and changes only when the rows that have it double.
func weightsOf(having []int64) string {
	b := make([]byte, len(having))
	for i, n := range having {
		b[i] = 'a' + byte(max(0, 25-bits.Len64(uint64(n))))
	}
	return string(b)
}

// saturated is the share of one phrase in a score: it grows less and less with how often it stands there, and the more
// slowly the longer the text is.
func saturated(n int, size int64) float64 {
	const typical = 1200 // bytes of a text
	norm := 0.25 + 0.75*float64(size)/typical
	return float64(n) / (float64(n) + 1.2*norm)
}

// scores reads the texts of hits that have none yet, on all cores, and scores them. What cannot be read has score 0:
// Results says so when it is shown.
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

// score is between 0 and some ten: for every text of the query how often it stands there, with falling returns and
// more of them in short texts, weighted by who speaks.
func (a *Answer) score(f *found) float64 {
	sum := 0.0
	for _, m := range a.marks.each {
		sum += saturated(len(m.spans(f.text)), int64(len(f.text)))
	}
	return sum * voice(&f.Event)
}

// voice weighs what people asked and were answered over what tools printed.
func voice(e *index.Event) float64 {
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
