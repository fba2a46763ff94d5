package show

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Row is a run, or one of its conversations.
type Row struct {
	Run          *index.Run
	Conversation *index.Conversation // nil where the row is a run
	Tags         []string
}

func (r *Row) json() map[string]any {
	if r.Conversation != nil {
		return conversationJSON(r.Conversation)
	}
	return WithTags(runJSON(r.Run), r.Tags)
}

// started and ended are of the conversation where the row is one.
func (r *Row) started() transcript.Time {
	if r.Conversation != nil {
		return r.Conversation.Started
	}
	return r.Run.Started
}

func (r *Row) ended() transcript.Time {
	if r.Conversation != nil {
		return r.Conversation.Ended
	}
	return r.Run.Ended
}

// duration returns the time from start to end in microseconds, which is what the query compares, too.
func (r *Row) duration() transcript.Count {
	from, to := r.started(), r.ended()
	if !from.Valid || !to.Valid {
		return transcript.Count{}
	}
	return transcript.Known(to.UnixMicro - from.UnixMicro)
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
func (r *Row) about() transcript.Time {
	if t := r.started(); t.Valid {
		return t
	}
	return r.Run.Changed
}

// orders compare conversations for --sort, as the index compares runs. What is unknown is lowest.
var orders = map[string]func(a, b *Row) int{
	"started":  func(a, b *Row) int { return compareTimes(a.about(), b.about()) },
	"ended":    func(a, b *Row) int { return compareTimes(a.ended(), b.ended()) },
	"duration": func(a, b *Row) int { return compareCounts(a.duration(), b.duration()) },
	"events":   func(a, b *Row) int { return cmp.Compare(a.Conversation.Counts.Events, b.Conversation.Counts.Events) },
	"tokens": func(a, b *Row) int {
		return compareCounts(tokens(&a.Conversation.Counts), tokens(&b.Conversation.Counts))
	},
	"cost": func(a, b *Row) int {
		return compareCounts(a.Conversation.Counts.CostUsed, b.Conversation.Counts.CostUsed)
	},
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

// ordered sorts rows, for which it holds all of them; in the order of the index it streams.
func (o *ListOptions) ordered(rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	if o.Sort == "started" && !o.Reverse {
		return rows
	}
	return func(yield func(Row, error) bool) {
		var all []Row
		for r, err := range rows {
			if err != nil {
				yield(r, err)
				return
			}
			all = append(all, r)
		}
		order := orders[o.Sort]
		slices.SortStableFunc(all, func(a, b Row) int {
			if o.Reverse {
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

// Conversations yields the conversations of runs, in the order of the options.
func Conversations(ctx context.Context, ix index.Reader, runs iter.Seq2[index.Run, error], all bool, o ListOptions) iter.Seq2[Row, error] {
	return o.ordered(func(yield func(Row, error) bool) {
		one := func(r *index.Run) bool {
			for c, err := range ix.Conversations(ctx, r.ID) {
				if err == nil && !all && c.Verdict != transcript.Counted {
					continue
				}
				if !yield(Row{Run: r, Conversation: &c}, err) || err != nil {
					return false
				}
			}
			return true
		}
		for r, err := range runs {
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !one(&r) {
				return
			}
		}
	})
}
