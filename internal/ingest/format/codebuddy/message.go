package codebuddy

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// blobType is the type of a block that names an image in the program's directory of blobs.
const blobType = "image_blob_ref"

// message yields a message as one event, its blocks as parts. What the program put into the user's role is the system's: a message of its own, or
// blocks before what the user said, which are events of their own.
func (p *parser) message(l *line) {
	kind, role := transcript.KindMessage, l.role
	switch {
	case l.provider.compact && l.role == "assistant":
		kind, role = transcript.KindCompaction, "system"
	case l.role == "system" || l.role == "developer" || l.provider.compact || l.role == "user" && injected(l.content):
		kind, role = transcript.KindSystem, "system"
	case l.role != "user" && l.role != "assistant":
		p.uncounted(l, transcript.KindUnknown)
		return
	}
	if !hasContent(l.content) {
		p.uncounted(l, transcript.KindNotice)
		return
	}
	said := kind == transcript.KindMessage && role == "user"
	var e *transcript.Event
	for block := range l.content.Items() {
		switch {
		case said && isInjected(textIn(block)):
			p.Emit(p.event(l, block, transcript.KindSystem, "system"))
		case e == nil:
			e = p.event(l, block, kind, role)
		default:
			e.Parts = append(e.Parts, p.part(l, block))
		}
	}
	if e == nil {
		e = p.event(l, l.content, kind, role)
	}
	p.Emit(e)
	if said && !l.duplicate {
		p.setTitleFrom(l.content)
	}
}

// textIn returns the value that has the text of a block.
func textIn(block jsontext.Value) jsontext.Value {
	if block.IsString() {
		return block
	}
	return block.First("text", "input_text", "output_text")
}

// hasContent reports whether a message has a text that is not blank, or a block of another kind.
func hasContent(content jsontext.Value) bool {
	if content.IsString() {
		return !content.IsBlank()
	}
	for block := range content.Items() {
		if text := textIn(block); text.Exists() && !text.IsBlank() || !text.Exists() && block.IsObject() {
			return true
		}
	}
	return false
}

// injected reports whether a message in the user's role has nothing that the user said: there are blocks with text, and the program put all of
// them there.
func injected(content jsontext.Value) bool {
	found := false
	for block := range content.Items() {
		text := textIn(block)
		switch {
		case !text.Exists():
			return false
		case isInjected(text):
			found = true
		case !text.IsBlank():
			return false
		}
	}
	return found || content.IsString() && isInjected(content)
}

// tags are the tags that begin what the program puts into the user's role.
var tags = map[string]bool{
	"system-reminder": true, "local-command-caveat": true, "local-command-stdout": true, "command-message": true, "command-name": true, "command-args": true,
	"task-notification": true, "user-prompt-submit-hook": true,
}

// isInjected reports whether a text begins with such a tag and has no query of the user behind it.
func isInjected(text jsontext.Value) bool {
	s := strings.TrimSpace(text.Str())
	if !strings.HasPrefix(s, "<") || strings.Contains(s, queryTag) {
		return false
	}
	end := strings.IndexAny(s, " >\n")
	return end > 0 && tags[s[1:end]]
}

// The tags around what the user asks, and around what a sub-agent is asked.
const (
	queryTag = "<user_query>"
	teamTag  = "<teammate-message"
)

// setTitleFrom sets the title from the first prompt, as long as no line states one.
func (p *parser) setTitleFrom(content jsontext.Value) {
	if p.named || p.facts.Title != "" {
		return
	}
	set := func(text jsontext.Value) bool {
		if isInjected(text) {
			return false
		}
		s := text.Str()
		if _, after, ok := strings.Cut(s, queryTag); ok {
			s, _, _ = strings.Cut(after, "</user_query>")
		} else if _, after, ok := strings.Cut(s, ">"); ok && strings.HasPrefix(s, teamTag) {
			s = after
		}
		p.facts.Title = strings.Clone(format.Title(s))
		return p.facts.Title != ""
	}
	if content.IsString() {
		set(content)
	}
	for block := range content.Items() {
		if set(textIn(block)) {
			return
		}
	}
}

// reasoning yields what the model thought; the text is in rawContent, or there is none.
func (p *parser) reasoning(l *line) {
	for _, v := range []jsontext.Value{l.raw, l.content} {
		if hasContent(v) {
			p.Emit(p.event(l, v, transcript.KindReasoning, "assistant"))
			return
		}
	}
	p.uncounted(l, transcript.KindNotice)
}

func (p *parser) call(l *line) {
	e := p.event(l, jsontext.Value{}, transcript.KindToolCall, "assistant")
	c := &transcript.Call{ID: l.call.Str(), Name: l.name.Word(), Input: int64(l.arguments.Len())}
	input := l.arguments
	c.Paths = format.Paths(input.Unwrap(), pathNames, nil)
	if c.ID != "" {
		p.names[c.ID] = c.Name
	}
	e.Parts[0].Call = c
	p.Emit(e)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "filePath", "path", "notebook_path", "target_file"}

// failures are the statuses of the SDK, and what readers expect, of a result that is none.
var failures = map[string]bool{"incomplete": true, "failed": true, "error": true}

func (p *parser) result(l *line) {
	e := p.event(l, jsontext.Value{}, transcript.KindToolResult, "tool")
	r := &transcript.Result{Call: l.call.Str(), Name: l.name.Word(), Status: l.status.Word(), Output: int64(l.output.Len())}
	if r.Name == "" {
		r.Name = p.names[r.Call]
	}
	if failures[r.Status] {
		r.Failed = transcript.Yes
	}
	e.Parts[0].Result = r
	p.Emit(e)
}
