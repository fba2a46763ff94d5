package copilotvscode

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// round is a call as the model asked for it, with what the model got.
type round struct {
	call, content format.Value
	at            transcript.Time
}

// callID is the id of a call without what the program adds to make it unique.
func callID(v format.Value) string {
	id, _, _ := strings.Cut(v.Text(), "__vscode")
	return id
}

// readResult reads the rounds of a result, which live as long as it.
func (t *turn) readResult(v format.Value) {
	t.tokens.readResult(v)
	t.rounds, t.asked = map[string]round{}, nil
	meta := v.Get("metadata")
	contents := map[string]format.Value{}
	for id, content := range meta.Get("toolCallResults").Fields() {
		contents[id] = content
	}
	for r := range meta.Get("toolCallRounds").Items() {
		stamp, _ := r.Get("timestamp").Int()
		for c := range r.Get("toolCalls").Items() {
			id := callID(c.Get("id"))
			t.rounds[id] = round{c, contents[c.Get("id").Text()], format.UnixMilli(stamp)}
			t.asked = append(t.asked, id)
		}
	}
}

// pair says which call of the rounds each call is that an answer shows, where the program gave them other ids, as it did in 2025: all calls
// that are shown were asked for, in the same order. Where their number is another one, or a tool that has one name in both, none is paired.
func (t *turn) pair(answer []format.Value) {
	var ids []string
	hidden, names := false, map[string]bool{}
	for _, r := range t.rounds {
		names[r.call.Get("name").Str()] = true
	}
	for _, v := range answer {
		id, inner := callID(v.Get("toolCallId")), hidden && isInner(v)
		hidden = v.Get("presentation").Is("hidden")
		if id == "" || inner || v.Get("subAgentInvocationId").IsString() {
			continue
		}
		if len(ids) == len(t.asked) || t.rounds[id].call.Exists() {
			return
		}
		name, asked := v.Get("toolId").Str(), t.rounds[t.asked[len(ids)]].call.Get("name")
		if names[name] && !asked.Is(name) {
			return
		}
		ids = append(ids, id)
	}
	if len(ids) != len(t.asked) {
		return
	}
	t.paired = map[string]string{}
	for i, id := range ids {
		t.paired[id] = t.asked[i]
	}
}

// invocation yields a call that the answer shows, and what came of it. What the model asked for and got stands in the rounds of the result:
// where that is in the same value, they are further parts of the events.
func (p *parser) invocation(t *turn, suffix, kind string, v format.Value) {
	id := callID(v.Get("toolCallId"))
	own := id
	if id == "" {
		own = "#" + suffix
		id = t.id + own // in another turn it is another call
	}
	if n := len(t.parts); n > 0 && t.parts[n-1].hidden && isInner(v) {
		p.aside(t, "call/"+own, transcript.KindToolCall, kind, v)
		for i, m := range shown(v) {
			p.aside(t, "result/"+own+"/"+strconv.Itoa(i), transcript.KindToolResult, kind, m)
		}
		return
	}
	t.calls[id] = true
	data, details := v.Get("toolSpecificData"), v.Get("resultDetails")
	if data.Get("kind").Is("subagent") {
		p.names[id] = data.Get("agentName").Str()
	}
	asked, ok := t.rounds[id]
	if other := t.paired[id]; !ok && other != "" {
		asked, t.calls[other] = t.rounds[other], true
	}
	call, result := []format.Value{v}, shown(v)
	if asked.call.IsObject() {
		call = append(call, asked.call)
	}
	if asked.content.IsObject() {
		result = append(result, asked.content)
	}
	e := p.event(t, "call/"+own, transcript.KindToolCall, "assistant", kind, call...)
	p.child(e, v)
	if asked.at.Valid {
		e.Time = asked.at
	} else if stamp, ok := data.Get("terminalCommandState", "timestamp").Int(); ok {
		e.Time = format.UnixMilli(stamp)
	}
	name := v.Get("toolId").Str()
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(max(asked.call.Get("arguments").Len(), details.Get("input").Len())), Paths: paths(v)}
	p.emit(e)
	if len(result) == 0 {
		return
	}
	at := e.Time
	e = p.event(t, "result/"+own, transcript.KindToolResult, "tool", kind, result...)
	e.Time, e.Model = at, ""
	p.child(e, v)
	r := &transcript.Result{Call: id, Name: name, Cut: data.Get("terminalCommandOutput", "truncated").Bool() == transcript.Yes}
	for _, piece := range result {
		r.Output = max(r.Output, int64(piece.Len()))
	}
	r.Failed, r.Status, r.Duration = ended(v)
	e.Parts[0].Result = r
	p.emit(e)
}

