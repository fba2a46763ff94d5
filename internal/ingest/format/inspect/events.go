package inspect

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxNested is how deep events may lie in events: until 2025 those of a tool or subtask lay in its event.
const maxNested = 50

// index remembers what events state about messages and results.
func (s *sample) index(events jsontext.Value, depth int) {
	for e := range events.Items() {
		at, done := e.Get("timestamp").Time(), e.Get("completed").Time()
		switch e.Get("event").Word() {
		case "model":
			for c := range e.Get("output", "choices").Items() {
				if id := c.Get("message", "id").Str(); id != "" {
					s.facts[id] = fact{at: cmp.Or(done, at)}
				}
			}
		case "tool":
			f := fact{at: cmp.Or(done, at), failed: e.Get("failed").Bool()}
			if done.Valid && at.Valid && done.UnixMicro >= at.UnixMicro {
				f.duration = transcript.Known(done.UnixMicro - at.UnixMicro)
			}
			s.facts[e.Get("id").Str()] = f
		}
		if nested := e.Get("events"); depth < maxNested && nested.HasItems() {
			s.index(nested, depth+1)
		}
	}
}

// walk yields what events have besides the messages.
func (s *sample) walk(events jsontext.Value, depth int) {
	for e := range events.Items() {
		if s.Done() {
			return
		}
		s.event(e)
		if nested := e.Get("events"); depth < maxNested && nested.HasItems() {
			s.walk(nested, depth+1)
		}
	}
}

// event yields what one event has besides the messages.
func (s *sample) event(e jsontext.Value) {
	at, typ := e.Get("timestamp").Time(), e.Get("event").Word()
	switch typ {
	case "sample_init", "state": // the sample and its messages have all of it
	case "model":
		s.model(e, at)
	case "tool":
		s.tool(e, at)
	case "score":
		if e.Get("intermediate").Bool() == transcript.Yes || !s.scored {
			s.uncounted(e, transcript.KindNotice, typ, at)
		}
	case "error":
		s.failed = true
		s.fault(e, typ, at)
	case "compaction":
		event := s.begin(e, transcript.KindCompaction, "system", typ)
		event.Time = at
		s.Emit(event)
	case "span_begin", "span_end", "step", "subtask", "store", "sample_limit", "checkpoint", "branch", "anchor", "interrupt":
		s.uncounted(e, transcript.KindLifecycle, typ, at)
	case "info", "logger", "sandbox", "approval", "input", "score_edit", "review", "sentinel":
		s.uncounted(e, transcript.KindNotice, typ, at)
	default:
		s.uncounted(e, transcript.KindUnknown, typ, at)
	}
}

// fault yields an error.
func (s *sample) fault(v jsontext.Value, typ string, at transcript.Time) {
	e := s.begin(v, transcript.KindError, "system", typ)
	e.Time = at
	s.Emit(e)
}

// errors yields the errors that no event states, and what earlier attempts spent before they failed.
func (s *sample) errors() {
	if v := s.v.Get("error"); v.IsObject() && !s.failed {
		s.fault(v, "error", s.ended)
	}
	for retry := range s.v.Get("error_retries").Items() {
		if message := retry.Get("message"); message.IsString() {
			s.fault(message, "retry", transcript.Time{})
		}
		s.walk(retry.Get("events"), 0)
	}
}

// model yields what a request spent, and what it was sent and answered that no message has: the requests of other models and agents, and what was
// taken out of the messages later.
func (s *sample) model(e jsontext.Value, at transcript.Time) {
	s.request(e)
	from := cmp.Or(e.Get("role").Str(), "events")
	for m := range e.Get("input").Items() {
		s.lacking(m, from, at)
	}
	for r := range e.Get("input_refs").Items() {
		s.poolRange(r, from, at)
	}
	for c := range e.Get("output", "choices").Items() {
		m := c.Get("message")
		if id := m.Get("id").Str(); m.IsObject() && !s.ids[id] && (id != "" || !s.contents[s.contentOf(m)]) {
			s.message(m, from, cmp.Or(e.Get("completed").Time(), at))
		}
	}
	if message := e.Get("error"); !message.IsBlank() {
		s.fault(s.resolved(message), "model", at)
	}
}

// poolRange yields what is new of the messages of the pool from the first number to before the second.
func (s *sample) poolRange(r jsontext.Value, from string, at transcript.Time) {
	var bounds [2]int64
	for n, v := range r.Numbered() {
		if n < len(bounds) {
			bounds[n], _ = v.Int()
		}
	}
	to := min(bounds[1], int64(len(s.pool)))
	for i := s.unpooled(min(max(bounds[0], 0), int64(len(s.pool)))); i < to; i = s.unpooled(i) {
		s.pooled[i] = i + 1
		s.lacking(s.pool[i], from, at)
	}
}

// unpooled returns the first message of the pool, from the ith on, that was not met before. Each request of a long conversation refers to all messages.
func (s *sample) unpooled(i int64) int64 {
	for s.pooled[i] != i {
		s.pooled[i] = s.pooled[s.pooled[i]]
		i = s.pooled[i]
	}
	return i
}

// lacking yields a message to a model that was not yielded before.
func (s *sample) lacking(m jsontext.Value, from string, at transcript.Time) {
	if !m.IsObject() || s.ids[m.Get("id").Str()] || s.contents[s.contentOf(m)] {
		return
	}
	if call := m.Get("tool_call_id"); m.Get("role").Is("tool") && call.IsString() && s.results[call.Str()] {
		return
	}
	s.message(m, from, at)
}

// tool yields a call and its result, as far as no message has them.
func (s *sample) tool(e jsontext.Value, at transcript.Time) {
	id := e.Get("id").Str()
	name := e.Get("function").Str()
	if !s.calls[id] {
		s.calls[id] = true
		input := e.Get("arguments")
		call := s.begin(e, transcript.KindToolCall, "assistant", "tool")
		call.Time = at
		call.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
		call.Attributes.Set("from", "events")
		s.Emit(call)
	}
	result, failed := e.Get("result"), e.Get("error")
	if s.results[id] || e.Get("pending").Bool() == transcript.Yes || !result.Exists() && !failed.IsObject() {
		return
	}
	s.results[id] = true
	text, from := s.resolved(result), e
	if !failed.IsObject() {
		from = text
	}
	r := s.begin(from, transcript.KindToolResult, "tool", "tool")
	if failed.IsObject() {
		r.Parts[0] = s.lend.Part(e, failed, appendText)
		if hasText(result) {
			r.Parts = append(r.Parts, s.lend.Part(e, result, appendText))
			r.Parts[1].Kind = transcript.KindNotice
		}
	}
	r.Time = cmp.Or(e.Get("completed").Time(), at)
	r.Attributes.Set("from", "events")
	r.Parts[0].Result = &transcript.Result{
		Call: id, Name: name, Failed: transcript.True(failed.IsObject() || e.Get("failed").Bool() == transcript.Yes),
		Status: failed.Get("type").Str(), Output: int64(result.Len()),
	}
	s.Emit(r)
	s.note(text)
}
