package cline

import (
	"fmt"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// session yields the records of <session>/<session>.messages.json, or of the file of a subagent beside it.
func (p *parser) session() {
	root := p.task
	stem := strings.TrimSuffix(path.Base(p.in.Path), ".messages.json")
	child := path.Dir(p.in.Path) != "." && stem != root
	if path.Dir(p.in.Path) == "." {
		p.task, root = stem, stem
	}
	c := transcript.Conversation{Rank: 1, Child: child}
	if child {
		p.task, c.Agent = root+"/"+stem, stem
	}
	p.say(c)
	if child {
		p.link(root, p.task)
	}
	if !p.document() {
		return
	}
	messages := p.whole
	if !messages.IsArray() {
		messages = p.whole.Get("messages")
	}
	if !messages.IsArray() {
		p.problem("not a session", "no list of messages", p.at)
		return
	}
	n := 0
	for v := range messages.Items() {
		n++
		p.turn(v, n)
		if p.done {
			return
		}
	}
}

// turn yields the events of one message, one for each block, and its request.
func (p *parser) turn(v format.Value, n int) {
	var at transcript.Time
	if ms, ok := v.Get("ts").Int(); ok {
		at = format.UnixMilli(ms)
	}
	role, summary := v.Get("role").Str(), v.Get("metadata", "kind").Str() == "compaction_summary"
	model := v.Get("modelInfo", "id").Str()
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
	p.turnUsage(v, n, at, model)
}

func textOf(b format.Value) format.Value {
	if b.IsObject() {
		return b.Get("text")
	}
	return b
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
	case "thinking", "redacted_thinking":
		e.Kind = transcript.KindReasoning
	case "tool_use":
		e.Kind = transcript.KindToolCall
		input := b.Get("input")
		part.Call = &transcript.Call{ID: b.Get("id").Str(), Name: b.Get("name").Str(), Input: int64(input.Len()), Paths: pathsOf(input)}
		if part.Call.ID == "" {
			p.count++
			part.Call.ID = fmt.Sprintf("#%d", p.count)
		}
		p.calls[part.Call.ID] = []transcript.Call{*part.Call}
	case "tool_result":
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		part.Result = &transcript.Result{Call: b.Get("tool_use_id").Str(), Failed: b.Get("is_error").Bool(), Output: int64(b.Get("content").Len())}
		if call := p.calls[part.Result.Call]; len(call) > 0 {
			part.Result.Name = call[0].Name
		}
	default:
		e.Verdict, e.Kind = transcript.Uncounted, transcript.KindUnknown
	}
}

func pathsOf(input format.Value) (paths []string) {
	const longest = 4096
	add := func(v format.Value) {
		if s := v.Str(); s != "" && len(s) <= longest && !strings.ContainsAny(s, "\n\x00") {
			paths = append(paths, s)
		}
	}
	for key, f := range input.Fields() {
		switch key {
		case "path", "file_path":
			add(f)
		case "paths", "files":
			for item := range f.Items() {
				add(item)
			}
		}
	}
	return paths
}

// turnUsage yields the request behind a message. What is only shown repeats one.
func (p *parser) turnUsage(v format.Value, n int, at transcript.Time, model string) {
	m := v.Get("metrics")
	if !m.IsObject() || v.Get("metadata", "displayOnly").Bool() == transcript.Yes {
		return
	}
	id := v.Get("id").Text()
	if id == "" {
		id = fmt.Sprintf("#%d", n)
	}
	u := &transcript.Usage{
		Run: p.task, Conversation: p.task, Time: at, Origin: p.origin(v), Model: model, Provider: v.Get("modelInfo", "provider").Str(),
		Input: m.Get("inputTokens").Count(), Output: m.Get("outputTokens").Count(), CacheRead: m.Get("cacheReadTokens").Count(),
		CacheWrite: m.Get("cacheWriteTokens").Count(), Requests: transcript.Known(1), Cost: m.Get("cost").NanoUSD(),
	}
	u.Key = p.key(message{stamp: id})
	if u.Input.Known {
		u.Input.N = max(u.Input.N-u.CacheRead.N-u.CacheWrite.N, 0)
	}
	if u.Cost.Known {
		u.CostSource = "metrics.cost"
	}
	p.emit(u)
}
