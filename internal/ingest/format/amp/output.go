package amp

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Saved output is what "amp -x --stream-json" printed, in a file that somebody kept: all that there is of threads that Amp keeps only on its
// server. Each process begins with an init line and prints what is new in the thread. All outputs of a thread are one conversation, in the
// order in which its prompts grow. Lines have no ids: an event is identified by all lines of its process up to it, which are the same in a
// copy, while the file grows, and in files that were joined.

// The usage of saved output has an attribute of, which tells it from that of a thread.
const (
	ofOutput = "output" // of one request
	ofTotal  = "total"  // of all requests of a process
)

// isOutput reports whether a head has a line that only Amp prints: Claude Code prints similar lines with other ids.
func isOutput(head []byte) bool {
	if !format.HasKeys(head, "session_id") || !bytes.Contains(head, []byte(`"T-`)) {
		return false
	}
	for line, whole := range format.ObjectLines(head) {
		if !format.HasKeys(line, "session_id") {
			continue
		}
		v := format.LineStart(line, whole) // the list of tools may be long
		if isPrinted(v) {
			return true
		}
	}
	return false
}

func isPrinted(v jsontext.Value) bool {
	if !ownID.MatchString(v.Get("session_id").Str()) {
		return false
	}
	switch typ := v.Get("type"); {
	case typ.Is("system"):
		return v.Get("subtype").Is("init")
	case typ.Is("user"), typ.Is("assistant"):
		return v.Get("message", "content").IsArray()
	case typ.Is("result"):
		return v.Get("is_error").Exists() && v.Get("subtype").IsString()
	}
	return false
}

// output is the parse of saved output. Programs that run Amp may append what several processes print to one file, even at the same time.
type output struct {
	format.Sink
	in      format.Input
	lend    format.Lender
	threads map[string]*printed
	now     *printed // the thread of the current line; nil until a line names one
}

// printed is what is known of a thread from its lines so far.
type printed struct {
	id             string
	began          transcript.Time // as the id says: no line has a time
	title, ordered bool
	calls          map[string]string // names of tool calls, by id

	// Of the current process:
	sum      uint32 // checksum of its lines so far
	lines    int
	answered bool
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// unordered is the Order of outputs without usage: behind all digits.
const unordered = "~"

func (p *output) read() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		if id := o.Value.Get("session_id").Str(); threadID.MatchString(id) {
			p.enter(id)
		}
		if p.now == nil {
			p.problem(&transcript.Problem{Kind: "no thread", Reason: "a line before the first that names a thread", Origin: o.Origin})
			continue
		}
		p.line(&line{printed: p.now, value: o.Value, origin: o.Origin, typ: o.Value.Get("type").Word()})
	}
	if p.now != nil {
		p.Settle(p.now.id)
	}
	p.Settle("")
}

func (p *output) problem(pr *transcript.Problem) {
	run := ""
	if p.now != nil {
		run = p.now.id
	}
	pr.Alone = true
	p.Problem(run, pr)
}

// enter makes a thread the current one.
func (p *output) enter(id string) {
	if p.now = p.threads[id]; p.now != nil {
		return
	}
	p.now = &printed{id: id, began: format.TimeOfUUID(strings.TrimPrefix(id, "T-")), calls: map[string]string{}}
	p.threads[id] = p.now
	p.Settle(id)
	p.describe(transcript.Conversation{Order: unordered})
}

// describe yields fields of the run and its conversation alike.
func (p *output) describe(c transcript.Conversation) {
	c.ID, c.Run, c.Shared, c.Started = p.now.id+outputSuffix, p.now.id, true, p.now.began
	p.Emit(&transcript.Run{ID: c.Run, Title: c.Title, Project: c.Project, Status: c.Status, Outcome: outcomes[c.Status], Started: c.Started})
	p.Emit(&c)
}

// outputSuffix follows the thread in the id of the conversation of its outputs.
const outputSuffix = "_exec"

// outcomes are those of the subtypes of results.
var outcomes = map[string]transcript.Outcome{
	"success": transcript.Succeeded, "error_during_execution": transcript.Failed, "error_max_turns": transcript.Failed,
}

