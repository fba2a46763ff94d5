package opencode

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isStream reports whether a line in the head is one that "opencode run --format json" prints: a part of a session, or an error.
func isStream(head []byte) bool {
	if !format.HasKeys(head, "sessionID", "timestamp", "type") {
		return false
	}
	for line := range format.ObjectLines(head) {
		if !format.MayHave(line, `"ses_`) {
			continue
		}
		v := jsontext.ParseStart(line) // an output may be longer than the head
		_, stamped := v.Get("timestamp").Int()
		if !stamped || !strings.HasPrefix(v.Get("sessionID").Str(), "ses_") {
			continue
		}
		content := ""
		switch v.Get("type").Str() {
		case "step_start", "step_finish", "text", "reasoning", "tool_use":
			content = "part"
		case "error":
			content = "error"
		}
		if v.Get(content).IsObject() {
			return true
		}
	}
	return false
}

// stream yields the records of saved output: the parts of the answers that a run got, with their ids. Several runs, of one session or more, may
// have been written to one file.
func (p *parser) stream() {
	p.streams, p.runNamed = map[string]*stream{}, map[string]bool{}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.streamProblem)) {
		p.base, p.baseOrigin = o.Value, o.Origin
		p.streamLine(o.Value)
	}
	p.Settle("")
}

// stream is what the lines of a session have in common.
type stream struct {
	first  string // the first message
	last   string // the last one so far
	titled bool
}

func (p *parser) streamProblem(pr *transcript.Problem) { p.Problem(p.streamed, pr) }

// streamLine yields the records of a line: of the part in it, or an uncounted row.
func (p *parser) streamLine(v jsontext.Value) {
	t := readPart(v.Get("part"))
	t.session = cmp.Or(v.Get("sessionID").Str(), t.session, p.streamed)
	if t.session == "" {
		p.streamProblem(&transcript.Problem{Kind: "no session", Reason: "an object before the first that names a session", Origin: p.baseOrigin})
		return
	}
	p.beginStream(t.session, t.msg)
	at := v.Get("timestamp").MilliTime()
	if t.id != "" && t.msg != "" {
		if !t.at.Valid {
			t.at = at
		}
		t.message = &message{id: t.msg, role: "assistant"} // prompts are not printed
		p.titleStream(t)
		p.part(t)
		return
	}
	e := p.event(transcript.KindUnknown, v.Get("type").Str(), t.session, t.msg)
	if e.Type == "error" {
		e.Kind = transcript.KindError
	}
	e.Time, e.Parts = at, []transcript.Part{p.valuePart(v)}
	if t.value.IsObject() {
		e.Parts[0] = p.valuePart(t.value)
	}
	p.Emit(e)
}

// beginStream yields the run and its conversation at the first line of a session, and a hint at that of each message.
func (p *parser) beginStream(session, msg string) {
	s := p.streams[session]
	if s == nil {
		s = &stream{first: msg}
		p.streams[session], p.runNamed[session] = s, true
		p.describeStream(session, s, "")
		p.Hint(session, hintSession, "yes", p.baseOrigin)
	}
	p.streamed = session
	p.Settle(session)
	if msg != "" && msg != s.last {
		s.last = msg
		p.Hint(session, hintStream, s.first+"\t"+msg+"\t"+strconv.FormatInt(p.baseOrigin.Offset, 10), p.baseOrigin)
	}
}

func (p *parser) describeStream(session string, s *stream, title string) {
	p.Emit(&transcript.Run{ID: session, Local: true, Anchor: session, Anchored: true, Rank: p.rank, Title: title})
	p.Emit(&transcript.Conversation{ID: conversation, Run: session, Shared: true, Rank: p.rank, Order: s.first, Title: title})
}

// titleStream takes the first answer for the title of a session, since no line has a prompt.
func (p *parser) titleStream(t part) {
	s := p.streams[t.session]
	if s.titled || t.typ != "text" {
		return
	}
	if title := format.Title(t.value.Get("text").Str()); title != "" {
		s.titled = true
		p.describeStream(t.session, s, title)
	}
}

// copiedUntil returns the offset of the first message in a stream that version 2 does not have. The ids of parts, by which the copies of version 1
// are recognised, are not in its tables.
func copiedUntil(first string, hints []*transcript.Hint, second map[string]bool) int64 {
	until, some := int64(math.MaxInt64), false
	for _, h := range hints {
		begin, rest, _ := strings.Cut(h.Value, "\t")
		msg, text, _ := strings.Cut(rest, "\t")
		if h.Key != hintStream || begin != first {
			continue
		}
		if second[msg] {
			some = true
		} else if at, err := strconv.ParseInt(text, 10, 64); err == nil {
			until = min(until, at)
		}
	}
	if !some {
		return 0
	}
	return until
}
