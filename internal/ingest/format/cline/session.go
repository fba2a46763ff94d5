package cline

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// session yields the records of <session>/<session>.messages.json, or of a subagent's file beside it.
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
	messages := p.doc
	if !messages.IsArray() {
		messages = p.doc.Get("messages")
	}
	resumed := p.resumedAt(messages)
	if resumed > 0 && !child {
		p.suffix = "/session" // the task's own conversation has the plain id
	}
	p.emitTask(c)
	if child {
		p.link(root, p.task)
	}
	if read && !messages.IsArray() {
		p.noMessages("not a session")
		return
	}
	t := turns{p: p}
	for n, v := range messages.Numbered() {
		if !child {
			t.message(v)
		}
		p.sessionMessage(v, n+1, n < resumed)
		if p.out.Done() {
			return
		}
	}
	t.flush()
}

// turns hints at the time of each prompt. Since November 2026 a prompt that states no time is stored with that of the message before
// it, which may be copied from another session; so the time is that of the first answer, and only of a prompt without one its own.
type turns struct {
	p      *parser
	prompt jsontext.Value
}

func (t *turns) message(v jsontext.Value) {
	if isPrompt(v) {
		if t.prompt.Get("ts").Exists() {
			t.flush()
		}
		if !t.prompt.Exists() {
			t.prompt = v
		}
	}
	if ms, ok := v.Get("ts").Int(); ok && v.Get("role").Is("assistant") {
		t.hint(ms)
	}
}

// flush hints at the time of a prompt that has no answer.
func (t *turns) flush() {
	if ms, ok := t.prompt.Get("ts").Int(); ok {
		t.hint(ms)
	}
}

func (t *turns) hint(ms int64) {
	if t.prompt.Exists() {
		at := t.p.origin(t.prompt)
		t.p.out.Hint(t.p.task, hintTurn, fmt.Sprintf("%d\t%d", ms, at.Offset), at)
		t.prompt = jsontext.Value{}
	}
}

// The keys of the hints that tell which part of a session is copied.
const (
	hintTurn    = "turn"    // "<ms>\t<offset>" of each prompt
	hintForked  = "forked"  // ms: earlier messages were copied from another session or program
	hintResumed = "resumed" // offset: earlier messages are the history of a task
)

// resumeWarnings are the beginnings of the message that Cline adds where a session continues a task.
var resumeWarnings = []string{"[cline-legacy-resume-warning:v1]", "Warning: this is a legacy conversation"}

// resumedAt returns the number of messages before the resume warning, 0 without one.
func (p *parser) resumedAt(messages jsontext.Value) int {
	for n, v := range messages.Numbered() {
		if v.Get("role").Is("user") {
			for text := range textsOf(v) {
				for _, warning := range resumeWarnings {
					if strings.HasPrefix(strings.TrimSpace(text.Str()), warning) {
						at := p.origin(v)
						p.out.Hint(p.task, hintResumed, fmt.Sprint(at.Offset), at)
						return n
					}
				}
			}
		}
	}
	return 0
}

// isPrompt reports whether a message has text of the user.
func isPrompt(v jsontext.Value) bool {
	if v.Get("role").Is("user") {
		for range textsOf(v) {
			return true
		}
	}
	return false
}

// textsOf yields the text blocks of a message.
func textsOf(v jsontext.Value) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
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

