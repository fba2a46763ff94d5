package show

import (
	"iter"

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

// used is what the conversation used where the row is one.
func (r *Row) used() *index.Used {
	if r.Conversation != nil {
		return &r.Conversation.Counts.Used
	}
	return &r.Run.Counts.Used
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

// tokens returns all tokens that were used, unknown if no original states any.
func tokens(n *index.Used) (sum transcript.Count) {
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

// Conversations yields the conversations of runs.
func Conversations(conversations iter.Seq2[index.RunConversation, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for c, err := range conversations {
			if !yield(Row{Run: c.Of, Conversation: &c.Conversation}, err) || err != nil {
				return
			}
		}
	}
}
