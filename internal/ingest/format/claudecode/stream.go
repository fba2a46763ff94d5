package claudecode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// stream is what a reader keeps of one session in the output of a headless run, beside what it keeps of a transcript.
type stream struct {
	name      string            // the first uuid, after which the conversation is named
	answered  bool              // the assistant has said something since the last result
	answering map[string]string // the message that is being streamed, by the call of the sub-agent whose it is
	status    string            // of the last result
	outcome   transcript.Outcome
	sums      sums
	time      transcript.Time     // the last one that a line states
	undated   []*transcript.Usage // requests before the first
}

// The id of a stream's conversation begins with streamPrefix. That of the session's own transcript is the id of the session. Beside the
// stream's there may be one without events, which has tokens that do not count in some families.
const (
	streamPrefix = "stream "
	restPrefix   = "rest "
)

// maxWaiting bounds the memory for objects that precede the first one that names a session, and for requests that precede the first time.
const maxWaiting = 1000

// parseStream reads what a headless Claude Code printed. The output of several runs may have been appended to one file, even at
// the same time: each session is read by itself. Lines that name none belong to that of the line before.
func parseStream(in format.Input, out *format.Sink) {
	var current *reader
	var all []*reader
	of := map[string]*reader{}
	var waiting []jsontext.Object // no line has named a session yet
	problem := func(p *transcript.Problem) {
		run := ""
		if current != nil {
			run = current.run
		}
		out.Problem(run, p)
	}
	open := func(session string) {
		if current = of[session]; current == nil {
			current = newStreamReader(out, session, waiting)
			of[session], all = current, append(all, current)
		}
		out.Settle(current.run)
		for _, o := range waiting {
			current.line(o)
		}
		waiting = nil
	}
	objects := jsontext.Objects(in.Reader, "", problem)
	if in.Role == roleMessages {
		objects = jsontext.Elements(in.Reader, problem)
	}
	for o := range out.Each(objects) {
		switch session := o.Value.Get("session_id").Word(); {
		case session != "":
			open(session)
		case current == nil:
			if o.Value = o.Value.Clone(); len(waiting) < maxWaiting {
				waiting = append(waiting, o)
				continue
			}
			open("")
		}
		current.line(o)
	}
	if len(waiting) > 0 {
		open("")
	}
	for _, r := range all {
		r.finish()
	}
	out.Settle("")
}

// newStreamReader returns the reader of a session in a stream. If no line names the session, the first line is its identity.
func newStreamReader(out *format.Sink, session string, waiting []jsontext.Object) *reader {
	r := newReader(out)
	r.stream = &stream{answering: map[string]string{}, sums: sums{requests: map[string]*transcript.Usage{}, own: map[string]bool{}}}
	r.session, r.run = session, session
	if session == "" {
		r.run = "stream@" + hashOf(waiting[0].Value)
	}
	return r
}

// hashOf identifies a line by its content, however it is indented.
func hashOf(v jsontext.Value) string {
	h := fnv.New64a()
	var compact bytes.Buffer
	if err := json.Compact(&compact, v.Raw()); err != nil {
		compact.Reset()
		compact.Write(v.Raw())
	}
	h.Write(compact.Bytes())
	return fmt.Sprintf("%016x", h.Sum64())
}

// readStream sets the members that a stream names differently.
func (l *line) readStream(session string) {
	l.session, l.printed = session, true
	for key, value := range l.raw.Fields() {
		switch key {
		case "parent_tool_use_id":
			l.sidechain = value.Len() > len(`""`) && value.IsString()
		case "tool_use_result":
			l.toolUseResult = value
		case "request_id":
			l.request = value
		case "isSynthetic":
			l.meta = value.Bool() == transcript.Yes
		case "claude_code_version":
			l.version = value
		}
	}
}

// date gives a line without a time that of the last line that has one. Newer versions write the times of tools' results: the answer that
// follows was asked for just then. Requests before the first time get that one.
func (r *reader) date(l *line) {
	s := r.stream
	if !l.now.Valid {
		l.now = s.time
		return
	}
	s.time = l.now
	for _, u := range s.undated {
		dated := *u
		dated.Time, dated.Origin, dated.Rank = l.now, l.origin, u.Rank|1 // no line's home is in a stream, so ranks are even
		if dated.Rank <= r.bestRank[u.Key] {
			continue // a larger statement of the request follows
		}
		r.bestRank[u.Key] = dated.Rank
		if s.sums.requests[u.Key] == u {
			request := *u // at its own place, which says to which turn it belongs
			request.Time = l.now
			s.sums.requests[u.Key] = &request
		}
		r.out.Emit(&dated)
	}
	s.undated = nil
}

// nameStream names the conversation of a stream at its first line: after the first uuid, or in older versions after the
// message. Both are new in each run of a resumed session.
func (r *reader) nameStream(l *line) {
	name := r.stream.name
	if name == "" {
		name = idText(l.message.Get("id"))
	}
	if name == "" {
		name = hashOf(l.raw)
	}
	r.conversation = streamPrefix + name
}

