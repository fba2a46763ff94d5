package cline

import (
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// session yields the records of <session>/<session>.messages.json, or of the file of a subagent beside it.
func (p *parser) session() {
	root := p.task
	stem := strings.TrimSuffix(path.Base(p.in.Path), ".messages.json")
	child := path.Dir(p.file) != "." && stem != root
	if path.Dir(p.file) == "." {
		p.task, root = stem, stem
	}
	c := transcript.Conversation{Rank: 1, Child: child}
	if child {
		p.task, c.Agent = root+"/"+stem, stem
	}
	read := p.document()
	messages := p.whole
	if !messages.IsArray() {
		messages = p.whole.Get("messages")
	}
	resumed, n := p.resumedAt(messages), 0
	if resumed > 0 && !child {
		p.suffix = "/session" // beside the conversation that the task is
	}
	p.say(c)
	if child {
		p.link(root, p.task)
	}
	if read && !messages.IsArray() {
		p.problem("not a session", "no list of messages", p.at)
		return
	}
	begun := format.Value{}
	for v := range messages.Items() {
		n++
		if !child && prompts(v) && !begun.Exists() {
			begun = v
		}
		if ms, ok := v.Get("ts").Int(); ok && begun.Exists() {
			p.emit(&transcript.Hint{Run: p.task, Key: hintTurn, Value: fmt.Sprintf("%d\t%d", ms, p.origin(begun).Offset), Origin: p.origin(begun)})
			begun = format.Value{}
		}
		p.turn(v, n, n <= resumed)
		if p.out.Done() {
			return
		}
	}
}

// The keys of the hints that say what of a session is a copy.
const (
	hintTurn    = "turn"    // "<ms>\t<offset>" of each prompt; the time is that of the first message from it on that has one
	hintForked  = "forked"  // ms: what is older was copied from another session, or from another program
	hintResumed = "resumed" // offset: what stands before was a task once
)

// resumeWarnings begin what the program adds to the history of a task that it goes on with as a session.
var resumeWarnings = []string{"[cline-legacy-resume-warning:v1]", "Warning: this is a legacy conversation"}

// resumedAt is the number of messages before the one that says that they were a task once.
func (p *parser) resumedAt(messages format.Value) int {
	n := 0
	for v := range messages.Items() {
		if v.Get("role").Is("user") {
			for text := range textsOf(v) {
				for _, warning := range resumeWarnings {
					if strings.HasPrefix(strings.TrimSpace(text.Str()), warning) {
						at := p.origin(v)
						p.emit(&transcript.Hint{Run: p.task, Key: hintResumed, Value: fmt.Sprint(at.Offset), Origin: at})
						return n
					}
				}
			}
		}
		n++
	}
	return 0
}

// prompts says whether a message is one of a person.
func prompts(v format.Value) bool {
	if v.Get("role").Is("user") {
		for range textsOf(v) {
			return true
		}
	}
	return false
}

// textsOf yields the texts of a message.
func textsOf(v format.Value) iter.Seq[format.Value] {
	return func(yield func(format.Value) bool) {
		content := v.Get("content")
		if content.IsString() {
			yield(content)
			return
		}
		for b := range content.Items() {
			if b.Get("type").Is("text") && !yield(b.Get("text")) {
				return
			}
		}
	}
}

// turn yields the events of one message, one for each block, and its request.
func (p *parser) turn(v format.Value, n int, resumed bool) {
	var at transcript.Time
	if ms, ok := v.Get("ts").Int(); ok {
		at = format.UnixMilli(ms)
	}
	role, summary := v.Get("role").Str(), summarises(v)
	model := first(v.Get("modelInfo"), "id", "modelId").Str()
	if model != "" {
		p.answers(model)
	}
	told := false
	block := func(b format.Value) {
		e := p.event(v, "", role, b.Get("type").Str(), at)
		e.Model, told = model, true
		part := transcript.Part{Text: blockText(b), Offset: format.OffsetIn(v, b), Length: int64(b.Len())}
		p.block(e, &part, b)
		if summary && e.Kind == transcript.KindMessage {
			e.Kind, e.Role = transcript.KindCompaction, "system"
		}
		e.Parts = []transcript.Part{part}
		if e.Kind == transcript.KindMessage && role == "user" && e.Verdict == transcript.Counted {
			p.prompted(message{text: textOf(b), at: at})
		}
		p.emit(e)
	}
	switch content := v.Get("content"); {
	case content.IsArray():
		for b := range content.Items() {
			block(b)
		}
	case content.IsString():
		block(content)
	}
	if !told {
		e := p.event(v, transcript.KindUnknown, role, "", at)
		e.Parts = []transcript.Part{{Text: blockText(v)}}
		p.emit(e)
	}
	p.turnUsage(v, n, at, model, resumed)
}

func textOf(b format.Value) format.Value {
	if b.IsObject() {
		return b.Get("text")
	}
	return b
}

// compactionSummary is what a message that stands for those before it says of itself, itself or in its metadata.
const compactionSummary = "compaction_summary"

func summarises(v format.Value) bool {
	for _, said := range []format.Value{v.Get("metadata"), v} {
		if said.Get("kind").Is(compactionSummary) || said.Get("type").Is(compactionSummary) {
			return true
		}
	}
	return false
}

// displayed says that a message is only shown, and repeats a request.
func displayed(v format.Value) bool {
	return v.Get("metadata", "displayOnly").Bool() == transcript.Yes || v.Get("displayOnly").Bool() == transcript.Yes
}

// first gives the first member of some names that is there.
func first(v format.Value, names ...string) format.Value {
	for _, name := range names {
		if m := v.Get(name); !m.IsNull() {
			return m
		}
	}
	return format.Value{}
}

// block says what a block is.
func (p *parser) block(e *transcript.Event, part *transcript.Part, b format.Value) {
	e.Verdict = transcript.Counted
	typ := e.Type
	if b.IsString() {
		typ, e.Type = "text", "text"
	}
	switch typ {
	case "text":
		e.Kind = transcript.KindMessage
		if e.Role != "user" && e.Role != "assistant" {
			e.Kind = transcript.KindSystem
		}
	case compactionSummary:
		e.Kind, e.Role = transcript.KindCompaction, "system"
	case "thinking", "redacted_thinking":
		e.Kind = transcript.KindReasoning
	case "tool_use":
		e.Kind = transcript.KindToolCall
		input := b.Get("input")
		part.Call = &transcript.Call{ID: b.Get("id").Str(), Name: b.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists)}
		if part.Call.ID == "" {
			p.count++
			part.Call.ID = fmt.Sprintf("#%d", p.count)
		}
		p.calls[part.Call.ID] = []transcript.Call{*part.Call}
	case "tool_result":
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		part.Result = &transcript.Result{Call: b.Get("tool_use_id").Str(), Failed: failed(b), Output: int64(b.Get("content").Len())}
		if call := p.calls[part.Result.Call]; len(call) > 0 {
			part.Result.Name = call[0].Name
		}
	default:
		e.Verdict, e.Kind = transcript.Uncounted, transcript.KindUnknown
	}
}

