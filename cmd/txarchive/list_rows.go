package main

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// listRow is a run, or one of its conversations.
type listRow struct {
	run          *index.Run
	conversation *index.Conversation
	tags         []string
}

func (r *listRow) json() map[string]any {
	if r.conversation != nil {
		return conversationJSON(r.conversation)
	}
	return withTags(runJSON(r.run), r.tags)
}

// started and ended are of the conversation where the row is one.
func (r *listRow) started() transcript.Time {
	if r.conversation != nil {
		return r.conversation.Started
	}
	return r.run.Started
}

func (r *listRow) ended() transcript.Time {
	if r.conversation != nil {
		return r.conversation.Ended
	}
	return r.run.Ended
}

// duration returns the time from start to end in microseconds, which is what the query compares, too.
func (r *listRow) duration() transcript.Count {
	from, to := r.started(), r.ended()
	if !from.Valid || !to.Valid {
		return transcript.Count{}
	}
	return transcript.Known(to.UnixMicro - from.UnixMicro)
}

func (r *listRow) counts() *index.Counts {
	if r.conversation != nil {
		return &r.conversation.Counts
	}
	return &r.run.Counts
}

// tokens returns the tokens that a run used, unknown if no original states any.
func tokens(n *index.Counts) (sum transcript.Count) {
	for _, c := range []transcript.Count{n.Input, n.Output, n.CacheRead, n.CacheCreation} {
		if c.Known {
			sum = transcript.Known(sum.N + c.N)
		}
	}
	return sum
}

// about is when a row started or, if nothing states that, when the originals of the run were last changed.
func (r *listRow) about() transcript.Time {
	if t := r.started(); t.Valid {
		return t
	}
	return r.run.Changed
}

// listOrders compare rows for --sort. What is unknown is lowest.
var listOrders = map[string]func(a, b *listRow) int{
	"started":  func(a, b *listRow) int { return compareTimes(a.about(), b.about()) },
	"ended":    func(a, b *listRow) int { return compareTimes(a.ended(), b.ended()) },
	"duration": func(a, b *listRow) int { return compareCounts(a.duration(), b.duration()) },
	"events":   func(a, b *listRow) int { return cmp.Compare(a.counts().Events, b.counts().Events) },
	"tokens":   func(a, b *listRow) int { return compareCounts(tokens(a.counts()), tokens(b.counts())) },
	"cost":     func(a, b *listRow) int { return compareCounts(a.counts().CostUsed, b.counts().CostUsed) },
}

func compareTimes(a, b transcript.Time) int {
	if a.Valid != b.Valid {
		return knownFirst(a.Valid)
	}
	return cmp.Compare(a.UnixMicro, b.UnixMicro)
}

func compareCounts(a, b transcript.Count) int {
	if a.Known != b.Known {
		return knownFirst(a.Known)
	}
	return cmp.Compare(a.N, b.N)
}

// knownFirst compares two values of which one is known: known says whether it is the first.
func knownFirst(known bool) int {
	if known {
		return 1
	}
	return -1
}

// plain reports whether the order asked for is that of the index, so that rows can be streamed.
func (o *listOptions) plain() bool { return o.sort == "started" && !o.reverse }

// ordered sorts rows, for which it holds all of them; in the order of the index it streams.
func (o *listOptions) ordered(rows iter.Seq2[listRow, error]) iter.Seq2[listRow, error] {
	if o.plain() {
		return rows
	}
	return func(yield func(listRow, error) bool) {
		var all []listRow
		for r, err := range rows {
			if err != nil {
				yield(r, err)
				return
			}
			all = append(all, r)
		}
		order := listOrders[o.sort]
		slices.SortStableFunc(all, func(a, b listRow) int {
			if o.reverse {
				return order(&a, &b)
			}
			return order(&b, &a)
		})
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// conversationRows yields the conversations of runs.
func conversationRows(ctx context.Context, store *archive.Archive, runs iter.Seq2[index.Run, error], all bool) iter.Seq2[listRow, error] {
	return func(yield func(listRow, error) bool) {
		one := func(r *index.Run) bool {
			for c, err := range store.Index().Conversations(ctx, r.ID) {
				if err == nil && !all && c.Verdict != transcript.Counted {
					continue
				}
				if !yield(listRow{run: r, conversation: &c}, err) || err != nil {
					return false
				}
			}
			return true
		}
		for r, err := range runs {
			if err != nil {
				yield(listRow{}, err)
				return
			}
			if !one(&r) {
				return
			}
		}
	}
}
