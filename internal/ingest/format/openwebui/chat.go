package openwebui

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sharedOwner is what the owner of a shared state of a chat begins with, in schemas that keep it among the chats. The chat's id follows.
const sharedOwner = "shared-"

// header holds what a chat states about itself.
type header struct {
	id, title, owner, current, original string
	row, chat, messages                 jsontext.Value
	from                                string // the member of chat that has the messages
	shared                              bool   // the state of a chat that others see
	created, updated                    transcript.Time
}

// readHeader reads a row of the database, or an element of an export: the same members, or those of chat alone.
func readHeader(v jsontext.Value) header {
	h := header{row: v, id: v.Get("id").Text(), owner: v.Get("user_id").Text(), chat: v.Get("chat"), shared: v.Get("table").Is(tableShared)}
	if !v.Get("chat").Exists() {
		h.chat = v // an export of the first versions
	}
	if of, ok := strings.CutPrefix(h.owner, sharedOwner); ok && of != "" {
		h.id, h.owner, h.shared = of, "", true
	}
	h.title = cmp.Or(v.Get("title").Str(), h.chat.Get("title").Str())
	if !h.shared {
		h.created, h.updated = timeOf(v.Get("created_at")), timeOf(v.Get("updated_at"))
		h.created = cmp.Or(h.created, timeOf(h.chat.Get("timestamp")))
	}
	history := h.chat.Get("history")
	h.messages, h.from = history.Get("messages"), "history"
	if list := h.chat.Get("messages"); !hasMembers(h.messages) && list.HasItems() {
		h.messages, h.from = list, "messages" // without branches
	}
	h.current = cmp.Or(history.Get("currentId").Str(), h.chat.Get("currentId").Str(), v.Get("current_message_id").Str())
	h.original = h.chat.Get("originalChatId").Str()
	return h
}

// timeOf reads a time in seconds, milliseconds or nanoseconds since 1970, as the producer has used them.
func timeOf(v jsontext.Value) transcript.Time {
	if n, ok := v.Int(); ok && n > 1e16 {
		return timestamp.UnixNano(n)
	} else if ok {
		return timestamp.Epoch(n)
	}
	return v.TimeOrUnix()
}

func hasMembers(v jsontext.Value) bool {
	for range v.Fields() {
		return true
	}
	return v.HasItems()
}

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// chat yields the records of one chat.
func (p *parser) chat(v jsontext.Value) {
	h := readHeader(v)
	p.id, p.owner, p.before, p.began = h.id, h.owner, "", transcript.Time{}
	_, p.order = format.ExportRank(transcript.Time{})
	p.nodes = p.nodes[:0]
	clear(p.calls)
	if p.id == "" || len(p.id) > maxID {
		p.id = ""
		p.Emit(&transcript.Problem{Kind: "not a chat", Reason: "no id", Origin: p.at})
		return
	}
	if !h.chat.IsObject() {
		p.Emit(&transcript.Problem{Run: p.id, Kind: "not a chat", Reason: "no object with messages", Origin: p.at})
		p.named = &transcript.Run{ID: p.id}
		p.emit(p.event(transcript.KindUnknown, "", "chat", v), "", transcript.Uncounted)
		return
	}
	if h.original != "" {
		p.began = h.created
	}
	p.readNodes(h)
	p.emitRun(h)
	p.links(h)
	if h.row == h.chat {
		p.content(h)
		return
	}
	for key, member := range h.row.Fields() {
		switch key {
		case "variables", "tasks", "summary":
			p.notice(key, member)
		case "chat":
			p.content(h)
		}
	}
}

// content yields the messages of a chat and what it has beside them.
func (p *parser) content(h header) {
	for key, member := range h.chat.Fields() {
		switch key {
		case "params", "system":
			p.notice(key, member)
		case h.from:
			p.messages()
		}
	}
}

// messages yields the events of all messages.
func (p *parser) messages() {
	for i := range p.nodes {
		if p.Done() {
			return
		}
		p.lend.Reset()
		n := &p.nodes[i]
		if !n.message.IsObject() {
			p.Emit(&transcript.Problem{Run: p.id, Kind: "not a message", Reason: "no object", Origin: p.origin(n.message)})
			continue
		}
		p.message(n)
	}
}

// placeholder is the title of a chat until a model has found a better one.
const placeholder = "New Chat"

