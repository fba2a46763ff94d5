package googleadk

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// event is one event of the kit while its records are made.
type event struct {
	*parser
	v      jsontext.Value // the document, or the row if it has its members
	id     string
	home   bool // it was written in this session
	author string
	at     transcript.Time
	model  string
	facts  transcript.Attributes
	said   bool // something was yielded
}

// member returns a member that Python writes in one form of its name, and Go in the other.
func member(v jsontext.Value, snake, camel string) jsontext.Value { return v.First(snake, camel) }

// timeOf returns a time as one of the kits writes it: text, or a number of seconds or milliseconds.
func timeOf(v jsontext.Value) transcript.Time {
	const laterIsMillis = 100_000_000_000
	if n, ok := v.Float(); ok && n > laterIsMillis {
		return v.MilliTime()
	}
	return v.TimeOrUnix()
}

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	began := timeOf(v.Get("began"))
	id := runID(v.Get("session_id").Text(), began)
	if id == "" {
		p.NoSession()
		return
	}
	if p.Begin(id) {
		p.calls, p.last, p.of = 0, nil, ""
	}
	if !v.Get("table").Is(rowEvent) {
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, v.Get("table").Word(), transcript.Time{})
		return
	}
	p.emitConversation(v, began)
	e := &event{parser: p, v: v}
	if data := v.Get(unified); data.IsObject() {
		e.v = data
	}
	e.read(v, began)
	e.records()
}

// runID returns the id of the run that a session is. The time tells apart those that a program has a name for.
func runID(session string, began transcript.Time) string {
	if session != "" && !format.IsUUID(session) && began.Valid {
		session += " " + time.UnixMicro(began.UnixMicro).UTC().Format("2006-01-02T15:04:05.999999Z")
	}
	return format.ShortID(session)
}

// saved yields the records of a session in a file. It does not say when it was created, so its first event stands for that. Events may be those of
// another session that was loaded into it, and when they were written does not tell.
func (p *parser) saved(file io.Reader) {
	v, origin := p.Document(file, p.SessionProblem)
	if !v.Exists() {
		return
	}
	p.isSaved, p.Row = true, jsontext.Object{Origin: origin, Value: v}
	var began transcript.Time
	for e := range v.Get("events").Items() {
		began = timeOf(e.Get("timestamp"))
		break
	}
	id := runID(v.Get("id").Text(), began)
	if id == "" {
		p.SessionProblem(&transcript.Problem{Kind: "no session", Reason: "the file names no session", Origin: origin})
		return
	}
	p.Begin(id)
	p.emitConversation(v, began)
	for one := range v.Get("events").Items() {
		p.Within(one, func(one jsontext.Value) {
			e := &event{parser: p, v: one}
			e.read(one, transcript.Time{})
			e.records()
		})
	}
}

// emitConversation yields the run and its conversation, once.
func (p *parser) emitConversation(v jsontext.Value, began transcript.Time) {
	if p.Begun {
		return
	}
	p.Begun = true
	run := &transcript.Run{ID: p.Session, Agent: member(v, "app_name", "appName").Str(), Started: began}
	run.Attributes.Set("user", member(v, "user_id", "userId").Str())
	p.Emit(run)
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session})
}

// read reads what the records of an event have in common.
func (e *event) read(row jsontext.Value, began transcript.Time) {
	e.author, e.model = e.v.Get("author").Str(), member(e.v, "model_version", "modelVersion").Str()
	if e.at = timeOf(e.v.Get("timestamp")); e.v.Get("timestamp").IsString() {
		e.at = utc(e.at, row.Get("behind"))
	}
	if !e.at.Valid {
		e.at = utc(timeOf(row.Get("timestamp")), row.Get("behind"))
	}
	const slack = 1_000_000 // an event is made before it is saved, and in the same second as its session
	e.home = !e.isSaved && (!began.Valid || !e.at.Valid || e.at.UnixMicro >= began.UnixMicro-slack)
	if id := row.Get("id").Text(); format.IsUUID(id) {
		e.id = id
	} else if id != "" { // early versions: eight letters and digits
		e.id = format.ShortID(e.Session + "/" + id)
	}
	e.facts.Set("invocation", cmp.Or(member(e.v, "invocation_id", "invocationId").Str(), row.Get("invocation_id").Str()))
	e.facts.Set("branch", e.v.Get("branch").Str())
}

// utc returns a time in UTC that was read as if it were: behind is how many seconds it is ahead of UTC. That is no offset of a time zone if it
// is no multiple of a quarter of an hour; then something else has written the time of the session.
func utc(t transcript.Time, behind jsontext.Value) transcript.Time {
	const quarter, most = 15 * 60, 14 * 60 * 60
	if n, ok := behind.Int(); ok && t.Valid && n%quarter == 0 && n >= -most && n <= most {
		t.UnixMicro -= n * 1_000_000
	}
	return t
}

func (e *event) emit(ev *transcript.Event, piece string, verdict transcript.Verdict) {
	e.said = true
	ev.Conversation, ev.Run, ev.Verdict, ev.Time, ev.Attributes = conversation, e.Session, verdict, e.at, e.facts
	if e.id != "" {
		ev.ID, ev.Global, ev.Home = e.id+piece, true, e.home
	}
	if ev.Role != "user" {
		ev.Agent = e.author
	}
	if ev.Role == "assistant" {
		ev.Model = e.model
	}
	e.Emit(ev)
}

