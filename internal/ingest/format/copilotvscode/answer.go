package copilotvscode

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// answerPart is one part of an answer.
type answerPart struct {
	ids    []string // of its events; the event of a text belongs to the part that begins the text
	hidden bool     // a call that the editor does not show
}

// textClass tells how a part of an answer relates to the text around it.
type textClass int

// The editor shows consecutive texts and inline references as one text. Parts that apply code edits in between do not interrupt it.
const (
	classOther textClass = iota
	classInside
	classText
)

func classOf(v jsontext.Value) textClass {
	switch v.Get("kind").Str() {
	case "", "markdownContent", "markdownVuln", "inlineReference":
		return classText
	case "codeblockUri", "textEditGroup", "undoStop":
		return classInside
	}
	return classOther
}

// textRun returns the number of parts, from the first on, that form one text: 0 if the first is not text.
func textRun(parts []jsontext.Value) (n int) {
	for i, v := range parts {
		switch classOf(v) {
		case classText:
			n = i + 1
		case classOther:
			return n
		}
		if n == 0 {
			return 0
		}
	}
	return n
}

// answerParts yields the events of the next parts of an answer. They must lie in p.base.
func (p *parser) answerParts(t *turn, parts []jsontext.Value) {
	for len(parts) > 0 {
		n := textRun(parts)
		if n > 0 {
			p.textEvent(t, parts[:n])
		} else {
			p.partEvents(t, parts[0])
			n = 1
		}
		parts = parts[n:]
	}
}

// textEvent yields the event of a text, identified by the part that begins it. If a later line of a log continues the text, that
// continuation is an event of its own, since an event has one place. If that line replaces the end of the text, the beginning is not in it,
// so the first event stays as it was.
func (p *parser) textEvent(t *turn, parts []jsontext.Value) {
	e := p.event(t, "answer/"+strconv.Itoa(len(t.parts)), transcript.KindMessage, "assistant", parts[0].Get("kind").Str())
	e.Origin, e.Parts = p.textSpan(parts)
	ids := p.collectIDs(func() { p.emitText(e, &t.hasText) })
	for _, v := range parts {
		if classOf(v) == classText || v.Get("kind").Is("codeblockUri") { // part of the text's event
			t.parts = append(t.parts, answerPart{ids: ids})
			ids = nil
		} else {
			p.partEvents(t, v)
		}
	}
}

// textSpan returns the place of consecutive parts of an answer and the event parts for their text.
func (p *parser) textSpan(values []jsontext.Value) (transcript.Origin, []transcript.Part) {
	last := values[len(values)-1]
	from := jsontext.OffsetIn(p.base, values[0])
	at, length := p.baseOrigin, jsontext.OffsetIn(p.base, last)+int64(last.Len())-from
	if p.in.Role == roleDocument || p.pushed {
		at.Offset, at.Length, from = at.Offset+from, length, 0
	}
	parts := []transcript.Part{{Text: answerText(values), Offset: from, Length: length}}
	if notes := notesText(values); notes != "" {
		parts = append(parts, transcript.Part{Kind: transcript.KindNotice, Text: notes, Offset: from, Length: length})
	}
	return at, parts
}

// partEvents yields the events of a part of an answer that is not text.
func (p *parser) partEvents(t *turn, v jsontext.Value) {
	if p.pushed {
		p.pushed = false
		p.withBase(v, func() { p.partEvents(t, v) })
		p.pushed = true
		return
	}
	kind, suffix := v.Get("kind").Str(), "answer/"+strconv.Itoa(len(t.parts))
	next := answerPart{hidden: v.Get("presentation").Is("hidden")}
	next.ids = p.collectIDs(func() {
		switch kind {
		case "thinking":
			p.emitText(p.event(t, suffix, transcript.KindReasoning, "assistant", kind, v), &t.hasReasoning)
		case "toolInvocationSerialized", "toolInvocation":
			p.toolInvocation(t, suffix, kind, v)
		default:
			p.uncounted(t, suffix, cmp.Or(uncountedKind(kind), transcript.KindUnknown), kind, v)
		}
	})
	t.parts = append(t.parts, next)
}

// emitText yields a text or reasoning event and sets *nonBlank. What consists only of the code fences that VS Code puts around edits is an
// uncounted notice.
func (p *parser) emitText(e *transcript.Event, nonBlank *bool) {
	if strings.Trim(e.Parts[0].Text, "` \t\r\n") == "" {
		e.Kind, e.Role, e.Model, e.Verdict = transcript.KindNotice, "", "", transcript.Uncounted
	} else {
		*nonBlank = true
	}
	p.emit(e)
}

// uncountedKind returns the kind of a known kind of part that is not text, reasoning or a call, "" of others.
func uncountedKind(kind string) transcript.Kind {
	switch kind {
	case "textEditGroup", "notebookEditGroup", "codeblockUri", "workspaceEdit", "externalEdit", "multiDiffData", "treeData",
		"progressMessage", "progressTask", "progressTaskSerialized", "command", "systemNotification", "info", "warning", "confirmation",
		"elicitation", "elicitationSerialized", "questionCarousel", "planReview", "extensions", "pullRequest", "hook", "voiceProgress":
		return transcript.KindNotice
	case "autoModeResolution", "undoStop", "mcpServersStarting", "mcpServersStartingSerialized", "mcpServersStartingSlow",
		"mcpAuthenticationRequired", "clearToPreviousToolInvocation", "prepareToolInvocation", "disabledClaudeHooks":
		return transcript.KindLifecycle
	}
	return ""
}
