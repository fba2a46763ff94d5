package kiro

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// turn is an entry of a history while its events are made: what the user or a tool said, and the model's answer.
type turn struct {
	*parser
	id          string // of the answer
	model       string
	asked, done transcript.Time
	n           int // events so far
}

// entry yields the events of one entry. The first versions wrote a pair.
func (p *parser) entry(v jsontext.Value) {
	user, answer, meta := v.Get("user"), v.Get("assistant"), v.Get("request_metadata")
	if v.IsArray() {
		pair := [2]jsontext.Value{}
		for n, item := range v.Numbered() {
			if n < len(pair) {
				pair[n] = item
			}
		}
		user, answer = pair[0], pair[1]
	}
	form, body := "", jsontext.Value{}
	for key, value := range answer.Fields() {
		form, body = key, value
	}
	t := &turn{
		parser: p, id: cmp.Or(body.Get("message_id").Str(), meta.Get("message_id").Str()), model: meta.Get("model_id").Str(),
		asked: user.Get("timestamp").Time(), done: meta.Get("stream_end_timestamp_ms").MilliTime(),
	}
	if t.model != "" {
		p.conv.Model = t.model
	}
	if dir := user.Get("env_context", "env_state", "current_working_directory").Str(); dir != "" && p.conv.Project == "" {
		p.conv.Project = dir
	}
	t.user(user, meta.Get("request_start_timestamp_ms").MilliTime())
	t.answer(form, body)
	if u := tokens(meta, "uncached_input_tokens", "output_tokens", "cache_read_input_tokens", "cache_write_input_tokens"); u != nil && t.id != "" {
		u.Run, u.Conversation, u.Key, u.Origin, u.Time, u.Model, u.Requests = p.run, p.main, requestKey(t.id), p.origin, t.done, t.model, transcript.Known(1)
		u.RequestID = meta.Get("request_id").Str()
		p.Emit(u)
	}
	if t.n == 0 {
		p.aside(transcript.KindUnknown, form, t.done, v, nil)
	}
}

// requestKey identifies a request by the id of its answer.
func requestKey(message string) string { return "request " + message }

// emit yields an event of the entry.
func (t *turn) emit(e *transcript.Event, at transcript.Time) {
	e.Time = at
	t.n++
	t.say(e)
}

// beside returns an id for what came with the answer.
func (t *turn) beside(suffix string, v jsontext.Value) string {
	if t.id == "" {
		return t.textID(v)
	}
	return t.id + suffix
}

// user yields what came before the answer: a prompt with what hooks added to it, or results of tools.
func (t *turn) user(v jsontext.Value, sent transcript.Time) {
	at := t.asked
	if !at.Valid {
		at = sent
	}
	if added := v.Get("additional_context"); added.IsString() && !added.IsBlank() {
		id := t.beside("/context", added)
		if prompt := v.Get("content", "Prompt", "prompt"); prompt.IsString() && !prompt.IsBlank() {
			id = cmp.Or(contextID(promptID(t.asked, prompt)), id)
		}
		t.emit(global(t.event(transcript.KindSystem, "system", "additional_context", id, added)), at)
	}
	for form, body := range v.Get("content").Fields() {
		for result := range body.Get("tool_use_results").Items() {
			t.result(result, form, at)
		}
		prompt := body.Get("prompt")
		if !prompt.IsString() || prompt.IsBlank() {
			continue
		}
		id := promptID(t.asked, prompt)
		if id == "" {
			id = t.beside("/user", prompt)
		}
		e := t.event(transcript.KindMessage, "user", form, id, prompt)
		if n := count(v.Get("images")); n > 0 {
			e.Attributes.Set("images", n)
		}
		t.titled(prompt)
		t.emit(global(e), at)
	}
}

func count(list jsontext.Value) (n int) {
	for range list.Items() {
		n++
	}
	return n
}

func (t *turn) result(v jsontext.Value, form string, at transcript.Time) {
	call := v.Get("tool_use_id").Str()
	e := t.event(transcript.KindToolResult, "tool", form, resultID(call), v)
	e.Parts[0].Result = &transcript.Result{Call: call, Name: t.tools[call], Output: int64(v.Get("content").Len()), Failed: failedOf(v.Get("status"))}
	t.emit(global(e), at)
}

// resultID identifies the result of a call.
func resultID(call string) string {
	if call == "" {
		return ""
	}
	return call + "/result"
}

func failedOf(status jsontext.Value) transcript.Truth {
	if !status.IsString() {
		return transcript.Unstated
	}
	return transcript.True(strings.EqualFold(status.Str(), "error"))
}

// answer yields what the model said.
func (t *turn) answer(form string, v jsontext.Value) {
	if thought := v.Get("thinking", "text"); thought.IsString() && !thought.IsBlank() {
		e := t.event(transcript.KindReasoning, "assistant", "thinking", t.beside("/thinking", thought), thought)
		e.Model = t.model
		t.emit(global(e), t.done)
	}
	if content := v.Get("content"); content.IsString() && !content.IsBlank() {
		e := t.event(transcript.KindMessage, "assistant", form, t.beside("", content), content)
		e.Model = t.model
		t.emit(global(e), t.done)
	}
	for call := range v.Get("tool_uses").Items() {
		name, input, id := call.Get("name").Str(), call.Get("args"), call.Get("id").Str()
		if name == dummyTool {
			name, input = cmp.Or(call.Get("orig_name").Str(), name), cmp.Or(call.Get("orig_args"), input)
		}
		e := t.event(transcript.KindToolCall, "assistant", form, callEvent(t.id, id), call)
		e.Model = t.model
		e.Parts[0].Call = &transcript.Call{ID: t.callID(id, name), Name: name, Input: int64(input.Len()), Paths: pathsOf(input)}
		t.emit(global(e), t.done)
	}
}

// callEvent identifies a call by its message and its own id.
func callEvent(message, call string) string {
	if call == "" {
		return ""
	}
	return message + "/" + call
}

// dummyTool replaces the name of a tool that is no longer there.
const dummyTool = "dummy"

// tokens returns the usage that a statement has under four names, nil if none is more than 0: most versions write only zeros or nothing.
func tokens(v jsontext.Value, input, output, read, written string) *transcript.Usage {
	u := &transcript.Usage{
		Input: v.Get(input).Tokens(), Output: v.Get(output).Tokens(), CacheRead: v.Get(read).Tokens(), CacheWrite: v.Get(written).Tokens(),
	}
	if u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N; u.Rank == 0 {
		return nil
	}
	return u
}
