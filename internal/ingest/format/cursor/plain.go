package cursor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The marks of a transcript that is plain text: who speaks, on a line of its own, and what a stretch of the assistant's is.
const (
	userLine      = "user:"
	assistantLine = "assistant:"
	thinkingMark  = "[Thinking]"
	callMark      = "[Tool call] "
	resultMark    = "[Tool result]"
)

// plain yields the records of a transcript that is plain text. What a mark begins goes on as long as lines are blank or indented.
func (p *parser) plain() {
	p.session, p.rank = p.where.session, rankPlain
	p.begin()
	content, err := format.ReadAll(p.in.Reader, format.DocumentLimit)
	if errors.Is(err, format.ErrTooLarge) {
		p.problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", format.DocumentLimit)})
		return
	}
	if err != nil {
		p.Fail(err)
		return
	}
	text := string(content)
	var s stretch
	for line, offset := 1, 0; offset < len(text) && !p.Done(); line++ {
		end := len(text)
		if n := strings.IndexByte(text[offset:], '\n'); n >= 0 {
			end = offset + n + 1
		}
		if next, begins := s.next(text[offset:end]); begins {
			p.stretch(s, text)
			next.begin, next.line = offset, line
			s = next
		}
		s.end = end
		offset = end
	}
	p.stretch(s, text)
	if !p.said && strings.TrimSpace(text) != "" && !p.Done() {
		p.problem(&transcript.Problem{Kind: "not a transcript", Reason: "no line says who speaks", Origin: transcript.Origin{Length: int64(len(text))}})
	}
}

// stretch is some lines of a plain transcript that belong together.
type stretch struct {
	role, mark string
	begin, end int
	line       int
	head       bool // the line that says who speaks
}

// next says whether a line begins another stretch, and which.
func (s *stretch) next(line string) (stretch, bool) {
	word := strings.TrimSpace(format.TrimBOM(line))
	switch {
	case word == userLine:
		return stretch{role: "user", head: true}, true
	case word == assistantLine:
		return stretch{role: "assistant", head: true}, true
	case s.role == "assistant":
		for _, m := range []string{thinkingMark, callMark, resultMark} {
			if strings.HasPrefix(word, strings.TrimSpace(m)) {
				return stretch{role: s.role, mark: m}, true
			}
		}
		if s.mark != "" && word != "" && line[0] != ' ' && line[0] != '\t' {
			return stretch{role: s.role}, true
		}
	}
	return stretch{role: s.role}, s.head
}

// stretch yields the event of one.
func (p *parser) stretch(s stretch, text string) {
	raw := text[s.begin:s.end]
	said := plainText(raw)
	if s.head || strings.TrimSpace(said) == "" && s.mark != callMark && s.mark != resultMark {
		return
	}
	p.at = transcript.Origin{Offset: int64(s.begin), Length: int64(len(raw)), Line: s.line}
	e := p.event(transcript.KindMessage, s.role, s.role)
	e.Parts = []transcript.Part{{Text: said}}
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
	if s.role == "" { // before anybody speaks
		e.Kind = transcript.KindNotice
		p.Emit(e)
		return
	}
	t := tags{}
	if s.role == "user" {
		t = readTags(raw)
		e.Time = t.at
	}
	p.speak()
	e.Verdict, e.Conversation, e.Run = transcript.Counted, p.session, ""
	p.Emit(e)
	p.prompted(t.query)
}

// plainName is the tool that a mark names.
func plainName(raw string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(raw), "\n")
	for _, m := range []string{callMark, resultMark} {
		if name, ok := strings.CutPrefix(line, strings.TrimSpace(m)); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// plainText is the text of a stretch without its mark.
func plainText(raw string) string {
	text := strings.TrimSpace(format.TrimBOM(raw))
	for _, m := range []string{thinkingMark, callMark, resultMark} {
		if after, ok := strings.CutPrefix(text, strings.TrimSpace(m)); ok {
			return strings.ToValidUTF8(strings.TrimSpace(after), "\uFFFD")
		}
	}
	return strings.ToValidUTF8(unwrapped(text), "\uFFFD")
}
