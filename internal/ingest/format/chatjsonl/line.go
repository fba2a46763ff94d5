package chatjsonl

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Sink
	in    format.Input
	lend  format.Lender
	event transcript.Event // the present one
	parts []transcript.Part

	run   string // made of the first lines of the file: whose a chat with a message to a line is
	guess bool   // nobody has said anything in those so far
	named bool   // that run was told

	hash     *hasher
	tips     tips
	sessions window[string, *chat]
	begun    window[chain, int] // how often a chat has begun with this line

	// of the present line
	at     transcript.Origin
	whole  format.Value
	inside bool // its messages stand in another order than they were said: events are told with the line
	talk   talk
	links  []chain
	calls  map[string]string // names of calls by their ids, once somebody has asked
	time   transcript.Time
	model  string
}

func newParser(in format.Input, yield func(transcript.Record, error) bool) *parser {
	return &parser{Sink: format.Sink{Yield: yield}, in: in, hash: newHasher()}
}

// aside is how much of a file is looked at to tell whose it is.
const aside = 256 << 10

// reader reads the first lines, and gives a reader of all.
func (p *parser) reader(r io.Reader) (io.Reader, error) {
	head := make([]byte, min(aside, max(0, p.in.Size)))
	n, err := io.ReadFull(r, head)
	if head = head[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	p.guess = true
	end := 0
	for line := range bytes.Lines(head) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		end += len(line)
		if !format.BeginsObject(line) {
			continue
		}
		if v, err := format.ParseJSON(line); err == nil {
			if t := talkOf(v); !t.single || t.said[0].by == byUser {
				p.guess = false
				break
			}
		}
	}
	p.run = p.hash.bytes(head[:end]).uuid()
	return io.MultiReader(bytes.NewReader(head), r), nil
}

// line yields what one line says.
func (p *parser) line(o format.Object) {
	v := o.Value
	p.at, p.whole, p.calls = o.Origin, v, nil
	p.talk = talkOf(v)
	t := &p.talk
	p.time = cmp.Or(timeOf(v), timeOf(t.answers), timeOf(v.Get("request")), timeOf(v.Get("metadata")))
	p.model = modelOf(v, t.answers)
	p.inside = !inOrder(v, t)
	switch {
	case t.single:
		p.one()
	case len(t.said) > 0 || len(t.answer) > 0:
		p.several()
	default:
		p.other()
	}
}

// inOrder reports whether messages stand in the order in which they were said.
func inOrder(line format.Value, t *talk) bool {
	last := int64(-1)
	for _, all := range [][]item{t.said, t.answer} {
		for _, it := range all {
			at := format.OffsetIn(line, it.v)
			if at < last {
				return false
			}
			last = at
		}
	}
	return true
}

// several yields a line with messages: a conversation, or how one goes on.
func (p *parser) several() {
	t := &p.talk
	session := sessionOf(p.whole)
	var link chain
	if session != "" {
		link = p.hash.of("session", session)
	}
	p.links = p.links[:0]
	for _, it := range t.said {
		link = p.hash.next(link, it)
		p.links = append(p.links, link)
	}
	c, known := p.tips.find(p.links, len(t.answer) > 0)
	switch {
	case c == nil && session != "":
		c = p.session(session)
	case c == nil:
		c = p.begin(p.id())
	}
	p.say(c)
	for i := known; i < len(t.said); i++ {
		p.message(c, p.links[i], t.said[i])
	}
	answered := link
	for i, it := range t.answer {
		from := answered
		if t.choices {
			from = link
		}
		next := p.hash.next(from, it)
		if i == 0 || !t.choices {
			answered = next
		} else {
			next[0] ^= byte(i) // another answer may say the same
		}
		p.message(c, next, it)
	}
	p.tips.end(c, link, answered, len(t.answer) > 0)
	p.spent(c, known)
}

// one yields a line that is a message.
func (p *parser) one() {
	var c *chat
	if id := sessionOf(p.whole); id != "" {
		c = p.session(id)
	} else if c, _ = p.sessions.get(""); c == nil {
		c = p.begin(p.run)
		p.sessions.put("", c)
	}
	if c.id == p.run && p.guess {
		p.Emit(&transcript.Run{ID: c.id, Guess: true})
	}
	p.say(c)
	c.at = p.hash.next(c.at, p.talk.said[0])
	p.message(c, c.at, p.talk.said[0])
	p.spent(c, 0)
}

