package copilotvscode

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// part is one part of an answer.
type part struct {
	ids    []string // of its events; that of a text belongs to the part that begins it
	hidden bool     // a call that the editor does not show
}

// joint says how a part belongs to the text around it.
type joint int

// The editor shows words and references to code that follow each other as one text, and looks past what it does with the code in it.
const (
	apart joint = iota
	within
	words
)

func jointOf(v format.Value) joint {
	switch v.Get("kind").Str() {
	case "", "markdownContent", "markdownVuln", "inlineReference":
		return words
	case "codeblockUri", "textEditGroup", "undoStop":
		return within
	}
	return apart
}

// passage gives how many parts of an answer, from the first one on, are one text: 0 where none begins.
func passage(parts []format.Value) (n int) {
	for i, v := range parts {
		switch jointOf(v) {
		case words:
			n = i + 1
		case apart:
			return n
		}
		if n == 0 {
			return 0
		}
	}
	return n
}

// answer yields the events of the parts that an answer goes on with. p.whole has them.
func (p *parser) answer(t *turn, parts []format.Value) {
	for len(parts) > 0 {
		n := passage(parts)
		if n > 0 {
			p.passage(t, parts[:n])
		} else {
			p.piece(t, parts[0])
			n = 1
		}
		parts = parts[n:]
	}
}

// passage yields a text, called after the part that begins it. What a log tells of it in another line is an event of its own, since an event
// stands in one place; and where that line replaces the end of it, the beginning is not told again, so the event stays as it was.
func (p *parser) passage(t *turn, parts []format.Value) {
	e := p.event(t, "answer/"+strconv.Itoa(len(t.parts)), transcript.KindMessage, "assistant", parts[0].Get("kind").Str())
	e.Origin, e.Parts = p.stretch(parts)
	ids := p.ids(func() { p.words(e, &t.spoken) })
	for _, v := range parts {
		if jointOf(v) == words || v.Get("kind").Is("codeblockUri") { // told with the text
			t.parts = append(t.parts, part{ids: ids})
			ids = nil
		} else {
			p.piece(t, v)
		}
	}
}

// stretch gives the place of some parts of an answer that follow each other, and of a text of them.
func (p *parser) stretch(values []format.Value) (transcript.Origin, []transcript.Part) {
	last := values[len(values)-1]
	from := format.OffsetIn(p.whole, values[0])
	at, length := p.at, format.OffsetIn(p.whole, last)+int64(last.Len())-from
	if p.in.Role == roleDocument || p.pushed {
		at.Offset, at.Length, from = at.Offset+from, length, 0
	}
	parts := []transcript.Part{{Text: passageText(values), Offset: from, Length: length}}
	if beside := besideText(values); beside != "" {
		parts = append(parts, transcript.Part{Kind: transcript.KindNotice, Text: beside, Offset: from, Length: length})
	}
	return at, parts
}

// piece yields the events of a part of an answer that is no text.
func (p *parser) piece(t *turn, v format.Value) {
	if p.pushed {
		p.pushed = false
		p.within(v, func() { p.piece(t, v) })
		p.pushed = true
		return
	}
	kind, suffix := v.Get("kind").Str(), "answer/"+strconv.Itoa(len(t.parts))
	next := part{hidden: v.Get("presentation").Is("hidden")}
	next.ids = p.ids(func() {
		switch kind {
		case "thinking":
			p.words(p.event(t, suffix, transcript.KindReasoning, "assistant", kind, v), &t.wonder)
		case "toolInvocationSerialized", "toolInvocation":
			p.invocation(t, suffix, kind, v)
		default:
			known, ok := asideKinds[kind]
			if !ok {
				known = transcript.KindUnknown
			}
			p.aside(t, suffix, known, kind, v)
		}
	})
	t.parts = append(t.parts, next)
}

// words yields what the model said or thought, and notes that. Nothing but the marks around code, which the program puts around edits,
// is nobody's words.
func (p *parser) words(e *transcript.Event, some *bool) {
	if strings.Trim(e.Parts[0].Text, "` \t\r\n") == "" {
		e.Kind, e.Role, e.Model, e.Verdict = transcript.KindNotice, "", "", transcript.Uncounted
	} else {
		*some = true
	}
	p.emit(e)
}

// asideKinds are the kinds of parts of an answer that are nobody's words.
var asideKinds = map[string]transcript.Kind{
	"textEditGroup": transcript.KindNotice, "notebookEditGroup": transcript.KindNotice, "codeblockUri": transcript.KindNotice,
	"workspaceEdit": transcript.KindNotice, "externalEdit": transcript.KindNotice, "multiDiffData": transcript.KindNotice, "treeData": transcript.KindNotice,
	"progressMessage": transcript.KindNotice, "progressTask": transcript.KindNotice, "progressTaskSerialized": transcript.KindNotice, "command": transcript.KindNotice,
	"systemNotification": transcript.KindNotice, "info": transcript.KindNotice, "warning": transcript.KindNotice, "confirmation": transcript.KindNotice,
	"elicitation": transcript.KindNotice, "elicitationSerialized": transcript.KindNotice, "questionCarousel": transcript.KindNotice, "planReview": transcript.KindNotice,
	"extensions": transcript.KindNotice, "pullRequest": transcript.KindNotice, "hook": transcript.KindNotice, "voiceProgress": transcript.KindNotice,
	"autoModeResolution": transcript.KindLifecycle, "undoStop": transcript.KindLifecycle, "mcpServersStarting": transcript.KindLifecycle,
	"mcpServersStartingSerialized": transcript.KindLifecycle, "mcpServersStartingSlow": transcript.KindLifecycle, "mcpAuthenticationRequired": transcript.KindLifecycle,
	"clearToPreviousToolInvocation": transcript.KindLifecycle, "prepareToolInvocation": transcript.KindLifecycle, "disabledClaudeHooks": transcript.KindLifecycle,
}