// line is a line while its events are made.
type line struct {
	*printed
	value  jsontext.Value
	origin transcript.Origin
	typ    string
	blocks int
}

func (p *output) line(l *line) {
	start := l.typ == "system" && l.value.Get("subtype").Is("init")
	if start {
		l.sum, l.lines, l.answered = 0, 0, false
	}
	l.lines++
	message := l.value.Get("message")
	if !hasResult(message) { // a retention policy may remove what a tool returned
		l.sum = crc32.Update(l.sum, castagnoli, l.value.Raw())
	}
	switch {
	case start:
		p.describe(transcript.Conversation{Project: l.value.Get("cwd").Str()})
		p.uncounted(l, transcript.KindLifecycle, l.value)
	case l.typ == "system":
		p.uncounted(l, transcript.KindLifecycle, l.value)
	case l.typ == "user", l.typ == "assistant":
		p.message(l, message)
	case l.typ == "result":
		p.result(l)
	default:
		p.uncounted(l, transcript.KindUnknown, l.value)
	}
}

func hasResult(message jsontext.Value) bool {
	for b := range message.Get("content").Items() {
		if b.Get("type").Is("tool_result") {
			return true
		}
	}
	return false
}

// event returns an event for a value of the line. What a subagent says is in the thread's conversation, with the call that started it.
func (p *output) event(l *line, kind transcript.Kind, role string, v jsontext.Value) *transcript.Event {
	e := p.lend.Event(transcript.Event{
		Conversation: l.id + outputSuffix, ID: l.key(), Kind: kind, Role: role, Type: l.typ, Origin: l.origin, Verdict: transcript.Counted,
	})
	e.Attributes.Set("call", l.value.Get("parent_tool_use_id").Str())
	e.Parts[0] = p.lend.Part(l.value, v, appendPrinted)
	l.blocks++
	return e
}

// key identifies a block of the line.
func (l *line) key() string { return fmt.Sprintf("%08x.%d/%d", l.sum, l.lines, l.blocks) }

func (p *output) uncounted(l *line, kind transcript.Kind, v jsontext.Value) {
	e := p.event(l, kind, "", v)
	e.Verdict = transcript.Uncounted
	e.Attributes.Set("subtype", l.value.Get("subtype").Str())
	p.Emit(e)
}

// message yields the events of a message, and its usage. As in a thread a prompt is one event, and of everything else each block is one.
func (p *output) message(l *line, m jsontext.Value) {
	content := m.Get("content")
	request := l.key()
	if l.typ == "user" {
		p.prompt(l, content)
	} else if !content.IsBlank() {
		p.Emit(p.event(l, transcript.KindMessage, l.typ, content))
	}
	for b := range content.Items() {
		if l.typ != "user" || !isPrompt(b) {
			p.block(l, m, b)
		}
	}
	if l.typ == "assistant" {
		l.answered = true
		p.usage(l, m.Get("usage"), request, ofOutput, m.Get("model").Str())
	}
}

func (p *output) prompt(l *line, content jsontext.Value) {
	var e *transcript.Event
	add := func(v jsontext.Value) {
		if e == nil {
			e = p.event(l, transcript.KindMessage, "user", v)
			return
		}
		e.Parts = append(e.Parts, p.lend.Part(l.value, v, appendPrinted))
	}
	if !content.IsBlank() {
		add(content)
	}
	for b := range content.Items() {
		if isPrompt(b) {
			add(b)
		}
	}
	if e == nil {
		return
	}
	title := format.Title(strings.Clone(e.Parts[0].Text))
	p.Emit(e)
	if !l.title && title != "" {
		l.title = true
		p.describe(transcript.Conversation{Title: title})
	}
}

