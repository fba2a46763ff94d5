package neovate

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

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
		p.uncounted(l, jsontext.Value{}, transcript.KindUnknown)
		return
	}
	if !said {
		p.uncounted(l, jsontext.Value{}, transcript.KindNotice)
	}
	p.usage(l)
}

// What the program itself puts into the user's role.
const (
	interrupted = "[Request interrupted by user]"
	compacted   = "Chat history compacted successfully." // shown instead of the summary
	printed     = "<bash-std"                            // what a command that the user typed printed: <bash-stdout>, <bash-stderr>
)

// kindOf tells what a text in the user's role is: the user's words, the summary of a compaction, or something else of the program's.
func kindOf(l *line, text jsontext.Value, hidden bool) (kind transcript.Kind, role string) {
	switch s := text.Str(); {
	case l.shown.Is(compacted):
		return transcript.KindCompaction, "system"
	case l.role != "user" || l.hidden || hidden || s == interrupted || strings.HasPrefix(s, printed):
		return transcript.KindSystem, "system"
	}
	return transcript.KindMessage, "user"
}

// prompt yields what the user said, what the program put into the user's role, and the results of tools, which old versions had there, too. It reports
// whether there was any of it.
func (p *parser) prompt(l *line) (said bool) {
	var e *transcript.Event // of all that the user said
	emit := func() {
		if e != nil {
			p.Emit(e)
			e, said = nil, true
		}
	}
	add := func(v, text jsontext.Value, hidden bool) {
		switch kind, role := kindOf(l, text, hidden); {
		case kind != transcript.KindMessage:
			emit()
			p.Emit(p.event(l, v, kind, role))
			said = true
		case e != nil:
			e.Parts = append(e.Parts, p.part(l, v))
		default:
			e = p.event(l, v, kind, role)
			p.title(l, text)
			if !l.shown.IsBlank() && l.shown.Str() != text.Str() { // a command that became this prompt
				e.Parts = append(e.Parts, p.part(l, l.shown))
			}
		}
	}
	if !l.content.IsBlank() {
		add(l.content, l.content, false)
	}
	for v := range l.content.Items() {
		text := v.Get("text")
		if v.IsString() {
			text = v
		}
		switch {
		case isResult(v):
			emit()
			p.result(l, v)
			said = true
		case text.IsBlank() && (text.IsString() || !v.IsObject()):
		default:
			add(v, text, v.Get("hidden").Bool() == transcript.Yes)
		}
	}
	emit()
	return said
}

// title sets the title from the first prompt, as long as the settings state none. Of a command that becomes a prompt, the user has seen the command.
func (p *parser) title(l *line, text jsontext.Value) {
	if !p.isNamed && p.facts.Title == "" && !l.duplicate {
		p.facts.Title = strings.Clone(format.Title(cmp.Or(l.shown.Str(), text.Str())))
	}
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
		case "reasoning":
			if !v.Get("text").IsBlank() {
				p.Emit(emit(v, transcript.KindReasoning))
			}
		case "tool_use":
			e := emit(v, transcript.KindToolCall)
			e.Parts[0].Call = p.call(v)
			p.Emit(e)
		default:
			said = true
			p.uncounted(l, v, transcript.KindUnknown)
		}
	}
	return said
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "dir_path", "search_path", "path"}

func (p *parser) call(v jsontext.Value) *transcript.Call {
	input := v.Get("input")
	c := &transcript.Call{ID: v.Get("id").Str(), Name: v.Get("name").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	if c.ID != "" {
		p.tools[c.ID], p.inputs[c.ID] = c.Name, sum(input)
	}
	return c
}

func isResult(v jsontext.Value) bool {
	return v.Get("type").Is("tool-result") || v.Get("type").Is("tool_result")
}

// result yields what came of a call. Who approves a call can change its input: then the result has another one than the call.
func (p *parser) result(l *line, v jsontext.Value) {
	output, input := v.Get("result"), v.Get("input")
	res := &transcript.Result{Call: v.First("toolCallId", "id").Str(), Failed: output.Get("isError").Bool(), Output: int64(output.Len())}
	res.Name = cmp.Or(v.First("toolName", "name").Word(), p.tools[res.Call])
	if res.Failed == transcript.Unstated {
		res.Failed = output.Get("success").Bool().Not()
	}
	if res.Failed == transcript.Unstated && output.Get("llmContent").Exists() { // the program states failures only
		res.Failed = transcript.No
	}
	e := p.event(l, v, transcript.KindToolResult, "tool")
	e.Parts[0].Result = res
	if called, ok := p.inputs[res.Call]; ok && input.IsObject() && called != sum(input) {
		changed := p.part(l, input)
		changed.Kind = transcript.KindNotice
		e.Parts = append(e.Parts, changed)
	}
	p.Emit(e)
	p.agent(l, v)
}

// agent yields the sub-agent that a call has started or resumed.
func (p *parser) agent(l *line, v jsontext.Value) {
	id := cmp.Or(v.Get("agentId").Str(), v.Get("result", "metadata", "agentId").Str())
	if id == "" || id == p.run {
		return
	}
	p.Emit(&transcript.Run{
		ID: id, Named: true, Child: true, Group: project(p.loc.dir), Agent: cmp.Or(v.Get("agentType").Str(), v.Get("result", "metadata", "agentType").Str()),
	})
	p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.run), To: transcript.RunEnd(id), Time: l.at, Origin: l.origin, Event: l.uuid})
}
