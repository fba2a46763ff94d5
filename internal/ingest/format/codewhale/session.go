package codewhale

import (
	"io"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	meta   jsontext.Value
	metaAt transcript.Origin
	parent string // the session that this one is a fork of
	model  string
	tools  map[string]string // names, by the ids of calls
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// The keys of hints.
const (
	hintParent = "parent"       // the session that this one is a fork of
	hintFirst  = "first"        // a hash of the first message of all, or of those that are active
	hintBegins = "begins"       // of a fork, a hash of the first message
	hintCopied = "copied until" // where the messages end that a fork has copied
)

// session yields the records of a session.
func (p *parser) session(file io.Reader) {
	v, at := p.Document(file, p.SessionProblem)
	if !v.Exists() {
		return
	}
	p.meta = v.Get("metadata")
	if !v.IsObject() || !p.meta.IsObject() && !v.Get("messages").IsArray() {
		p.SessionProblem(&transcript.Problem{Kind: "not a session", Reason: "there are neither metadata nor messages", Origin: at})
		return
	}
	if id := p.meta.Get("id").Str(); id != "" {
		p.Session = id
	}
	p.Row = jsontext.Object{Origin: at, Value: v}
	p.metaAt = at
	if p.meta.Exists() {
		p.metaAt = jsontext.OriginIn(at, v, p.meta)
	}
	if p.parent = p.meta.Get("parent_session_id").Str(); p.parent == p.Session {
		p.parent = ""
	}
	items := itemsOf(v)
	p.about(v, len(items) == 0)
	p.cost()
	p.items(items)
	for _, key := range []string{"system_prompt", "work_state"} {
		p.extra(key, v.Get(key))
	}
}

// about yields what the file states about the session. One without a message is none yet.
func (p *parser) about(v jsontext.Value, empty bool) {
	title := promptOf(p.meta.Get("title").Str())
	if title == "New Session" {
		title = ""
	}
	if p.model = p.meta.Get("model").Word(); p.model == "auto" {
		p.model = v.Get("last_auto_route", "model").Word()
	}
	started, ended := p.meta.Get("created_at").Time(), p.meta.Get("updated_at").Time()
	rank := 0
	if ended.Valid {
		rank = int(max(ended.UnixMicro/1_000_000, 0))
	}
	run := &transcript.Run{
		ID: p.Session, Named: empty, Rank: rank, Title: format.Title(title), Project: p.meta.Get("workspace").Str(), Model: p.model, Started: started, Ended: ended,
	}
	run.Attributes.Set("provider", p.meta.First("model_provider_id", "model_provider").Str())
	if n := p.meta.Get("total_tokens").Tokens(); n.N > 0 {
		run.Attributes.Set("total_tokens", n.N)
	}
	if p.meta.Get("archived").Bool() == transcript.Yes {
		run.Attributes.Set("archived", true)
	}
	p.Emit(run)
	if empty {
		return
	}
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: p.Session, Rank: rank, Title: run.Title, Project: run.Project, Model: p.model, Mode: p.meta.Get("mode").Word(), Started: started, Ended: ended,
	})
	if p.parent != "" {
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(p.parent), To: transcript.RunEnd(p.Session), Time: started, Origin: p.metaAt})
		p.Hint(p.Session, hintParent, p.parent, p.metaAt)
	}
}

// items yields the events of all messages.
func (p *parser) items(items []item) {
	if len(items) == 0 {
		return
	}
	first := strconv.FormatUint(items[0].hash, 16)
	p.Hint(p.Session, hintFirst, first, p.metaAt)
	for v := range p.Row.Value.Get("messages").Items() {
		if active := strconv.FormatUint(hashOf(v), 16); active != first {
			p.Hint(p.Session, hintFirst, active, p.metaAt)
		}
		break
	}
	if n, ok := p.meta.Get("forked_from_message_count").Int(); ok && n > 0 && p.parent != "" {
		p.Hint(p.Session, hintBegins, first, p.metaAt)
		last := jsontext.OriginIn(p.Row.Origin, p.Row.Value, items[min(n, int64(len(items)))-1].value)
		p.Hint(p.Session, hintCopied, strconv.FormatInt(last.Offset+last.Length, 10), p.metaAt)
	}
	p.tools = map[string]string{}
	said := map[key]bool{}
	for _, i := range items {
		if p.Done() {
			return
		}
		k := key{i.hash, i.ordinal}
		p.Within(i.value, func(jsontext.Value) { p.item(i, said[k]) })
		said[k] = true
	}
}

// extra yields a member of the session that search should find.
func (p *parser) extra(key string, v jsontext.Value) {
	if v.IsNull() || textOf(v) == "" || p.Done() {
		return
	}
	kind := transcript.KindNotice
	if key == "system_prompt" {
		kind = transcript.KindSystem
	}
	p.Within(v, func(jsontext.Value) { p.Uncounted(kind, key, transcript.Time{}) })
}

// promptOf returns a text without what the program has put before the user's words.
func promptOf(text string) string {
	if after, ok := strings.CutPrefix(strings.TrimSpace(text), metaOpen); ok {
		_, prompt, _ := strings.Cut(after, metaClose)
		return strings.TrimSpace(prompt)
	}
	return text
}
