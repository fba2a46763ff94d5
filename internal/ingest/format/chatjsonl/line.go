package chatjsonl

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser parses one file.
type parser struct {
	format.Sink
	in    format.Input
	lend  format.Lender
	event transcript.Event // reused
	parts []transcript.Part

	fileID     string // id derived from the first lines of the file, for chats with one message per line
	guess      bool   // the first lines have no message of a user yet
	runEmitted bool   // the run of other lines was yielded

	hash     *hasher
	tips     tips
	sessions recentMap[string, *chat]
	starts   recentMap[chain, int] // number of chats that began with an equal line

	// state of the current line
	at         transcript.Origin
	whole      jsontext.Value
	outOfOrder bool // its messages are not in the order in which they were said, so the origin of its events is the whole line
	exchange   exchange
	links      []chain
	calls      map[string]string // tool names by call id, built on first use
	time       transcript.Time
	model      string
}

func newParser(in format.Input, yield func(transcript.Record, error) bool) *parser {
	return &parser{Sink: format.Sink{Yield: yield}, in: in, hash: newHasher()}
}

// headSize is the number of bytes of a file that its id derives from.
const headSize = 256 << 10

// reader reads the head of a file to derive its id, and returns a reader of the whole file.
func (p *parser) reader(r io.Reader) (io.Reader, error) {
	head := make([]byte, min(headSize, max(0, p.in.Size)))
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
		if !jsontext.BeginsObject(line) {
			continue
		}
		if v, err := jsontext.Parse(line); err == nil {
			if t := exchangeOf(v); !t.single || t.input[0].by == byUser {
				p.guess = false
				break
			}
		}
	}
	p.fileID = p.hash.bytes(head[:end]).uuid()
	return io.MultiReader(bytes.NewReader(head), r), nil
}

// line yields the records of one line.
func (p *parser) line(o jsontext.Object) {
	v := o.Value
	p.at, p.whole, p.calls = o.Origin, v, nil
	p.exchange = exchangeOf(v)
	x := &p.exchange
	p.time = cmp.Or(timeOf(v), timeOf(x.response), timeOf(v.Get("request")), timeOf(v.Get("metadata")))
	p.model = modelOf(v, x.response)
	p.outOfOrder = !inOrder(v, x)
	switch {
	case x.single:
		p.messageLine()
	case len(x.input) > 0 || len(x.answer) > 0:
		p.chatLine()
	default:
		p.otherLine()
	}
}

// inOrder reports whether the messages of a line are in the order in which they were said.
func inOrder(line jsontext.Value, x *exchange) bool {
	last := int64(-1)
	for _, all := range [][]item{x.input, x.answer} {
		for _, it := range all {
			at := jsontext.OffsetIn(line, it.v)
			if at < last {
				return false
			}
			last = at
		}
	}
	return true
}

// chatLine yields a line with messages: a conversation, or the continuation of one.
func (p *parser) chatLine() {
	x := &p.exchange
	session := sessionOf(p.whole)
	var link chain
	if session != "" {
		link = p.hash.of("session", session)
	}
	p.links = p.links[:0]
	for _, it := range x.input {
		link = p.hash.next(link, it)
		p.links = append(p.links, link)
	}
	c, known := p.tips.find(p.links, len(x.answer) > 0)
	switch {
	case c == nil && session != "":
		c = p.session(session)
	case c == nil:
		c = p.begin(p.id())
	}
	p.emitRun(c)
	for i := known; i < len(x.input); i++ {
		p.message(c, p.links[i], x.input[i])
	}
	answered := link
	for i, it := range x.answer {
		from := answered
		if x.choices {
			from = link
		}
		next := p.hash.next(from, it)
		if i == 0 || !x.choices {
			answered = next
		} else {
			next[0] ^= byte(i) // another choice may have the same text
		}
		p.message(c, next, it)
	}
	p.tips.end(c, link, answered, len(x.answer) > 0)
	p.lineUsage(c, known)
}

// messageLine yields a line that is one message.
func (p *parser) messageLine() {
	var c *chat
	if id := sessionOf(p.whole); id != "" {
		c = p.session(id)
	} else if c, _ = p.sessions.get(""); c == nil {
		c = p.begin(p.fileID)
		p.sessions.put("", c)
	}
	if c.id == p.fileID && p.guess {
		p.Emit(&transcript.Run{ID: c.id, Guess: true})
	}
	p.emitRun(c)
	c.at = p.hash.next(c.at, p.exchange.input[0])
	p.message(c, c.at, p.exchange.input[0])
	p.lineUsage(c, 0)
}

