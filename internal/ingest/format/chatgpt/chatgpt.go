// Package chatgpt reads the conversations of ChatGPT's data export: conversations.json, or since 2026 the shards
// conversations-NNN.json, each one JSON array. What exports of 2023 to 2026 hold is described by many readers of them; their
// descriptions were compared on 2026-11-23, together with a made-up export. The producer documents nothing. Layout and
// counting: docs/formats/chatgpt-export.md.
//
// What it promises: a run and a conversation are a conversation of the producer, known by its id, and an event is a message,
// known by its own. A new export repeats all of an old one: what the newest says counts, and what only an older one has stays.
// A conversation is a tree of edits and repeated answers: all branches count, in the order of the tree, and what does not lead
// to the message that is shown last is marked. The file is read one conversation at a time, since it may be larger than memory.
//
// Where readers disagree: the order of the mapping is that of the tree for some and none for others, and newer exports leave
// out the children; so nothing but parents and times is relied on. A message that a branched conversation took over from
// another one has kept its id: it counts once.
package chatgpt

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return chatgpt{} }

type chatgpt struct{}

var _ format.Zipped = chatgpt{}

// Name returns "chatgpt-export".
func (chatgpt) Name() string { return "chatgpt-export" }

// Version counts changes of what Parse yields.
func (chatgpt) Version() int { return 3 }

const roleConversations = "conversations"

// named is what the producer calls the file, and what a browser makes of it when it is there already.
var named = lazyregexp.New(`^(?i:conversations)(-\d+)?( ?\(\d+\))?\.json$`)

// InZip knows the file by its name: there are others with conversations in a zip, which repeat these or are a person's own.
func (chatgpt) InZip(name string) bool { return named.MatchString(name) }

// Detect knows the file by the first conversation in it: its name says nothing, Claude.ai's is the same.
func (chatgpt) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if !strings.EqualFold(path.Ext(name), ".json") {
		return format.Claim{}
	}
	v, alone := format.FirstElement(h.Bytes)
	if !v.IsObject() || alone && !hasAuthors(v.Get("mapping"), false) || !isConversation(v, int64(len(h.Bytes)) < h.Size) {
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Likely, Role: roleConversations}
	if named.MatchString(name) {
		c.Strength = format.Certain
	}
	return c
}

// isConversation reports whether a value has the members of a conversation: a mapping of nodes and two more. Where the mapping
// may be out of sight, it is those that nobody else writes.
func isConversation(v format.Value, cut bool) bool {
	mapping, own, any := v.Get("mapping"), 0, 0
	for key := range v.Fields() {
		switch key {
		case "current_node", "conversation_id", "default_model_slug", "gizmo_id", "conversation_template_id", "moderation_results",
			"safe_urls", "blocked_urls", "plugin_ids", "is_do_not_remember", "conversation_origin", "disabled_tool_ids", "async_status":
			own++
		case "title", "create_time", "update_time", "id", "is_archived", "is_starred":
			any++
		}
	}
	if !mapping.Exists() {
		return cut && own >= 3
	}
	if !mapping.IsObject() || own+any < 2 || own == 0 && !hasAuthors(mapping, true) {
		return false
	}
	for _, node := range mapping.Fields() {
		return node.IsObject() && (node.Len() < 8 || node.Get("message").Exists() || node.Get("parent").Exists() || node.Get("id").Exists())
	}
	return true
}

// hasAuthors reports whether the first message of a mapping says who wrote it, or none where there is no message in sight. DeepSeek
// exports the same tree, with messages of its own.
func hasAuthors(mapping format.Value, none bool) bool {
	for _, node := range mapping.Fields() {
		if m := node.Get("message"); m.IsObject() {
			return m.Get("author").Exists()
		}
	}
	return none
}

// Parse yields the records of one file.
func (chatgpt) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, places: map[string]int32{}, ids: map[string]bool{}}
		for o := range p.Each(format.Elements(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })) {
			p.conversation(o)
		}
	}
}

// Text gives the text of one part of a message.
func (chatgpt) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, func(v format.Value) string { return string(appendPiece(nil, v)) })
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // the present one
	parts [2]transcript.Part

	// of the present conversation
	at     transcript.Origin
	id     string
	nodes  []node
	places map[string]int32 // of nodes, by key
	order  []int32
	ids    map[string]bool // of messages so far
	calls  int
}
