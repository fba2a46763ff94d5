package copilotide

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of a database of Xcode's extension.
func (p *parser) row(v jsontext.Value) {
	table, id := v.Get("table").Word(), v.Get("conversationID").Text()
	if table == tableConversation {
		id = v.Get("id").Text()
	}
	if id == "" {
		p.NoSession()
		return
	}
	if id != p.Session {
		p.emitModel()
	}
	if p.Begin(id) {
		p.start()
	}
	switch table {
	case tableConversation:
		p.conversationRow(v)
	case tableTurn:
		p.emitConversation()
		p.turnRow(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// conversationRow yields what is known of a conversation. It does not by itself make a run that counts: turns are another original.
func (p *parser) conversationRow(v jsontext.Value) {
	title, started := format.Title(v.Get("title").Str()), v.Get("createdAt").UnixTime()
	p.Emit(p.xcodeRun(transcript.Run{Named: !p.Begun, Title: title, Started: started}))
	p.Titled, p.Named = title != "", true
	p.Uncounted(transcript.KindLifecycle, "conversation", started)
}

// xcodeRun completes what is stated of the current run.
func (p *parser) xcodeRun(run transcript.Run) *transcript.Run {
	run.ID, run.Group = p.Session, groupOf(p.in.Path)
	run.Attributes.Set("ide", "xcode")
	run.Attributes.Set("workspace", run.Group)
	return &run
}

// emitConversation yields the run and its conversation, once.
func (p *parser) emitConversation() {
	if !p.Begun {
		p.Begun = true
		p.Emit(p.xcodeRun(transcript.Run{}))
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session})
	}
}

// emitModel yields the model of a run.
func (p *parser) emitModel() {
	if p.Begun && p.model != "" && !p.Done() {
		run := p.run
		run.Model = p.model
		p.Emit(&run)
	}
}

// turnRow yields the events of a turn of Xcode: of a prompt, or of the answer to it.
func (p *parser) turnRow(row jsontext.Value) {
	v, at := row.Get("data"), row.Get("createdAt").UnixTime()
	t := p.newTurn(row.Get("id").Text(), row.Get("role").Word(), at)
	if kind := v.Get("requestType").Word(); kind != "conversation" {
		t.facts.Set("request", kind)
	}
	if !v.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "bad turn", Reason: "what it says is no JSON object", Origin: p.Row.Origin})
	}
	switch t.role {
	case "assistant":
		t.answerFacts(v, v.Get("parentTurnId").Str())
		if status := v.Get("turnStatus").Word(); status != "success" {
			t.facts.Set("status", status)
		}
		t.thinking("", v.Get("thinking"))
		t.rounds("", v.Get("editAgentRounds"))
		t.say("", v.Get("content"))
		t.errors(v.Get("errorMessages"))
		t.errors(v.Get("errorMessage"))
	default:
		t.prompt(v.Get("content"))
	}
	for _, key := range []string{"references", "contentImageReferences", "steps", "panelMessages", "fileEdits", "followUp"} {
		t.beside(key, v.Get(key))
	}
	t.end(row)
}
