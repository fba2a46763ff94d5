package pi

import (
	"cmp"
	"io"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Session is what a format knows about a file of entries besides its content.
type Session struct {
	ID     string // from the file's name; the id in the header takes precedence
	Parent string // the session that started this one, "" if none did
	Agent  string
	Inner  string // the layer that the entries are read from; see transcript.Origin
	// Shared says that several files hold entries of one session. They are joined entry by entry, sorted by Order, preferred by Rank.
	Shared bool
	Order  string
	Rank   int
	// Rewritten says that the program may write entries again under new ids, for example as a branch with a truncated result.
	Rewritten bool
	// Columns are the columns of a database row that may hold the entry; the first that does counts. Empty if the line itself is the entry.
	Columns []string
	// Prompt returns the user's part of a prompt, "" if there is none; nil leaves prompts unchanged.
	Prompt func(string) string
	// Mirrors reports whether another program that has answered keeps the requests behind a message in files of its own; nil for no.
	Mirrors func(message jsontext.Value) bool

	printed bool // saved output, which may be that of several sessions
}

// Parse yields the records of a session.
func Parse(in io.Reader, s Session) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		r := &reader{
			Sink: format.Sink{Yield: yield}, s: s,
			seen: map[string]bool{}, lines: map[uint64]int{}, toolNames: map[string]string{}, stated: map[string]bool{}, recorded: map[string]string{}, left: map[string]begun{},
		}
		for o, err := range jsontext.Objects(in, s.Inner, r.problem) {
			if layer.IsContent(err) {
				outer, _, _ := strings.Cut(s.Inner, "+")
				r.problem(&transcript.Problem{Kind: "bad " + outer, Reason: err.Error(), Origin: transcript.Origin{Inner: s.Inner}})
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
		r.finish()
	}
}

// entry takes the entry out of a database row.
func (s *Session) entry(row jsontext.Object) jsontext.Object {
	for _, column := range s.Columns {
		if v := row.Value.Get(column); v.IsObject() {
			row.Origin, row.Value = jsontext.OriginIn(row.Origin, row.Value, v), v
			break
		}
	}
	return row
}

// reader is one parse of one file.
type reader struct {
	format.Sink
	s Session

	run     string          // "" until a line is read
	forked  bool            // entries may have been copied from another session
	folded  bool            // of Prime Agent, whose copies of an answer may have the usage of subagents added to its own
	started transcript.Time // from the header
	first   transcript.Time
	last    transcript.Time

	project, model, name, prompt string
	slot                         entry  // Oh My Pi's line before the header, which it rewrites when the title changes
	slotTitle                    string // in it
	facts                        transcript.Attributes

	seen      map[string]bool   // event keys
	lines     map[uint64]int    // occurrences of lines without an id, by hash
	toolNames map[string]string // by call id
	stated    map[string]bool   // entries of version 4 that have stated their usage, by id
	recorded  map[string]string // keys of the newest usage that records of version 4 have of an entry, by its id
	calls     int               // calls without an id so far
	results   int               // results without a call id so far
	prevID    string            // id of the previous entry

	left map[string]begun // sessions of saved output, by id

	current entry
	lend    format.Lender // of its events
}

// problem reports content that could not be read.
func (r *reader) problem(p *transcript.Problem) {
	p.Alone, p.Run = true, r.s.ID
	r.Problem(r.run, p)
}

func (r *reader) line(o jsontext.Object) {
	r.lend.Reset()
	e := &r.current
	e.read(o)
	m := readMessage(e.message)
	if !e.at.Valid {
		e.at = m.timestamp.TimeOrMilli()
	}
	if r.s.printed {
		if !r.enter(e) {
			return
		}
		if e.typ != "message_end" {
			m = message{} // only the message_end identifies its message
		}
	}
	if r.run == "" {
		if e.typ == "title" && !r.slot.value.Exists() {
			r.slot.read(jsontext.Object{Origin: o.Origin, Value: o.Value.Clone()})
			r.slotTitle = format.Title(r.slot.value.Get("title").Str())
			return
		}
		r.begin(e)
	}
	if e.isHeader() {
		r.header(e)
		return
	}
	r.identify(e, &m)
	format.Extend(&r.first, &r.last, e.at)
	r.entry(e, &m)
	if e.id != "" && e.kind != "record" {
		r.prevID = e.id
	}
}

// begin identifies the session by its header, which is the first line of every complete file.
func (r *reader) begin(e *entry) {
	if r.run = r.s.ID; e.isHeader() && e.id != "" {
		r.run = e.id
	}
	if e.isHeader() {
		r.started = e.at
		r.project = e.value.Get("cwd").Str()
		if n, ok := e.value.Get("version").Int(); ok {
			r.facts = transcript.Attributes{"session_version": n}
		}
		r.model = e.value.Get("modelId").Str()
		r.name = format.Title(e.value.Get("title").Str())
		r.beginPrime(e.value)
	}
	r.emitSession()
	r.Settle(r.run)
	if r.s.Parent != "" && r.s.Parent != r.run {
		r.Emit(&transcript.Link{
			Kind: "parent", From: transcript.RunEnd(r.s.Parent), To: transcript.RunEnd(r.run), Time: e.at, Origin: e.origin,
		})
	}
	if r.slot.value.Exists() {
		r.uncountedRow(&r.slot, transcript.KindNotice)
	}
}

// beginPrime reads what the header of a session of Prime Agent states about subagents.
func (r *reader) beginPrime(header jsontext.Value) {
	depth := header.Get("rlmDepth")
	r.folded = depth.Exists()
	level, _ := depth.Int()
	if from := header.Get("parentSession").Str(); from != "" && level > 0 {
		r.s.Parent = sessionIn(from)
	}
}

// emitSession yields what is known about the session so far, for its run and its conversation alike.
func (r *reader) emitSession() {
	started := r.started
	if !started.Valid {
		started = r.first
	}
	title := cmp.Or(r.slotTitle, r.name, r.prompt)
	child := r.s.Parent != ""
	r.Emit(&transcript.Run{
		ID: r.run, Rank: 1, Child: child, Title: title, Project: r.project, Agent: r.s.Agent, Model: r.model, Started: started, Ended: r.last, Attributes: r.facts,
	})
	r.Emit(&transcript.Conversation{
		ID: r.run, Run: r.run, Shared: r.s.Shared, Order: r.s.Order, Rank: r.s.Rank, Child: child, Title: title, Project: r.project, Agent: r.s.Agent,
		Model: r.model, Started: started, Ended: r.last,
	})
}

// finish yields the session again, with what only the whole file states.
func (r *reader) finish() {
	switch {
	case r.run == "" && r.slot.value.Exists():
		r.begin(&r.slot)
	case r.run == "":
		r.Settle(r.s.ID)
		return
	}
	r.emitSession()
}

// header yields the records of a session header: its event, and links to the session that it was forked from.
func (r *reader) header(e *entry) {
	for _, key := range []string{"parentSession", "parentSessionId", "branchedFrom"} {
		from := e.value.Get(key).Str()
		if from == "" || r.s.Parent != "" {
			continue
		}
		r.forked = true
		parent := sessionIn(from)
		if parent == r.run || parent == "." || parent == "" {
			continue
		}
		r.Emit(&transcript.Link{
			Kind: "fork", From: transcript.RunEnd(parent), To: transcript.RunEnd(r.run), Time: e.at, Origin: e.origin,
		})
	}
	r.uncountedRow(e, transcript.KindLifecycle)
}

// sessionIn returns the session that a header names: by its id, its file, or as one in a database of OpenClaw, "sqlite:<agent>:<session>:<database>".
func sessionIn(from string) string {
	if stored, ok := strings.CutPrefix(from, "sqlite:"); ok {
		if _, rest, ok := strings.Cut(stored, ":"); ok {
			session, _, _ := strings.Cut(rest, ":")
			return session
		}
	}
	return SessionOf(path.Base(strings.ReplaceAll(from, `\`, "/")))
}

// event returns an event of an entry, with one part.
func (r *reader) event(e *entry, kind transcript.Kind, role, typ string) *transcript.Event {
	ev := r.lend.Event(transcript.Event{Conversation: r.run, Kind: kind, Role: role, Type: typ, Time: e.at, Origin: e.origin})
	if e.duplicate {
		ev.Verdict = transcript.DuplicateOf
	} else {
		ev.ID, ev.Global, ev.Home = e.eventKey, e.global, e.global && r.isHome(e)
	}
	if e.parent.IsString() && r.prevID != "" && !e.parent.Is(r.prevID) {
		ev.Attributes.Set("parent", e.parent.Str())
	}
	return ev
}

// isHome reports whether an entry was first written to this file, as far as it states: a fork copies entries older than itself.
func (r *reader) isHome(e *entry) bool {
	return !r.forked || !r.started.Valid || !e.at.Valid || e.at.UnixMicro >= r.started.UnixMicro
}

// uncountedRow yields an uncounted event for an entry. Its place in the file is its identity.
func (r *reader) uncountedRow(e *entry, kind transcript.Kind) {
	ev := r.event(e, kind, "", e.typ)
	r.uncount(ev)
	ev.Attributes.Set("custom_type", e.custom.Str())
	ev.Parts[0] = r.part(e, jsontext.Value{})
	r.Emit(ev)
}

func (r *reader) uncount(ev *transcript.Event) {
	ev.Verdict, ev.ID, ev.Global, ev.Home = transcript.Uncounted, "", false, false
}

// part returns the part for a value that has its own bytes in an entry, or for the whole entry if v is absent.
func (r *reader) part(e *entry, v jsontext.Value) transcript.Part {
	return r.lend.Part(e.value, v, appendText)
}
