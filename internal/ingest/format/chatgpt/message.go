package chatgpt

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// classify returns the kind and role of a message.
func classify(v jsontext.Value) (transcript.Kind, string) {
	typ := v.Get("content", "content_type")
	switch role := v.Get("author", "role").Word(); {
	case typ.Is("thoughts"), typ.Is("reasoning_recap"):
		return transcript.KindReasoning, "assistant"
	case role == "user" && !hidden(v) && !typ.Is("user_editable_context"):
		return transcript.KindMessage, role
	case role == "assistant" && recipient(v) == "all":
		return transcript.KindMessage, role
	case role == "assistant":
		return transcript.KindToolCall, role
	case role == "tool":
		return transcript.KindToolResult, role
	}
	return transcript.KindSystem, "system"
}

// userContext returns the user's custom instructions, if they are not in the message's content.
func userContext(v jsontext.Value) jsontext.Value {
	return v.Get("metadata", "user_context_message_data")
}

func hidden(v jsontext.Value) bool {
	m := v.Get("metadata")
	return m.Get("is_visually_hidden_from_conversation").Bool() == transcript.Yes || m.Get("is_visually_hidden").Bool() == transcript.Yes
}

// recipient returns the addressee of a message: all, unless a tool is named.
func recipient(v jsontext.Value) string { return cmp.Or(v.Get("recipient").Word(), "all") }

// message yields the message of node i and returns the node's key. before is the key of the previous message.
func (p *parser) message(i int, before string) string {
	n := &p.nodes[i]
	v := n.message
	p.lend.Reset()
	p.event = transcript.Event{
		Conversation: p.id, ID: p.messageID(n), Kind: n.kind, Role: n.role, Type: v.Get("content", "content_type").Word(),
		Origin: p.origin(v), Model: n.slug(), Attributes: p.attributes(i, before),
	}
	e := &p.event
	if n.at.Valid {
		e.Time = n.at
	}
	if format.IsUUID(e.ID) {
		e.Global, e.Home = true, !n.copied
	}
	p.parts[0] = transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendMessage(b, v) })}
	e.Parts = p.parts[:1]
	if list := sourcesOf(v); list.Exists() {
		text := p.lend.Text(func(b []byte) []byte { return appendSources(b, list) })
		p.parts[1] = transcript.Part{Kind: transcript.KindNotice, Text: text, Offset: jsontext.OffsetIn(v, list), Length: int64(list.Len())}
		e.Parts = p.parts[:2]
	}
	switch n.kind {
	case transcript.KindToolCall:
		p.calls++
		n.call = "#" + strconv.Itoa(p.calls)
		p.parts[0].Call = &transcript.Call{ID: n.call, Name: recipient(v), Input: int64(v.Get("content").Len())}
	case transcript.KindToolResult:
		p.parts[0].Result = p.result(i)
	}
	p.Emit(e)
	if from := branchOf(v); from != "" && from != p.id && len(from) <= maxID {
		link := &transcript.Link{
			Kind: "fork", From: transcript.RunEnd(from), To: transcript.RunEnd(p.id), Origin: p.origin(v),
		}
		if e.Global {
			link.Event = e.ID
		}
		p.Emit(link)
	}
	return n.key
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	o := p.at
	o.Offset += v.Offset()
	o.Length = int64(v.Len())
	return o
}

// messageID returns the id of a message, or its node's key if the id is missing or already taken in the conversation.
func (p *parser) messageID(n *node) string {
	id := n.message.Get("id").Text()
	if id == "" || len(id) > maxID || p.ids[id] {
		id = n.key
	}
	p.ids[id] = true
	return id
}

// result returns a tool's result. It answers the nearest call above it in the tree, if there are only messages of tools and
// the program in between.
func (p *parser) result(i int) *transcript.Result {
	v := p.nodes[i].message
	r := &transcript.Result{Name: v.Get("author", "name").Str(), Output: int64(v.Get("content").Len())}
	for up, steps := p.tree.Up(i), 0; up >= 0 && steps < 100; up, steps = p.tree.Up(up), steps+1 {
		above := &p.nodes[up]
		if above.kind == transcript.KindToolCall {
			r.Call = above.call
		}
		if r.Call != "" || above.kind == transcript.KindMessage {
			break
		}
	}
	run := v.Get("metadata", "aggregate_result")
	r.Status = run.Get("status").Word()
	switch {
	case v.Get("content", "content_type").Is("system_error"), run.Get("in_kernel_exception").IsObject(), run.Get("system_exception").IsObject():
		r.Failed = transcript.Yes
	case r.Status == "success":
		r.Failed = transcript.No
	}
	return r
}

// attributes returns the properties of a message that differ from the usual.
func (p *parser) attributes(i int, before string) (a transcript.Attributes) {
	n := &p.nodes[i]
	v := n.message
	if !n.shown {
		a.Set("off_path", true)
	}
	if parent := p.parentKey(i); parent != "" && parent != before {
		a.Set("parent", parent)
	}
	if hidden(v) {
		a.Set("hidden", true)
	}
	if status := v.Get("status").Word(); status != "" && status != "finished_successfully" {
		a.Set("status", status)
	}
	a.Set("channel", v.Get("channel").Word())
	return a
}

// parentKey returns the key of the message that node i follows in the tree, "" for the first.
func (p *parser) parentKey(i int) string {
	for up, steps := p.tree.Up(i), 0; up >= 0 && steps < 100; up, steps = p.tree.Up(up), steps+1 {
		if p.nodes[up].message.IsObject() {
			return p.nodes[up].key
		}
	}
	return ""
}
