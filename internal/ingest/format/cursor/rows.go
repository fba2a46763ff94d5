package cursor

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// rows yields the records of an original from the editor's database: the metadata of a conversation, or its messages.
func (p *parser) rows() {
	p.shared, p.order, p.rank = true, orderMessages, rankRows
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.baseOrigin, p.base = o.Origin, o.Value
		p.lend.Reset()
		p.row(o.Value)
	}
}

func (p *parser) row(v jsontext.Value) {
	if table := v.Get("table"); table.Is(tableList) {
		p.listRow(v)
		return
	}
	p.setSession(v.Get("composer").Text())
	value := v.Get("value")
	switch table := v.Get("table").Word(); {
	case value.IsNull(): // Cursor has emptied the row
		p.uncountedRow(v, transcript.KindNotice, table)
	case !value.IsObject():
		p.Emit(&transcript.Problem{Run: p.session, Kind: "bad json", Reason: "value of a row is no JSON object", Origin: p.baseOrigin})
	case table == tableComposer:
		p.composer(v, value)
	case table == tableHeader:
		p.headerRow(v, value)
	case table == tableBubble, table == tableLost:
		p.bubble(v, value, table)
	default:
		p.uncountedRow(v, transcript.KindUnknown, table)
	}
}

// setSession switches to the conversation that a row belongs to.
func (p *parser) setSession(id string) {
	if id == "" {
		id = p.loc.session
	}
	if id != p.session {
		p.finish()
		p.session, p.hasMessages, p.messagesElsewhere, p.model, p.started, p.conv, p.facts = id, false, false, "", transcript.Time{}, transcript.Conversation{}, nil
	}
}

// uncountedRow yields an uncounted event.
func (p *parser) uncountedRow(v jsontext.Value, kind transcript.Kind, typ string) {
	e := p.event(kind, "", typ)
	e.Conversation, e.Run = "", p.session
	e.Parts = []transcript.Part{p.part(v)}
	p.Emit(e)
}

// composer reads the editor's metadata of a conversation. Composers of early versions contain their messages.
func (p *parser) composer(row, v jsontext.Value) {
	facts := transcript.Attributes{}
	for name, key := range map[string]string{"mode": "unifiedMode", "status": "status"} {
		if s := v.Get(key).Str(); s != "" {
			facts[name] = s
		}
	}
	for name, key := range map[string]string{"context_tokens": "contextTokensUsed", "lines_added": "totalLinesAdded", "lines_removed": "totalLinesRemoved"} {
		if n, ok := v.Get(key).Int(); ok && n != 0 {
			facts[name] = n
		}
	}
	p.model, p.order, p.started = v.Get("modelConfig", "modelName").Str(), orderMetadata, firstTime(v.Get("createdAt"))
	p.applyRecord(v, p.started)
	p.facts = facts
	for range v.Get("fullConversationHeadersOnly").Items() {
		p.messagesElsewhere = true
		break
	}
	p.emitRelatives(v)
	p.uncountedRow(row, transcript.KindLifecycle, tableComposer)
	for b := range v.Get("conversation").Items() {
		if b.IsObject() {
			p.inlineBubble(b, b.Get("bubbleId").Text())
		}
	}
	for id, b := range v.Get("conversationMap").Fields() {
		if b.IsObject() {
			p.inlineBubble(b, id)
		}
	}
	p.usageData(v.Get("usageData"))
}

// applyRecord reads the fields that all records of a conversation share.
func (p *parser) applyRecord(v jsontext.Value, started transcript.Time) {
	p.isMetadata = true
	p.conv = transcript.Conversation{
		Title: format.Title(v.Get("name").Str()), Model: p.model, Project: workspaceFolder(v), Started: started, Branch: lastBranch(v), Mode: v.Get("unifiedMode").Str(),
		Child: v.Get("subagentInfo", "parentComposerId").Str() != "" || v.Get("isBestOfNSubcomposer").Bool() == transcript.Yes || v.Get("isSubagent").Bool() == transcript.Yes,
	}
	p.emitHints()
}

