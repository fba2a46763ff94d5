// Package lechat reads the data export of Mistral's assistant, Le Chat, since 2026 Mistral Vibe: chat-<uuid>.json for each chat, one array of messages.
//
// The producer documents nothing. Compared on 2026-12-01: an importer with types for the layouts before and after the new name, an extractor, and a
// prober that states what it found in exports; two readers of the site's own stream know the same message. docs/formats/le-chat-export.md describes
// layout and counting.
//
// A run and its conversation are a chat, identified by the id that all of its messages state. Messages are in no order: they are sorted by time. What a
// person wrote is one event, identified by the message; so is an answer, with its reasoning and its calls of tools as further ones. A new export repeats
// everything in an old one: the newest version counts, and what only an older export has remains.
//
// Where readers disagree: for one, the content of an answer is all of its text chunks, for another it is the last one. So a chunk is part of the answer
// if its content has it.
package lechat

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return lechat{} }

type lechat struct{}

var _ format.Zipped = lechat{}

// Name returns "le-chat-export".
func (lechat) Name() string { return "le-chat-export" }

// Version counts changes of what Parse yields.
func (lechat) Version() int { return 1 }

const roleChat = "chat"

// chatName is the name of a file, possibly with the number that a browser appends.
var chatName = lazyregexp.New(`^chat-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}( ?\(\d+\))?\.json$`)

// InZip recognises a file by its name.
func (lechat) InZip(name string) bool { return chatName.MatchString(name) }

// Detect recognises a file by its first message.
func (lechat) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if !strings.EqualFold(path.Ext(name), ".json") || !format.HasKeys(h.Bytes, "chatId") {
		return format.Claim{}
	}
	first, alone := jsontext.FirstElement(h.Bytes)
	if alone || !first.Get("chatId").IsString() || !first.Get("id").IsString() {
		return format.Claim{}
	}
	switch {
	case chatName.MatchString(name): // a long content comes before the rest
		return format.Claim{Strength: format.Certain, Role: roleChat}
	case first.Get("contentChunks").Exists() && first.Get("role").IsString() && first.Get("createdAt").IsString():
		return format.Claim{Strength: format.Likely, Role: roleChat}
	}
	return format.Claim{}
}

// Parse yields the records of one file.
func (lechat) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		doc, at := p.Document(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })
		if doc.Exists() {
			p.at = at.Offset - doc.Offset()
			p.chat(doc, at)
		}
	}
}

// Text returns the text of one part of an event.
func (lechat) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, jsontext.Appended(appendText))
}

// parser parses one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // reused
	parts []transcript.Part

	at    int64 // of the document in the file
	id    string
	calls int // without an id

	// state of the current message
	own  string
	time transcript.Time
}

// message is one message with its time, and the one by which it is sorted: without its own, that of the one before it in the file.
type message struct {
	v    jsontext.Value
	at   transcript.Time
	sort int64
}

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// chat yields the records of a document.
func (p *parser) chat(doc jsontext.Value, at transcript.Origin) {
	var all []message
	for m := range doc.Items() {
		if id := m.Get("chatId").Text(); p.id == "" && len(id) <= maxID {
			p.id = id
		}
		next := message{v: m, at: m.Get("createdAt").Time()}
		if next.sort = next.at.UnixMicro; !next.at.Valid && len(all) > 0 {
			next.sort = all[len(all)-1].sort
		}
		all = append(all, next)
	}
	if p.id == "" {
		p.Emit(&transcript.Problem{Kind: "not a chat", Reason: "no list of messages with the id of their chat", Origin: at})
		return
	}
	slices.SortStableFunc(all, func(a, b message) int { return cmp.Compare(a.sort, b.sort) })
	p.emitRun(all)
	for i, m := range all {
		if p.Done() {
			return
		}
		if !m.v.IsObject() {
			p.Emit(&transcript.Problem{Run: p.id, Kind: "not a message", Reason: "a JSON value of another type", Origin: p.origin(m.v)})
			continue
		}
		p.message(i, m)
	}
}

// emitRun yields the run and its conversation. A chat has no title but its first prompt.
func (p *parser) emitRun(all []message) {
	title, first, last := "", transcript.Time{}, transcript.Time{}
	for _, m := range all {
		if m.at.Valid {
			first, last = cmp.Or(first, m.at), m.at
		}
		if title == "" && m.v.Get("role").Is("user") {
			title = format.Title(m.v.Get("content").Str())
		}
	}
	rank, order := format.ExportRank(last)
	p.Emit(&transcript.Run{ID: p.id, Rank: rank, Title: title, Started: first, Ended: last})
	p.Emit(&transcript.Conversation{ID: p.id, Run: p.id, Shared: true, Rank: rank, Order: order, Title: title, Started: first, Ended: last})
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: p.at + v.Offset(), Length: int64(v.Len())}
}
