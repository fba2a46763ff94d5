package cursor

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// rows yields the records of what was taken out of the editor's database: what it keeps of one conversation, or its messages.
func (p *parser) rows() {
	p.shared, p.order, p.rank = true, orderMessages, rankRows
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.at, p.whole = o.Origin, o.Value
		p.lend.Reset()
		p.row(o.Value)
	}
}

func (p *parser) row(v format.Value) {
	if table := v.Get("table"); table.Is(tableList) {
		p.list(v)
		return
	}
	p.owner(v.Get("composer").Text())
	value := v.Get("value")
	switch table := v.Get("table").Word(); {
	case value.IsNull(): // it was emptied
		p.aside(v, transcript.KindNotice, table)
	case !value.IsObject():
		p.Emit(&transcript.Problem{Run: p.session, Kind: "bad json", Reason: "value of a row is no JSON object", Origin: p.at})
	case table == tableComposer:
		p.composer(v, value)
	case table == tableHeader:
		p.header(v, value)
	case table == tableBubble, table == tableLost:
		p.bubble(v, value, table)
	default:
		p.aside(v, transcript.KindUnknown, table)
	}
}

// owner is the conversation that a row belongs to.
func (p *parser) owner(id string) {
	if id == "" {
		id = p.where.session
	}
	if id != p.session {
		p.end()
		p.session, p.said, p.open, p.model, p.started, p.is, p.facts = id, false, false, "", transcript.Time{}, transcript.Conversation{}, nil
	}
}

// aside is an uncounted row.
func (p *parser) aside(v format.Value, kind transcript.Kind, typ string) {
	e := p.event(kind, "", typ)
	e.Conversation, e.Run = "", p.session
	e.Parts = []transcript.Part{p.part(v)}
	p.Emit(e)
}

// composer is what the editor keeps of a conversation. Those of early versions have its messages in them.
func (p *parser) composer(row, v format.Value) {
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
	p.model, p.order, p.started = v.Get("modelConfig", "modelName").Str(), orderKept, milli(v.Get("createdAt"))
	p.known(v, p.started)
	p.facts = facts
	for range v.Get("fullConversationHeadersOnly").Items() {
		p.open = true
		break
	}
	p.relatives(v)
	p.aside(row, transcript.KindLifecycle, tableComposer)
	for b := range v.Get("conversation").Items() {
		if b.IsObject() {
			p.inline(b, b.Get("bubbleId").Text())
		}
	}
	for id, b := range v.Get("conversationMap").Fields() {
		if b.IsObject() {
			p.inline(b, id)
		}
	}
	p.spent(v.Get("usageData"))
}

// known takes what a record of the editor says of a conversation.
func (p *parser) known(v format.Value, started transcript.Time) {
	p.kept = true
	p.is = transcript.Conversation{
		Title: format.Title(v.Get("name").Str()), Model: p.model, Project: folder(v), Started: started, Branch: branch(v), Mode: v.Get("unifiedMode").Str(),
		Child: v.Get("subagentInfo", "parentComposerId").Str() != "" || v.Get("isBestOfNSubcomposer").Bool() == transcript.Yes || v.Get("isSubagent").Bool() == transcript.Yes,
	}
	p.hints()
}

// hints tell the other originals of a conversation its name and model.
func (p *parser) hints() {
	if p.is.Title != "" {
		p.Emit(&transcript.Hint{Run: p.session, Key: hintTitle, Value: p.is.Title, Origin: p.at})
	}
	if p.is.Model != "" {
		p.Emit(&transcript.Hint{Run: p.session, Key: hintModel, Value: p.is.Model, Origin: p.at})
	}
}

// The order of what makes a conversation: its messages, then what is kept of it, whose name counts.
const (
	orderMessages = "1"
	orderKept     = "2"
)

// relatives links a conversation to the one that started it, and to those that it started.
func (p *parser) relatives(v format.Value) {
	p.link(v.Get("subagentInfo", "parentComposerId").Str(), p.session)
	for _, key := range []string{"subagentComposerIds", "subComposerIds"} {
		for id := range v.Get(key).Items() {
			p.link(p.session, id.Str())
		}
	}
}

// header is the entry of a conversation in the list of all.
func (p *parser) header(row, v format.Value) {
	p.known(v, milli(row.Get("createdAt")))
	if n, ok := row.Get("isSubagent").Int(); ok && n != 0 {
		p.is.Child = true
	}
	if workspace := row.Get("workspaceId").Str(); workspace != "" {
		p.facts = transcript.Attributes{"workspace": workspace}
	}
	p.relatives(v)
	p.aside(row, transcript.KindLifecycle, tableHeader)
}

// list is the conversations of a workspace, or those that are open: their names and times.
func (p *parser) list(row format.Value) {
	for v := range row.Get("value", "allComposers").Items() {
		id := v.Get("composerId").Str()
		if id == "" {
			continue
		}
		p.owner(id)
		p.known(v, milli(v.Get("createdAt")))
		p.relatives(v)
		if p.where.workspace != "" {
			p.facts = transcript.Attributes{"workspace": p.where.workspace}
		}
		p.aside(v, transcript.KindLifecycle, tableList)
	}
	if p.session == "" {
		p.owner("composers") // of nobody
		p.aside(row, transcript.KindLifecycle, tableList)
	}
}

// folder is the directory that a conversation is about.
func folder(v format.Value) string {
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

// branch is the one that was worked on last.
func branch(v format.Value) (name string) {
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

// milli reads a time that is milliseconds, or text.
func milli(all ...format.Value) transcript.Time {
	for _, v := range all {
		if n, ok := v.Int(); ok && n > 1e11 {
			if t := format.UnixMilli(n); t.Valid {
				return t
			}
		} else if t := v.Time(); t.Valid {
			return t
		}
	}
	return transcript.Time{}
}

// spent yields what early versions state of the cost of a conversation, in cents for each model.
func (p *parser) spent(v format.Value) {
	for model, m := range v.Fields() {
		cents, ok := m.Get("costInCents").Float()
		if !ok || cents <= 0 || cents > 1e9 || strings.TrimSpace(model) == "" {
			continue
		}
		u := &transcript.Usage{Run: p.session, Conversation: p.session, Key: p.session + ":cost:" + model, Origin: p.at, Model: model,
			Cost: transcript.Known(int64(cents * 1e7)), CostSource: "usageData.costInCents", Requests: m.Get("amount").Count(), Time: p.started,
			Attributes: transcript.Attributes{totalMark: true}}
		p.Emit(u)
	}
}
