// Package deepseek reads the conversations of the data export of DeepSeek's chat: conversations.json, one JSON array.
//
// The producer documents nothing. Compared on 2026-12-01: a reader that states what it measured in an export of July 2026 (234
// conversations, 1,932 messages, 2,768 fragments), a viewer that knows the layouts before and after files became fragments, and
// three importers. docs/formats/deepseek-export.md describes layout and counting.
//
// A run and its conversation are a conversation of the producer, identified by its id. Its mapping is a tree as ChatGPT's, with
// nodes numbered in each conversation; a message has a list of fragments. What the user wrote and attached is one event,
// identified by its node; of an answer each fragment is one, identified by the node and the index of the fragment. A new export
// repeats everything in an old one: the newest version counts, and what only an older export has remains.
//
// Where readers disagree: most follow the branch that was answered last. The export does not say which is shown, so all branches
// count and none is marked.
package deepseek

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return deepseek{} }

type deepseek struct{}

var _ format.Zipped = deepseek{}

// Name returns "deepseek-export".
func (deepseek) Name() string { return "deepseek-export" }

// Version counts changes of what Parse yields.
func (deepseek) Version() int { return 1 }

const roleConversations = "conversations"

// InZip recognises the file by its name.
func (deepseek) InZip(name string) bool { return format.IsConversationsName(name) }

// Detect recognises the file by its first conversation, since ChatGPT's and Claude.ai's files have the same name.
func (deepseek) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if !strings.EqualFold(path.Ext(name), ".json") || !format.HasKeys(h.Bytes, "inserted_at", "mapping") {
		return format.Claim{}
	}
	if v, alone := jsontext.FirstElement(h.Bytes); alone || !isConversation(v) {
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Likely, Role: roleConversations}
	if format.IsConversationsName(name) {
		c.Strength = format.Certain
	}
	return c
}

// isConversation reports whether a value has the members of a conversation, and its first message, as far as the head has it, those
// of a message.
func isConversation(v jsontext.Value) bool {
	mapping := v.Get("mapping")
	if !v.Get("id").IsString() || !v.Get("inserted_at").IsString() || !v.Get("title").Exists() || !mapping.IsObject() {
		return false
	}
	for _, node := range mapping.Fields() {
		if m := node.Get("message"); m.IsObject() {
			return m.Len() < 40 || m.Get("fragments").Exists() || m.Get("files").Exists() || m.Get("inserted_at").Exists()
		}
	}
	return true
}

// Parse yields the records of one file.
func (deepseek) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		for o := range p.Each(jsontext.Elements(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })) {
			p.conversation(o)
		}
	}
}

// Text returns the text of one part of an event.
func (deepseek) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, jsontext.Appended(appendPiece))
}

// parser parses one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // reused
	parts []transcript.Part

	// state of the current conversation
	at    transcript.Origin
	id    string
	tree  format.Tree
	nodes []node
}

// node is one entry of a mapping, with the index that it has in the tree.
type node struct {
	key     string
	message jsontext.Value
	model   string // of an answer
	at      transcript.Time
}
