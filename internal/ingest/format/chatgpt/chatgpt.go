// Package chatgpt reads the conversations of ChatGPT's data export: conversations.json, or since 2026 the shards
// conversations-NNN.json, each one JSON array.
//
// The producer, OpenAI, documents nothing. Many readers describe exports of 2023 to 2026; their descriptions were compared
// on 2026-11-23, together with a synthetic export. docs/formats/chatgpt-export.md describes layout and counting.
//
// A run and its conversation are a conversation of the producer, identified by its id, and an event is a message,
// identified by its own. A new export repeats everything in an old one: the newest version counts, and what only an older
// export has remains. A conversation is a tree of edits and repeated answers. All branches count, in tree order, and
// messages that do not lead to the message shown last are marked. The file is read one conversation at a time, since it may
// be larger than memory.
//
// Where readers disagree: for some, the order of the mapping is that of the tree, for others it means nothing, and newer
// exports omit the children. So this package relies on parents and times only. A message that a branched conversation took
// over from another one keeps its id and counts once.
package chatgpt

import (
	"bytes"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return chatgpt{} }

type chatgpt struct{}

var _ format.Zipped = chatgpt{}

// Name returns "chatgpt-export".
func (chatgpt) Name() string { return "chatgpt-export" }

// Version counts changes of what Parse yields.
func (chatgpt) Version() int { return 6 }

const roleConversations = "conversations"

// InZip recognises the file by its name: other files with conversations in a zip repeat these or are a user's own.
func (chatgpt) InZip(name string) bool { return format.IsConversationsName(name) }

// Detect recognises the file by its first conversation, since Claude.ai's and DeepSeek's files have the same name. A file of that name that is
// no JSON is claimed weakly, so that somebody says so.
func (chatgpt) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if !strings.EqualFold(path.Ext(name), ".json") {
		return format.Claim{}
	}
	v, alone := jsontext.FirstElement(h.Bytes)
	if !v.IsObject() || alone && !hasAuthors(v.Get("mapping"), false) || !isConversation(v, int64(len(h.Bytes)) < h.Size) {
		if format.IsConversationsName(name) && isBroken(h) {
			return format.Claim{Strength: format.Weak, Role: roleConversations}
		}
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Likely, Role: roleConversations}
	if format.IsConversationsName(name) {
		c.Strength = format.Certain
	}
	return c
}

// isBroken reports whether a file cannot be JSON, as far as the head shows.
func isBroken(h format.Head) bool {
	text := bytes.TrimSpace(jsontext.TrimBOM(h.Bytes))
	if len(text) == 0 || text[0] != '[' && text[0] != '{' {
		return true
	}
	_, err := jsontext.Parse(text)
	return err != nil && int64(len(h.Bytes)) == h.Size
}

// isConversation reports whether a value has the members of a conversation: a mapping of nodes and two more. If the mapping
// may lie beyond the head (cut), members that no other program writes are required.
func isConversation(v jsontext.Value, cut bool) bool {
	mapping, specific, generic := v.Get("mapping"), 0, 0
	for key := range v.Fields() {
		switch key {
		case "current_node", "conversation_id", "default_model_slug", "gizmo_id", "conversation_template_id", "moderation_results",
			"safe_urls", "blocked_urls", "plugin_ids", "is_do_not_remember", "conversation_origin", "disabled_tool_ids", "async_status":
			specific++
		case "title", "create_time", "update_time", "id", "is_archived", "is_starred":
			generic++
		case "inserted_at": // DeepSeek's
			return false
		}
	}
	if !mapping.Exists() {
		return cut && specific >= 3
	}
	if !mapping.IsObject() || specific+generic < 2 || specific == 0 && !hasAuthors(mapping, true) {
		return false
	}
	for _, node := range mapping.Fields() {
		return node.IsObject() && (node.Len() < 8 || node.Get("message").Exists() || node.Get("parent").Exists() || node.Get("id").Exists())
	}
	return true
}

// hasAuthors reports whether the first message of a mapping has an author; none is the result if no message is in the head.
// DeepSeek exports the same tree with messages of its own.
func hasAuthors(mapping jsontext.Value, none bool) bool {
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
		p := &parser{Sink: format.Sink{Yield: yield}, ids: map[string]bool{}}
		for o := range p.Each(jsontext.Elements(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })) {
			p.conversation(o)
		}
	}
}

// Text returns the text of one part of a message.
func (chatgpt) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, jsontext.Appended(appendPiece))
}

// parser parses one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // reused
	parts [2]transcript.Part

	// state of the current conversation
	at    transcript.Origin
	id    string
	tree  format.Tree
	nodes []node
	order []int32
	ids   map[string]bool // message ids so far
	calls int
}
