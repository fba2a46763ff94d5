// Package claudeai reads the conversations of Claude.ai's data export: conversations.json, one JSON array. What exports of
// 2023 to 2026 hold is described by many readers of them; their descriptions were compared on 2026-11-23, together with a
// made-up export. The producer documents nothing. Layout and counting: docs/formats/claude-ai-export.md.
//
// What it promises: a run and a conversation are a conversation of the producer, known by its uuid; what a person says in one
// message is an event, and of an answer each block, known by the uuid of the message and the place of the block. A new export
// repeats all of an old one: what the newest says counts, and what only an older one has stays. The file is read one
// conversation at a time, since it may be larger than memory.
//
// Where exports differ: those of 2023 and 2024 have only a text in a message, later ones blocks as well, and then the text says
// where a block was left out, or nothing. Blocks go before; the first text of a message has the same identity in both.
package claudeai

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return claudeai{} }

type claudeai struct{}

var _ format.Zipped = claudeai{}

// Name returns "claude-ai-export".
func (claudeai) Name() string { return "claude-ai-export" }

// Version counts changes of what Parse yields.
func (claudeai) Version() int { return 2 }

const roleConversations = "conversations"

// named is what the producer calls the file, and what a browser makes of it when it is there already.
var named = lazyregexp.New(`^(?i:conversations)(-\d+)?( ?\(\d+\))?\.json$`)

// InZip knows the file by its name: there are others with conversations in a zip, which repeat these or are a person's own.
func (claudeai) InZip(name string) bool { return named.MatchString(name) }

// Detect knows the file by the first conversation in it: its name says nothing, ChatGPT's is the same.
func (claudeai) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if !strings.EqualFold(path.Ext(name), ".json") {
		return format.Claim{}
	}
	v, alone := format.FirstElement(h.Bytes)
	ours := !alone && named.MatchString(name)
	if !v.IsObject() || !isConversation(v, ours && int64(len(h.Bytes)) < h.Size) {
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Likely, Role: roleConversations}
	if ours {
		c.Strength = format.Certain
	}
	return c
}

// isConversation reports whether a value has the members of a conversation. Its summary stands before the messages, which a long
// one may push out of sight.
func isConversation(v format.Value, cut bool) bool {
	messages := v.Get("chat_messages")
	switch {
	case !v.Get("uuid").IsString() || !v.Get("name").Exists():
		return false
	case messages.Exists():
		first := format.Value{}
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
		p := &parser{Sink: format.Sink{Yield: yield}}
		for o := range p.Each(format.Elements(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })) {
			p.conversation(o)
		}
	}
}

// Text gives the text of one part of an event.
func (claudeai) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, func(v format.Value) string { return string(appendPiece(nil, v)) })
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // the present one
	parts []transcript.Part

	// of the present conversation
	at    transcript.Origin
	id    string
	calls []call // without a result so far
	count int    // of calls without an id
}