// result yields the line that ends a turn. It repeats the last text of the assistant, unless that is not in the stream: then it is the
// answer.
func (r *reader) result(l *line, repeated bool) {
	s := r.stream
	e := r.event(l, repeated)
	e.Attributes.Set("subtype", l.subtype.Str())
	for _, key := range []string{"num_turns", "duration_ms", "duration_api_ms"} {
		if n, ok := l.raw.Get(key).Int(); ok {
			e.Attributes.Set(key, n)
		}
	}
	for _, key := range []string{"total_cost_usd", "cost_usd", "stop_reason"} {
		e.Attributes.Set(key, l.raw.Get(key).Text())
	}
	s.status, s.outcome = cmp.Or(l.subtype.Str(), "result"), transcript.Succeeded
	if l.raw.Get("is_error").Bool() == transcript.Yes || strings.HasPrefix(s.status, "error") {
		s.outcome = transcript.Failed
	}
	id := resultID(l)
	if !r.seen[id] {
		r.sumUp(l)
	}
	r.seen[id] = true
	switch answer := l.raw.Get("result"); {
	case r.isAnswer(l):
		e.Kind, e.Role = transcript.KindMessage, "assistant"
		e.Parts[0] = jsontext.PartIn(l.raw, answer, r.text(answer))
		r.said(e.Parts[0].Text)
		r.emit(e)
	default:
		e.Kind, e.Parts[0].Text = transcript.KindLifecycle, r.text(l.raw)
		r.emitUncounted(e)
		if r.counted {
			r.out.Hint(r.run, hintResult, id, l.origin)
		}
	}
	s.answered = false
}

// said records the first text of the assistant: a stream has no prompt that would be a better title.
func (r *reader) said(text string) {
	r.stream.answered = true
	if r.facts.said == "" {
		r.facts.said = strings.Clone(shorten(text))
	}
}

// partial reads a piece of a message that is being streamed (--include-partial-messages). The messages themselves follow, but only the
// last piece has all of the request's output.
func (r *reader) partial(l *line) {
	event, agent := l.raw.Get("event"), l.raw.Get("parent_tool_use_id").Str()
	switch event.Get("type").Word() {
	case "message_start":
		r.stream.answering[agent] = idText(event.Get("message", "id"))
	case "message_delta":
		request := r.stream.sums.requests[r.stream.answering[agent]]
		if output := event.Get("usage", "output_tokens").Count(); request != nil && output.N > request.Output.N {
			u := *request
			u.Output, u.Origin = output, l.origin
			r.emitUsage(l, &u)
		}
	}
}

// isAnswer reports whether a result has the only text of its turn, as all have that are printed alone (--output-format json).
func (r *reader) isAnswer(l *line) bool {
	return !r.stream.answered && !l.raw.Get("result").IsBlank()
}

// resolveStreams makes streams copies of the transcript of their session, unless that ends before they begin, and a result that was saved
// by itself one of the stream that it is from.
func resolveStreams(f *transcript.Family) {
	transcribed, ended, results := int64(math.MinInt64), map[string]bool{}, map[string]bool{}
	for _, c := range f.Conversations {
		switch {
		case strings.HasPrefix(c.ID, streamPrefix):
			ended[c.ID] = ended[c.ID] || c.Status != "" // a file may be a copy that was cut
		case c.Child, c.Silent, c.Events == 0, c.Rank == rankEditor:
		case c.Ended.Valid:
			transcribed = max(transcribed, c.Ended.UnixMicro)
		default:
			transcribed = math.MaxInt64
		}
	}
	for _, h := range f.Hints {
		results[h.Value] = results[h.Value] || h.Key == hintResult
	}
	copied := map[string]bool{}
	for _, c := range f.Conversations {
		if name, ok := strings.CutPrefix(c.ID, streamPrefix); ok {
			copied[name] = transcribed > math.MinInt64 && (!c.Started.Valid || c.Started.UnixMicro <= transcribed) || results[name]
			c.CopiedUntil = 0
			if copied[name] {
				c.CopiedUntil, c.Verdict = math.MaxInt64, transcript.DerivedTotal
			}
		}
	}
	unfinished := false
	for _, has := range ended {
		unfinished = unfinished || !has
	}
	var smallest *transcript.FamilyConversation
	for _, c := range f.Conversations {
		if name, ok := strings.CutPrefix(c.ID, restPrefix); ok {
			c.CopiedUntil = math.MaxInt64
			if !copied[name] && !unfinished && (smallest == nil || cmp.Or(strings.Compare(c.Order, smallest.Order), strings.Compare(c.ID, smallest.ID)) < 0) {
				smallest = c
			}
		}
	}
	if smallest != nil {
		for _, c := range f.Conversations { // it may be in several files
			if c.ID == smallest.ID {
				c.CopiedUntil = 0
			}
		}
	}
}

// visitStream leaves out what repeats the lines that follow (stream_event), the lists of tools and commands that each run begins with,
// and names and numbers of the program.
func visitStream(dst []byte, depth int, key string, value jsontext.Value) ([]byte, bool) {
	switch {
	case depth == 0:
		kind := value.Get("type")
		return dst, kind.Is("stream_event") || kind.Is("system") && value.Get("subtype").Is("init")
	case depth > 1:
		return visit(dst, depth, key, value)
	}
	switch key {
	case "session_id", "parent_tool_use_id", "request_id", "task_id", "hook_id", "modelUsage", "fast_mode_state", "terminal_reason", "subtype":
		return dst, true
	}
	return visit(dst, depth, key, value)
}

// visitResult is visitStream for the line that ends a turn.
func visitResult(dst []byte, depth int, key string, value jsontext.Value) ([]byte, bool) {
	if depth == 1 && key == "result" {
		return dst, true
	}
	return visitStream(dst, depth, key, value)
}

func appendStreamText(dst []byte, v jsontext.Value) []byte {
	if v.Get("type").Is("result") {
		return jsontext.AppendText(dst, v, visitResult)
	}
	return jsontext.AppendText(dst, v, visitStream)
}
