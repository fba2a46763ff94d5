package cursor

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The numbers that the editor has for a person who speaks, and for a mark where the conversation was made shorter.
const (
	byUser          = 1
	markCompaction  = 22
	statusCompleted = "completed"
)

// bubble yields what one row says.
func (p *parser) bubble(row, v format.Value, table string) {
	b := &bubble{parser: p, value: v, id: row.Get("bubble").Text(), table: table}
	if !p.started.Valid {
		p.started = milli(row.Get("started"))
	}
	b.by, _ = v.Get("type").Int()
	if b.by == 0 {
		b.by, _ = row.Get("type").Int()
	}
	b.at = milli(v.Get("createdAt"), row.Get("created"), v.Get("timingInfo", "clientRpcSendTime"), v.Get("timingInfo", "clientEndTime"))
	n, _ := row.Get("abandoned").Int()
	b.left = table == tableLost && n != 0
	b.all()
}

// inline yields what a message says that stands in its composer.
func (p *parser) inline(v format.Value, id string) {
	b := &bubble{parser: p, value: v, id: id, table: tableComposer, at: milli(v.Get("createdAt"), v.Get("timingInfo", "clientRpcSendTime"))}
	b.by, _ = v.Get("type").Int()
	b.all()
}

// bubble is one message of the editor while its events are made: words, thoughts, or a call and what it gave.
type bubble struct {
	*parser
	value format.Value
	id    string
	table string
	by    int64
	at    transcript.Time
	left  bool // no list names it any more
	told  bool
}

func (b *bubble) all() {
	v := b.value
	if b.id == "" {
		b.calls++
		b.id = fmt.Sprintf("#%d", b.calls)
	}
	if m := v.Get("modelInfo", "modelName").Str(); m != "" {
		b.model, b.is.Model = m, m
	}
	if !b.at.Valid && !b.said {
		b.at = b.started // when the conversation was, where no message tells
	}
	if b.at.Valid {
		b.started = b.at // of what follows and states no time
	}
	b.placed()
	if b.by != byUser {
		b.thought()
	}
	b.words()
	b.tool()
	if failure := v.Get("errorDetails"); failure.IsObject() || failure.IsString() {
		e := b.event(transcript.KindError, "assistant", "error")
		e.ID, e.Parts = b.id+"/error", []transcript.Part{b.part(failure)}
		b.out(e, transcript.Uncounted)
	}
	if !b.told {
		e := b.event(transcript.KindNotice, "", b.table)
		if n, _ := v.Get("capabilityType").Int(); n == markCompaction {
			e.Kind, e.Role = transcript.KindCompaction, "system"
		}
		e.Parts = []transcript.Part{b.part(b.value)}
		b.out(e, transcript.Uncounted)
	}
	b.tokens()
}

// placed takes the directory that was worked in from a message that states it.
func (b *bubble) placed() {
	for uri := range b.value.Get("workspaceUris").Items() {
		if b.is.Project == "" {
			b.is.Project = format.FileURI(uri.Str())
		}
	}
}

func (b *bubble) out(e *transcript.Event, verdict transcript.Verdict) {
	b.told = true
	e.Verdict, e.Time = verdict, b.at
	if e.Role == "assistant" {
		e.Model = b.model
	}
	if b.left {
		e.Attributes.Set("abandoned", true)
	}
	if verdict == transcript.Counted {
		b.rank = rankRows
		b.speak()
		e.Conversation, e.Run = b.session, ""
	}
	b.Emit(e)
}

func (b *bubble) thought() {
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
	b.out(e, transcript.Counted)
}

func (b *bubble) words() {
	text := b.value.Get("text")
	images := false
	for range b.value.Get("images").Items() {
		images = true
	}
	if text.IsBlank() && !(b.by == byUser && images) {
		return
	}
	role := "assistant"
	if b.by == byUser {
		role = "user"
	}
	e := b.event(transcript.KindMessage, role, "text")
	e.ID, e.Parts = b.id, []transcript.Part{b.part(b.value)}
	b.out(e, transcript.Counted)
	if b.by == byUser {
		b.prompted(readTags(text.Str()).query)
	}
}

// tool yields a call and, once it has ended, what it gave.
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
	call := &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(inside(input), pathNames, nil)}
	e.Parts = []transcript.Part{b.part(v)}
	e.Parts[0].Call = call
	if s := v.Get("userDecision").Str(); s != "" {
		e.Attributes = transcript.Attributes{"decision": s}
	}
	b.out(e, transcript.Counted)

	status := v.Get("status").Str()
	gave := v.Get("result")
	if gave.IsNull() || gave.Len() <= len(`""`) {
		if failure := v.Get("error"); !failure.IsNull() {
			gave = failure
		}
	}
	if status != statusCompleted && status != "error" && status != "cancelled" && gave.IsNull() {
		return
	}
	if gave.IsNull() {
		gave = v.Get("status")
	}
	r := b.event(transcript.KindToolResult, "tool", "tool")
	r.ID = b.id + "/result"
	result := &transcript.Result{Call: id, Name: name, Status: status, Output: int64(gave.Len())}
	switch status {
	case statusCompleted:
		result.Failed = transcript.No
	case "error", "cancelled":
		result.Failed = transcript.Yes
	}
	r.Parts = []transcript.Part{b.part(gave)}
	r.Parts[0].Result = result
	b.out(r, transcript.Counted)
}

// inside is the JSON that a string holds, or the value itself.
func inside(v format.Value) format.Value {
	if in := v.Inside(); in.Exists() {
		return in
	}
	return v
}

// tokens yields the request that a message states, where it does.
func (b *bubble) tokens() {
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
		Run: b.session, Conversation: b.session, Key: b.session + ":" + b.id, Rank: rankRows, Origin: b.parser.at, Time: at, Model: b.model,
		Input: input, Output: output, Requests: transcript.Known(1), Estimated: true,
	})
}
