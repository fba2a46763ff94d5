package pi

import (
	"cmp"
	"io"
	"iter"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Session is what a format knows of a file of entries beside its content.
type Session struct {
	ID    string // what the file's name says; the header goes before it
	Agent string
	Inner string // the layer that the entries are in
	// Shared says that several files have entries of one session, joined by entry in this order, preferred by rank.
	Shared bool
	Order  string
	Rank   int
	// Again says that the program writes entries again under new ids, as a branch without what it cut out of them.
	Again bool
	// Columns are those of a row of a database that may hold the entry, the first one that does; none where a line is the entry.
	Columns []string
	// Prompt gives what the user wrote of a prompt, "" where that is nobody; nil leaves it as it is.
	Prompt func(string) string
}

// Parse yields the records of a session.
func Parse(in io.Reader, s Session) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		r := &reader{
			Sink: format.Sink{Yield: yield}, s: s,
			seen: map[string]bool{}, lines: map[uint64]int{}, names: map[string]string{}, paid: map[string]bool{},
		}
		if s.Inner == "zstd" {
			in = format.Zstd(in)
		}
		for o, err := range format.Objects(in, s.Inner, r.problem) {
			if format.IsContent(err) {
				r.problem(&transcript.Problem{Kind: "bad " + s.Inner, Reason: err.Error(), Origin: transcript.Origin{Inner: s.Inner}})
				break
			}
			if err != nil {
				r.Fail(err)
				return
			}
			if r.line(s.entry(o)); r.Done() {
				return
			}
		}
		r.end()
	}
}

// entry takes the entry out of a row.
func (s *Session) entry(row format.Object) format.Object {
	for _, column := range s.Columns {
		if v := row.Value.Get(column); v.IsObject() {
			row.Origin.Offset += format.OffsetIn(row.Value, v)
			row.Origin.Length = int64(v.Len())
			row.Value = v
			break
		}
	}
	return row
}

// reader reads one file.
type reader struct {
	format.Sink
	s Session

	run     string          // "" until a line is read
	forked  bool            // entries may have been copied from another session
	started transcript.Time // by the header
	first   transcript.Time
	last    transcript.Time

	project, model, name, prompt string
	facts                        transcript.Attributes

	seen    map[string]bool
	lines   map[uint64]int    // how often a line without an id stood so far
	names   map[string]string // of tools, by call id
	paid    map[string]bool   // entries of version 4 of which it is told what they took, by id
	calls   int               // without an id so far
	results int               // without one
	before  string            // id of the entry before

	now  entry
	lend format.Lender // of its events
}

// problem reports what could not be read.
func (r *reader) problem(p *transcript.Problem) {
	p.Alone, p.Run = true, r.s.ID
	r.Problem(r.run, p)
}

func (r *reader) line(o format.Object) {
	r.lend.Reset()
	e := &r.now
	e.read(o)
	m := readMessage(e.message)
	if !e.at.Valid {
		e.at = stamp(m.sent)
	}
	if r.run == "" {
		r.begin(e)
	}
	if e.heads() {
		r.header(e)
		return
	}
	r.identify(e, &m)
	if e.at.Valid {
		if !r.first.Valid {
			r.first = e.at
		}
		if !r.last.Valid || e.at.UnixMicro > r.last.UnixMicro {
			r.last = e.at
		}
	}
	r.entry(e, &m)
	if e.id != "" && e.kind != "record" {
		r.before = e.id
	}
}

// begin names the session by its header, which is the first line in every file that is whole.
func (r *reader) begin(e *entry) {
	if r.run = r.s.ID; e.heads() && e.id != "" {
		r.run = e.id
	}
	if e.heads() {
		r.started = e.at
		r.project = e.value.Get("cwd").Str()
		if n, ok := e.value.Get("version").Int(); ok {
			r.facts = transcript.Attributes{"session_version": n}
		}
		r.model = e.value.Get("modelId").Str()
	}
	r.say()
	r.Settle(r.run)
}

// say states what is known of the session so far, of the run and its conversation alike.
func (r *reader) say() {
	started := r.started
	if !started.Valid {
		started = r.first
	}
	title := cmp.Or(r.name, r.prompt)
	r.Emit(&transcript.Run{
		ID: r.run, Rank: 1, Title: title, Project: r.project, Agent: r.s.Agent, Model: r.model, Started: started, Ended: r.last, Attributes: r.facts,
	})
	r.Emit(&transcript.Conversation{
		ID: r.run, Run: r.run, Shared: r.s.Shared, Order: r.s.Order, Rank: r.s.Rank, Title: title, Project: r.project, Agent: r.s.Agent,
		Model: r.model, Started: started, Ended: r.last,
	})
}

// end tells what only the whole file says.
func (r *reader) end() {
	if r.run == "" {
		r.Settle(r.s.ID)
		return
	}
	r.say()
}

// header is a session's first line: where it was begun, and what it came from.
func (r *reader) header(e *entry) {
	for _, key := range []string{"parentSession", "parentSessionId", "branchedFrom"} {
		from := e.value.Get(key).Str()
		if from == "" {
			continue
		}
		r.forked = true
		parent := SessionOf(strings.TrimSuffix(path.Base(strings.ReplaceAll(from, `\`, "/")), "/"))
		if parent == r.run || parent == "." || parent == "" {
			continue
		}
		r.Emit(&transcript.Link{
			Kind: "fork", From: transcript.RunEnd(parent), To: transcript.RunEnd(r.run), Time: e.at, Origin: e.origin,
		})
	}
	r.aside(e, transcript.KindLifecycle)
}

// event begins an event of an entry, of one part.
func (r *reader) event(e *entry, kind transcript.Kind, role, typ string) *transcript.Event {
	ev := r.lend.Event(transcript.Event{Conversation: r.run, Kind: kind, Role: role, Type: typ, Time: e.at, Origin: e.origin})
	if e.again {
		ev.Verdict = transcript.DuplicateOf
	} else {
		ev.ID, ev.Global, ev.Home = e.event, e.global, e.global && r.home(e)
	}
	if e.parent.IsString() && r.before != "" && !e.parent.Is(r.before) {
		ev.Attributes.Set("parent", e.parent.Str())
	}
	return ev
}

// home says that an entry was first written to this file, as far as it tells: a fork copies what is older than itself.
func (r *reader) home(e *entry) bool {
	return !r.forked || !r.started.Valid || !e.at.Valid || e.at.UnixMicro >= r.started.UnixMicro
}

// aside makes an uncounted row of an entry. Its place in the file is its identity.
func (r *reader) aside(e *entry, kind transcript.Kind) {
	ev := r.event(e, kind, "", e.typ)
	r.uncount(ev)
	ev.Attributes.Set("custom_type", e.custom.Str())
	ev.Parts[0] = r.part(e, format.Value{})
	r.Emit(ev)
}

func (r *reader) uncount(ev *transcript.Event) {
	ev.Verdict, ev.ID, ev.Global, ev.Home = transcript.Uncounted, "", false, false
}

// part is a piece of an entry that has its own bytes, the whole entry where that is absent.
func (r *reader) part(e *entry, v format.Value) transcript.Part {
	p := transcript.Part{}
	if v.Exists() {
		p.Offset, p.Length = format.OffsetIn(e.value, v), int64(v.Len())
	} else {
		v = e.value
	}
	p.Text = r.lend.Text(func(b []byte) []byte { return appendText(b, v) })
	return p
}

func itoa(n int) string { return strconv.Itoa(n) }
