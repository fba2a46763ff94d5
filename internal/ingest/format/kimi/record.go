package kimi

import (
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// kinds are what lines of Kimi Code are that are no events, by type or by what stands before its first dot.
var kinds = map[string]transcript.Kind{
	"metadata": transcript.KindLifecycle, "forked": transcript.KindLifecycle, "config": transcript.KindLifecycle, "tools": transcript.KindLifecycle,
	"permission": transcript.KindLifecycle, "turn": transcript.KindLifecycle, "plan_mode": transcript.KindLifecycle, "swarm_mode": transcript.KindLifecycle,
	"llm": transcript.KindLifecycle, "mcp": transcript.KindLifecycle, "usage": transcript.KindLifecycle, "token_counting": transcript.KindLifecycle,
	"runtime": transcript.KindLifecycle, "profile": transcript.KindLifecycle, "plugin": transcript.KindLifecycle, "step": transcript.KindLifecycle,
	"full_compaction": transcript.KindCompaction, "micro_compaction": transcript.KindCompaction, "context": transcript.KindLifecycle,
	"context.append_message": transcript.KindNotice, "goal": transcript.KindNotice, "task": transcript.KindLifecycle, "background": transcript.KindLifecycle,
}

func kindOf(typ string) transcript.Kind {
	if kind, known := kinds[typ]; known {
		return kind
	}
	family, _, _ := strings.Cut(typ, ".")
	if kind, known := kinds[family]; known {
		return kind
	}
	return transcript.KindUnknown
}

// injected are the origins of prompts that nobody typed.
var injected = map[string]bool{
	"background_task": true, "compaction_summary": true, "cron_job": true, "cron_missed": true, "hook_result": true, "injection": true, "retry": true,
	"system_trigger": true,
}

// record yields what a line of Kimi Code says.
func (p *parser) record(l line) {
	switch l.typ {
	case "turn.prompt", "turn.steer":
		p.prompt(l)
		return
	case "context.append_loop_event":
		p.loop(l)
		return
	case "context.apply_compaction":
		p.Emit(p.event(l, l.value, transcript.KindCompaction, "system"))
		return
	case "usage.record":
		if u := p.spent(l, l.usage, codeTokens, recordMark); u != nil {
			if u.Model = l.model.Str(); u.Model == "" {
				u.Model = p.facts.model
			}
			p.recorded = true
			p.Emit(u)
			return
		}
	case "forked":
		p.say(transcript.Conversation{Attributes: transcript.Attributes{forkedAt: strconv.FormatInt(l.origin.Offset, 10)}})
	}
	e := p.aside(l, kindOf(l.typ))
	switch {
	case l.typ == "context.append_message" && p.prompts[maphash.Bytes(seed, l.message.Get("content").Raw())]:
		e.Verdict = transcript.DuplicateOf // a prompt as it is sent to the model
	case e.Kind == transcript.KindUnknown:
		e.Attributes.Set("version", p.facts.version)
	}
	p.Emit(e)
}

var seed = maphash.MakeSeed()

// prompt yields what a user said, or what the program says in a user's place.
func (p *parser) prompt(l line) {
	said := l.input
	if !said.Exists() {
		said = l.content
	}
	if !said.Exists() {
		said = l.value
	}
	e := p.event(l, said, transcript.KindMessage, "user")
	from := l.from.Get("kind").Str()
	if injected[from] {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	if said.Offset() != l.value.Offset() {
		p.prompts[maphash.Bytes(seed, said.Raw())] = true
		if !injected[from] || p.place.agent != "" {
			p.prompted(firstText(said))
		}
	}
	if from != "user" {
		e.Attributes.Set("origin", from)
	}
	p.Emit(e)
}

// firstText is the first words of a prompt: a string, or parts.
func firstText(said format.Value) string {
	if said.IsString() {
		return said.Str()
	}
	for part := range said.Items() {
		if text := strings.TrimSpace(part.Get("text").Str()); text != "" {
			return text
		}
	}
	return ""
}

// loop yields what the model said and did.
func (p *parser) loop(l line) {
	v := l.event
	typ := v.Get("type").Word()
	l.typ = typ
	switch typ {
	case "content.part":
		part := v.Get("part")
		kind := transcript.KindMessage
		if part.Get("type").Is("think") {
			kind = transcript.KindReasoning
		}
		if !part.Exists() {
			part = v
		}
		p.answer(p.event(l, part, kind, "assistant"))
	case "tool.call":
		args := v.Get("args")
		c := &transcript.Call{ID: v.Get("toolCallId").Text(), Name: v.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil)}
		p.names[c.ID] = c.Name
		e := p.event(l, v, transcript.KindToolCall, "assistant")
		e.Parts[0].Call = c
		p.answer(e)
	case "tool.result":
		result := v.Get("result")
		e := p.event(l, v, transcript.KindToolResult, "tool")
		e.Parts[0].Result = p.result(v.Get("toolCallId"), result.Get("isError"), result)
		p.Emit(e)
	default:
		if typ == "step.end" && !p.recorded {
			if u := p.spent(l, v.Get("usage"), codeTokens, stepMark); u != nil {
				u.Model = p.facts.model
				p.Emit(u)
			}
		}
		kind := kindOf(typ)
		if typ == "" {
			kind, l.typ = transcript.KindUnknown, "context.append_loop_event"
		}
		p.Emit(p.aside(l, kind))
	}
}

func (p *parser) answer(e *transcript.Event) {
	e.Model = p.facts.model
	p.Emit(e)
}

func (p *parser) result(call, failed, output format.Value) *transcript.Result {
	r := &transcript.Result{Call: call.Text(), Output: int64(output.Len()), Failed: failed.Bool()}
	r.Name = p.names[r.Call]
	return r
}

// pathNames are the members of an input that name files.
var pathNames = []string{"path", "file_path"}