// records yields the events of an event of the kit, and what it used.
func (e *event) records() {
	partial := isTrue(e.v.Get("partial"))
	content := e.v.Get("content")
	for n, part := range content.Get("parts").Numbered() {
		piece := "/" + strconv.Itoa(n)
		if partial { // of an answer that comes as a whole, too
			e.note(transcript.KindNotice, part, piece)
			continue
		}
		e.part(part, piece, content.Get("role").Word())
	}
	e.transcription(member(e.v, "input_transcription", "inputTranscription"), "user", "/heard", partial)
	e.transcription(member(e.v, "output_transcription", "outputTranscription"), "assistant", "/spoken", partial)
	if summary := member(e.v.Get("actions", "compaction"), "compacted_content", "compactedContent"); summary.IsObject() {
		e.emit(e.Event(transcript.KindCompaction, "system", "compaction", summary), "/compaction", transcript.Counted)
	}
	code := member(e.v, "error_code", "errorCode")
	if why := member(e.v, "error_message", "errorMessage"); !why.IsBlank() {
		e.failed(why, code)
	} else if !code.IsBlank() {
		e.failed(code, code)
	}
	if !e.said {
		if invocation := member(e.v.Get("actions"), "rewind_before_invocation_id", "rewindBeforeInvocationId").Str(); invocation != "" {
			e.facts.Set("rewound", invocation)
		}
		e.note(transcript.KindLifecycle, e.v, "")
	}
	if !partial {
		e.usage(member(e.v, "usage_metadata", "usageMetadata"))
	}
}

func isTrue(v jsontext.Value) bool {
	n, ok := v.Int()
	return ok && n != 0 || v.Bool() == transcript.Yes
}

// note yields a value that is no event of the conversation.
func (e *event) note(kind transcript.Kind, v jsontext.Value, piece string) {
	e.emit(e.Event(kind, "", string(kind), v), piece, transcript.Uncounted)
}

func (e *event) failed(v, code jsontext.Value) {
	e.emit(e.Event(transcript.KindError, "system", code.Word(), v), "/error", transcript.Uncounted)
}

// transcription yields what was said in a call.
func (e *event) transcription(v jsontext.Value, role, piece string, partial bool) {
	switch {
	case v.Get("text").IsBlank():
	case partial:
		e.note(transcript.KindNotice, v, piece)
	default:
		e.emit(e.Event(transcript.KindMessage, role, "transcription", v), piece, transcript.Counted)
	}
}

// part yields a part of the content, whose role is that of the model's request, not always of who says it.
func (e *event) part(v jsontext.Value, piece, role string) {
	call, response := member(v, "function_call", "functionCall"), member(v, "function_response", "functionResponse")
	code, ran := member(v, "executable_code", "executableCode"), member(v, "code_execution_result", "codeExecutionResult")
	switch {
	case call.Get("name").Is(secretCall):
		e.note(transcript.KindNotice, call.Get("name"), piece)
	case response.Get("name").Is(secretCall):
		e.note(transcript.KindNotice, response.Get("name"), piece)
	case call.IsObject():
		e.call(v, call, piece)
	case response.IsObject():
		e.response(v, response, piece)
	case code.IsObject():
		e.calls++
		ev := e.Event(transcript.KindToolCall, "assistant", "executable_code", v)
		ev.Parts[0].Call = &transcript.Call{ID: "#" + strconv.Itoa(e.calls), Name: "code_execution", Input: int64(code.Get("code").Len())}
		e.emit(ev, piece, transcript.Counted)
	case ran.IsObject():
		ev := e.Event(transcript.KindToolResult, "tool", "code_execution_result", v)
		res := &transcript.Result{Status: ran.Get("outcome").Str(), Output: int64(ran.Get("output").Len())}
		if e.calls > 0 {
			res.Call = "#" + strconv.Itoa(e.calls)
		}
		if res.Status != "" {
			res.Failed = transcript.True(res.Status != "OUTCOME_OK")
		}
		ev.Parts[0].Result = res
		e.emit(ev, piece, transcript.Counted)
	case !v.Get("text").IsBlank():
		e.text(v, piece, role)
	default: // a file, an image, a signature
		e.note(transcript.KindNotice, v, piece)
	}
}

func (e *event) text(v jsontext.Value, piece, role string) {
	ev := e.Event(transcript.KindMessage, "assistant", "text", v)
	switch {
	case isTrue(v.Get("thought")):
		ev.Kind = transcript.KindReasoning
	case e.author == "user":
		ev.Role = "user"
	case role == "user": // what the kit tells an agent in the user's role
		ev.Kind, ev.Role = transcript.KindSystem, "system"
	}
	user := ev.Role == "user"
	e.emit(ev, piece, transcript.Counted)
	if user && !e.Titled {
		e.TitleFrom(v.Get("text").Str(), format.PromptRank(e.at))
	}
}

// pathNames are the members of a call's arguments that name files.
var pathNames = []string{"path", "file_path", "filepath", "filename"}

func (e *event) call(v, call jsontext.Value, piece string) {
	ev, args := e.Event(transcript.KindToolCall, "assistant", "function_call", v), call.Get("args")
	ev.Parts[0].Call = &transcript.Call{
		ID: call.Get("id").Text(), Name: call.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil),
	}
	e.emit(ev, piece, transcript.Counted)
}

func (e *event) response(v, response jsontext.Value, piece string) {
	ev, out := e.Event(transcript.KindToolResult, "tool", "function_response", v), response.Get("response")
	res := &transcript.Result{Call: response.Get("id").Text(), Name: response.Get("name").Str(), Output: int64(out.Len())}
	if !out.Get("error").IsNull() || isTrue(out.Get("isError")) {
		res.Failed = transcript.Yes
	}
	ev.Parts[0].Result = res
	e.emit(ev, piece, transcript.Counted)
}
