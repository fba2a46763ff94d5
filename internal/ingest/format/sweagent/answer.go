package sweagent

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// shell is the name of the tool that runs a command.
const shell = "bash"

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filename", "file_name", "file"}

// hasWords reports whether the content of a message is more than white space.
func hasWords(content jsontext.Value) bool { return !content.IsBlank() || content.HasItems() }

// say yields the content of a message.
func (p *parser) say(v, content jsontext.Value, id string, kind transcript.Kind, role string) {
	if !hasWords(content) {
		p.emptyRow(v, id, transcript.KindNotice)
		return
	}
	p.Emit(p.event(content, id, kind, role))
}

// answerText yields what the model says.
func (p *parser) answerText(content jsontext.Value, id string) {
	if hasWords(content) {
		e := p.event(content, id, transcript.KindMessage, "assistant")
		e.Model = p.model
		p.Emit(e)
	}
}

// reasoning yields the reasoning that came with an answer, which some answers have twice.
func (p *parser) reasoning(v jsontext.Value, id string) {
	text := v.First("reasoning_content", "reasoning")
	if text.IsBlank() {
		text = v.Get("thinking_blocks")
	}
	if text.IsString() || text.HasItems() {
		p.thought(text, id+"/reasoning")
	}
}

// thought yields what was thought.
func (p *parser) thought(v jsontext.Value, id string) {
	e := p.event(v, id, transcript.KindReasoning, "assistant")
	if e.Model = p.model; e.Parts[0].Text == "" { // encrypted, or only a signature
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	}
	p.Emit(e)
}

// toolCalls yields the calls of an answer.
func (p *parser) toolCalls(calls jsontext.Value, id string) {
	for n, c := range calls.Numbered() {
		p.call(c, id+"/call/"+strconv.Itoa(n))
	}
}

// textCall returns a call that is text, whose result is the next message.
func (p *parser) textCall(v jsontext.Value, id, name string) *transcript.Event {
	e := p.event(v, id, transcript.KindToolCall, "assistant")
	e.Model = p.model
	e.Parts[0].Call = &transcript.Call{ID: p.nextCall(), Name: name, Input: int64(v.Len())}
	p.names[p.open] = name
	return e
}

// call yields one call, as the completions API or the responses API has it.
func (p *parser) call(v jsontext.Value, id string) {
	input := cmp.Or(v.Get("function", "arguments"), v.Get("arguments"))
	e := p.event(v, id, transcript.KindToolCall, "assistant")
	e.Model = p.model
	call := &transcript.Call{ID: idOf(v), Name: nameIn(v), Input: int64(input.Len())}
	if call.ID == "" {
		call.ID = p.nextCall()
	}
	p.names[call.ID] = call.Name
	call.Paths = format.Paths(input.Unwrap(), pathNames, nil)
	e.Parts[0].Call = call
	p.Emit(e)
}

func idOf(call jsontext.Value) string { return cmp.Or(call.Get("call_id").Str(), call.Get("id").Str()) }

func nameIn(call jsontext.Value) string {
	return cmp.Or(call.Get("function", "name").Word(), call.Get("name").Word())
}

// result yields the result of a call. content is what the model was sent of it.
func (p *parser) result(v, content jsontext.Value, id, call string) {
	e := p.event(v, id, transcript.KindToolResult, "tool")
	e.Parts[0].Result = &transcript.Result{Call: call, Name: p.names[call], Output: int64(content.Len()), Failed: failed(v)}
	if call == p.open {
		p.open = ""
	}
	p.Emit(e)
}
