package copilotvscode

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// round is a call as the model requested it, with the result that it got.
type round struct {
	call, content jsontext.Value
	at            transcript.Time
}

// callID returns the id of a call without the suffix that VS Code adds to make it unique.
func callID(v jsontext.Value) string {
	id, _, _ := strings.Cut(v.Text(), "__vscode")
	return id
}

// readResult reads the rounds of a result. They are valid as long as the result.
func (t *turn) readResult(v jsontext.Value) {
	t.usage.readResult(v)
	t.rounds, t.roundIDs = map[string]round{}, nil
	meta := v.Get("metadata")
	contents := map[string]jsontext.Value{}
	for id, content := range meta.Get("toolCallResults").Fields() {
		contents[id] = content
	}
	for r := range meta.Get("toolCallRounds").Items() {
		at := r.Get("timestamp").MilliTime()
		for c := range r.Get("toolCalls").Items() {
			id := callID(c.Get("id"))
			t.rounds[id] = round{c, contents[c.Get("id").Text()], at}
			t.roundIDs = append(t.roundIDs, id)
		}
	}
}

// pairCalls pairs the calls shown in an answer with those of the rounds where the program gave them other ids, as it did in 2025: all
// shown calls were requested, in the same order. If their numbers differ, or a tool has the same name in both and the order differs, none is
// paired.
func (t *turn) pairCalls(answer []jsontext.Value) {
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
		if len(ids) == len(t.roundIDs) || t.rounds[id].call.Exists() {
			return
		}
		name, requested := v.Get("toolId").Str(), t.rounds[t.roundIDs[len(ids)]].call.Get("name")
		if names[name] && !requested.Is(name) {
			return
		}
		ids = append(ids, id)
	}
	if len(ids) != len(t.roundIDs) {
		return
	}
	t.paired = map[string]string{}
	for i, id := range ids {
		t.paired[id] = t.roundIDs[i]
	}
}

// toolInvocation yields a call shown in the answer, and its result. What the model requested and got is in the rounds of the result; if
// these are in the same value, they are further parts of the events.
func (p *parser) toolInvocation(t *turn, suffix, kind string, v jsontext.Value) {
	id := callID(v.Get("toolCallId"))
	nativeID := id
	if id == "" {
		nativeID = "#" + suffix
		id = t.id + nativeID // unique across turns
	}
	if n := len(t.parts); n > 0 && t.parts[n-1].hidden && isInner(v) {
		p.uncounted(t, "call/"+nativeID, transcript.KindToolCall, kind, v)
		for i, m := range shownResults(v) {
			p.uncounted(t, "result/"+nativeID+"/"+strconv.Itoa(i), transcript.KindToolResult, kind, m)
		}
		return
	}
	t.calls[id] = true
	data, details := v.Get("toolSpecificData"), v.Get("resultDetails")
	if data.Get("kind").Is("subagent") {
		p.agentNames[id] = data.Get("agentName").Str()
	}
	requested, ok := t.rounds[id]
	if other := t.paired[id]; !ok && other != "" {
		requested, t.calls[other] = t.rounds[other], true
	}
	call, result := []jsontext.Value{v}, shownResults(v)
	if requested.call.IsObject() {
		call = append(call, requested.call)
	}
	if requested.content.IsObject() {
		result = append(result, requested.content)
	}
	e := p.event(t, "call/"+nativeID, transcript.KindToolCall, "assistant", kind, call...)
	p.setSubagent(e, v)
	if requested.at.Valid {
		e.Time = requested.at
	} else if stamp, ok := data.Get("terminalCommandState", "timestamp").Int(); ok {
		e.Time = timestamp.UnixMilli(stamp)
	}
	name := v.Get("toolId").Str()
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(max(requested.call.Get("arguments").Len(), details.Get("input").Len())), Paths: paths(v)}
	p.emit(e)
	if len(result) == 0 {
		return
	}
	at := e.Time
	e = p.event(t, "result/"+nativeID, transcript.KindToolResult, "tool", kind, result...)
	e.Time, e.Model = at, ""
	p.setSubagent(e, v)
	r := &transcript.Result{Call: id, Name: name, Cut: data.Get("terminalCommandOutput", "truncated").Bool() == transcript.Yes}
	for _, value := range result {
		r.Output = max(r.Output, int64(value.Len()))
	}
	r.Failed, r.Status, r.Duration = callOutcome(v)
	e.Parts[0].Result = r
	p.emit(e)
}

