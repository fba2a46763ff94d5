package cursor

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chat yields the records of what was taken out of the database of a session of the command line: what it keeps of it, or its messages.
func (p *parser) chat() {
	p.session, p.rank, p.shared, p.order = p.where.session, rankRows, true, orderMessages
	seen := map[string]int{}
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.at, p.whole = o.Origin, o.Value
		p.lend.Reset()
		p.chatRow(o.Value, seen)
	}
}

func (p *parser) chatRow(v format.Value, seen map[string]int) {
	data := v.Get("data")
	switch table := v.Get("table").Word(); {
	case table == tableMeta:
		p.order = orderKept
		p.chatMeta(v)
	case table != tableMessage && table != tableLost:
		p.aside(v, transcript.KindUnknown, table)
	case !data.IsObject():
		p.Emit(&transcript.Problem{Run: p.session, Kind: "bad json", Reason: "data of a row is no JSON object", Origin: p.at})
	case !data.Get("role").IsString(): // a blob that is no message
		p.aside(v, transcript.KindUnknown, table)
	case table == tableLost && seen[v.Get("id").Str()] > 0:
	default:
		id := v.Get("id").Text()
		if seen[id]++; seen[id] > 1 { // the same words once more are the same blob
			id = fmt.Sprintf("%s#%d", id, seen[id])
		}
		p.chatMessage(id, data, table == tableLost)
	}
}

func (p *parser) chatMessage(id string, data format.Value, left bool) {
	content := data.Get("content")
	m := &message{parser: p, role: data.Get("role").Word(), id: id, left: left}
	if m.role == "user" {
		p.place(content)
	}
	m.all(content)
}

// place takes the directory that was worked in from what the program says of the place before the first prompt.
func (p *parser) place(content format.Value) {
	const before = "Workspace Path: "
	if p.is.Project != "" {
		return
	}
	text := content
	for b := range content.Items() {
		text = b.Get("text")
		break
	}
	if _, after, ok := strings.Cut(text.Str(), before); ok && readTags(text.Str()).foreign {
		dir, _, _ := strings.Cut(after, "\n")
		if dir = strings.TrimSpace(dir); len(dir) < 4096 {
			p.is.Project = dir
		}
	}
}

// chatMeta is what the database keeps of its session.
func (p *parser) chatMeta(row format.Value) {
	v := row.Get("value")
	p.model = v.Get("lastUsedModel").Str()
	p.is = transcript.Conversation{
		Title: format.Title(v.Get("name").Str()), Model: p.model, Mode: v.Get("mode").Str(), Started: milli(v.Get("createdAt")),
	}
	p.kept, p.open = true, true
	if p.is.Mode != "" {
		p.facts = transcript.Attributes{"mode": p.is.Mode}
	}
	p.hints()
	p.aside(row, transcript.KindLifecycle, tableMeta)
}

// document is a small file beside a database: of a session of the command line its place, name and times, of a directory that was
// open in the editor its path.
func (p *parser) document() {
	p.session = p.where.session
	content, err := format.ReadAll(p.in.Reader, 1<<20)
	if err != nil && !format.IsContent(err) {
		p.Fail(err)
		return
	}
	p.at = transcript.Origin{Length: int64(len(content))}
	v, bad := format.ParseJSON(content)
	if err != nil || bad != nil || !v.IsObject() {
		p.problem(&transcript.Problem{Kind: "bad json", Reason: "no JSON object", Origin: p.at})
		return
	}
	p.whole, p.at.Offset, p.at.Length = v, v.OffsetIn(content), int64(v.Len())
	p.kept = true
	if p.in.Role == roleWorkspace {
		if p.is.Project = format.FileURI(v.Get("folder").Str()); p.is.Project == "" {
			p.is.Project = format.FileURI(v.Get("workspace").Str())
		}
		p.aside(v, transcript.KindLifecycle, roleWorkspace)
		return
	}
	p.is = transcript.Conversation{
		Title: format.Title(v.Get("title").Str()), Project: v.Get("cwd").Str(), Started: milli(v.Get("createdAtMs")), Child: v.Get("isSubagent").Bool() == transcript.Yes,
	}
	p.hints()
	p.aside(v, transcript.KindLifecycle, roleMeta)
}