// session gives the chat of a session, which may be new.
func (p *parser) session(id string) *chat {
	if c, ok := p.sessions.get(id); ok {
		return c
	}
	own := id
	if !lasting(id) {
		own = id + "~" + p.run[:8]
	}
	c := p.begin(own)
	if p.sessions.dropped { // it may be one that was forgotten
		c.at = p.hash.of("again", strconv.FormatInt(p.at.Offset, 10))
	}
	p.sessions.put(id, c)
	return c
}

// id is what a new conversation is known by: what the line says, or else all that is in it.
func (p *parser) id() string {
	own := p.hash.bytes(p.whole.Raw())
	n, _ := p.begun.get(own)
	p.begun.put(own, n+1)
	if n > 0 {
		own = p.hash.of(own.uuid(), strconv.Itoa(n))
	}
	for _, key := range []string{"id", "custom_id", "uuid"} {
		if id := p.whole.Get(key).Text(); id != "" && len(id) <= longest {
			if lasting(id) {
				return id
			}
			return id + "~" + own.uuid()[:8]
		}
	}
	return own.uuid()
}

// longest is what an id may have.
const longest = 200

// lasting reports whether an id is one that nobody else gives.
func lasting(id string) bool { return len(id) >= 20 && strings.ContainsAny(id, "0123456789") }

// sessionOf is the session or conversation that a line says it belongs to.
func sessionOf(v format.Value) string {
	for _, at := range []format.Value{v, v.Get("metadata")} {
		for _, key := range []string{"conversation_id", "conversationId", "session_id", "thread_id", "threadId", "chat_id", "chatId"} {
			if id := at.Get(key).Text(); id != "" && len(id) <= longest {
				return id
			}
		}
	}
	return ""
}

func (p *parser) begin(id string) *chat { return &chat{id: id, salt: p.hash.of(id)} }

// say states the run and the conversation of a line.
func (p *parser) say(c *chat) {
	title := ""
	if !c.titled {
		title = p.title()
	}
	fresh := c.ends == [2]chain{} && c.at == chain{}
	if !fresh && title == "" && !p.time.Valid {
		return
	}
	c.titled = c.titled || title != ""
	run := transcript.Run{ID: c.id, Title: title, Model: p.model, Ended: p.time}
	if fresh {
		run.Started = p.time
	}
	p.Emit(&run)
	p.Emit(&transcript.Conversation{ID: c.id, Run: c.id, Title: title, Model: p.model, Started: run.Started, Ended: run.Ended})
}

// title is the first line of the first thing that a user says.
func (p *parser) title() string {
	for _, it := range p.talk.said {
		if it.by == byUser {
			return format.Title(format.Build(func(b []byte) []byte { return appendSaid(b, it.v) }))
		}
	}
	return ""
}

// other yields a line that is no chat. It is found, and counts for nothing.
func (p *parser) other() {
	run := "lines " + p.run
	if !p.named {
		p.named = true
		p.Emit(&transcript.Run{ID: run, Named: true, Guess: p.guess})
	}
	p.lend.Reset()
	p.Emit(&transcript.Event{
		Run: run, Verdict: transcript.Uncounted, Kind: transcript.KindUnknown, Type: p.whole.Get("type").Word(), Time: p.time, Origin: p.at,
		Parts: append(p.parts[:0], transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendPiece(b, p.whole) })}),
	})
}

// modelOf is the model that a line names: that of the answer, else the one that was asked.
func modelOf(v, answers format.Value) string {
	body, request := v.Get("body"), v.Get("request")
	for _, at := range []format.Value{answers, v, v.Get("response"), body, request, request.Get("body"), v.Get("metadata")} {
		if model := at.Get("model"); model.IsString() {
			return model.Word()
		}
	}
	return ""
}

// timeOf is when a line or a message says that it was: a date, or seconds or milliseconds since 1970.
func timeOf(v format.Value) transcript.Time {
	for _, key := range []string{"timestamp", "created_at", "created", "createdAt", "time", "ts", "date"} {
		switch at := v.Get(key); at.Type() {
		case '"':
			if t := at.Time(); t.Valid {
				return t
			}
		case '0':
			if n, ok := at.Int(); ok && n > 1e11 {
				return format.UnixMilli(n)
			}
			return at.UnixTime()
		}
	}
	return transcript.Time{}
}