// sessionMessage yields the events of one message, one per block, and its usage.
func (p *parser) sessionMessage(v jsontext.Value, n int, resumed bool) {
	at := v.Get("ts").MilliTime()
	role, summary, injected := v.Get("role").Str(), isCompaction(v), isInjected(v)
	model := v.Get("modelInfo").First("id", "modelId").Str()
	if model != "" {
		p.setModel(model)
	}
	emitted := false
	block := func(b jsontext.Value) {
		e := p.event(v, "", role, b.Get("type").Str(), at)
		e.Model, emitted = model, true
		part := jsontext.PartIn(v, b, blockText(b))
		p.classify(e, &part, b)
		if summary && e.Kind == transcript.KindMessage {
			e.Kind, e.Role = transcript.KindCompaction, "system"
		}
		if e.Kind == transcript.KindMessage && (injected || role == "user" && isNotice(textOf(b).Str())) {
			e.Kind, e.Role = transcript.KindSystem, "system"
		}
		e.Parts = []transcript.Part{part}
		if e.Kind == transcript.KindMessage && role == "user" && e.Verdict == transcript.Counted {
			p.setTitle(typed(textOf(b).Str()), at)
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
	if !emitted {
		e := p.event(v, transcript.KindUnknown, role, "", at)
		e.Parts = []transcript.Part{{Text: blockText(v)}}
		p.emit(e)
	}
	p.sessionUsage(v, n, at, model, resumed)
}

func textOf(b jsontext.Value) jsontext.Value {
	if b.IsObject() {
		return b.Get("text")
	}
	return b
}

// compactionSummary is the kind or type, in the message or its metadata, of a message that replaces those before it.
const compactionSummary = "compaction_summary"

func isCompaction(v jsontext.Value) bool {
	if v.Get("compactionSummary").Bool() == transcript.Yes {
		return true
	}
	for _, holder := range []jsontext.Value{v.Get("metadata"), v} {
		if holder.Get("kind").Is(compactionSummary) || holder.Get("type").Is(compactionSummary) {
			return true
		}
	}
	return false
}

// isDisplayOnly reports whether a message is for display only; its metrics repeat a request.
func isDisplayOnly(v jsontext.Value) bool {
	return v.Get("metadata", "displayOnly").Bool() == transcript.Yes || v.Get("displayOnly").Bool() == transcript.Yes
}

// classify sets the kind, role and verdict of the event of a block, and its call or result.
func (p *parser) classify(e *transcript.Event, part *transcript.Part, b jsontext.Value) {
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
		if e.Role == "assistant" && strings.TrimSpace(textOf(b).Str()) == "" {
			e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
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
	case "image", "image_ref", "file":
		e.Verdict, e.Kind = transcript.Uncounted, transcript.KindNotice
	default:
		e.Verdict, e.Kind = transcript.Uncounted, transcript.KindUnknown
	}
}

// compaction yields the summaries in <session>.compaction.json, or in that of a subagent: what the model sees in place of the messages before
// it. The other messages in the file are those of the session.
func (p *parser) compaction() {
	if stem := strings.TrimSuffix(path.Base(p.in.Path), compactionSuffix); stem != p.task {
		p.task += "/" + stem
	}
	p.emit(&transcript.Run{ID: p.task, Named: true})
	if !p.document() {
		return
	}
	for v := range p.doc.Get("messages").Items() {
		if isCompaction(v) {
			e := p.event(v, transcript.KindCompaction, "system", roleCompaction, v.Get("ts").MilliTime())
			content := v.Get("content")
			e.Run, e.Conversation, e.Parts = p.task, "", []transcript.Part{jsontext.PartIn(v, content, blockText(content))}
			p.emit(e)
		}
	}
}

// maxResult bounds the outputs that are read. Longer ones are only kept.
const maxResult = 16 << 20

// savedResult yields the whole output of a call in a file of its own, as an uncounted row of no session.
func (p *parser) savedResult() {
	raw, err := format.ReadAll(p.in.Reader, maxResult)
	if errors.Is(err, layer.ErrTooLarge) {
		return
	}
	if err != nil {
		p.out.Fail(err)
		return
	}
	p.emit(&transcript.Run{ID: resultsDir, Named: true})
	p.emit(&transcript.Event{
		Run: resultsDir, Verdict: transcript.Uncounted, Kind: transcript.KindToolResult, Role: "tool", Type: roleResult,
		Origin: transcript.Origin{Length: int64(len(raw))}, Parts: []transcript.Part{{Text: format.LooseText(raw)}},
	})
}

// failed reports whether a call failed: its block states so, or one of the commands in it failed.
func failed(b jsontext.Value) transcript.Truth {
	for item := range b.Get("content").Items() {
		if item.Get("success").Bool() == transcript.No {
			return transcript.Yes
		}
	}
	return b.Get("is_error").Bool()
}

// The members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path"}
	pathLists = []string{"paths", "files"}
)

// sessionUsage yields the request of a message. Messages for display only repeat one and are skipped. With sum, the metrics stand for the
// whole history of a task.
func (p *parser) sessionUsage(v jsontext.Value, n int, at transcript.Time, model string, sum bool) {
	m := v.Get("metrics")
	if !m.IsObject() || isDisplayOnly(v) {
		return
	}
	id := v.Get("id").Text()
	if id == "" {
		id = fmt.Sprintf("#%d", n)
	}
	u := &transcript.Usage{
		Run: p.task, Conversation: p.task + p.suffix, Time: at, Origin: p.origin(v), Model: model, Provider: v.Get("modelInfo", "provider").Str(),
		Input: m.Get("inputTokens").Count(), Output: m.Get("outputTokens").Count(), CacheRead: m.First("cacheReadTokens", "cacheRead").Count(),
		CacheWrite: m.First("cacheWriteTokens", "cacheWrite").Count(), Requests: transcript.Known(1), Cost: m.Get("cost").NanoUSD(),
	}
	if sum {
		u.Requests = transcript.Count{}
	}
	u.Key = p.key(message{stamp: id})
	if agent, _, isTeammate := strings.Cut(path.Base(p.task), "__"); isTeammate && at.Valid && v.Get("id").Text() != "" {
		// A teammate has a file for each task, and a later file repeats the messages of earlier ones.
		u.Key = fmt.Sprintf("%s/%s:%s@%d", path.Dir(p.task), agent, id, at.UnixMicro)
	}
	if u.Input.Known && !format.ExcludeCache(u) {
		u.Input.N = 0
	}
	if u.Cost.Known {
		u.CostSource = "metrics.cost"
	}
	p.emit(u)
}
