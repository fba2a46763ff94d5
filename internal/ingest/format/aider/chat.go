package aider

import (
	"fmt"
	"hash/fnv"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The kinds of lines that belong together.
const (
	none    = ""
	prompt  = "prompt"
	answer  = "answer"
	thought = "reasoning"
	notice  = "notice" // one message of the program
	aside   = "aside"  // what stands like a prompt and is none
	opening = "heading"
)

// block is lines that belong together.
type block struct {
	kind string
	at   transcript.Origin // up to the last line that is not blank
	raw  []byte            // of these and the blank ones behind them
	size int               // of raw, up to the same
	over bool              // unless the next line goes on: the last one looks like an end
}

func (b *block) begin(kind string, line format.Line) {
	*b = block{kind: kind, at: line.Origin, raw: append(b.raw[:0], line.Bytes...)}
	b.size = len(b.raw)
}

func (b *block) add(line format.Line) {
	b.raw = append(append(b.raw, '\n'), line.Bytes...)
	if len(strings.TrimSpace(string(line.Bytes))) > 0 {
		b.at.Length = line.Origin.End() - b.at.Offset
		b.size = len(b.raw)
	}
}

// talk is the conversation that follows a heading.
type talk struct {
	started string
	at      transcript.Time
	id      string // of the run, once the first prompt is known
	head    []said // before that
	opens   string // the first answer among them
	marked  transcript.Truth
	noticed bool   // the line before begins like a message of the program
	fence   string // of the code that an answer is in

	title, model, version string
	speaker, editor       string // the model that answers now, and the one that edits for an architect
	architect             bool   // that is how it is worked
	turn                  turn
	counts                map[string]int
}

// said is a block that is over.
type said struct {
	kind, text string
	model      string
	at         transcript.Origin
}

// chat yields the conversations of a file. What stands last may go on, and without a prompt nobody knows whose it is: then the file is read from
// its start when it has grown.
func (p *parser) chat() {
	p.lines(p.line, p.close)
	open := p.open.kind != none || p.torn
	p.close()
	if p.Done() || !open && len(p.talk.head) == 0 {
		return
	}
	last := &transcript.Run{ID: p.talk.id, Guess: true}
	if last.ID == "" {
		last.ID, last.Named = nobody, true
	}
	p.Emit(last)
	p.flush()
}

// line puts a line to what it belongs to.
func (p *parser) line(line format.Line) {
	text := string(line.Bytes)
	if started := startedAt(text); started != "" {
		p.close()
		p.orphan()
		p.talk = talk{started: started, at: format.Time(started), counts: map[string]int{}}
		p.open.begin(opening, line)
		p.close()
		return
	}
	if p.open.over && (strings.TrimSpace(text) == "" || strings.HasPrefix(text, ">")) {
		p.close()
	}
	p.mark(text)
	kind := p.kindOf(text)
	switch {
	case kind == p.open.kind && kind != none: // of the program's messages only those that go on are open
		p.open.add(line)
	default:
		p.close()
		if kind != none {
			p.open.begin(kind, line)
		}
	}
	switch p.open.kind {
	case notice:
		switch p.open.over = false; {
		case p.goesOn(text):
		case p.open.size > len(text) && p.talk.marked == transcript.Yes:
			p.open.over = true
		default:
			p.close()
		}
	case thought:
		if isTag(text, "</think") {
			p.close()
		}
	case answer:
		p.talk.code(text)
	}
}

// isTag knows the lines around what a model thought: those of the program, and of a model whose own it does not know.
func isTag(text, begins string) bool {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, begins)
	return ok && (rest == ">" || strings.HasPrefix(rest, "ing-content-") && strings.HasSuffix(rest, ">"))
}

// beginning says what a line is by how it begins.
func beginning(text string) string {
	switch {
	case strings.HasPrefix(text, "####") && !strings.HasPrefix(text, "#####"):
		return prompt
	case strings.HasPrefix(text, "> "):
		return notice
	}
	return none
}

// spoken knows a command line that says what to ask, which may have several lines.
var spoken = lazyregexp.New(`^> .* (-m|--message|--msg)[ =]`)

// mark tells by the first of the program's lines whether they are marked. One that is not may be the first line of a message that has several, which
// is marked at its end: then another one follows before the next message does.
func (p *parser) mark(text string) {
	t, begins := &p.talk, beginning(text)
	if t.marked != transcript.Unstated || p.open.kind == answer || p.open.kind == thought {
		return
	}
	within := p.open.kind == notice
	switch {
	case isMarked(text) && (within || begins != none), begins == notice && strings.HasPrefix(text, "> Tokens: "):
		t.marked = transcript.Yes
	case within && begins == notice && t.noticed, begins == prompt && !(within && spoken.MatchString(string(p.open.raw))):
		t.marked = transcript.No
		p.close()
	}
	t.noticed = begins == notice
}

