package copilotide

import (
	"maps"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// turn is one prompt, or one answer, while its events are made.
type turn struct {
	*parser
	id       string
	role     string
	at       transcript.Time
	model    string
	facts    transcript.Attributes // of the turn: they stand at its first event
	subagent any                   // the call that has started the sub-agent that speaks, or true if none is stated; else nil
	nested   int                   // how deep in sub-agents of sub-agents
	n        int                   // events so far
}

// newTurn begins a turn. Two may have the same id, such as a prompt and its answer.
func (p *parser) newTurn(id, role string, at transcript.Time) *turn {
	t := &turn{parser: p, role: role, at: at}
	if id != "" {
		t.id = format.ShortID(id + "/" + role)
		if p.seen[t.id]++; p.seen[t.id] > 1 {
			t.id += "#" + strconv.Itoa(p.seen[t.id])
		}
	}
	return t
}

// answerFacts reads what is stated of an answer beside what it says. A sub-agent's has the turn that it is a part of.
func (t *turn) answerFacts(v jsontext.Value, parent string) {
	t.facts.Set("parent_turn", parent)
	if t.model = v.Get("modelName").Word(); t.model != "" {
		if parent == "" {
			t.parser.model = t.model
		}
		if factor, ok := v.Get("billingMultiplier").Float(); ok {
			t.facts.Set("billing_multiplier", factor)
		}
	}
	t.facts.Set("provider", v.Get("modelProviderName").Str())
	t.facts.Set("reasoning_effort", v.Get("reasoningEffort").Str())
}

// emit yields an event of the turn; piece says which, whatever other pieces the turn gets while it is received.
func (t *turn) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time = conversation, t.Session, verdict, t.at
	if e.Role == "assistant" {
		e.Model = t.model
	}
	if t.id != "" {
		e.ID, e.Global, e.Home = t.id+piece, true, true
	}
	if t.n == 0 {
		e.Attributes = maps.Clone(t.facts)
	}
	if t.subagent != nil {
		e.Attributes.Set("subagent", t.subagent)
	}
	t.n++
	t.Emit(e)
}

// end yields a turn of which nothing else was.
func (t *turn) end(v jsontext.Value) {
	if t.n > 0 {
		return
	}
	kind := transcript.KindNotice
	if t.role != "user" && t.role != "assistant" {
		kind = transcript.KindUnknown
	}
	t.id = "" // what it gets later is not this
	t.emit(t.Event(kind, "", t.role, v), "", transcript.Uncounted)
}

// prompt yields what the user said, or what was said in another role that is not the assistant's.
func (t *turn) prompt(content jsontext.Value) {
	switch {
	case content.IsBlank():
	case t.role == "user":
		t.titleFrom(content.Str(), t.at)
		t.emit(t.Event(transcript.KindMessage, "user", "", content), "", transcript.Counted)
	case t.role == "system":
		t.emit(t.Event(transcript.KindSystem, "system", "", content), "", transcript.Counted)
	default:
		t.emit(t.Event(transcript.KindUnknown, t.role, "", content), "", transcript.Uncounted)
	}
}

// say yields what the assistant said.
func (t *turn) say(piece string, text jsontext.Value) {
	if !text.IsBlank() {
		t.emit(t.Event(transcript.KindMessage, "assistant", "", text), piece, transcript.Counted)
	}
}

// thinking yields reasoning: a list of blocks, or one block as early versions have it. The texts of a block are the pieces in which it came.
func (t *turn) thinking(piece string, v jsontext.Value) {
	piece += "/thinking"
	if v.IsObject() {
		t.thought(piece, v)
	}
	for n, block := range v.Numbered() {
		t.thought(piece+"/"+strconv.Itoa(n), block)
	}
}

func (t *turn) thought(piece string, block jsontext.Value) {
	if text := block.First("text", "content"); !isEmpty(text) {
		t.emit(t.Event(transcript.KindReasoning, "assistant", "thinking", text), piece, transcript.Counted)
	}
}

// isEmpty reports whether there is no text in a string, or in a list of strings.
func isEmpty(v jsontext.Value) bool {
	if v.IsArray() {
		for item := range v.Items() {
			if !item.IsBlank() {
				return false
			}
		}
		return true
	}
	return v.IsBlank()
}

