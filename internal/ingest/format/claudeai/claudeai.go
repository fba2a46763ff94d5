// Package claudeai reads the conversations of Claude.ai's data export: conversations.json, one JSON array, and since 2026 the chats of Claude
// Design, design_chats/<uuid>.json, one object each.
//
// The producer, Anthropic, documents nothing. Many readers describe exports of 2023 to 2026; their descriptions were
// compared on 2026-11-23, together with a synthetic export. docs/formats/claude-ai-export.md describes layout and counting.
//
// A run and its conversation are a conversation of the producer, identified by its uuid. A user's message is one event; of
// an answer each block is one, identified by the uuid of the message and the index of the block. A new export repeats
// everything in an old one: the newest version counts, and what only an older export has remains. The file is read one
// conversation at a time, since it may be larger than memory.
//
// Where exports differ: in those of 2023 and 2024 a message only has a text. Later ones also have blocks, and then the text
// says where a block was omitted, or is empty. Blocks take precedence; the first text of a message has the same identity in
// both.
package claudeai

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return claudeai{} }

type claudeai struct{}

var _ format.Zipped = claudeai{}

// Name returns "claude-ai-export".
func (claudeai) Name() string { return "claude-ai-export" }

// Version counts changes of what Parse yields.
func (claudeai) Version() int { return 6 }

const (
	roleConversations = "conversations"
	roleDesign        = "design" // a chat of Claude Design
)

// InZip recognises the files by their names: other files with conversations in a zip repeat these or are a user's own.
func (claudeai) InZip(name string) bool {
	return format.IsConversationsName(name) || designName.MatchString(name)
}

// Detect recognises the file by its first conversation, since ChatGPT's and DeepSeek's files have the same name.
func (claudeai) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if !strings.EqualFold(path.Ext(name), ".json") {
		return format.Claim{}
	}
	v, alone := jsontext.FirstElement(h.Bytes)
	if alone && inDesigns(h.Path) && (isDesign(v) || int64(len(h.Bytes)) < h.Size && v.Get("uuid").IsString() && v.Get("title").Exists()) {
		return format.Claim{Strength: format.Certain, Role: roleDesign}
	}
	ours := !alone && format.IsConversationsName(name)
	if !v.IsObject() || !isConversation(v, ours && int64(len(h.Bytes)) < h.Size) {
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Likely, Role: roleConversations}
	if ours {
		c.Strength = format.Certain
	}
	return c
}

// isConversation reports whether a value has the members of a conversation. The summary precedes the messages, and a long
// one may push them beyond the head.
func isConversation(v jsontext.Value, cut bool) bool {
	messages := v.Get("chat_messages")
	switch {
	case !v.Get("uuid").IsString() || !v.Get("name").Exists():
		return false
	case messages.Exists():
		first := jsontext.Value{}
		for first = range messages.Items() {
			break
		}
		return messages.IsArray() && (!first.Exists() || first.IsObject())
	}
	return cut && v.Get("summary").IsString()
}

// Parse yields the records of one file.
func (claudeai) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, text: textOf(in.Role)}
		for o := range p.Each(jsontext.Elements(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })) {
			if in.Role == roleDesign {
				p.design(o)
			} else {
				p.conversation(o)
			}
		}
	}
}

// Text returns the text of one part of an event.
func (claudeai) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, jsontext.Appended(textOf(role)))
}

// textOf returns what appends the text of a piece in a file of a role.
func textOf(role string) func([]byte, jsontext.Value) []byte {
	if role == roleDesign {
		return appendDesign
	}
	return appendPiece
}

// parser parses one file.
type parser struct {
	format.Sink
	text  func([]byte, jsontext.Value) []byte // appends the text of a piece
	lend  format.Lender
	event transcript.Event // reused
	parts []transcript.Part

	// state of the current conversation
	at             transcript.Origin
	id             string
	calls          []call // unanswered calls
	callsWithoutID int    // number of calls without an id
}
