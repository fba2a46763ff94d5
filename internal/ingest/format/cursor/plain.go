package cursor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The marks of a plain text transcript: the speaker, on a line of its own, and the kind of a section of the assistant.
const (
	userLine      = "user:"
	assistantLine = "assistant:"
	thinkingMark  = "[Thinking]"
	callMark      = "[Tool call] "
	resultMark    = "[Tool result]"
)

// plain yields the records of a plain text transcript. The section after a mark continues while lines are blank or indented.
func (p *parser) plain() {
	p.session, p.rank = p.loc.session, rankPlain
	p.begin()
	content, err := format.ReadAll(p.in.Reader, format.DocumentLimit)
	if errors.Is(err, layer.ErrTooLarge) {
		p.problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", format.DocumentLimit)})
		return
	}
	if err != nil {
		p.Fail(err)
		return
	}
	text := string(content)
	var s section
	for line, offset := 1, 0; offset < len(text) && !p.Done(); line++ {
		end := len(text)
		if n := strings.IndexByte(text[offset:], '\n'); n >= 0 {
			end = offset + n + 1
		}
		if next, isNew := s.next(text[offset:end]); isNew {
			p.section(s, text)
			next.begin, next.line = offset, line
			s = next
		}
		s.end = end
		offset = end
	}
	p.section(s, text)
	if !p.hasMessages && strings.TrimSpace(text) != "" && !p.Done() {
		p.problem(&transcript.Problem{Kind: "not a transcript", Reason: "no line says who speaks", Origin: transcript.Origin{Length: int64(len(text))}})
	}
}

// section is a group of lines of a plain text transcript that belong together.
type section struct {
	role, mark string
	begin, end int
	line       int
	isSpeaker  bool // the line that names the speaker
}

// next reports whether a line begins another section, and returns it.
func (s *section) next(line string) (section, bool) {
	word := strings.TrimSpace(jsontext.TrimBOM(line))
	switch {
	case word == userLine:
		return section{role: "user", isSpeaker: true}, true
	case word == assistantLine:
		return section{role: "assistant", isSpeaker: true}, true
	case s.role == "assistant":
		for _, m := range []string{thinkingMark, callMark, resultMark} {
			if strings.HasPrefix(word, strings.TrimSpace(m)) {
				return section{role: s.role, mark: m}, true
			}
		}
		if s.mark != "" && word != "" && line[0] != ' ' && line[0] != '\t' {
			return section{role: s.role}, true
		}
	}
	return section{role: s.role}, s.isSpeaker
}

// section yields the event of a section.
func (p *parser) section(s section, text string) {
	raw := text[s.begin:s.end]
	content := plainText(raw)
	if s.isSpeaker || strings.TrimSpace(content) == "" && s.mark != callMark && s.mark != resultMark {
		return
	}
	p.baseOrigin = transcript.Origin{Offset: int64(s.begin), Length: int64(len(raw)), Line: s.line}
	e := p.event(transcript.KindMessage, s.role, s.role)
	e.Parts = []transcript.Part{{Text: content}}
	name := plainName(raw)
	switch s.mark {
	case thinkingMark:
		e.Kind = transcript.KindReasoning
	case callMark:
		p.calls++
		e.Kind = transcript.KindToolCall
		e.Parts[0].Call = &transcript.Call{ID: fmt.Sprintf("#%d", p.calls), Name: name, Input: int64(len(raw))}
	case resultMark:
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		e.Parts[0].Result = &transcript.Result{Name: name, Output: int64(len(raw))}
	}
	if s.role == "" { // before the first speaker
		e.Kind = transcript.KindNotice
		p.Emit(e)
		return
	}
	t := tags{}
	if s.role == "user" {
		t = readTags(raw)
		e.Time = t.at
	}
	p.emitConversation()
	e.Verdict, e.Conversation, e.Run = transcript.Counted, p.session, ""
	p.Emit(e)
	p.setTitleFrom(t.query)
}

// plainName returns the name of the tool after a mark.
func plainName(raw string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(raw), "\n")
	for _, m := range []string{callMark, resultMark} {
		if name, ok := strings.CutPrefix(line, strings.TrimSpace(m)); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// plainText returns the text of a section without its mark.
func plainText(raw string) string {
	text := strings.TrimSpace(jsontext.TrimBOM(raw))
	for _, m := range []string{thinkingMark, callMark, resultMark} {
		if after, ok := strings.CutPrefix(text, strings.TrimSpace(m)); ok {
			return strings.ToValidUTF8(strings.TrimSpace(after), "\uFFFD")
		}
	}
	return strings.ToValidUTF8(unwrap(text), "\uFFFD")
}