// failed says whether a call failed: the block says so, or one of the commands in it does.
func failed(b format.Value) transcript.Truth {
	for item := range b.Get("content").Items() {
		if item.Get("success").Bool() == transcript.No {
			return transcript.Yes
		}
	}
	return b.Get("is_error").Bool()
}

// The members of an input that name files.
var (
	pathNames = []string{"path", "file_path"}
	pathLists = []string{"paths", "files"}
)

// turnUsage yields the request behind a message. What is only shown repeats one. In the history of a task it is the sum of
// all that the task took.
func (p *parser) turnUsage(v format.Value, n int, at transcript.Time, model string, sum bool) {
	m := v.Get("metrics")
	if !m.IsObject() || displayed(v) {
		return
	}
	id := v.Get("id").Text()
	if id == "" {
		id = fmt.Sprintf("#%d", n)
	}
	u := &transcript.Usage{
		Run: p.task, Conversation: p.task + p.suffix, Time: at, Origin: p.origin(v), Model: model, Provider: v.Get("modelInfo", "provider").Str(),
		Input: m.Get("inputTokens").Count(), Output: m.Get("outputTokens").Count(), CacheRead: first(m, "cacheReadTokens", "cacheRead").Count(),
		CacheWrite: first(m, "cacheWriteTokens", "cacheWrite").Count(), Requests: transcript.Known(1), Cost: m.Get("cost").NanoUSD(),
	}
	if sum {
		u.Requests = transcript.Count{}
	}
	u.Key = p.key(message{stamp: id})
	if agent, _, many := strings.Cut(path.Base(p.task), "__"); many && at.Valid && v.Get("id").Text() != "" {
		// A teammate has a file for each task, and one that goes on repeats what was before.
		u.Key = fmt.Sprintf("%s/%s:%s@%d", path.Dir(p.task), agent, id, at.UnixMicro)
	}
	if u.Input.Known {
		u.Input.N = max(u.Input.N-u.CacheRead.N-u.CacheWrite.N, 0)
	}
	if u.Cost.Known {
		u.CostSource = "metrics.cost"
	}
	p.emit(u)
}