// emitRun yields the run and, if there are messages, its conversation.
func (p *parser) emitRun(h header) {
	title, model, last := format.Title(h.title), "", transcript.Time{}
	if title == placeholder {
		title = ""
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.model() != "" && (n.shown || model == "") {
			model = n.model()
		}
		if title == "" && n.role() == "user" {
			title = format.Title(jsontext.Build(func(b []byte) []byte { return appendContent(b, n.message.Get("content")) }))
		}
		if n.at.Valid && n.at.UnixMicro > last.UnixMicro {
			last = n.at
		}
	}
	if model == "" {
		for name := range h.chat.Get("models").Items() {
			model = name.Str()
			break
		}
	}
	updated := h.updated
	if !h.shared {
		updated = cmp.Or(updated, last)
	}
	rank, order := format.ExportRank(updated)
	p.order = order
	meta := h.row.Get("meta")
	run := &transcript.Run{
		ID: p.id, Rank: rank, Group: h.row.Get("folder_id").Str(), Title: title, Model: model,
		Started: h.created, Ended: cmp.Or(last, h.updated), Child: meta.Get("parent_chat_id").Str() != "",
	}
	p.describe(run, h)
	if len(p.nodes) == 0 {
		p.named = run
		return
	}
	p.begin(run)
}

// begin yields a run with its conversation.
func (p *parser) begin(run *transcript.Run) {
	p.Emit(run)
	p.Emit(&transcript.Conversation{
		ID: run.ID, Run: run.ID, Shared: true, Rank: run.Rank, Order: p.order,
		Title: run.Title, Model: run.Model, Started: run.Started, Ended: run.Ended, Child: run.Child,
	})
}

// nameRun yields the run of a chat that has turned out to have no messages.
func (p *parser) nameRun() {
	if p.named != nil {
		p.named.Named = true
		p.Emit(p.named)
		p.named = nil
	}
}

// describe sets the attributes of a run.
func (p *parser) describe(run *transcript.Run, h header) {
	a := &run.Attributes
	a.Set("user", h.owner)
	a.Set("folder", h.row.Get("folder").Str())
	for _, key := range []string{"archived", "pinned"} {
		v := h.row.Get(key)
		if n, _ := v.Int(); n != 0 || v.Bool() == transcript.Yes {
			a.Set(key, true)
		}
	}
	var tags []string
	for tag := range h.row.Get("meta", "tags").Items() {
		tags = append(tags, tag.Str())
	}
	a.Set("tags", strings.Join(tags, ", "))
	if meta := h.row.Get("meta"); meta.Get("internal").Bool() == transcript.Yes {
		a.Set("internal", cmp.Or(meta.Get("type").Word(), "true"))
	}
}

// links yields where a chat comes from: the one that it was cloned or forked from, and the one that started it as a sub-agent.
func (p *parser) links(h header) {
	link := func(kind, from string, at jsontext.Value) *transcript.Link {
		return &transcript.Link{Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(p.id), Origin: p.origin(at)}
	}
	if from := h.original; from != "" && from != p.id && len(from) <= maxID && !h.shared {
		l := link("fork", from, h.chat.Get("originalChatId"))
		if at := h.chat.Get("branchPointMessageId").Str(); at != "" {
			l.Attributes.Set("message", at)
		}
		p.Emit(l)
	}
	meta := h.row.Get("meta")
	if from := meta.Get("parent_chat_id").Str(); from != "" && from != p.id && len(from) <= maxID {
		l := link("parent", from, meta)
		l.Attributes.Set("message", meta.Get("parent_message_id").Str())
		l.Attributes.Set("delegation", meta.Get("delegation_id").Str())
		p.Emit(l)
	}
}

// node is a message in a chat.
type node struct {
	id, parent string
	message    jsontext.Value
	at         transcript.Time
	shown      bool // on the path to the message shown last
}

func (n *node) role() string { return n.message.Get("role").Word() }

// model returns the model that answered: of an arena, in which the server chooses one, that one.
func (n *node) model() string {
	if n.role() != "assistant" {
		return ""
	}
	return cmp.Or(n.message.Get("selectedModelId").Str(), n.message.First("model", "model_id").Str())
}

// readNodes reads the messages of a chat, in file order.
func (p *parser) readNodes(h header) {
	clear(p.indexOf)
	add := func(id string, v jsontext.Value) {
		n := node{id: id, message: v, parent: v.First("parentId", "parent_id").Str(), at: timeOf(v.First("timestamp", "created_at"))}
		p.indexOf[id] = len(p.nodes)
		p.nodes = append(p.nodes, n)
	}
	for key, v := range h.messages.Fields() {
		add(key, v)
	}
	before := ""
	for i, v := range h.messages.Numbered() {
		id := cmp.Or(v.Get("id").Text(), "#"+strconv.Itoa(i))
		add(id, v)
		if n := &p.nodes[len(p.nodes)-1]; n.parent == "" {
			n.parent = before
		}
		before = id
	}
	i, ok := p.indexOf[h.current]
	if !ok {
		for i := range p.nodes {
			p.nodes[i].shown = true
		}
	}
	for ok && !p.nodes[i].shown {
		p.nodes[i].shown = true
		i, ok = p.indexOf[p.nodes[i].parent]
	}
}