// session returns the chat of a session, which may be new.
func (p *parser) session(id string) *chat {
	if c, ok := p.sessions.get(id); ok {
		return c
	}
	chatID := id
	if !isUnique(id) {
		chatID = id + "~" + p.fileID[:8]
	}
	if p.guess && chatID != id {
		p.Emit(&transcript.Run{ID: chatID, Guess: true})
	}
	c := p.begin(chatID)
	if p.sessions.dropped { // it may be one that was forgotten
		c.at = p.hash.of("again", strconv.FormatInt(p.at.Offset, 10))
	}
	p.sessions.put(id, c)
	return c
}

// id returns the id of a new conversation: that of the line, else a hash of the line.
func (p *parser) id() string {
	sum := p.hash.bytes(p.whole.Raw())
	n, _ := p.starts.get(sum)
	p.starts.put(sum, n+1)
	if n > 0 {
		sum = p.hash.of(sum.uuid(), strconv.Itoa(n))
	}
	for _, key := range []string{"id", "custom_id", "uuid"} {
		if id := p.whole.Get(key).Text(); id != "" && len(id) <= maxID {
			if isUnique(id) {
				return id
			}
			return id + "~" + sum.uuid()[:8]
		}
	}
	return sum.uuid()
}

// maxID is the length of the longest id that is accepted, in bytes.
const maxID = 200

// isUnique reports whether an id is long enough to be unique everywhere.
func isUnique(id string) bool { return len(id) >= 20 && strings.ContainsAny(id, "0123456789") }

// sessionOf returns the session or conversation that a line says it belongs to.
func sessionOf(v jsontext.Value) string {
	for _, at := range []jsontext.Value{v, v.Get("metadata")} {
		for _, key := range []string{"conversation_id", "conversationId", "session_id", "thread_id", "threadId", "chat_id", "chatId"} {
			if id := at.Get(key).Text(); id != "" && len(id) <= maxID {
				return id
			}
		}
	}
	return ""
}

func (p *parser) begin(id string) *chat { return &chat{id: id, salt: p.hash.of(id)} }

// emitRun yields the run and the conversation of a line.
func (p *parser) emitRun(c *chat) {
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

// title returns the first line of the first message of a user.
func (p *parser) title() string {
	for _, it := range p.exchange.input {
		if it.by == byUser {
			return format.Title(jsontext.Build(func(b []byte) []byte { return appendSaid(b, it.v) }))
		}
	}
	return ""
}

// otherLine yields a line that is no chat, as an uncounted row.
func (p *parser) otherLine() {
	run := "lines " + p.fileID
	if !p.runEmitted {
		p.runEmitted = true
		p.Emit(&transcript.Run{ID: run, Named: true, Guess: p.guess})
	}
	p.lend.Reset()
	p.Emit(&transcript.Event{
		Run: run, Verdict: transcript.Uncounted, Kind: transcript.KindUnknown, Type: p.whole.Get("type").Word(), Time: p.time, Origin: p.at,
		Parts: append(p.parts[:0], transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendPiece(b, p.whole) })}),
	})
}

// modelOf returns the model that a line names: that of the answer, else the requested one.
func modelOf(v, response jsontext.Value) string {
	body, request := v.Get("body"), v.Get("request")
	for _, at := range []jsontext.Value{response, v, v.Get("response"), body, request, request.Get("body"), v.Get("metadata")} {
		if model := at.Get("model"); model.IsString() {
			return model.Word()
		}
	}
	return ""
}

// timeOf returns the time that a line or a message states: a date, or seconds or milliseconds since 1970.
func timeOf(v jsontext.Value) transcript.Time {
	for _, key := range []string{"timestamp", "created_at", "created", "createdAt", "time", "ts", "date"} {
		switch at := v.Get(key); at.Type() {
		case '"':
			if t := at.Time(); t.Valid {
				return t
			}
		case '0':
			if n, ok := at.Int(); ok && n > 1e11 {
				return timestamp.UnixMilli(n)
			}
			return at.UnixTime()
		}
	}
	return transcript.Time{}
}
