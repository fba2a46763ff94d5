package kiro

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// messages yields the records of the log that the editor and version 3 of the command line write of a session.
func (p *parser) messages() {
	dir := path.Dir(p.in.Path)
	if path.Base(dir) == subDir { // a subagent's
		p.main, dir = subDir+"/"+format.Stem(p.in.Path), path.Dir(dir)
	}
	p.begin(path.Base(dir), orderMessages)
	p.conv.Child = p.main != conversation
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		p.base, p.origin = o.Value, o.Origin
		p.message(o.Value)
	}
	p.end()
}

// lifecycle are the known types of lines in which nobody says anything.
var lifecycle = map[string]bool{
	"turn_start": true, "turn_end": true, "session_metadata": true, "session_event": true, "tombstone": true, "pending_interaction": true,
	"interaction_resolved": true, "sub_agent_start": true, "sub_agent_complete": true,
}

// message yields the event of one line.
func (p *parser) message(v jsontext.Value) {
	m, id, at := v.Get("payload"), v.Get("id").Str(), v.Get("timestamp").Time()
	if !at.Valid {
		at = v.Get("timestamp").MilliTime()
	}
	typ, content := m.Get("type").Word(), m.Get("content")
	var e *transcript.Event
	switch typ {
	case "user":
		e = p.event(transcript.KindMessage, "user", typ, id, content)
		e.Attributes.Set("source", m.Get("source").Str())
		if n := count(m.Get("images")) + count(m.Get("documents")); n > 0 {
			e.Attributes.Set("attachments", n)
		} else if !hasWords(content) {
			e = nil
		}
		p.titled(firstText(content))
	case "assistant":
		e = p.answered(m, content, id)
	case "session_start", "system", "agent_note":
		if hasWords(content) {
			e = p.event(transcript.KindSystem, "system", typ, id, content)
		}
	case "tool_call":
		e = p.event(transcript.KindToolCall, "assistant", typ, id, m)
		input, name := m.Get("args"), m.Get("toolName").Word()
		e.Parts[0].Call = &transcript.Call{ID: p.callID(m.Get("toolCallId").Str(), name), Name: name, Input: int64(input.Len()), Paths: pathsOf(input)}
	case "tool_result":
		e = p.event(transcript.KindToolResult, "tool", typ, id, m)
		e.Parts[0].Result = p.resultOf(m)
	case "error":
		p.aside(transcript.KindError, typ, at, m, nil)
		return
	case "usage_summary":
		p.summarised(m, typ, at)
		return
	case "steering_inclusion":
	default:
		kind := transcript.KindUnknown
		if lifecycle[typ] {
			kind = transcript.KindLifecycle
		}
		p.aside(kind, typ, at, v, nil)
		return
	}
	if e == nil {
		p.aside(transcript.KindNotice, typ, at, v, nil)
		return
	}
	e.Time = at
	if p.main == conversation && convertedFrom(p.run) != "" {
		convert(e, content)
	}
	p.say(global(e))
}

// resultOf returns what a tool gave.
func (p *parser) resultOf(m jsontext.Value) *transcript.Result {
	call := m.Get("toolCallId").Str()
	return &transcript.Result{Call: call, Name: p.tools[call], Output: int64(m.Get("content").Len()), Failed: m.Get("success").Bool().Not()}
}

// answered returns the event of what the model said or thought. The program leaves out the text of thoughts.
func (p *parser) answered(m, content jsontext.Value, id string) *transcript.Event {
	operation, kind, role := m.Get("operationType").Word(), transcript.KindMessage, "assistant"
	switch operation {
	case "Reasoning":
		kind = transcript.KindReasoning
	case "Summary":
		kind, role = transcript.KindCompaction, "system"
	}
	if !hasWords(content) || kind == transcript.KindReasoning && content.Is("...") {
		return nil
	}
	e := p.event(kind, role, cmp.Or(operation, "assistant"), id, content)
	if e.Model = m.Get("reasoningModelId").Str(); e.Model != "" {
		p.conv.Model = e.Model
	}
	return e
}