func (p *output) block(l *line, m, b jsontext.Value) {
	kind, role := transcript.KindMessage, l.typ
	var call *transcript.Call
	var result *transcript.Result
	typ := b.Get("type").Word()
	switch typ {
	case "text":
		if b.Get("text").IsBlank() {
			return
		}
	case "thinking", "redacted_thinking":
		kind = transcript.KindReasoning
	case "tool_use", "server_tool_use":
		kind = transcript.KindToolCall
		input := b.Get("input")
		call = &transcript.Call{ID: b.Get("id").Str(), Name: b.Get("name").Str(), Input: int64(input.Len()), Paths: pathsIn(input)}
		l.calls[call.ID] = call.Name
	case "tool_result":
		kind, role = transcript.KindToolResult, "tool"
		result = &transcript.Result{Call: callOf(b), Output: int64(b.Get("content").Len()), Failed: b.Get("is_error").Bool()}
		result.Name = l.calls[result.Call]
		if hasFailed(b.Get("content").Inside()) { // is_error does not say so
			result.Failed = transcript.Yes
		}
	default:
		p.uncounted(l, transcript.KindUnknown, b)
		return
	}
	e := p.event(l, kind, role, b)
	e.Type = typ
	if l.typ == "assistant" {
		e.Model = m.Get("model").Str()
		if kind == transcript.KindMessage {
			e.Attributes.Set("stop_reason", m.Get("stop_reason").Str())
		}
	}
	e.Parts[0].Call, e.Parts[0].Result = call, result
	p.Emit(e)
}

// result yields the end of a process. Its text is that of the last message, unless nothing else was kept.
func (p *output) result(l *line) {
	kind := transcript.KindLifecycle
	if l.value.Get("is_error").Bool() == transcript.Yes {
		kind = transcript.KindError
	}
	p.describe(transcript.Conversation{Status: l.value.Get("subtype").Str()})
	p.usage(l, l.value.Get("usage"), l.key(), ofTotal, "")
	if text := l.value.Get("result"); !l.answered && !text.IsBlank() {
		p.Emit(p.event(l, transcript.KindMessage, "assistant", text))
		return
	}
	p.uncounted(l, kind, l.value)
}

// usage yields the tokens of a request, or of all of a process. In autumn 2025 the input was the sum of what was read from the cache and
// what was written to it.
func (p *output) usage(l *line, v jsontext.Value, key, of, model string) {
	input, read, written, out := v.Get("input_tokens").Tokens(), v.Get("cache_read_input_tokens").Tokens(), v.Get("cache_creation_input_tokens").Tokens(),
		v.Get("output_tokens").Tokens()
	prompt := input.N + read.N + written.N
	if prompt+out.N == 0 {
		return
	}
	if input.N == read.N+written.N {
		prompt -= input.N
		input.N = 0
	}
	u := &transcript.Usage{
		Run: l.id, Conversation: l.id + outputSuffix, Key: l.id + " " + key, Origin: l.origin, Time: l.began, Model: model,
		Tier: v.Get("service_tier").Str(), Input: input, Output: out, CacheRead: read, CacheWrite: written, Requests: transcript.Known(1),
		Attributes: transcript.Attributes{"of": of},
	}
	if of == ofTotal {
		u.Verdict, u.Requests = transcript.DerivedTotal, transcript.Count{}
	}
	p.Emit(u)
	if !l.ordered && of == ofOutput {
		l.ordered = true
		p.describe(transcript.Conversation{Order: fmt.Sprintf("%020d", prompt)})
	}
}

// appendPrinted appends the text of a line or a part of one: what was said, reasoning, inputs and outputs of tools, and why a process failed.
func appendPrinted(dst []byte, v jsontext.Value) []byte {
	switch typ := v.Get("type"); {
	case v.IsString():
		return jsontext.AppendStrings(dst, v)
	case typ.Is("tool_use"), typ.Is("server_tool_use"):
		return jsontext.AppendScalars(dst, v.Get("input"))
	case typ.Is("system"):
		return dst
	case typ.Is("result"):
		return jsontext.AppendStrings(jsontext.AppendStrings(dst, v.Get("error")), v.Get("permission_denials"))
	}
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
		switch key {
		case "type", "subtype", "id", "session_id", "parent_tool_use_id", "tool_use_id", "signature", "data", "role", "model", "stop_reason":
			return dst, true
		}
		return dst, v.IsDataURL()
	})
}

// Resolve makes saved output of a thread a copy, with its usage, where the archive has the thread.
func (amp) Resolve(f *transcript.Family) { format.CopyOutputUsage(f, ofOutput) }

// ResolvesUsage makes the format a format.UsageResolver.
func (amp) ResolvesUsage() {}
