package langgraph

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// mainConversation is the graph that the program runs. Others have their namespace as the id of their conversation.
const mainConversation = "main"

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	id, began := v.Get("thread_id").Text(), timeOf(v.Get("began").Str())
	if id == "" {
		p.NoSession()
		return
	}
	if !format.IsUUID(id) && began.Valid {
		id += " " + time.UnixMicro(began.UnixMicro).UTC().Format("2006-01-02T15:04:05.999999Z")
	}
	if id = format.ShortID(id); id != p.Session {
		p.emitModel()
		p.Begin(id)
		p.run = transcript.Run{ID: id, Started: began}
		p.conversations, p.models, p.homes = map[string]bool{}, map[string]bool{}, map[string]string{}
		p.seen = map[uint64]bool{}
	}
	table := v.Get("table").Word()
	if table != rowWrite && table != rowState {
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
		return
	}
	p.emitRun(v)
	w := &write{parser: p, row: v, conversation: p.emitConversation(v.Get("checkpoint_ns").Str(), table), at: timeOf(v.Get("checkpoint_id").Str())}
	// The first step of a run writes what the run began with: for a graph that another one calls, that is the other's.
	w.home = table == rowWrite && (w.conversation == mainConversation || !v.Get("source").Is("input"))
	w.began = v.Get("source").Is("input")
	if n, ok := v.Get("step").Int(); ok {
		w.facts.Set("step", n)
	}
	w.value(v.First(packedColumn, plainColumn))
	if !w.said { // what it has was there before; the column that is null has its place
		none := v.Get(plainColumn)
		if !none.IsNull() {
			none = v.Get(packedColumn)
		}
		w.note(transcript.KindLifecycle, none)
	}
}

// timeOf returns when a UUID of version 6 was made: its first 60 bits but the version count tenths of microseconds since the calendar reform of 1582
// (RFC 9562).
func timeOf(id string) transcript.Time {
	if !format.IsUUID(id) || id[14] != '6' {
		return transcript.Time{}
	}
	n, err := strconv.ParseInt(id[:8]+id[9:13]+id[15:18], 16, 64)
	if err != nil {
		return transcript.Time{}
	}
	const reform = 122_192_928_000_000_000
	return transcript.Time{UnixMicro: (n - reform) / 10, Valid: true}
}

// emitRun yields the run, and again when a row says more about it.
func (p *parser) emitRun(v jsontext.Value) {
	before := p.run
	p.run.Agent = cmp.Or(p.run.Agent, v.Get("agent_name").Str())
	p.run.Project = cmp.Or(p.run.Project, v.Get("cwd").Str())
	p.run.Branch = cmp.Or(p.run.Branch, v.Get("git_branch").Str())
	if p.Begun && p.run.Agent == before.Agent && p.run.Project == before.Project && p.run.Branch == before.Branch {
		return
	}
	p.Begun = true
	run := p.run
	p.Emit(&run)
}

// emitConversation yields the conversation of a namespace once, and returns its id. A namespace names the step that calls the graph, after that of the
// graph with this step.
func (p *parser) emitConversation(namespace, table string) string {
	id := cmp.Or(format.ShortID(namespace), mainConversation)
	if p.conversations[id] {
		return id
	}
	p.conversations[id] = true
	order := "1"
	if table == rowState { // what a thread began with, if there is more
		order = "0"
	}
	c := &transcript.Conversation{ID: id, Run: p.Session, Shared: true, Order: order}
	if id != mainConversation {
		outer, step := "", namespace
		if at := strings.LastIndexByte(namespace, '|'); at >= 0 {
			outer, step = namespace[:at], namespace[at+1:]
		}
		c.Child = true
		c.Agent, _, _ = strings.Cut(step, ":")
		c.Agent = format.ShortID(c.Agent)
		p.Emit(c)
		p.Emit(&transcript.Link{
			Kind:   "parent",
			From:   transcript.End{Type: "conversation", ID: p.Session, Conversation: cmp.Or(format.ShortID(outer), mainConversation)},
			To:     transcript.End{Type: "conversation", ID: p.Session, Conversation: id},
			Origin: p.Row.Origin,
		})
		return id
	}
	p.Emit(c)
	return id
}