// kindOf says what a line is, by how it begins, and where the conversation shows it by how it ends.
func (p *parser) kindOf(text string) string {
	begins, blank := beginning(text), strings.TrimSpace(text) == ""
	inAnswer, marked := p.open.kind == answer || p.open.kind == thought, p.talk.marked == transcript.Yes
	switch {
	case strings.HasPrefix(text, "> Tokens: "):
		return notice
	case p.open.kind == notice && !(begins == prompt && isMarked(text)): // it goes on
		return notice
	case begins != none && (isMarked(text) && marked || !marked && p.talk.fence == "" || marked && !inAnswer && begins == notice):
		return begins
	case p.open.kind == thought, p.open.kind == none && isTag(text, "<think"):
		return thought
	case inAnswer, !blank:
		return answer
	}
	return none
}

// isMarked says that a line ends as the program's do.
func isMarked(text string) bool { return strings.HasSuffix(strings.TrimSuffix(text, "\r"), "  ") }

// goesOn says that a message of the program has another line: the cost of tokens stands on one of its own where there were caches, and
// of other messages only the last line is marked.
func (p *parser) goesOn(text string) bool {
	if strings.HasPrefix(text, "> Tokens: ") && strings.Contains(text, " Cost: ") {
		return false
	}
	return p.talk.marked != transcript.No && !isMarked(text)
}

// code follows the fences of code in an answer.
func (t *talk) code(text string) {
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

// close ends the lines that belong together.
func (p *parser) close() {
	b := &p.open
	if b.kind == none {
		return
	}
	s := said{kind: b.kind, at: b.at, text: saidText(b.raw[:b.size])}
	b.kind, p.talk.fence = none, ""
	p.talk.hear(&s)
	if p.talk.id == "" {
		if p.talk.head = append(p.talk.head, s); s.kind == answer && p.talk.opens == "" {
			p.talk.opens = s.text
		}
		switch first, known := p.talk.first(s); {
		case p.talk.started == "":
			p.orphan()
		case known:
			p.talk.identify(first)
			p.state()
			p.flush()
		}
		return
	}
	p.tell(s)
}

// hear takes what a block says of the conversation, and who speaks in it.
func (t *talk) hear(s *said) {
	switch s.kind {
	case prompt:
		s.kind = t.prompt(s.text)
	case answer:
		t.turn.answer, t.turn.words = s.text, ""
	case notice:
		t.learn(s.text)
	}
	s.model = t.speaker
}

// first is what a conversation begins with: a prompt, or, where the program acts on comments in files and notes no prompt, the answer that
// tokens were paid for.
func (t *talk) first(s said) (string, bool) {
	if s.kind == prompt || s.kind == aside {
		return s.text, true
	}
	return t.opens, t.opens != "" && s.kind == notice && aboutTokens.MatchString(s.text)
}

// identify makes an id of when the program was started and what was said first.
func (t *talk) identify(first string) {
	h := fnv.New32a()
	h.Write([]byte(first))
	t.id = fmt.Sprintf("%s %08x", t.started, h.Sum32())
}

// orphan yields what was said before there was a prompt, or a heading: it is found, and counts for nothing.
func (p *parser) orphan() {
	if len(p.talk.head) > 0 && p.talk.id == "" {
		p.Emit(&transcript.Run{ID: nobody, Named: true})
		p.flush()
	}
}

func (p *parser) flush() {
	for _, s := range p.talk.head {
		p.tell(s)
	}
	p.talk.head = nil
}

// conversation is the id of the one conversation that a run has.
const conversation = "main"

// state says what is known of the conversation, and again when more is.
func (p *parser) state() {
	t := &p.talk
	project := path.Dir(p.in.Below())
	if project == "." {
		project = ""
	}
	p.Emit(&transcript.Run{ID: t.id, Title: t.title, Model: t.model, Version: t.version, Started: t.at, Project: project})
	p.Emit(&transcript.Conversation{ID: conversation, Run: t.id, Shared: true, Title: t.title, Model: t.model, Version: t.version, Started: t.at, Project: project})
}

// tell yields the event of a block, and the tokens that it states.
func (p *parser) tell(s said) {
	t := &p.talk
	e := &transcript.Event{Run: t.id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: s.kind, Origin: s.at, Parts: []transcript.Part{{Text: s.text}}}
	if t.id == "" {
		e.Run, e.Time = nobody, t.at
		p.Emit(e)
		return
	}
	kind := s.kind
	if kind == aside {
		kind = prompt // they are numbered together
	}
	e.Conversation, t.counts[kind] = conversation, t.counts[kind]+1
	e.ID = kind + " " + strconv.Itoa(t.counts[kind])
	if kind == prompt && t.title == "" && s.text != "<blank>" && !strings.HasPrefix(s.text, "/") && !strings.HasPrefix(s.text, "!") {
		if t.title = format.Title(s.text); t.title != "" {
			p.state()
		}
	}
	switch s.kind {
	case prompt:
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindMessage, "user"
	case answer:
		e.Verdict, e.Kind, e.Role, e.Model = transcript.Counted, transcript.KindMessage, "assistant", s.model
	case thought:
		if s.text == "" {
			break
		}
		e.Verdict, e.Kind, e.Role, e.Model = transcript.Counted, transcript.KindReasoning, "assistant", s.model
	case opening:
		e.Kind, e.Time = transcript.KindLifecycle, t.at
	}
	p.Emit(e)
	if s.kind == notice {
		p.spent(s)
	}
}