// rounds yields the rounds of an agent: what each request returned, the calls with their results, and the rounds of a sub-agent.
func (t *turn) rounds(piece string, all jsontext.Value) {
	for n, v := range all.Numbered() {
		piece := piece + "/round/" + strconv.Itoa(n)
		t.thinking(piece, v.First("thinking", "thinkingBlock"))
		t.say(piece, v.Get("reply"))
		var starter any = true
		for n, call := range v.Get("toolCalls").Numbered() {
			if id := t.call(piece+"/call/"+strconv.Itoa(n), call); id != "" && call.Get("name").Is("run_subagent") {
				starter = format.ShortID(id)
			}
		}
		t.subRounds(piece, starter, v.Get("subAgentRounds"))
	}
}

// maxNested is how deep sub-agents may be in each other. The extension nests them once; names of events grow with each.
const maxNested = 8

// subRounds yields the rounds of a sub-agent.
func (t *turn) subRounds(piece string, starter any, all jsontext.Value) {
	switch {
	case !all.HasItems():
	case t.nested == maxNested:
		t.emit(t.Event(transcript.KindUnknown, "assistant", "subAgentRounds", all), piece+"/rounds", transcript.Uncounted)
	default:
		outer := t.subagent
		t.subagent = starter
		t.nested++
		t.rounds(piece, all)
		t.nested--
		t.subagent = outer
	}
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"filePath", "file_path", "path", "file"}
	pathLists = []string{"filePaths", "paths", "files"}
)

// call yields a call, and its result once it has one, and returns its id.
func (t *turn) call(piece string, v jsontext.Value) string {
	if !isCall(v) {
		t.emit(t.Event(transcript.KindUnknown, "assistant", "", v), piece, transcript.Uncounted)
		return ""
	}
	id, name, status, input := v.Get("id").Text(), v.Get("name").Word(), v.Get("status").Word(), inputOf(v)
	if id == "" {
		t.calls++
		id = "#" + strconv.Itoa(t.calls)
	}
	e := t.Event(transcript.KindToolCall, "assistant", v.Get("toolType").Word(), v)
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists)}
	t.emit(e, piece, transcript.Counted)
	output := outputOf(v)
	if !output.Exists() {
		return id
	}
	e = t.Event(transcript.KindToolResult, "tool", "", output)
	r := &transcript.Result{Call: id, Name: name, Status: status}
	switch status {
	case "completed":
		r.Failed = transcript.No
	case "error":
		r.Failed = transcript.Yes
	}
	if output.Offset() != v.Get("status").Offset() {
		r.Output = int64(output.Len())
	}
	e.Parts[0].Result = r
	t.emit(e, piece+"/result", transcript.Counted)
	return id
}

// inputOf returns what goes into a tool. Xcode has it twice if it has asked the user.
func inputOf(call jsontext.Value) jsontext.Value {
	if input := call.Get("input"); input.IsObject() {
		return input
	}
	return call.Get("invokeParams", "input")
}

// outputOf returns what came out of a tool: its error, else its result. Of a call that has ended, and of which nothing was kept, that is
// an empty list, as Eclipse has it, or how it has ended.
func outputOf(call jsontext.Value) jsontext.Value {
	result := call.Get("result")
	switch failed := call.Get("error"); {
	case failed.IsString() && !failed.IsBlank():
		return failed
	case result.HasItems():
		return result
	case call.Get("resultDetails").HasItems():
		return call.Get("resultDetails")
	}
	switch status := call.Get("status"); {
	case !status.Is("completed") && !status.Is("error"):
		return jsontext.Value{}
	case result.IsArray():
		return result
	default:
		return status
	}
}

// errors yields what went wrong.
func (t *turn) errors(v jsontext.Value) {
	if v.IsString() && !v.IsBlank() {
		t.emit(t.Event(transcript.KindError, "", "error", v), "/error", transcript.Uncounted)
	}
	for n, item := range v.Numbered() {
		t.emit(t.Event(transcript.KindError, "", "error", item), "/error/"+strconv.Itoa(n), transcript.Uncounted)
	}
}

// beside yields what a turn has beside what was said, if there is text in it.
func (t *turn) beside(key string, v jsontext.Value) {
	if v.HasItems() && !isStrings(v) || v.IsObject() {
		if len(textOf(v)) > 0 {
			t.emit(t.Event(transcript.KindNotice, "", key, v), "/"+key, transcript.Uncounted)
		}
		return
	}
	for n, item := range v.Numbered() {
		t.emit(t.Event(transcript.KindNotice, "", key, item), "/"+key+"/"+strconv.Itoa(n), transcript.Uncounted)
	}
}
