package atif

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// step is one step. Each of its pieces is an event: what was thought, what was said, each call and each result.
type step struct {
	*trajectory
	value         jsontext.Value
	id            string
	at            transcript.Time
	source        string
	model, effort string
	copied        bool
	pieces        int
	calls         int
	names         map[string]string // of the tools, by the ids of calls
	open          []string          // ids of calls that have none of their own, and no result so far
}

// pathNames are members of inputs with the path of a file.
var pathNames = []string{"path", "file_path", "filepath", "file", "filename", "notebook_path", "absolute_path", "target_file"}

// maxSeen bounds the memory for steps that may be repeated.
const maxSeen = 1 << 22

// oneStep yields the records of a step. n is its number.
func (p *parser) oneStep(t *trajectory, v jsontext.Value, n string) {
	s := &step{
		trajectory: t, value: v, at: v.Get("timestamp").Time(), source: v.Get("source").Word(), copied: v.Get("is_copied_context").Bool() == transcript.Yes,
		names: map[string]string{},
	}
	sum := fnv.New64a()
	addMembers(sum, v, "source", "timestamp", "message", "reasoning_content", "tool_calls")
	s.id = fmt.Sprintf("%s/%s~%016x", t.id, n, sum.Sum64())
	if key := checksum(s.id); p.seen[key] { // a step that is repeated in the file
		s.copied = true
	} else if len(p.seen) < maxSeen {
		p.seen[key] = true
	}
	if s.source == "agent" {
		s.model = cmp.Or(v.Get("model_name").Str(), t.model)
		if effort := v.Get("reasoning_effort"); effort.Len() < maxID {
			s.effort = effort.Text()
		}
	}
	if thought := v.Get("reasoning_content"); !isEmpty(thought) {
		p.Emit(p.piece(s, transcript.KindReasoning, "assistant", "thought", thought))
	}
	p.said(s)
	for c := range v.Get("tool_calls").Items() {
		p.call(s, c)
	}
	for r := range v.Get("observation", "results").Items() {
		p.result(s, r)
	}
	if s.pieces == 0 { // so that the step is to be found
		e := p.piece(s, transcript.KindLifecycle, "", "", v)
		e.Verdict = transcript.Uncounted
		p.Emit(e)
	}
	p.usage(s, n)
}

// said yields the message of a step.
func (p *parser) said(s *step) {
	message := s.value.Get("message")
	if isEmpty(message) {
		return
	}
	e := p.piece(s, transcript.KindMessage, s.source, "message", message)
	switch s.source {
	case "user":
	case "agent":
		e.Role = "assistant"
	case "system":
		if e.Kind = transcript.KindSystem; s.value.Get("extra", "context_management").Exists() {
			e.Kind = transcript.KindCompaction
		}
	default:
		e.Kind, e.Verdict = transcript.KindUnknown, transcript.Uncounted
	}
	p.Emit(e)
}

// isEmpty reports whether content says nothing: a blank string, or a list of no parts.
func isEmpty(v jsontext.Value) bool { return v.IsBlank() && !v.HasItems() && !v.IsObject() }

// piece returns an event of a step for one of its values. It is valid until the next one. name tells the pieces apart.
func (p *parser) piece(s *step, kind transcript.Kind, role, name string, v jsontext.Value) *transcript.Event {
	s.pieces++
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{
		Conversation: s.trajectory.id, Run: s.run, Kind: kind, Role: role, Type: s.source, Time: s.at, Origin: p.origin(s.value), Model: s.model,
	})
	if s.copied { // without an id: the original itself shows what it is
		e.Verdict = transcript.CopiedHistory
	} else {
		e.ID, e.Global, e.Home = s.id+"/"+name, true, p.trial != ""
	}
	e.Attributes.Set("reasoning_effort", s.effort)
	e.Parts[0] = p.lend.Part(s.value, v, appendPiece)
	return e
}

func (p *parser) call(s *step, v jsontext.Value) {
	input := v.Get("arguments")
	c := &transcript.Call{ID: v.Get("tool_call_id").Text(), Name: v.Get("function_name").Str(), Input: int64(input.Len())}
	if c.ID == "" {
		p.calls++
		c.ID = "#" + strconv.Itoa(p.calls)
		s.open = append(s.open, c.ID)
	}
	if _, twice := s.names[c.ID]; !twice {
		s.names[c.ID] = c.Name
	}
	c.Paths = format.Paths(input.Unwrap(), pathNames, nil)
	s.calls++
	e := p.piece(s, transcript.KindToolCall, "assistant", "call "+strconv.Itoa(s.calls), v)
	e.Parts[0].Call = c
	p.Emit(e)
}

// result yields one result of a step. One without the id of a call belongs to the first call without an id, or to no call.
func (p *parser) result(s *step, v jsontext.Value) {
	r := &transcript.Result{Call: v.Get("source_call_id").Text(), Failed: failed(v.Get("extra")), Output: int64(v.Get("content").Len())}
	if r.Call == "" && len(s.open) > 0 {
		r.Call, s.open = s.open[0], s.open[1:]
	}
	r.Name = s.names[r.Call]
	e := p.piece(s, transcript.KindToolResult, "tool", "result "+strconv.Itoa(s.pieces), v)
	e.Parts[0].Result = r
	p.Emit(e)
	if !s.copied {
		p.emitRefs(s.trajectory, v, s.at)
	}
}

// failed reports what the converters of Harbor and others note about a result.
func failed(extra jsontext.Value) transcript.Truth {
	for _, at := range []jsontext.Value{extra, extra.Get("metadata")} {
		if t := at.Get("is_error").Bool(); t != transcript.Unstated {
			return t
		}
		if n, ok := at.Get("exit_code").Int(); ok {
			return transcript.True(n != 0)
		}
	}
	return transcript.Unstated
}
