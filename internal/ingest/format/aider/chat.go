package aider

import (
	"fmt"
	"hash/fnv"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The kinds of blocks.
const (
	kindNone      = ""
	kindPrompt    = "prompt"
	kindAnswer    = "answer"
	kindReasoning = "reasoning"
	kindNotice    = "notice" // one message of Aider's own
	kindAside     = "aside"  // written like a prompt, but the user did not type it
	kindHeading   = "heading"
)

// block collects consecutive lines of one kind.
type block struct {
	kind   string
	at     transcript.Origin // up to the last line that is not blank
	raw    []byte            // all lines, trailing blank ones included
	size   int               // length of raw up to the last line that is not blank
	mayEnd bool              // the last line looks like the end; the next line decides
}

func (b *block) begin(kind string, line jsontext.Line) {
	*b = block{kind: kind, at: line.Origin, raw: append(b.raw[:0], line.Bytes...)}
	b.size = len(b.raw)
}

func (b *block) add(line jsontext.Line) {
	b.raw = append(append(b.raw, '\n'), line.Bytes...)
	if len(strings.TrimSpace(string(line.Bytes))) > 0 {
		b.at.Length = line.Origin.End() - b.at.Offset
		b.size = len(b.raw)
	}
}

// session is the state of the conversation that follows a heading.
type session struct {
	started     string
	at          transcript.Time
	id          string           // of the run, known from the first prompt on
	pending     []closedBlock    // blocks held back until id is known
	firstAnswer string           // the first answer among them
	marked      transcript.Truth // whether Aider's own lines end in two spaces
	prevNotice  bool             // the previous line begins like a message of Aider
	fence       string           // the opening code fence while an answer is inside a code block

	title, model, version string
	speaker, editor       string // the model that answers now, and the editor model in architect mode
	architect             bool   // architect mode is on
	turn                  turn
	counts                map[string]int
}

// closedBlock is a complete block with its text.
type closedBlock struct {
	kind, text string
	model      string
	at         transcript.Origin
}

// chat yields the conversations of a file. The last block may still grow, and without a prompt its run is unknown. In both cases it yields a Run
// with Guess set, so that the file is read from its start once it has grown.
func (p *parser) chat() {
	p.lines(p.line, p.close)
	open := p.open.kind != kindNone || p.torn
	p.close()
	if p.Done() || !open && len(p.session.pending) == 0 {
		return
	}
	last := &transcript.Run{ID: p.session.id, Guess: true}
	if last.ID == "" {
		last.ID, last.Named = unknownRun, true
	}
	p.Emit(last)
	p.flush()
}

// line adds a line to the open block or starts the next one.
func (p *parser) line(line jsontext.Line) {
	text := string(line.Bytes)
	if started := startedAt(text); started != "" {
		p.close()
		p.flushOrphans()
		p.session = session{started: started, at: timestamp.Parse(started), counts: map[string]int{}}
		p.open.begin(kindHeading, line)
		p.close()
		return
	}
	if p.open.mayEnd && (strings.TrimSpace(text) == "" || strings.HasPrefix(text, ">")) {
		p.close()
	}
	p.detectMarking(text)
	kind := p.kindOf(text)
	switch {
	case kind == p.open.kind && kind != kindNone: // a notice is open only while it continues
		p.open.add(line)
	default:
		p.close()
		if kind != kindNone {
			p.open.begin(kind, line)
		}
	}
	switch p.open.kind {
	case kindNotice:
		switch p.open.mayEnd = false; {
		case p.continues(text):
		case p.open.size > len(text) && p.session.marked == transcript.Yes:
			p.open.mayEnd = true
		default:
			p.close()
		}
	case kindReasoning:
		if isThinkTag(text, "</think") {
			p.close()
		}
	case kindAnswer:
		p.session.trackFence(text)
	}
}

// isThinkTag reports whether a line opens or closes reasoning: Aider's own tag, or the <think> of a model that Aider does not know.
func isThinkTag(text, prefix string) bool {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && (rest == ">" || strings.HasPrefix(rest, "ing-content-") && strings.HasSuffix(rest, ">"))
}

// kindByPrefix returns the kind that the start of a line suggests.
func kindByPrefix(text string) string {
	switch {
	case strings.HasPrefix(text, "####") && !strings.HasPrefix(text, "#####"):
		return kindPrompt
	case strings.HasPrefix(text, "> "):
		return kindNotice
	}
	return kindNone
}

// messageOption matches a command line with the message to send, which may span several lines.
var messageOption = lazyregexp.New(`^> .* (-m|--message|--msg)[ =]`)

// detectMarking decides from the first of Aider's lines whether they end in two spaces. An unmarked line may also be the first line of a message of
// several lines, which is marked at its end only: then another line follows before the next message does.
func (p *parser) detectMarking(text string) {
	t, prefixKind := &p.session, kindByPrefix(text)
	if t.marked != transcript.Unstated || p.open.kind == kindAnswer || p.open.kind == kindReasoning {
		return
	}
	inNotice := p.open.kind == kindNotice
	switch {
	case hasTrailingSpaces(text) && (inNotice || prefixKind != kindNone), prefixKind == kindNotice && strings.HasPrefix(text, "> Tokens: "):
		t.marked = transcript.Yes
	case inNotice && prefixKind == kindNotice && t.prevNotice, prefixKind == kindPrompt && !(inNotice && messageOption.MatchString(string(p.open.raw))):
		t.marked = transcript.No
		p.close()
	}
	t.prevNotice = prefixKind == kindNotice
}

// kindOf returns the kind of a line, by its start and, where the lines of this conversation are marked, by its end.
func (p *parser) kindOf(text string) string {
	prefixKind, blank := kindByPrefix(text), strings.TrimSpace(text) == ""
	inAnswer, marked := p.open.kind == kindAnswer || p.open.kind == kindReasoning, p.session.marked == transcript.Yes
	switch {
	case strings.HasPrefix(text, "> Tokens: "):
		return kindNotice
	case p.open.kind == kindNotice && !(prefixKind == kindPrompt && hasTrailingSpaces(text)): // the notice continues
		return kindNotice
	case prefixKind != kindNone && (hasTrailingSpaces(text) && marked || !marked && p.session.fence == "" || marked && !inAnswer && prefixKind == kindNotice):
		return prefixKind
	case p.open.kind == kindReasoning, p.open.kind == kindNone && isThinkTag(text, "<think"):
		return kindReasoning
	case inAnswer, !blank:
		return kindAnswer
	}
	return kindNone
}

// hasTrailingSpaces reports whether a line ends in two spaces, as Aider's own lines do.
func hasTrailingSpaces(text string) bool {
	return strings.HasSuffix(strings.TrimSuffix(text, "\r"), "  ")
}

// continues reports whether a message of Aider has another line. With caches, the cost of tokens stands on a line of its own; of other
// messages only the last line is marked.
func (p *parser) continues(text string) bool {
	if strings.HasPrefix(text, "> Tokens: ") && strings.Contains(text, " Cost: ") {
		return false
	}
	return p.session.marked != transcript.No && !hasTrailingSpaces(text)
}

// trackFence tracks code fences in an answer.
func (t *session) trackFence(text string) {
	line := strings.TrimSpace(text)
	mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	switch {
	case len(mark) < 3:
	case t.fence == "":
		t.fence = mark
	case mark == line && len(mark) >= len(t.fence):
		t.fence = ""
	}
}

// close ends the open block.
func (p *parser) close() {
	b := &p.open
	if b.kind == kindNone {
		return
	}
	s := closedBlock{kind: b.kind, at: b.at, text: blockText(b.raw[:b.size])}
	b.kind, p.session.fence = kindNone, ""
	p.session.classify(&s)
	if p.session.id == "" {
		if p.session.pending = append(p.session.pending, s); s.kind == kindAnswer && p.session.firstAnswer == "" {
			p.session.firstAnswer = s.text
		}
		switch first, known := p.session.firstText(s); {
		case p.session.started == "":
			p.flushOrphans()
		case known:
			p.session.setID(first)
			p.emitRun()
			p.flush()
		}
		return
	}
	p.emitBlock(s)
}

// classify updates the conversation from a block and sets the block's final kind and model.
func (t *session) classify(s *closedBlock) {
	switch s.kind {
	case kindPrompt:
		s.kind = t.promptKind(s.text)
	case kindAnswer:
		t.turn.lastAnswer, t.turn.argument = s.text, ""
	case kindNotice:
		t.applyNotice(s.text)
	}
	s.model = t.speaker
}

// firstText returns the text that identifies the conversation and whether it is known: the first prompt, or, with --watch-files, where Aider
// records no prompt, the first answer once its tokens are stated.
func (t *session) firstText(s closedBlock) (string, bool) {
	if s.kind == kindPrompt || s.kind == kindAside {
		return s.text, true
	}
	return t.firstAnswer, t.firstAnswer != "" && s.kind == kindNotice && aboutTokens.MatchString(s.text)
}

// setID sets the id, made of the start time and a hash of the first text.
func (t *session) setID(first string) {
	h := fnv.New32a()
	h.Write([]byte(first))
	t.id = fmt.Sprintf("%s %08x", t.started, h.Sum32())
}

// flushOrphans yields blocks before the first prompt or heading as uncounted events, which search still finds.
func (p *parser) flushOrphans() {
	if len(p.session.pending) > 0 && p.session.id == "" {
		p.Emit(&transcript.Run{ID: unknownRun, Named: true})
		p.flush()
	}
}

func (p *parser) flush() {
	for _, s := range p.session.pending {
		p.emitBlock(s)
	}
	p.session.pending = nil
}

// conversation is the id of the only conversation in a run.
const conversation = "main"

// emitRun yields the run and its conversation, again whenever more is known.
func (p *parser) emitRun() {
	t := &p.session
	project := path.Dir(p.in.Below())
	if project == "." {
		project = ""
	}
	p.Emit(&transcript.Run{ID: t.id, Title: t.title, Model: t.model, Version: t.version, Started: t.at, Project: project})
	p.Emit(&transcript.Conversation{ID: conversation, Run: t.id, Shared: true, Title: t.title, Model: t.model, Version: t.version, Started: t.at, Project: project})
}

// emitBlock yields the event of a block and the usage that it states.
func (p *parser) emitBlock(s closedBlock) {
	t := &p.session
	e := &transcript.Event{Run: t.id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: s.kind, Origin: s.at, Parts: []transcript.Part{{Text: s.text}}}
	if t.id == "" {
		e.Run, e.Time = unknownRun, t.at
		p.Emit(e)
		return
	}
	kind := s.kind
	if kind == kindAside {
		kind = kindPrompt // asides and prompts share one numbering
	}
	e.Conversation, t.counts[kind] = conversation, t.counts[kind]+1
	e.ID = kind + " " + strconv.Itoa(t.counts[kind])
	if kind == kindPrompt && t.title == "" && s.text != "<blank>" && !strings.HasPrefix(s.text, "/") && !strings.HasPrefix(s.text, "!") {
		if t.title = format.Title(s.text); t.title != "" {
			p.emitRun()
		}
	}
	switch s.kind {
	case kindPrompt:
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindMessage, "user"
	case kindAnswer:
		e.Verdict, e.Kind, e.Role, e.Model = transcript.Counted, transcript.KindMessage, "assistant", s.model
	case kindReasoning:
		if s.text == "" {
			break
		}
		e.Verdict, e.Kind, e.Role, e.Model = transcript.Counted, transcript.KindReasoning, "assistant", s.model
	case kindHeading:
		e.Kind, e.Time = transcript.KindLifecycle, t.at
	}
	p.Emit(e)
	if s.kind == kindNotice {
		p.emitUsage(s)
	}
}
