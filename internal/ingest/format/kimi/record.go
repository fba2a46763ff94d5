package kimi

import (
	"cmp"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// uncountedKind returns the kind of a known type of line of Kimi Code that does not count, by type or by the part before the first dot, "" of others.
func uncountedKind(typ string) transcript.Kind {
	switch typ {
	case "metadata", "forked", "config", "tools", "permission", "turn", "plan_mode", "swarm_mode", "llm", "mcp", "usage", "token_counting",
		"runtime", "profile", "plugin", "step", "context", "task", "background", "agent", "environment", "file_history", "interruptionReminder", "plan",
		"prompt", "skill", "tower_mode":
		return transcript.KindLifecycle
	case "full_compaction", "micro_compaction":
		return transcript.KindCompaction
	case "context.append_message", "goal", "cron", "interaction", "subagent":
		return transcript.KindNotice
	case "subagent.failed", "turn.step.retrying":
		return transcript.KindError
	}
	return ""
}

func kindOf(typ string) transcript.Kind {
	family, _, _ := strings.Cut(typ, ".")
	return cmp.Or(uncountedKind(typ), uncountedKind(family), transcript.KindUnknown)
}

// injectedOrigins are the origins of prompts that the user did not type.
var injectedOrigins = map[string]bool{
	"background_task": true, "compaction_summary": true, "cron_job": true, "cron_missed": true, "hook_result": true, "injection": true, "retry": true,
	"system_trigger": true, "task": true,
}

// record yields the records of a line of Kimi Code.
func (p *parser) record(l line) {
	switch l.typ {
	case "turn.prompt", "turn.steer":
		p.prompt(l)
		return
	case "context.append_loop_event":
		p.loopEvent(l)
		return
	case "context.apply_compaction":
		p.Emit(p.event(l, l.value, transcript.KindCompaction, "system"))
		return
	case "context.append_message":
		if p.sent(l) {
			return
		}
	case "usage.record":
		if u := p.readUsage(l, l.usage, codeTokens, recordMark); u != nil {
			if u.Model = l.model.Str(); u.Model == "" {
				u.Model = p.facts.model
			}
			p.hasRecords = true
			p.Emit(u)
			return
		}
	case "forked":
		p.emitRun(transcript.Conversation{Attributes: transcript.Attributes{forkedAt: strconv.FormatInt(l.origin.Offset, 10)}})
	case "subagent.spawned":
		p.spawned(l)
	}
	e := p.uncountedRow(l, kindOf(l.typ))
	switch {
	case l.typ == "context.append_message" && p.isPrompt(l.message.Get("content")), l.typ == "prompt.steered" && p.isPrompt(l.content):
		e.Verdict = transcript.DuplicateOf // the prompt as sent to the model, or as put into a turn
	case l.typ == "turn.ended" && l.value.Get("error").IsObject():
		e.Kind = transcript.KindError
	case e.Kind == transcript.KindUnknown:
		e.Attributes.Set("version", p.facts.version)
	}
	p.Emit(e)
}

var seed = maphash.MakeSeed()

// isPrompt reports whether a value has the bytes of a prompt before it.
func (p *parser) isPrompt(v jsontext.Value) bool { return p.prompts[maphash.Bytes(seed, v.Raw())] }

// spawned yields what the caller's wire states about a subagent. Its tokens are in its own wire.
func (p *parser) spawned(l line) {
	id := l.value.Get("subagentId").Str()
	if id == "" {
		return
	}
	r := &transcript.Run{
		ID: agentRun(p.session, id), Rank: rankMetadata, Named: true, Child: true, Group: p.loc.bucket, Title: format.Title(l.value.Get("description").Str()),
		Agent: l.value.Get("subagentName").Str(),
	}
	r.Attributes.Set("call", l.value.Get("parentToolCallId").Str())
	p.Emit(r)
}

// prompt yields a prompt of the user, or one that the program injected.
func (p *parser) prompt(l line) {
	text := l.input
	if !text.Exists() {
		text = l.content
	}
	if !text.Exists() {
		text = l.value
	}
	e := p.event(l, text, transcript.KindMessage, "user")
	from := l.promptOrigin.Get("kind").Str()
	if injectedOrigins[from] {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	if text.Offset() != l.value.Offset() {
		p.prompts[maphash.Bytes(seed, text.Raw())] = true
		if !injectedOrigins[from] || p.loc.agent != "" {
			p.setTitleFrom(firstText(text))
		}
	}
	if from != "user" {
		e.Attributes.Set("origin", from)
	}
	p.Emit(e)
}

// sent yields a message as it was sent to the model, and reports whether it is more than a notice. It never counts, for what a turn said has
// lines of its own. Only of what Kimi Code took over from Kimi CLI there are none, so it is told who said what.
func (p *parser) sent(l line) (emitted bool) {
	emit := func(e *transcript.Event) {
		e.Verdict, emitted = transcript.Uncounted, true
		p.Emit(e)
	}
	content := l.message.Get("content")
	if !content.Exists() {
		return false
	}
	switch l.message.Get("role").Str() {
	case "user":
		origin := l.message.Get("origin", "kind").Str()
		if !p.isPrompt(content) && !injectedOrigins[origin] && !strings.HasPrefix(firstText(content), "<system-reminder>") {
			emit(p.event(l, content, transcript.KindMessage, "user"))
			p.setTitleFrom(firstText(content))
		}
	case "assistant":
		for part := range content.Items() {
			emit(p.event(l, part, partKind(part), "assistant"))
		}
		for call := range l.message.Get("toolCalls").Items() {
			emit(p.call(l, call))
		}
	case "tool":
		e := p.event(l, content, transcript.KindToolResult, "tool")
		e.Parts[0].Result = p.result(l.message.Get("toolCallId"), l.message.Get("isError"), content)
		emit(e)
	}
	return emitted
}

// partKind is the kind of a part of an answer.
func partKind(part jsontext.Value) transcript.Kind {
	if part.Get("type").Is("think") {
		return transcript.KindReasoning
	}
	return transcript.KindMessage
}

// firstText returns the first text of a prompt, which is a string or an array of parts.
func firstText(prompt jsontext.Value) string {
	if prompt.IsString() {
		return prompt.Str()
	}
	for part := range prompt.Items() {
		if text := strings.TrimSpace(part.Get("text").Str()); text != "" {
			return text
		}
	}
	return ""
}

// loopEvent yields the records of a context.append_loop_event: text, reasoning, calls and results.
func (p *parser) loopEvent(l line) {
	v := l.event
	typ := v.Get("type").Word()
	l.typ = typ
	switch typ {
	case "content.part":
		part := v.Get("part")
		kind := partKind(part)
		if !part.Exists() {
			part = v
		}
		p.emitAssistant(p.event(l, part, kind, "assistant"))
	case "tool.call":
		args := v.Get("args")
		c := &transcript.Call{ID: v.Get("toolCallId").Text(), Name: v.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil)}
		p.toolNames[c.ID] = c.Name
		e := p.event(l, v, transcript.KindToolCall, "assistant")
		e.Parts[0].Call = c
		p.emitAssistant(e)
	case "tool.result":
		result := v.Get("result")
		e := p.event(l, v, transcript.KindToolResult, "tool")
		e.Parts[0].Result = p.result(v.Get("toolCallId"), result.Get("isError"), result)
		p.Emit(e)
	default:
		if typ == "step.end" && !p.hasRecords {
			if u := p.readUsage(l, v.Get("usage"), codeTokens, stepMark); u != nil {
				u.Model = p.facts.model
				p.Emit(u)
			}
		}
		kind := kindOf(typ)
		if typ == "" {
			kind, l.typ = transcript.KindUnknown, "context.append_loop_event"
		}
		p.Emit(p.uncountedRow(l, kind))
	}
}

func (p *parser) emitAssistant(e *transcript.Event) {
	e.Model = p.facts.model
	p.Emit(e)
}

func (p *parser) result(call, failed, output jsontext.Value) *transcript.Result {
	r := &transcript.Result{Call: call.Text(), Output: int64(output.Len()), Failed: failed.Bool()}
	r.Name = p.toolNames[r.Call]
	return r
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path"}
