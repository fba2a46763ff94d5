package reasonix

import (
	"hash/fnv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// piece is one thing that a message says.
type piece struct {
	value jsontext.Value
	aside jsontext.Value // what the model was told besides, or instead
	kind  transcript.Kind
	role  string
	typ   string
	hash  uint64         // of what is said
	key   string         // the event's id, if it is known
	call  jsontext.Value // the id of a call
	name  string         // of the tool

	input  jsontext.Value
	result *transcript.Result
	model  string
	local  bool // never sent to a model
}

// says reports whether a value is a text that is not blank, or a list or an object, which some models give instead.
func says(v jsontext.Value) bool { return !v.IsBlank() || v.HasItems() || v.IsObject() }

// isKnown reports whether a role is one of those that messages have.
func isKnown(role string) bool {
	return role == "system" || role == "user" || role == "assistant" || role == "tool"
}

// pieces returns what a message says.
func (p *parser) pieces(m jsontext.Value) (all []piece) {
	role := m.Get("role").Word()
	content := m.Get("content")
	base := piece{role: role, typ: role, model: m.Get("modelRef").Word(), local: m.Get("local_only").Bool() == transcript.Yes}
	said := func(kind transcript.Kind, role, typ string, v, aside jsontext.Value) {
		if !says(v) {
			return
		}
		one := base
		one.kind, one.role, one.typ, one.value, one.aside, one.hash = kind, role, typ, v, aside, hashOf(typ, saidIn(typ, v))
		all = append(all, one)
	}
	switch role {
	case "system":
		said(transcript.KindSystem, "system", role, content, jsontext.Value{})
	case "user":
		kind, speaker := transcript.KindMessage, role
		switch {
		case isSummary(content):
			kind, speaker = transcript.KindCompaction, "system"
		case m.Get("host_authored").Bool() == transcript.Yes || m.Get("origin").Is("host"):
			kind, speaker = transcript.KindSystem, "system"
		}
		if raw := m.Get("raw_content"); kind == transcript.KindMessage && says(raw) {
			said(kind, speaker, role, raw, content)
		} else {
			said(kind, speaker, role, content, jsontext.Value{})
		}
	case "assistant":
		said(transcript.KindReasoning, role, "reasoning", m.Get("reasoning_content"), jsontext.Value{})
		if isSummary(content) {
			said(transcript.KindCompaction, "system", role, content, jsontext.Value{})
		} else {
			said(transcript.KindMessage, role, role, content, jsontext.Value{})
		}
		for v := range m.Get("tool_calls").Items() {
			all = append(all, callPiece(base, v, v.Get("id")))
		}
	case "tool":
		if !m.Get("name").Is("__reasonix_local_only__") {
			all = append(all, p.answer(base, m))
		}
	}
	return all
}

// isSummary reports whether a text is what a compaction has put in the place of messages.
func isSummary(v jsontext.Value) bool {
	text := strings.TrimSpace(v.Str())
	return strings.HasPrefix(text, "<compaction-summary>") || strings.HasPrefix(text, "[CONVERSATION HISTORY SUMMARY")
}

// callPiece returns the piece for a call.
func callPiece(base piece, v, id jsontext.Value) piece {
	name, input := callOf(v)
	base.kind, base.role, base.typ, base.value = transcript.KindToolCall, "assistant", "call", v
	base.name, base.input, base.call = name.Word(), input, id
	base.hash = hashOf("call", base.name+"\x00"+wordsOf(input))
	if base.name == "" {
		base.kind, base.hash = transcript.KindUnknown, hashOf("unknown", string(v.Raw()))
	}
	return base
}

// answer returns the piece for the result of a call. It is that of the call, so that a result that was shortened later is the
// same one.
func (p *parser) answer(base piece, m jsontext.Value) piece {
	content, raw := m.Get("content"), m.Get("raw_content")
	base.kind, base.role, base.typ, base.value = transcript.KindToolResult, "tool", "result", content
	if says(raw) {
		base.value, base.aside = raw, content
	}
	id := m.Get("tool_call_id").Str()
	asked := p.calls[id]
	base.key, base.hash = keyOf(asked.event), hashOf("result", id+"\x00"+wordsOf(content))
	base.result = &transcript.Result{
		Call: id, Name: asked.name, Output: int64(base.value.Len()), Failed: failed(m.Get("tool_execution"), content),
	}
	if name := m.Get("name").Word(); name != "" {
		base.result.Name = name
	}
	if ms, ok := m.Get("tool_execution", "durationMs").Int(); ok && ms > 0 {
		base.result.Duration = transcript.Known(ms * 1000)
	}
	if !base.value.Exists() {
		base.value = m
	}
	return base
}

// keyOf returns the id of the result of a call.
func keyOf(event string) string {
	if event == "" {
		return ""
	}
	return "r" + event
}

// failed reports whether a call has failed: by what the program notes of a command, else by how the output begins.
func failed(execution, output jsontext.Value) transcript.Truth {
	if state := execution.Get("state").Word(); state == "failed" || state == "timed_out" {
		return transcript.Yes
	}
	if code, ok := execution.Get("exitCode").Int(); ok {
		return transcript.True(code != 0)
	}
	text := strings.ToLower(strings.TrimSpace(output.Str()))
	for _, begin := range []string{"error:", "blocked:", "[hook block]", `{"error":`} {
		if strings.HasPrefix(text, begin) {
			return transcript.Yes
		}
	}
	return transcript.Unstated
}

// event returns the event for a piece.
func (p *parser) event(one *piece, id string, at transcript.Time) *transcript.Event {
	e := p.Event(one.kind, one.role, one.typ, one.value)
	e.ID, e.Time = id, at
	if one.role == "assistant" {
		e.Model = one.model
	}
	if one.local {
		e.Attributes.Set("local_only", true)
	}
	switch {
	case one.kind == transcript.KindUnknown:
		e.Verdict = transcript.Uncounted
	case one.kind == transcript.KindToolCall:
		input := one.input
		if input.IsString() {
			input = input.Inside()
		}
		e.Parts[0].Call = &transcript.Call{
			ID: one.call.Str(), Name: one.name, Input: int64(one.input.Len()), Paths: pathsOf(input),
		}
	case one.result != nil:
		e.Parts[0].Result = one.result
	}
	if says(one.aside) {
		part := p.Part(one.aside)
		part.Kind, part.Role = transcript.KindSystem, "system"
		e.Parts = append(e.Parts, part)
	}
	return e
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path", "source_path", "destination_path", "notebook_path", "cwd"}
	pathLists = []string{"paths", "files"}
)

func pathsOf(input jsontext.Value) []string {
	paths := format.Paths(input, pathNames, pathLists)
	if patch, ok := format.PatchPaths(input.Get("patch").Str()); ok {
		paths = append(paths, patch...)
	}
	return paths
}

// wordsOf returns what identifies a value: a text without the space around it, or all that it says.
func wordsOf(v jsontext.Value) string {
	if v.IsString() {
		return strings.TrimSpace(v.Str())
	}
	return jsontext.AllScalars(v)
}

// saidIn returns what identifies what was said: of a prompt what the user wrote, without the files and pages that it refers
// to, which version 0 puts behind it for the model.
func saidIn(typ string, v jsontext.Value) string {
	words := wordsOf(v)
	if typ != "user" {
		return words
	}
	for _, head := range []string{"\n\n[Referenced files]", "\n\n[Referenced URLs]"} {
		if i := strings.Index(words, head); i > 0 {
			words = strings.TrimSpace(words[:i])
		}
	}
	return words
}

func hashOf(typ, words string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(typ))
	h.Write([]byte{0})
	h.Write([]byte(words))
	return h.Sum64()
}
