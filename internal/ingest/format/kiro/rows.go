package kiro

import (
	"cmp"
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// rows yields the records of an original from a database.
func (p *parser) rows() {
	p.run = path.Base(path.Dir(p.in.Path))
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		p.base, p.origin = o.Value, o.Origin
		p.row(o.Value)
	}
	p.end()
}

func (p *parser) row(v jsontext.Value) {
	id := v.Get("conversation_id").Text()
	if id == "" {
		p.Emit(&transcript.Problem{Run: p.run, Kind: "no conversation", Reason: "the row names no conversation", Origin: p.origin})
		return
	}
	if id != p.run || p.main == "" {
		p.end()
		p.begin(id, orderRows)
	}
	if dir := v.Get("cwd").Str(); dir != "" {
		p.conv.Project = dir
	}
	switch table := v.Get("table").Word(); table {
	case tableEntry:
		p.entry(v.Get("entry"))
	case tableSummary:
		p.summary(v.Get("summary"))
	case tableConversation:
		p.state(v)
	case tableShown:
		p.aside(transcript.KindNotice, "transcript", transcript.Time{}, v.Get("line"), nil)
	default:
		p.aside(transcript.KindUnknown, table, transcript.Time{}, v, nil)
	}
}

// summary yields the summary of a compaction: it stands for what the history no longer has. With it is what the request for it stated.
func (p *parser) summary(v jsontext.Value) {
	text, meta := readSummary(v)
	if text.IsBlank() {
		p.aside(transcript.KindUnknown, "summary", transcript.Time{}, v, nil)
		return
	}
	e := p.event(transcript.KindCompaction, "system", "summary", summaryID(text), text)
	e.Time, e.Model = meta.Get("stream_end_timestamp_ms").MilliTime(), meta.Get("model_id").Str()
	p.say(global(e))
}

// readSummary returns the text of a summary, which is no string if it has none, and what the request for it stated.
func readSummary(v jsontext.Value) (text, meta jsontext.Value) {
	text = v
	for item := range v.Items() {
		if item.IsString() {
			text = item
		} else {
			meta = item
		}
	}
	return text, meta
}

// state yields the rest of a conversation's row.
func (p *parser) state(v jsontext.Value) {
	state := v.Get("state")
	run := &transcript.Run{
		ID: p.run, Named: true, Rank: rankSession, Project: p.conv.Project, Model: chosen(modelOf(state)), Started: v.Get("created_at").MilliTime(), Ended: v.Get("updated_at").MilliTime(),
	}
	p.named = true
	p.Emit(run)
	p.Hint(p.run, hintModel, modelOf(state), p.origin)
	if state.Exists() && !state.IsObject() {
		p.Emit(&transcript.Problem{Run: p.run, Kind: "bad json", Reason: "the value of the row is no JSON object", Origin: p.origin})
	}
	var a transcript.Attributes
	setCredits(&a, credits(state.Get("user_turn_metadata", "usage_info"), "value")) // of the last turn
	p.aside(transcript.KindLifecycle, "conversation", run.Ended, v, a)
}

// modelOf returns the model of a conversation's state.
func modelOf(state jsontext.Value) string {
	return cmp.Or(state.Get("model_info", "model_id").Str(), state.Get("model").Str())
}

// chosen returns a model, "" if the service chooses one for each request.
func chosen(model string) string {
	if model == autoModel {
		return ""
	}
	return model
}

const autoModel = "auto"

// saved yields the records of a conversation that was saved to a file.
func (p *parser) saved() {
	p.run = format.Stem(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	p.file = at.Offset - doc.Offset()
	p.begin(cmp.Or(doc.Get("conversation_id").Str(), p.run), orderSaved)
	p.conv.Model = modelOf(doc)
	p.at(doc)
	p.aside(transcript.KindLifecycle, "saved", transcript.Time{}, doc.Get("next_message"), nil)
	summary := doc.Get("latest_summary")
	text, _ := readSummary(summary)
	isText := !text.IsBlank()
	if isText {
		p.at(summary)
		p.summary(summary)
	}
	for entry := range doc.Get("history").Items() {
		if p.Done() {
			return
		}
		p.at(entry)
		p.entry(entry)
	}
	if !isText && !summary.IsNull() { // it is not read, but kept where it stands
		p.at(summary)
		p.summary(summary)
	}
	p.end()
}