// isInner says that a call is one that a tool of the extension made of the editor, which shows it instead of its own: not one of the model.
func isInner(v format.Value) bool {
	id := v.Get("toolId").Str()
	return strings.HasPrefix(id, "vscode_") && strings.HasSuffix(id, "_internal")
}

// child says which agent made a call that is another one's.
func (p *parser) child(e *transcript.Event, v format.Value) {
	if id := callID(v.Get("subAgentInvocationId")); id != "" {
		e.Attributes.Set("subagent", id)
		if name := p.names[id]; name != "" {
			e.Agent = name
		}
	}
}

// shown are the values of a call that tell what came of it.
func shown(v format.Value) (values []format.Value) {
	for _, path := range [][]string{{"pastTenseMessage"}, {"resultDetails"}, {"toolSpecificData", "terminalCommandOutput"}, {"toolSpecificData", "result"}} {
		if m := v.Get(path...); m.Exists() && !m.IsNull() {
			values = append(values, m)
		}
	}
	if complete := v.Get("isComplete"); len(values) == 0 && complete.Bool() == transcript.Yes {
		values = append(values, complete)
	}
	return values
}

// ended says how a call ended, as far as it shows.
func ended(v format.Value) (failed transcript.Truth, status string, took transcript.Count) {
	state := v.Get("toolSpecificData", "terminalCommandState")
	if code, ok := state.Get("exitCode").Int(); ok {
		failed, status = transcript.True(code != 0), "exit "+strconv.FormatInt(code, 10)
	}
	if wrong := v.Get("resultDetails", "isError").Bool(); wrong != transcript.Unstated {
		failed = wrong
	}
	if ms, ok := state.Get("duration").Int(); ok && ms >= 0 && ms < 1<<40 {
		took = transcript.Known(ms * 1000)
	}
	confirmed := v.Get("isConfirmed")
	switch n, ok := confirmed.Get("type").Int(); {
	case confirmed.Bool() == transcript.No, ok && n == 0:
		status = "denied"
	case ok && n == 5:
		status = "skipped"
	}
	return failed, status, took
}

// paths are the files that what is shown of a call names.
func paths(v format.Value) (files []string) {
	for uri := range v.Get("invocationMessage", "uris").Fields() {
		if file := format.FileURI(uri); file != "" && len(file) < 4096 {
			files = append(files, file)
		}
	}
	return files
}

// outcome yields what the result of a turn tells beside the answer: an error, summaries, and of its rounds what no event has. whole says that
// the turn is told as a whole, with its answer.
func (p *parser) outcome(t *turn, result format.Value, whole bool) {
	t.own = append(t.own, p.ids(func() {
		if wrong := result.Get("errorDetails"); wrong.IsObject() {
			p.aside(t, "error", transcript.KindError, "errorDetails", wrong)
		}
		meta := result.Get("metadata")
		n := 0
		for r := range meta.Get("toolCallRounds").Items() {
			p.round(t, strconv.Itoa(n), r, whole)
			n++
		}
		n = 0
		for s := range meta.Get("summaries").Items() {
			p.aside(t, "summary/"+strconv.Itoa(n), transcript.KindCompaction, "summary", s)
			n++
		}
		if s := meta.Get("summary"); n == 0 && s.IsObject() {
			p.aside(t, "summary/0", transcript.KindCompaction, "summary", s)
		}
	})...)
	t.rounds = nil
}

// round yields what one request to the model gave that the answer does not show. Where the turn is told as a whole that is
// what was said; in a change of a log the answer may still come.
func (p *parser) round(t *turn, n string, r format.Value, whole bool) {
	said, thought := r.Get("response"), r.Get("thinking")
	switch {
	case t.spoken || said.IsBlank():
	case whole:
		p.emit(p.event(t, "round/"+n, transcript.KindMessage, "assistant", "toolCallRounds", said))
	default:
		p.aside(t, "round/"+n, transcript.KindNotice, "toolCallRounds", said)
	}
	switch {
	case t.wonder || !thought.IsObject() || strings.TrimSpace(pieceText(thought)) == "":
	case whole:
		p.emit(p.event(t, "thought/"+n, transcript.KindReasoning, "assistant", "toolCallRounds", thought))
	default:
		p.aside(t, "thought/"+n, transcript.KindReasoning, "toolCallRounds", thought)
	}
	if s := r.Get("summary"); !s.IsBlank() {
		p.aside(t, "summary/round/"+n, transcript.KindCompaction, "summary", s)
	}
	for c := range r.Get("toolCalls").Items() {
		id := callID(c.Get("id"))
		if whole && t.calls[id] {
			continue // a part of the call
		}
		p.aside(t, "asked/"+id, transcript.KindToolCall, "toolCallRounds", c)
		if content := t.rounds[id].content; content.IsObject() {
			p.aside(t, "got/"+id, transcript.KindToolResult, "toolCallResults", content)
		}
	}
}