// isInner reports whether a call was made by a tool of the extension to the editor, which shows it in place of the tool's own: it is not a call of the model.
func isInner(v jsontext.Value) bool {
	id := v.Get("toolId").Str()
	return strings.HasPrefix(id, "vscode_") && strings.HasSuffix(id, "_internal")
}

// setSubagent sets the agent of a call that a subagent made.
func (p *parser) setSubagent(e *transcript.Event, v jsontext.Value) {
	if id := callID(v.Get("subAgentInvocationId")); id != "" {
		e.Attributes.Set("subagent", id)
		if name := p.agentNames[id]; name != "" {
			e.Agent = name
		}
	}
}

// shownResults returns the values of a call that have its result.
func shownResults(v jsontext.Value) (values []jsontext.Value) {
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

// callOutcome returns how a call ended, as far as it states that.
func callOutcome(v jsontext.Value) (failed transcript.Truth, status string, duration transcript.Count) {
	state := v.Get("toolSpecificData", "terminalCommandState")
	if code, ok := state.Get("exitCode").Int(); ok {
		failed, status = transcript.True(code != 0), "exit "+strconv.FormatInt(code, 10)
	}
	if isError := v.Get("resultDetails", "isError").Bool(); isError != transcript.Unstated {
		failed = isError
	}
	if ms, ok := state.Get("duration").Int(); ok && ms >= 0 && ms < 1<<40 {
		duration = transcript.Known(ms * 1000)
	}
	confirmed := v.Get("isConfirmed")
	switch n, ok := confirmed.Get("type").Int(); {
	case confirmed.Bool() == transcript.No, ok && n == 0:
		status = "denied"
	case ok && n == 5:
		status = "skipped"
	}
	return failed, status, duration
}

// paths returns the files that the shown message of a call names.
func paths(v jsontext.Value) (files []string) {
	for uri := range v.Get("invocationMessage", "uris").Fields() {
		if file := format.FileURI(uri); file != "" && len(file) < 4096 {
			files = append(files, file)
		}
	}
	return files
}

// resultEvents yields what the result of a turn has beside the answer: an error, summaries, and what the rounds have but no event. whole says
// that the whole turn is yielded, with its answer.
func (p *parser) resultEvents(t *turn, result jsontext.Value, whole bool) {
	t.ownIDs = append(t.ownIDs, p.collectIDs(func() {
		if details := result.Get("errorDetails"); details.IsObject() {
			p.uncounted(t, "error", transcript.KindError, "errorDetails", details)
		}
		meta := result.Get("metadata")
		for n, r := range meta.Get("toolCallRounds").Numbered() {
			p.roundEvents(t, strconv.Itoa(n), r, whole)
		}
		summaries := meta.Get("summaries")
		for n, s := range summaries.Numbered() {
			p.uncounted(t, "summary/"+strconv.Itoa(n), transcript.KindCompaction, "summary", s)
		}
		if s := meta.Get("summary"); !summaries.HasItems() && s.IsObject() {
			p.uncounted(t, "summary/0", transcript.KindCompaction, "summary", s)
		}
	})...)
	t.rounds = nil
}

// roundEvents yields what one request to the model returned that the answer does not show. If the whole turn is yielded, these are
// counted events; in a change of a log the answer may still follow.
func (p *parser) roundEvents(t *turn, n string, r jsontext.Value, whole bool) {
	response, thinking := r.Get("response"), r.Get("thinking")
	switch {
	case t.hasText || response.IsBlank():
	case whole:
		p.emit(p.event(t, "round/"+n, transcript.KindMessage, "assistant", "toolCallRounds", response))
	default:
		p.uncounted(t, "round/"+n, transcript.KindNotice, "toolCallRounds", response)
	}
	switch {
	case t.hasReasoning || !thinking.IsObject() || strings.TrimSpace(pieceText(thinking)) == "":
	case whole:
		p.emit(p.event(t, "thought/"+n, transcript.KindReasoning, "assistant", "toolCallRounds", thinking))
	default:
		p.uncounted(t, "thought/"+n, transcript.KindReasoning, "toolCallRounds", thinking)
	}
	if s := r.Get("summary"); !s.IsBlank() {
		p.uncounted(t, "summary/round/"+n, transcript.KindCompaction, "summary", s)
	}
	for c := range r.Get("toolCalls").Items() {
		id := callID(c.Get("id"))
		if whole && t.calls[id] {
			continue // already a part of the call's event
		}
		p.uncounted(t, "asked/"+id, transcript.KindToolCall, "toolCallRounds", c)
		if content := t.rounds[id].content; content.IsObject() {
			p.uncounted(t, "got/"+id, transcript.KindToolResult, "toolCallResults", content)
		}
	}
}