// emitModel yields the model of a thread, if all answers that name one name the same.
func (p *parser) emitModel() {
	if !p.Begun || len(p.models) != 1 || p.Done() {
		return
	}
	for model := range p.models {
		p.Emit(&transcript.Run{ID: p.Session, Model: model})
	}
}

// write is one row while its records are made.
type write struct {
	*parser
	row          jsontext.Value
	conversation string
	at           transcript.Time
	home         bool // it was written in this conversation
	began        bool // it is what a run began with
	facts        transcript.Attributes
	values       int  // so far
	said         bool // something was yielded
}

// value yields the events of what a step wrote.
func (w *write) value(v jsontext.Value) {
	channel := w.row.Get("channel").Word()
	list, isList := w.listOf(v)
	switch m, ok := w.read(v); {
	case channel == channelError:
		w.failed(v)
	case ok:
		w.message(m)
	case v.Get("bytes").Exists():
		w.said = true
		w.Problem(w.Session, &transcript.Problem{Kind: "bad value", Reason: "the value is not MessagePack", Origin: w.Row.Origin})
	case isList:
		for item := range list.Items() {
			if m, ok := w.read(item); ok {
				w.message(m)
			} else {
				w.note(transcript.KindUnknown, item)
			}
		}
	case v.IsNull(), v.IsString(): // encrypted, or of a kind that is no value
		w.note(transcript.KindNotice, w.row)
	default:
		w.other(v)
	}
}

// extSnapshot is the extension of MessagePack that is a snapshot of a channel.
const extSnapshot = 7

// listOf returns the list that a value is: itself, what replaces all messages before (Overwrite), or the messages up to here (a snapshot).
func (w *write) listOf(v jsontext.Value) (jsontext.Value, bool) {
	if o := objectOf(v); o.class == "Overwrite" {
		v = o.body.Get("value")
	} else if ext, _ := v.Get("ext").Int(); ext == extSnapshot {
		v = v.Get("value")
	}
	return v, v.IsArray()
}

// other yields a value that is no message, but may have one: the summary of what Deep Agents tells the model no more.
func (w *write) other(v jsontext.Value) {
	m, ok := w.read(v.Get("summary_message"))
	if !ok {
		w.note(transcript.KindUnknown, v)
		return
	}
	m.kind = kindSummary
	w.message(m)
}

// note yields a value that is no event of the conversation. The row stands for a value that has no bytes of its own.
func (w *write) note(kind transcript.Kind, v jsontext.Value) {
	if !v.Exists() {
		v = w.row
	}
	w.values++
	m := &message{write: w, id: w.placeID(v), native: w.row.Get("channel").Word()}
	m.emit(m.Event(kind, "", m.native, v), "", transcript.Uncounted)
}

// failed yields what a step failed with.
func (w *write) failed(v jsontext.Value) {
	if !v.Exists() {
		v = w.row
	}
	w.values++
	m := &message{write: w, id: w.placeID(v)}
	m.emit(m.Event(transcript.KindError, "system", "error", v), "", transcript.Uncounted)
}

// placeID returns an id for a value that has none: the place where the step wrote it. Of a state, which is written anew, it is the place in the list and
// the value.
func (w *write) placeID(v jsontext.Value) string {
	n := strconv.Itoa(w.values)
	if w.row.Get("table").Is(rowState) {
		return format.HashUUID(w.Session, w.conversation, n, string(v.Raw()))
	}
	return format.HashUUID(w.Session, w.row.Get("checkpoint_id").Str(), w.row.Get("task_id").Str(), w.row.Get("idx").Text(), n)
}
