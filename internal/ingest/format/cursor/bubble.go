package cursor

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Values that the editor writes: the type of a user's bubble, the capabilityType of a compaction, the status of a call that succeeded.
const (
	typeUser             = 1
	capabilityCompaction = 22
	statusCompleted      = "completed"
)

// bubble yields the records of one row.
func (p *parser) bubble(row, v jsontext.Value, table string) {
	b := &bubble{parser: p, value: v, id: row.Get("bubble").Text(), table: table}
	if !p.started.Valid {
		p.started = firstTime(row.Get("started"))
	}
	b.typ, _ = v.Get("type").Int()
	if b.typ == 0 {
		b.typ, _ = row.Get("type").Int()
	}
	b.at = firstTime(v.Get("createdAt"), row.Get("created"), v.Get("timingInfo", "clientRpcSendTime"), v.Get("timingInfo", "clientEndTime"))
	n, _ := row.Get("abandoned").Int()
	b.abandoned = table == tableLost && n != 0
	b.events()
}

// inlineBubble yields the records of a message inside its composer.
func (p *parser) inlineBubble(v jsontext.Value, id string) {
	b := &bubble{parser: p, value: v, id: id, table: tableComposer, at: firstTime(v.Get("createdAt"), v.Get("timingInfo", "clientRpcSendTime"))}
	b.typ, _ = v.Get("type").Int()
	b.events()
}

// bubble is one message of the editor while its events are made: text, reasoning, or a call and its result.
type bubble struct {
	*parser
	value     jsontext.Value
	id        string
	table     string
	typ       int64
	at        transcript.Time
	abandoned bool // the composer's list no longer names it
	emitted   bool
}

func (b *bubble) events() {
	v := b.value
	if b.id == "" {
		b.calls++
		b.id = fmt.Sprintf("#%d", b.calls)
	}
	if m := v.Get("modelInfo", "modelName").Str(); m != "" {
		b.model, b.conv.Model = m, m
	}
	if !b.at.Valid && !b.hasMessages {
		b.at = b.started // no message states a time so far: the conversation's start
	}
	if b.at.Valid {
		b.started = b.at // for later messages without a time
	}
	b.setProject()
	if b.typ != typeUser {
		b.reasoning()
	}
	b.text()
	b.tool()
	if failure := v.Get("errorDetails"); failure.IsObject() || failure.IsString() {
		e := b.event(transcript.KindError, "assistant", "error")
		e.ID, e.Parts = b.id+"/error", []transcript.Part{b.part(failure)}
		b.emitEvent(e, transcript.Uncounted)
	}
	if !b.emitted {
		e := b.event(transcript.KindNotice, "", b.table)
		if n, _ := v.Get("capabilityType").Int(); n == capabilityCompaction {
			e.Kind, e.Role = transcript.KindCompaction, "system"
		}
		e.Parts = []transcript.Part{b.part(b.value)}
		b.emitEvent(e, transcript.Uncounted)
	}
	b.usage()
}

// setProject sets the project from a message that states the workspace.
func (b *bubble) setProject() {
	for uri := range b.value.Get("workspaceUris").Items() {
		if b.conv.Project == "" {
			b.conv.Project = format.FileURI(uri.Str())
		}
	}
}

func (b *bubble) emitEvent(e *transcript.Event, verdict transcript.Verdict) {
	b.emitted = true
	e.Verdict, e.Time = verdict, b.at
	if e.Role == "assistant" {
		e.Model = b.model
	}
	if b.abandoned {
		e.Attributes.Set("abandoned", true)
	}
	if verdict == transcript.Counted {
		b.rank = rankRows
		b.emitConversation()
		e.Conversation, e.Run = b.session, ""
	}
	b.Emit(e)
}

func (b *bubble) reasoning() {
	v := b.value.Get("thinking")
	text := v
	if v.IsObject() {
		text = v.Get("text")
	}
	if text.IsBlank() {
		return
	}
	e := b.event(transcript.KindReasoning, "assistant", "thinking")
	e.ID, e.Parts = b.id+"/thinking", []transcript.Part{b.part(v)}
	b.emitEvent(e, transcript.Counted)
}

func (b *bubble) text() {
	text := b.value.Get("text")
	if text.IsBlank() && !(b.typ == typeUser && b.value.Get("images").HasItems()) {
		return
	}
	role := "assistant"
	if b.typ == typeUser {
		role = "user"
	}
	e := b.event(transcript.KindMessage, role, "text")
	e.ID, e.Parts = b.id, []transcript.Part{b.part(b.value)}
	b.emitEvent(e, transcript.Counted)
	if b.typ == typeUser {
		b.setTitleFrom(readTags(text.Str()).query)
	}
}

// tool yields a call and, once it has ended, its result.
func (b *bubble) tool() {
	v := b.value.Get("toolFormerData")
	name := v.Get("name").Str()
	if !isTool(v) {
		return
	}
	id := cmp.Or(v.Get("toolCallId").Text(), b.id)
	input := inputOf(v)
	e := b.event(transcript.KindToolCall, "assistant", "tool")
	e.ID = b.id + "/call"
	call := &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames, nil)}
	e.Parts = []transcript.Part{b.part(v)}
	e.Parts[0].Call = call
	if s := v.Get("userDecision").Str(); s != "" {
		e.Attributes = transcript.Attributes{"decision": s}
	}
	b.emitEvent(e, transcript.Counted)

	status := v.Get("status").Str()
	output := v.Get("result")
	if output.IsNull() || output.Len() <= len(`""`) {
		if failure := v.Get("error"); !failure.IsNull() {
			output = failure
		}
	}
	if status != statusCompleted && status != "error" && status != "cancelled" && output.IsNull() {
		return
	}
	if output.IsNull() {
		output = v.Get("status")
	}
	r := b.event(transcript.KindToolResult, "tool", "tool")
	r.ID = b.id + "/result"
	result := &transcript.Result{Call: id, Name: name, Status: status, Output: int64(output.Len())}
	switch status {
	case statusCompleted:
		result.Failed = transcript.No
	case "error", "cancelled":
		result.Failed = transcript.Yes
	}
	r.Parts = []transcript.Part{b.part(output)}
	r.Parts[0].Result = result
	b.emitEvent(r, transcript.Counted)
}

// usage yields the request of a message that states its tokens.
func (b *bubble) usage() {
	count := b.value.Get("tokenCount")
	input, output := count.Get("inputTokens").Count(), count.Get("outputTokens").Count()
	if input.N <= 0 && output.N <= 0 {
		return
	}
	at := b.at
	if !at.Valid {
		at = b.started
	}
	b.Emit(&transcript.Usage{
		Run: b.session, Conversation: b.session, Key: b.session + ":" + b.id, Rank: rankRows, Origin: b.parser.baseOrigin, Time: at, Model: b.model,
		Input: input, Output: output, Requests: transcript.Known(1), Estimated: true,
	})
}
