package commandcode

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sources are the sources of messages in the user's role that are the user's; other ones are the program's own. Version 2 names its interface.
var sources = map[string]bool{"": true, "user": true, "followup": true, "cli": true}

// message yields the events of a message, and the request that it states.
func (p *parser) message(l *line) {
	said := false
	switch l.role {
	case "user", "tool":
		said = p.prompt(l)
	case "assistant":
		said = p.answer(l)
	case "system":
		if said = l.content.HasItems() || !l.content.IsBlank(); said {
			p.Emit(p.event(l, l.content, transcript.KindSystem, "system"))
		}
	default:
		p.uncounted(l, transcript.KindUnknown)
		return
	}
	if !said {
		p.uncounted(l, transcript.KindNotice)
	}
	p.usage(l)
}

// prompt yields what the user said, what the program put into the user's role, and the results of tools, which are there, too. It reports whether there
// was any of it.
func (p *parser) prompt(l *line) (said bool) {
	kind, role := transcript.KindMessage, "user"
	isMade := l.meta.Get("isMeta").Bool() == transcript.Yes || l.meta.Get("isAutomated").Bool() == transcript.Yes
	if isMade || !sources[l.meta.Get("source").Word()] || l.role == "tool" {
		kind, role = transcript.KindSystem, "system"
	}
	var e *transcript.Event
	if !l.content.IsBlank() {
		e = p.event(l, l.content, kind, role)
	}
	for v := range l.content.Items() {
		switch {
		case isResult(v):
			p.result(l, v)
			said = true
		case v.Get("text").IsBlank() && !v.IsString():
		case e == nil:
			e = p.event(l, v, kind, role)
		default:
			e.Parts = append(e.Parts, p.part(l, v))
		}
	}
	if e == nil {
		return said
	}
	if kind == transcript.KindMessage && !p.isNamed && p.facts.Title == "" && !l.duplicate {
		p.facts.Title = strings.Clone(format.Title(e.Parts[0].Text))
	}
	p.Emit(e)
	return true
}

// answer yields what the agent thought, said and called. It reports whether there was any of it.
func (p *parser) answer(l *line) (said bool) {
	emit := func(v jsontext.Value, kind transcript.Kind) *transcript.Event {
		said = true
		return p.event(l, v, kind, "assistant")
	}
	if !l.content.IsBlank() {
		p.Emit(emit(l.content, transcript.KindMessage))
	}
	for v := range l.content.Items() {
		switch typ := v.Get("type").Word(); typ {
		case "text":
			if !v.Get("text").IsBlank() {
				p.Emit(emit(v, transcript.KindMessage))
			}
		case "thinking", "reasoning":
			p.Emit(emit(v, transcript.KindReasoning))
		case "tool_use", "tool-call":
			e := emit(v, transcript.KindToolCall)
			e.Parts[0].Call = p.call(v)
			p.Emit(e)
		case "tool_result", "tool-result":
			p.result(l, v)
			said = true
		default:
			e := emit(v, transcript.KindUnknown)
			e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
			p.Emit(e)
		}
	}
	return said
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"file_path", "filePath", "absolutePath", "path", "directory"}
	pathLists = []string{"paths", "file_paths"}
)

func (p *parser) call(v jsontext.Value) *transcript.Call {
	input := v.Get("input")
	c := &transcript.Call{
		ID: v.First("id", "toolCallId").Str(), Name: v.First("name", "toolName").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists),
	}
	p.tools[c.ID] = c.Name
	return c
}

func isResult(v jsontext.Value) bool {
	return v.Get("type").Is("tool_result") || v.Get("type").Is("tool-result")
}

// result yields what came of a call.
func (p *parser) result(l *line, v jsontext.Value) {
	output := v.First("content", "output")
	res := &transcript.Result{Call: v.First("tool_use_id", "toolCallId").Str(), Failed: v.Get("is_error").Bool(), Output: int64(output.Len())}
	res.Name = cmp.Or(v.Get("toolName").Str(), p.tools[res.Call])
	switch typ := output.Get("type").Str(); {
	case strings.HasPrefix(typ, "error"):
		res.Failed = transcript.Yes
	case typ != "" && res.Failed == transcript.Unstated:
		res.Failed = transcript.No
	}
	if !output.Exists() {
		output = v
	}
	e := p.event(l, output, transcript.KindToolResult, "tool")
	e.Parts[0].Result = res
	p.Emit(e)
}

// usage yields the request of an answer, if the line states one.
func (p *parser) usage(l *line) {
	n := l.usage
	if l.duplicate || l.role != "assistant" || !n.IsObject() {
		return
	}
	u := &transcript.Usage{
		Run: p.run, Conversation: p.run, Time: l.at, Origin: l.origin, Model: l.model, Requests: transcript.Known(1), Key: l.key,
		Input: n.Get("inputTokens").Tokens(), Output: n.Get("outputTokens").Tokens(), CacheRead: n.Get("cacheReadTokens").Tokens(),
		CacheWrite: n.Get("cacheWriteTokens").Tokens(),
	}
	if hour := n.Get("cacheWriteTokens1h").Tokens(); hour.N > 0 { // a part of what was written
		u.CacheWrite1h = transcript.Known(min(hour.N, u.CacheWrite.N))
		u.CacheWrite.N -= u.CacheWrite1h.N
	}
	if cost := n.Get("costUsd").NanoUSD(); cost.N > 0 {
		u.Cost, u.CostSource = cost, "usage.costUsd"
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N+u.CacheWrite1h.N == 0 && !u.Cost.Known {
		return
	}
	if u.Key == "" {
		u.Key = p.run + " #" + strconv.Itoa(l.origin.Line)
	} else {
		u.Rank = format.AtHome(0, p.isHome(l))
	}
	p.Emit(u)
}
