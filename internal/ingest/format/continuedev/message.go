package continuedev

import (
	"iter"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// item is one message while its events are made.
type item struct {
	*parser
	v     jsontext.Value
	id    string
	role  string
	model string
	n     int // events so far
}

// item yields the events of one message with what belongs to it, in the order in which it came about.
func (p *parser) item(v jsontext.Value, n int) {
	message := v.Get("message")
	it := &item{parser: p, v: v, id: strconv.Itoa(n), role: message.Get("role").Word()}
	content := message.Get("content")
	switch it.role {
	case "user":
		it.context()
		it.say(content, transcript.KindMessage, it.role)
	case "assistant":
		it.model, _ = modelOf(v)
		it.reasoning()
		it.say(content, transcript.KindMessage, it.role)
		it.toolCalls(message)
	case "thinking":
		it.think(message, content)
	case "tool":
		it.result(content, callOf(message), "")
	case "system":
		it.say(content, transcript.KindSystem, it.role)
	default:
		it.emit(it.event(v, "", transcript.KindUnknown, it.role), transcript.Uncounted)
	}
	if summary := v.Get("conversationSummary"); summary.IsString() && !summary.IsBlank() {
		it.emit(it.event(summary, "/summary", transcript.KindCompaction, "system"), transcript.Uncounted)
	}
	if it.n == 0 { // an answer that was cancelled before it began
		it.emit(it.event(v, "", transcript.KindNotice, it.role), transcript.Uncounted)
	}
}

// event returns an event of a value in the message.
func (it *item) event(v jsontext.Value, suffix string, kind transcript.Kind, role string) *transcript.Event {
	it.lend.Reset()
	e := it.lend.Event(transcript.Event{Conversation: conversation, Run: it.parser.id, ID: it.id + suffix, Kind: kind, Role: role, Type: it.role, Origin: it.origin(v)})
	e.Parts[0].Text = it.lend.Text(func(dst []byte) []byte { return appendText(dst, v) })
	return e
}

func (it *item) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Verdict = verdict
	if e.Role == "assistant" {
		e.Model = it.model
	}
	it.n++
	it.Emit(e)
}

// say yields the content of a message.
func (it *item) say(content jsontext.Value, kind transcript.Kind, role string) {
	switch {
	case hasWords(content):
		it.emit(it.event(content, "", kind, role), transcript.Counted)
	case it.role == "assistant": // only calls
	default:
		it.emit(it.event(it.v, "", transcript.KindNotice, role), transcript.Uncounted)
	}
}

// hasWords reports whether the content of a message is more than white space.
func hasWords(content jsontext.Value) bool {
	if content.IsString() {
		return !content.IsBlank()
	}
	for part := range content.Items() {
		if part.Get("type").Is("imageUrl") || !part.Get("text").IsBlank() || part.IsString() && !part.IsBlank() {
			return true
		}
	}
	return false
}

// think yields a message that is reasoning; some of it is only a signature.
func (it *item) think(message, content jsontext.Value) {
	if hasWords(content) {
		it.emit(it.event(content, "", transcript.KindReasoning, "assistant"), transcript.Counted)
	} else {
		it.emit(it.event(it.v, "", transcript.KindNotice, "assistant"), transcript.Uncounted)
	}
	it.toolCalls(message)
}

// reasoning yields the reasoning that came with an answer.
func (it *item) reasoning() {
	v := it.v.Get("reasoning")
	text := v.Get("text")
	if !text.IsString() || text.IsBlank() {
		return
	}
	e := it.event(text, "/reasoning", transcript.KindReasoning, "assistant")
	e.Time = timeOf(v.Get("startAt"))
	it.emit(e, transcript.Counted)
}

// context yields what the program added to a prompt: files, code, the output of a terminal.
func (it *item) context() {
	for n, v := range it.v.Get("contextItems").Numbered() {
		it.emit(it.event(v, "/context/"+strconv.Itoa(n), transcript.KindNotice, it.role), transcript.Uncounted)
	}
}

// statesOf yields the states of the calls in a message; early versions had one.
func statesOf(item jsontext.Value) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
		several := item.Get("toolCallStates")
		if one := item.Get("toolCallState"); one.IsObject() && !several.IsArray() {
			yield(one)
			return
		}
		for state := range several.Items() {
			if !yield(state) {
				return
			}
		}
	}
}

// toolCalls yields the calls in a message, each with its result if no other message has that. The message repeats the calls that have a state.
func (it *item) toolCalls(message jsontext.Value) {
	seen := map[string]bool{}
	n := 0
	for state := range statesOf(it.v) {
		id := state.Get("toolCallId").Text()
		seen[id] = true
		it.call(state.Get("toolCall"), state, id, n)
		if output := state.Get("output"); output.HasItems() && !it.answered[id] {
			it.result(output, id, "/result/"+strconv.Itoa(n))
		}
		n++
	}
	for c := range message.Get("toolCalls").Items() {
		if id := c.Get("id").Text(); !seen[id] {
			it.call(c, c, id, n)
			n++
		}
	}
}

// call yields one call: v is the call, or state is all there is of it.
func (it *item) call(v, state jsontext.Value, id string, n int) {
	if !v.IsObject() {
		v = state
	}
	e := it.event(v, "/call/"+strconv.Itoa(n), transcript.KindToolCall, "assistant")
	input := v.Get("function", "arguments")
	e.Parts[0].Call = &transcript.Call{ID: id, Name: v.Get("function", "name").Str(), Input: int64(input.Len()), Paths: pathsOf(input)}
	if status := it.calls[id].status; status != "" && status != "done" {
		e.Attributes.Set("status", status)
	}
	it.emit(e, transcript.Counted)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"filepath", "filePath", "file_path", "path", "dirPath"}

func pathsOf(input jsontext.Value) []string {
	return format.Paths(input.Unwrap(), pathNames, nil)
}

// result yields the result of a call.
func (it *item) result(output jsontext.Value, id, suffix string) {
	if !output.Exists() {
		output = it.v
	}
	e := it.event(output, suffix, transcript.KindToolResult, "tool")
	of := it.calls[id]
	r := &transcript.Result{Call: id, Name: of.name, Status: of.status, Output: int64(output.Len())}
	switch of.status {
	case "done":
		r.Failed = transcript.No
	case "errored", "canceled":
		r.Failed = transcript.Yes
	}
	e.Parts[0].Result = r
	it.emit(e, transcript.Counted)
}
