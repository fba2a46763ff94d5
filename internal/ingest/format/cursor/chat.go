package cursor

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chat yields the records of an original from store.db, the database of a command line session: its metadata or its messages.
func (p *parser) chat() {
	p.session, p.rank, p.shared, p.order = p.loc.session, rankRows, true, orderMessages
	seen := map[string]int{}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.baseOrigin, p.base = o.Origin, o.Value
		p.lend.Reset()
		p.chatRow(o.Value, seen)
	}
}

func (p *parser) chatRow(v jsontext.Value, seen map[string]int) {
	data := v.Get("data")
	switch table := v.Get("table").Word(); {
	case table == tableMeta:
		p.order = orderMetadata
		p.chatMeta(v)
	case table != tableMessage && table != tableLost:
		p.uncountedRow(v, transcript.KindUnknown, table)
	case !data.IsObject():
		p.Emit(&transcript.Problem{Run: p.session, Kind: "bad json", Reason: "data of a row is no JSON object", Origin: p.baseOrigin})
	case !data.Get("role").IsString(): // a blob that is not a message
		p.uncountedRow(v, transcript.KindUnknown, table)
	case table == tableLost && seen[v.Get("id").Str()] > 0:
	default:
		id := v.Get("id").Text()
		if seen[id]++; seen[id] > 1 { // a repeated message is the same blob
			id = fmt.Sprintf("%s#%d", id, seen[id])
		}
		p.chatMessage(id, data, table == tableLost)
	}
}

func (p *parser) chatMessage(id string, data jsontext.Value, left bool) {
	content := data.Get("content")
	m := &message{parser: p, role: data.Get("role").Word(), id: id, abandoned: left}
	switch m.role {
	case "user":
		p.projectFrom(content)
	case "assistant":
		if m.model = answeredBy(data); m.model != "" && !left {
			p.conv.Model = m.model
		}
	}
	m.events(content)
}

// answeredBy returns the model that wrote a message, as its blocks or the message state it. The session's metadata only has the one that
// was asked for last.
func answeredBy(data jsontext.Value) string {
	for b := range data.Get("content").Items() {
		if model := b.Get("providerOptions", "cursor", "modelName").Str(); model != "" {
			return model
		}
	}
	return data.Get("providerOptions", "cursor", "modelName").Str()
}

// projectFrom sets the project from the environment that Cursor describes before the first prompt.
func (p *parser) projectFrom(content jsontext.Value) {
	const before = "Workspace Path: "
	if p.conv.Project != "" {
		return
	}
	text := content
	for b := range content.Items() {
		text = b.Get("text")
		break
	}
	if _, after, ok := strings.Cut(text.Str(), before); ok && readTags(text.Str()).injected {
		dir, _, _ := strings.Cut(after, "\n")
		if dir = strings.TrimSpace(dir); len(dir) < 4096 {
			p.conv.Project = dir
		}
	}
}

// chatMeta reads the metadata of a session.
func (p *parser) chatMeta(row jsontext.Value) {
	v := row.Get("value")
	p.model = v.Get("lastUsedModel").Str()
	origin := v.Get("subagentInfo")
	p.conv = transcript.Conversation{
		Title: chatTitle(v.Get("name")), Agent: origin.Get("typeName").Str(), Model: p.model, Mode: v.Get("mode").Str(), Started: firstTime(v.Get("createdAt")),
		Child: origin.IsObject(),
	}
	p.isMetadata, p.messagesElsewhere = true, true
	p.facts = transcript.Attributes{}
	p.facts.Set("mode", p.conv.Mode)
	p.facts.Set("call", origin.Get("toolCallId").Str())
	p.emitHints()
	p.link(origin.Get("parentAgentId").Str(), p.session)
	p.uncountedRow(row, transcript.KindLifecycle, tableMeta)
}

// chatTitle reads the title of a session, "" where it is the one that each begins with.
func chatTitle(v jsontext.Value) string {
	if v.Is("New Agent") {
		return ""
	}
	return format.Title(v.Str())
}

// document reads meta.json of a command line session (title, directory, times) or workspace.json of a folder that was open in
// the editor (its path).
func (p *parser) document() {
	p.session = p.loc.session
	content, err := format.ReadAll(p.in.Reader, 1<<20)
	if err != nil && !layer.IsContent(err) {
		p.Fail(err)
		return
	}
	p.baseOrigin = transcript.Origin{Length: int64(len(content))}
	v, bad := jsontext.Parse(content)
	if err != nil || bad != nil || !v.IsObject() {
		p.problem(&transcript.Problem{Kind: "bad json", Reason: "no JSON object", Origin: p.baseOrigin})
		return
	}
	p.base, p.baseOrigin.Offset, p.baseOrigin.Length = v, v.OffsetIn(content), int64(v.Len())
	p.isMetadata = true
	if p.in.Role == roleWorkspace {
		if p.conv.Project = format.FileURI(v.Get("folder").Str()); p.conv.Project == "" {
			p.conv.Project = format.FileURI(v.Get("workspace").Str())
		}
		p.uncountedRow(v, transcript.KindLifecycle, roleWorkspace)
		return
	}
	p.conv = transcript.Conversation{
		Title: chatTitle(v.Get("title")), Project: v.Get("cwd").Str(), Started: firstTime(v.Get("createdAtMs")), Child: v.Get("isSubagent").Bool() == transcript.Yes,
	}
	p.emitHints()
	p.uncountedRow(v, transcript.KindLifecycle, roleMeta)
}