// emitHints passes title and model to the other originals of a conversation.
func (p *parser) emitHints() {
	p.Hint(p.session, hintTitle, p.conv.Title, p.baseOrigin)
	p.Hint(p.session, hintModel, p.conv.Model, p.baseOrigin)
}

// The order of the originals of a conversation: its messages, then its metadata, whose title counts.
const (
	orderMessages = "1"
	orderMetadata = "2"
)

// emitRelatives links a conversation to its parent and to its subagents.
func (p *parser) emitRelatives(v jsontext.Value) {
	p.link(v.Get("subagentInfo", "parentComposerId").Str(), p.session)
	for _, key := range []string{"subagentComposerIds", "subComposerIds"} {
		for id := range v.Get(key).Items() {
			p.link(p.session, id.Str())
		}
	}
}

// headerRow reads the entry of a conversation in the list of all.
func (p *parser) headerRow(row, v jsontext.Value) {
	p.applyRecord(v, firstTime(row.Get("createdAt")))
	if n, ok := row.Get("isSubagent").Int(); ok && n != 0 {
		p.conv.Child = true
	}
	if workspace := row.Get("workspaceId").Str(); workspace != "" {
		p.facts = transcript.Attributes{"workspace": workspace}
	}
	p.emitRelatives(v)
	p.uncountedRow(row, transcript.KindLifecycle, tableHeader)
}

// listRow reads the list of a workspace's conversations, or of the open ones: their titles and times.
func (p *parser) listRow(row jsontext.Value) {
	for v := range row.Get("value", "allComposers").Items() {
		id := v.Get("composerId").Str()
		if id == "" {
			continue
		}
		p.setSession(id)
		p.applyRecord(v, firstTime(v.Get("createdAt")))
		p.emitRelatives(v)
		if p.loc.workspace != "" {
			p.facts = transcript.Attributes{"workspace": p.loc.workspace}
		}
		p.uncountedRow(v, transcript.KindLifecycle, tableList)
	}
	if p.session == "" {
		p.setSession("composers") // the list names none
		p.uncountedRow(row, transcript.KindLifecycle, tableList)
	}
}

// workspaceFolder returns the directory of a conversation.
func workspaceFolder(v jsontext.Value) string {
	if dir := v.Get("workspaceIdentifier", "uri", "fsPath").Str(); dir != "" {
		return dir
	}
	if dir := v.Get("workspaceIdentifier", "uri", "path").Str(); dir != "" {
		return dir
	}
	for r := range v.Get("trackedGitRepos").Items() {
		return r.Get("repoPath").Str()
	}
	return ""
}

// lastBranch returns the branch that was used last.
func lastBranch(v jsontext.Value) (name string) {
	last := int64(-1)
	for r := range v.Get("trackedGitRepos").Items() {
		for b := range r.Get("branches").Items() {
			if at, _ := b.Get("lastInteractionAt").Int(); at > last && b.Get("branchName").Str() != "" {
				name, last = b.Get("branchName").Str(), at
			}
		}
	}
	if name == "" {
		name = v.Get("createdOnBranch").Str()
	}
	return name
}

// firstTime returns the first valid time, given in milliseconds or as text.
func firstTime(all ...jsontext.Value) transcript.Time {
	for _, v := range all {
		if n, ok := v.Int(); ok && n > 1e11 {
			if t := timestamp.UnixMilli(n); t.Valid {
				return t
			}
		} else if t := v.Time(); t.Valid {
			return t
		}
	}
	return transcript.Time{}
}

// usageData yields the cost of a conversation in cents for each model, which early versions state.
func (p *parser) usageData(v jsontext.Value) {
	for model, m := range v.Fields() {
		cents, ok := m.Get("costInCents").Float()
		if !ok || cents <= 0 || cents > 1e9 || strings.TrimSpace(model) == "" {
			continue
		}
		u := &transcript.Usage{Run: p.session, Conversation: p.session, Key: p.session + ":cost:" + model, Origin: p.baseOrigin, Model: model,
			Cost: transcript.Known(int64(cents * 1e7)), CostSource: "usageData.costInCents", Requests: m.Get("amount").Count(), Time: p.started,
			Attributes: transcript.Attributes{totalMark: true}}
		p.Emit(u)
	}
}
