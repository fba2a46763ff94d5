package search

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// cursor is a position in an order that the index does not provide. Its text form is "oldest:<near>:<event>" or
// "relevance:<near of the newest>.<weights>:<score>:<near>:<event>".
type cursor struct {
	top     int64  // time of the newest hit that was ranked
	weights string // Answer.weights of the first page
	score   float64
	row     index.Event // the fields that compare uses
}

func badCursor(s string) error {
	return &index.UnsupportedError{What: "cursor " + strconv.Quote(s), Why: "not a cursor of a search in this order", Hint: "use the cursor that the previous search printed, with the same query and --sort; a date is part of the query: after:7d"}
}

func (a *Answer) prepare() (err error) {
	if a.alternatives, err = plan(a.tree.Root); err != nil {
		return err
	}
	a.candidates = &candidates{index: a.s.Index, memo: map[string]prefilter{}, maxTerms: maxTerms / max(1, len(a.patterns()))}
	if a.o.Sort == Newest {
		a.candidates.wantedHits = a.o.Limit
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
			a.resumeAt, err = parseCursor(a.o.Sort, after)
		}
		return err
	}
	return &index.UnsupportedError{What: "sort " + string(a.o.Sort), Why: "use newest, oldest or relevance"}
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

// parseID parses the public id of a row.
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

// reverseBatch is how many hits are held in memory to reverse their order.
const reverseBatch = 2048

// oldest walks forward in time, over one interval after another that probably has less than reverseBatch hits, and
// reverses the hits of each.
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
		if a.resumeAt != nil {
			from = a.resumeAt.row.Near
		}
		w.forward(from, newest.Near+1)
	}
}

// walker is the state of one walk.
type walker struct {
	a     *Answer
	ctx   context.Context
	yield func(found, error) bool
	hits  int // number of hits so far
}

// firstPace is how many rows the first interval has: their hits often fill a page.
const firstPace = 1000

// forward walks from from to to in intervals whose number of rows adapts: each should contain some hits, but fewer
// than can be held.
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
		case n < reverseBatch/8:
			pace *= 4
		case n < reverseBatch/2:
			pace *= 2
		case n > reverseBatch:
			pace = max(pace/2, firstPace)
		}
	}
}

// earliest is the oldest time that can bound a search. Hits before it are not bounded.
const earliest = -62_000_000_000_000_000

// walk yields the hits at or after from and before to (microseconds), and reports whether to continue. It bisects the
// interval until at most reverseBatch hits are left.
func (w *walker) walk(from, to int64) bool {
	if from >= to {
		return true
	}
	hits, more, err := w.collect(from, to, reverseBatch)
	if err != nil {
		return w.yield(found{}, err)
	}
	if !more {
		return w.emit(hits)
	}
	last := hits[len(hits)-1].Near // the oldest of the hits collected
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

// emit yields hits in reverse, without those before the cursor.
func (w *walker) emit(hits []found) bool {
	w.hits += len(hits)
	for _, f := range slices.Backward(hits) {
		if from := w.a.resumeAt; from != nil && index.Compare(&f.Event, &from.row) >= 0 {
			continue
		}
		f.Cursor = fmt.Sprintf("%s:%d:%s", Oldest, f.Near, f.ID)
		if !w.yield(f, nil) {
			return false
		}
	}
	return true
}