// summarised yields what a turn cost.
func (p *parser) summarised(m jsontext.Value, typ string, at transcript.Time) {
	var a transcript.Attributes
	setCredits(&a, credits(m.Get("promptTurnSummaries"), "usage"))
	a.Set("status", m.Get("status").Str())
	if n, ok := m.Get("elapsedTime").Int(); ok && n > 0 {
		a.Set("elapsed_ms", n)
	}
	p.aside(transcript.KindLifecycle, typ, at, m.Get("type"), a)
}

// hasWords reports whether content, a string or blocks, is more than white space.
func hasWords(content jsontext.Value) bool { return firstText(content).Exists() }

// firstText returns the first text in content.
func firstText(content jsontext.Value) jsontext.Value {
	if content.IsString() && !content.IsBlank() {
		return content
	}
	for block := range content.Items() {
		if block.IsString() && !block.IsBlank() {
			return block
		}
		if text := block.Get("text"); text.IsString() && !text.IsBlank() {
			return text
		}
	}
	return jsontext.Value{}
}

// subDir has the logs of a session's subagents.
const subDir = "sub-executions"

// meta yields the metadata of such a session.
func (p *parser) meta() {
	p.run = path.Base(path.Dir(p.in.Path))
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	p.file = at.Offset - doc.Offset()
	p.begin(cmp.Or(doc.Get("id").Str(), p.run), "")
	parent, rewound := doc.Get("parentSessionId").Str(), doc.Get("createdReason").Is(reasonRewind)
	run := &transcript.Run{
		ID: p.run, Named: true, Rank: rankSession, Title: format.Title(doc.Get("title").Str()), Model: chosen(doc.Get("modelId").Str()),
		Started: doc.Get("createdAt").Time(), Ended: doc.Get("lastModifiedAt").Time(), Child: parent != "" && !rewound, Status: doc.Get("status").Str(),
	}
	for _, list := range []string{"rootPaths", "workspacePaths"} {
		for dir := range doc.Get(list).Items() {
			run.Project = dir.Str()
			break
		}
	}
	run.Attributes.Set("mode", doc.Get("agentMode").Str())
	run.Attributes.Set("effort", doc.Get("effortLevel").Str())
	p.named = true
	p.Emit(run)
	p.at(doc)
	p.comesFrom(parent, rewound)
	if of := convertedFrom(p.run); of != "" {
		p.linked("fork", of)
	}
	p.Hint(p.run, hintModel, doc.Get("modelId").Str(), p.origin)
	p.aside(transcript.KindLifecycle, roleSession, run.Started, doc.Get("title"), nil)
}

// convert gives an event of a session that was converted for version 3 the id that it has in the log it was made from. What a compaction kept
// is there a second time.
func convert(e *transcript.Event, content jsontext.Value) {
	if strings.HasPrefix(e.ID, "compact_") {
		e.ID, e.Verdict = "", transcript.CopiedHistory
		return
	}
	message, ending := e.ID, ""
	if m := convertedID.FindStringSubmatch(e.ID); m != nil {
		message, ending = m[1], m[2]
	}
	switch part := e.Parts[0]; {
	case e.Role == "user":
		e.ID = cmp.Or(promptID(e.Time, content), e.ID)
	case e.Kind == transcript.KindCompaction:
		e.ID = summaryID(content)
	case part.Call != nil && ending != "":
		e.ID = callEvent(message, part.Call.ID)
	case part.Result != nil:
		e.ID = resultID(part.Result.Call)
	case ending == "text-0":
		e.ID = message
	case ending == "thinking-0":
		e.ID = message + "/thinking"
	case e.Kind == transcript.KindMessage:
		if n, err := strconv.Atoi(strings.TrimPrefix(ending, "text-")); err == nil {
			e.ID = message + "/" + strconv.Itoa(n+1)
		}
	}
}

// convertedID is the id of one block of a converted message.
var convertedID = lazyregexp.New(`^(.+)-((?:text|thinking|tool)-[0-9]{1,6})$`)

// convertedFrom returns the session of an earlier version that a session was made from, by its id.
func convertedFrom(id string) string {
	rest, ok := strings.CutPrefix(id, "cli_")
	if !ok || len(rest) < 36 || !format.IsUUID(rest[:36]) {
		return ""
	}
	return rest[:36]
}
