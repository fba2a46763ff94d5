package reasonix

import (
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// conversation is the id of the only conversation in a session.
const conversation = "main"

// The ranks of what is known of a run.
const (
	rankSaid = iota // in its messages
	rankMeta        // by version 0
	rankBranch
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	facts  transcript.Conversation
	spoken bool // the conversation was yielded

	said  map[uint64]int    // how often each thing was said
	done  map[string]bool   // the ids of events
	calls map[string]call   // by the ids of the model
	named map[uint64][]call // calls that an answer has named, and that are yet to be told
	spent map[string]int    // how often each usage was stated
	n     int               // messages so far, or, in frames, the place of the prompt
	at    transcript.Time   // in frames, which have no times, when the last tool of the turn was at work
}

// call is a call that results may answer.
type call struct{ id, event, name string }

func newParser(in format.Input, yield func(transcript.Record, error) bool) *parser {
	p := &parser{
		Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue},
		said: map[uint64]int{}, done: map[string]bool{}, calls: map[string]call{}, named: map[uint64][]call{},
		spent: map[string]int{},
	}
	_, stem := split(in.Path)
	if in.Role == roleArchive {
		p.Session = "archive " + strings.TrimSuffix(stem, ".jsonl")
		return p
	}
	session, aside := sessionOf(stem)
	p.Session = session
	child := strings.HasPrefix(session, agentPrefix) || strings.Contains(path.Dir(in.Path)+"/", "/"+sessionsDir+"/"+agentsDir+"/")
	p.facts = transcript.Conversation{ID: conversation, Run: session, Shared: true, Order: order(in, aside), Child: child}
	return p
}

// agentPrefix begins the names of sub-agents that are among the sessions.
const agentPrefix = "subagent-"

// order sorts the files of a session: what was put aside comes first, and the log, which has times, comes last.
func order(in format.Input, aside string) string {
	files := "1"
	switch {
	case in.Role == roleEvents:
		files = "2"
	case strings.HasSuffix(in.Path, ".bak"):
		files = "0"
	}
	if aside == "" {
		return "1 " + files
	}
	return "0 " + aside + " " + files
}

// messages yields the records of a list of messages, or of a log.
func (p *parser) messages(in format.Input) {
	p.Begun = in.Size > 0
	p.run()
	p.EachRow(in.Reader, func(v jsontext.Value) {
		switch {
		case v.Get("schema_version").Exists():
			p.record(v)
		case v.Get("ts").IsString() && v.Get("type").IsString():
			p.kernel(v)
		case v.Get("role").IsString():
			p.list(false, v.Get("createdAt").MilliTime(), v)
		default:
			p.Uncounted(transcript.KindUnknown, v.Get("type").Word(), transcript.Time{})
		}
	})
	if !p.Done() && p.spoken {
		p.run()
		p.state()
	}
}

// state yields what is known of the conversation so far.
func (p *parser) state() {
	c := p.facts
	p.Emit(&c)
}

// run yields what is known of the run so far.
func (p *parser) run() {
	p.Emit(&transcript.Run{
		ID: p.Session, Named: !p.Begun, Rank: rankSaid, Child: p.facts.Child, Project: p.facts.Project, Model: p.facts.Model,
		Started: p.facts.Started, Ended: p.facts.Ended,
	})
}

// emit yields an event of the conversation, which begins with the first.
func (p *parser) emit(e *transcript.Event) {
	if !p.spoken {
		p.spoken = true
		p.state()
	}
	e.Conversation, e.Run = conversation, p.Session
	format.Extend(&p.facts.Started, &p.facts.Ended, e.Time)
	p.Emit(e)
}

// record yields the messages of a record in the log of the Go versions. One that replaces them all, after a compaction or a
// step back, mostly repeats what was said.
func (p *parser) record(v jsontext.Value) {
	typ := v.Get("type").Word()
	list := v.Get("messages")
	if typ != "replace" && typ != "append" || !list.IsArray() {
		p.Uncounted(transcript.KindUnknown, typ, v.Get("created_at").Time())
		return
	}
	var at transcript.Time
	if typ == "append" {
		at = v.Get("created_at").Time()
	}
	var all []jsontext.Value
	for m := range list.Items() {
		all = append(all, m)
	}
	if len(all) == 0 {
		p.Uncounted(transcript.KindLifecycle, typ, v.Get("created_at").Time())
		return
	}
	p.list(typ == "replace", at, all...)
}

// list yields the events of messages. Those that replace all messages so far are, as far as they say the same, the latest of
// those.
func (p *parser) list(replaced bool, at transcript.Time, messages ...jsontext.Value) {
	next := p.said
	if replaced {
		next = map[uint64]int{}
		for _, m := range messages {
			for _, piece := range p.pieces(m) {
				next[piece.hash]++
			}
		}
		for hash, n := range next {
			next[hash] = max(p.said[hash]-n, 0)
		}
		p.n = 0
	}
	for _, m := range messages {
		if p.Done() {
			return
		}
		if len(messages) == 1 && m.Len() == p.Row.Value.Len() {
			p.message(m, at, next)
		} else {
			p.Within(m, func(jsontext.Value) { p.message(m, at, next) })
		}
		p.n++
	}
}

// message yields the events of one message. next are the numbers of what is said next.
func (p *parser) message(m jsontext.Value, at transcript.Time, next map[uint64]int) {
	if t := m.Get("createdAt").MilliTime(); t.Valid {
		at = t
	}
	all := p.pieces(m)
	for _, piece := range all {
		id := piece.key
		if id == "" {
			id = p.number(piece.hash, next)
		}
		if piece.call.Exists() {
			p.calls[piece.call.Str()] = call{piece.call.Str(), id, piece.name}
		}
		if p.done[id] {
			continue
		}
		p.done[id] = true
		if piece.kind == transcript.KindMessage && piece.role == "user" {
			p.prompt(m, at, piece)
		}
		p.emit(p.event(&piece, id, at))
	}
	if len(all) > 0 {
		return
	}
	kind := transcript.KindUnknown
	if isKnown(m.Get("role").Word()) {
		kind = transcript.KindNotice
	}
	p.Uncounted(kind, m.Get("role").Word(), at)
}

// number returns the id of what is said, which counts how often it was said before.
func (p *parser) number(hash uint64, next map[uint64]int) string {
	n := next[hash]
	next[hash]++
	p.said[hash] = max(p.said[hash], n+1)
	return strconv.FormatUint(hash, 36) + "." + strconv.Itoa(n)
}

// prompt notes what a prompt tells of the session.
func (p *parser) prompt(m jsontext.Value, at transcript.Time, piece piece) {
	said := piece.value.Str()
	if p.facts.Project == "" {
		p.facts.Project = workspaceOf(m.Get("content").Str())
	}
	p.TitleFrom(said, format.PromptRank(at))
	if !m.Get("createdAt").MilliTime().Valid {
		return
	}
	value := strconv.AppendInt(nil, int64(p.n), 10)
	value = strconv.AppendInt(append(value, '@'), at.UnixMicro/1000, 10)
	value = strconv.AppendInt(append(value, '@'), p.Row.Origin.Offset, 10)
	p.Hint(p.Session, hintPrompt, string(value), p.Row.Origin)
}

// workspaceOf returns the directory that the program names before the words of a prompt.
func workspaceOf(content string) string {
	_, after, ok := strings.Cut(content, `Current workspace: "`)
	if !ok || !strings.HasPrefix(content, "<workspace>") {
		return ""
	}
	quoted, err := strconv.QuotedPrefix(`"` + after)
	if err != nil {
		return ""
	}
	dir, _ := strconv.Unquote(quoted)
	return dir
}
