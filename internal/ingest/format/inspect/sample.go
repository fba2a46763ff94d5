package inspect

import (
	"cmp"
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sample is one sample in one epoch.
type sample struct {
	*parser
	v     jsontext.Value
	run   string
	ended transcript.Time

	requests int  // model events so far
	stated   bool // a model event states tokens
	scored   bool // the sample states its scores
	failed   bool // an event states the error that ended the sample

	messages    int               // so far
	ids         map[string]bool   // of messages
	contents    map[[32]byte]bool // of messages, see contentOf
	strings     map[[32]byte]bool // that are in the text of an event
	calls       map[string]bool   // ids of calls
	results     map[string]bool   // ids of calls with a result
	facts       map[string]fact   // by id of a message or call
	attachments map[string]jsontext.Value
	sums        map[jsontext.Value][32]byte // of long texts
	resolvable  int                         // bytes of attachments that may still be resolved
	pool        []jsontext.Value            // messages to which model events refer
	pooled      []int64                     // for each of them its number, or a later one if it was met; and one more, for the end
}

// fact is what an event states about a message or about the result of a call.
type fact struct {
	at       transcript.Time
	duration transcript.Count
	failed   transcript.Truth
}

// sample yields the records of a sample: what was said, then what only its events have.
func (p *parser) sample(v jsontext.Value) {
	p.samples++
	if !v.IsObject() {
		p.problem("not a sample", "a JSON value of another type", p.origin(v))
		return
	}
	id, epoch := idIn(v.Get("id")), cmp.Or(idIn(v.Get("epoch")), "1")
	run := idIn(v.Get("uuid"))
	if run == "" && p.eval.id != "" {
		run = p.eval.id + "/" + id + "/" + epoch
	}
	if run == "" {
		p.problem("no evaluation", "a sample without an id of its own, in a log that does not say of which evaluation", p.origin(v))
		return
	}
	s := &sample{
		parser: p, v: v, run: run, ids: map[string]bool{}, contents: map[[32]byte]bool{}, strings: map[[32]byte]bool{},
		calls: map[string]bool{}, results: map[string]bool{}, facts: map[string]fact{}, attachments: map[string]jsontext.Value{},
		sums: map[jsontext.Value][32]byte{}, resolvable: format.DocumentLimit,
	}
	s.index(s.events(), 0)
	stores := []jsontext.Value{v.Get("attachments"), v.Get("transcript", "content")} // the latter of 2024
	for _, store := range stores {
		for key, a := range store.Fields() {
			s.attachments[key] = a
		}
	}
	for m := range v.Get("events_data", "messages").Items() {
		s.pool = append(s.pool, m)
	}
	for i := range len(s.pool) + 1 {
		s.pooled = append(s.pooled, int64(i))
	}
	s.emitRun(id, epoch)
	for m := range v.Get("messages").Items() {
		s.message(m, "", transcript.Time{})
	}
	s.scores()
	for _, key := range []string{"input", "choices", "target", "setup", "metadata", "store"} {
		s.rest(key, v.Get(key))
	}
	s.walk(s.events(), 0)
	s.errors()
	s.totals()
	for _, store := range stores {
		for key, a := range store.Fields() {
			s.attached(key, a)
		}
	}
}

// events returns the events of the sample.
func (s *sample) events() jsontext.Value {
	if events := s.v.Get("events"); events.Exists() {
		return events
	}
	return s.v.Get("transcript", "events") // 2024
}

// emitRun yields the run and its conversation.
func (s *sample) emitRun(id, epoch string) {
	e, v := &s.eval, s.v
	s.ended = v.Get("completed_at").Time()
	run := transcript.Run{
		ID: s.run, Group: e.id, Project: e.run.Project, Title: s.title(), Agent: e.solver, Model: e.run.Model, Version: e.run.Version,
		Started: v.Get("started_at").Time(), Ended: s.ended, Error: v.Get("error", "message").Str(),
	}
	limit := v.Get("limit", "type").Str()
	switch {
	case v.Get("error").IsObject():
		run.Status, run.Outcome = "error", transcript.Failed
	case limit != "":
		run.Status, run.Outcome = limit+" limit", transcript.Other
	default:
		run.Status, run.Outcome = "completed", transcript.Succeeded
	}
	a := &run.Attributes
	a.Set("sample", id)
	if n, ok := v.Get("epoch").Int(); ok {
		a.Set("epoch", n)
	}
	for _, key := range []string{"total_time", "working_time"} {
		if f, ok := v.Get(key).Float(); ok {
			a.Set(key, f)
		}
	}
	retries := int64(0)
	for range v.Get("error_retries").Items() {
		retries++
	}
	if retries > 0 {
		a.Set("retries", retries)
	}
	a.Set("dataset", e.dataset)
	if v.Get("invalidation").IsObject() {
		a.Set("invalidated", true)
	}
	s.Emit(&run)
	s.Emit(&transcript.Conversation{
		ID: s.run, Run: s.run, Title: run.Title, Agent: run.Agent, Model: run.Model, Project: run.Project, Status: run.Status, Version: run.Version,
		Started: run.Started, Ended: run.Ended,
	})
}

// title returns the first line of what the sample asks.
func (s *sample) title() string {
	input := s.v.Get("input")
	if input.IsString() {
		return format.Title(s.attachment(input).Str())
	}
	for m := range input.Items() {
		if content := m.Get("content"); m.Get("role").Is("user") {
			if content.IsString() {
				return format.Title(s.attachment(content).Str())
			}
			return format.Title(jsontext.Build(func(b []byte) []byte { return appendText(b, content) }))
		}
	}
	return ""
}

// resolved returns the text that a string refers to, else the string.
func (s *sample) resolved(v jsontext.Value) jsontext.Value {
	if text, ok := s.referred(v); ok {
		return text
	}
	return v
}

// referred returns the text that a string refers to, if it does. A small log may refer to a large text any number of times: beyond a limit the text
// is only found as what it is, an attachment.
func (s *sample) referred(v jsontext.Value) (text jsontext.Value, ok bool) {
	text = s.attachment(v)
	if text == v || text.Len() > s.resolvable {
		return text, false
	}
	s.resolvable -= text.Len()
	return text, true
}

// attachment returns the text that a string refers to, else the string. "tc://" is of 2024.
func (s *sample) attachment(v jsontext.Value) jsontext.Value {
	if !isReference(v) {
		return v
	}
	_, key, _ := strings.Cut(v.Str(), "://")
	if a, ok := s.attachments[key]; ok && a.IsString() {
		return a
	}
	return v
}

// contentOf returns a hash of what a message has besides its id: messages of early versions have none.
func (s *sample) contentOf(m jsontext.Value) [32]byte {
	b := append([]byte(m.Get("role").Word()), 0)
	for _, key := range []string{"tool_call_id", "content", "tool_calls", "error"} {
		b = jsontext.AppendText(append(b, 0), m.Get(key), func(b []byte, _ int, _ string, v jsontext.Value) ([]byte, bool) {
			if !isReference(v) && (v.Len() < maxShort || !v.IsString()) {
				return b, false
			}
			return s.appendLong(b, v), true
		})
	}
	return sha256.Sum256(b)
}

// maxShort is the length of strings, in bytes, that appendLong appends as they are.
const maxShort = 1 << 10

// appendLong appends a string, or the text that it refers to, or a hash of it if it is long: each request has all messages before it.
func (s *sample) appendLong(b []byte, v jsontext.Value) []byte {
	a := s.attachment(v)
	if a.Len() < maxShort {
		return jsontext.AppendStrings(b, a)
	}
	sum, ok := s.sums[a]
	if !ok {
		sum = hashOf(a)
		s.sums[a] = sum
	}
	return append(b, sum[:]...)
}

// note remembers the strings of a value whose text search finds.
func (s *sample) note(v jsontext.Value) {
	jsontext.AppendText(nil, v, func(b []byte, _ int, _ string, v jsontext.Value) ([]byte, bool) {
		if v.IsString() {
			s.strings[hashOf(v)] = true
		}
		return b, v.IsString()
	})
}

func hashOf(v jsontext.Value) [32]byte { return sha256.Sum256(jsontext.AppendStrings(nil, v)) }

// begin returns an event with one part, whose place and text are v.
func (s *sample) begin(v jsontext.Value, kind transcript.Kind, role, typ string) *transcript.Event {
	s.lend.Reset()
	if v.IsString() {
		s.strings[hashOf(v)] = true
	}
	e := s.lend.Event(transcript.Event{Conversation: s.run, Kind: kind, Role: role, Type: typ, Origin: s.origin(v)})
	e.Parts[0] = s.lend.Part(v, jsontext.Value{}, appendText)
	return e
}

// uncounted yields a row for search, if there is anything to find.
func (s *sample) uncounted(v jsontext.Value, kind transcript.Kind, typ string, at transcript.Time) {
	if kind != transcript.KindUnknown && !hasText(v) {
		return
	}
	e := s.begin(v, kind, "", typ)
	e.Verdict, e.Time = transcript.Uncounted, at
	s.Emit(e)
}

// scores yields what the scorers say, as receipts and for search.
func (s *sample) scores() {
	scores := s.v.Get("scores")
	s.scored = scores.Exists()
	for name, v := range scores.Fields() {
		s.score(name, v)
	}
	if old := s.v.Get("score"); !s.scored && old.IsObject() { // 2024
		s.score("score", old)
	}
}

func (s *sample) score(name string, v jsontext.Value) {
	value := v.Get("value")
	r := &transcript.Receipt{Run: s.run, Conversation: s.run, Key: "score/" + name, Kind: "score", Step: name, Ended: s.ended, Origin: s.origin(v)}
	if value.IsString() || value.Type() == '0' || value.Bool() != transcript.Unstated {
		r.Status = value.Text()
	}
	switch r.Status {
	case "C":
		r.Outcome = transcript.Succeeded
	case "I":
		r.Outcome = transcript.Failed
	case "P", "N":
		r.Outcome = transcript.Other
	}
	s.Emit(r)
	s.uncounted(v, transcript.KindNotice, "score", s.ended)
}

// rest yields a member of the sample for search, unless a message has its text.
func (s *sample) rest(key string, v jsontext.Value) {
	switch {
	case key == "input" && v.IsArray():
		for m := range v.Items() {
			s.message(m, key, transcript.Time{})
		}
	case v.IsArray(), v.IsObject(), !v.IsBlank() && !s.strings[hashOf(s.attachment(v))]:
		v = s.resolved(v)
		s.uncounted(v, transcript.KindNotice, key, transcript.Time{})
		s.note(v)
	}
}

// attached yields a text to which only parts of events refer.
func (s *sample) attached(key string, v jsontext.Value) {
	if v.IsString() && !s.strings[hashOf(v)] && hasText(v) {
		e := s.begin(v, transcript.KindNotice, "", "attachment")
		e.ID, e.Verdict = "attachment/"+key, transcript.Uncounted
		s.Emit(e)
	}
}

// idOf returns the id of a message, or its number if it has none or is there twice.
func (s *sample) idOf(m jsontext.Value) string {
	s.messages++
	if id := idIn(m.Get("id")); id != "" && !s.ids[id] {
		s.ids[id] = true
		return id
	}
	return "#" + strconv.Itoa(s.messages)
}

// maxID is the length of the longest id that is accepted, in bytes: many names begin with one.
const maxID = 200

func idIn(v jsontext.Value) string {
	if v.Len() > maxID {
		return ""
	}
	return v.Text()
}
