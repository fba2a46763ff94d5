package geminicli

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// header holds what a session states about itself, in the head of its file and in $set.
type header struct {
	id, hash, kind, summary, directory string
	started                            transcript.Time
	messages                           jsontext.Value
}

func readHeader(v jsontext.Value) (h header) {
	for key, m := range v.Fields() {
		switch key {
		case "sessionId":
			h.id = m.Str()
		case "projectHash":
			h.hash = m.Str()
		case "kind":
			h.kind = m.Str()
		case "summary":
			h.summary = m.Str()
		case "startTime":
			h.started = m.Time()
		case "directories":
			for d := range m.Items() {
				h.directory = d.Str()
				break
			}
		case "messages":
			h.messages = m
		}
	}
	return h
}

// readDocument reads a file that is one JSON value. It returns false if it is none or cannot be read.
func (p *parser) readDocument() bool {
	p.whole, p.at = p.Document(p.in.Reader, p.problem)
	return p.whole.Exists()
}

// document yields the records of a session that is one JSON object.
func (p *parser) document() {
	if !p.readDocument() {
		return
	}
	p.head = readHeader(p.whole)
	if p.head.id == "" || !p.head.messages.IsArray() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no sessionId or no messages", Origin: p.at})
		return
	}
	p.begin()
	p.title(p.head.summary)
	p.messages(p.head.messages)
	for _, u := range p.requests {
		p.Emit(u)
	}
}

// log yields the records of a session that is written line by line.
func (p *parser) log() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.at, p.whole = o.Origin, o.Value
		p.line(o.Value)
	}
}

// line yields the records of one line of a log.
func (p *parser) line(v jsontext.Value) {
	set, patch, id := v.Get("$set"), v.Get("$patch"), v.Get("id")
	switch {
	case set.Exists():
		p.applyChange("$set", set)
	case patch.Exists():
		p.applyChange("$patch", patch)
	case v.Get("$rewindTo").Exists():
		p.emitUncounted(v, transcript.KindLifecycle, "$rewindTo")
	case v.Get("sessionId").Exists() && !id.Exists():
		if h := readHeader(v); p.session == "" {
			p.head = h
			p.begin()
			p.title(h.summary)
		}
		p.emitUncounted(v, transcript.KindLifecycle, "header")
		p.messages(v.Get("messages"))
	case id.Exists() && v.Get("type").Is("message_update"):
		p.emitUncounted(v, transcript.KindLifecycle, "message_update")
		p.message(v, "")
	case id.Exists() || v.Get("type").Exists():
		p.message(v, fmt.Sprintf("#%d", p.at.Line))
	default:
		p.emitUncounted(v, transcript.KindUnknown, "")
	}
}

// applyChange processes a change of what the session states about itself. It may contain the whole list of messages; a
// $patch may change one message.
func (p *parser) applyChange(typ string, v jsontext.Value) {
	p.emitUncounted(p.whole, transcript.KindLifecycle, typ)
	h := readHeader(v)
	if h.summary != "" {
		p.title(h.summary)
	}
	if h.directory != "" {
		p.project(h.directory)
	}
	p.messages(h.messages)
	if v.Get("id").Exists() {
		p.message(v, "")
	}
}

func (p *parser) messages(list jsontext.Value) {
	for n, m := range list.Numbered() {
		if m.IsObject() {
			p.message(m, fmt.Sprintf("#%d", n+1))
		} else {
			p.emitUncounted(m, transcript.KindUnknown, "")
		}
		if p.Done() {
			return
		}
	}
}

// emitUncounted yields an uncounted row, identified by its place in the file.
func (p *parser) emitUncounted(v jsontext.Value, kind transcript.Kind, typ string) {
	p.begin()
	p.Emit(&transcript.Event{
		Conversation: p.session, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Origin: p.origin(v),
		Time: v.Get("$set", "lastUpdated").Time(), Parts: []transcript.Part{{Text: pieceText(v)}},
	})
}

// begin sets the session and yields run and conversation, once.
func (p *parser) begin() {
	if p.session != "" {
		return
	}
	name, parent, project := parsePath(p.in.Path)
	if p.session = p.head.id; p.session == "" {
		p.session = name
	}
	if parent == p.session {
		parent = ""
	}
	rank, order := 1, "1"
	if p.in.Role == roleLog {
		rank, order = 2, "2"
	}
	child := parent != "" || p.head.kind == "subagent"
	if project == "" {
		project = p.head.hash
	}
	var attrs transcript.Attributes
	attrs.Set("project_hash", p.head.hash)
	p.Emit(&transcript.Run{
		ID: p.session, Rank: rank, Group: project, Project: p.head.directory, Started: p.head.started, Child: child, Attributes: attrs,
	})
	p.Emit(&transcript.Conversation{
		ID: p.session, Run: p.session, Shared: true, Order: order, Rank: rank, Project: p.head.directory,
		Started: p.head.started, Child: child,
	})
	if parent != "" {
		p.link(parent, p.session, false)
	}
}

func (p *parser) link(parent, child string, uncounted bool) {
	p.Emit(&transcript.Link{
		Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(child),
		Origin: p.at, Uncounted: uncounted,
	})
}

// titleFromPrompt titles the session by its first prompt until there is a summary.
func (p *parser) titleFromPrompt(text string) {
	if !p.hasTitle {
		p.title(format.Title(text))
	}
}

// projectFromContext takes the project from the message about the session's context, unless the header has it.
func (p *parser) projectFromContext(text string) {
	_, list, _ := strings.Cut(text, "**Workspace Directories:**\n  - ")
	if dir, _, _ := strings.Cut(list, "\n"); dir != "" && p.head.directory == "" {
		p.project(strings.Clone(dir))
	}
}

func (p *parser) project(dir string) {
	p.head.directory = dir
	p.Emit(&transcript.Run{ID: p.session, Project: dir})
	p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: true, Project: dir})
}

func (p *parser) title(title string) {
	if title == "" {
		return
	}
	p.hasTitle = true
	p.Emit(&transcript.Run{ID: p.session, Title: title})
	p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: true, Title: title})
}
