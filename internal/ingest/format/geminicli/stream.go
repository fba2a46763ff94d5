package geminicli

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// rankStream is below the ranks of a session's own files: see Resolve.
const rankStream = 0

// outputHead matches how a document of "gemini -o json" begins.
var outputHead = lazyregexp.New(`^\{\r?\n  "session_id": "[0-9a-f-]{36}",\r?\n  "(response|stats|error)": `)

// detectOutput claims what the program printed, under any name. That of Qwen Code is left alone.
func detectOutput(h format.Head) format.Claim {
	switch {
	case hasInit(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
	case isOutput(h):
		return format.Claim{Strength: format.Likely, Role: roleOutput}
	}
	return format.Claim{}
}

// isOutput reports whether a file is a document of "gemini -o json". Its stats may lie behind a response that is longer than the head.
func isOutput(h format.Head) bool {
	const enough = 128
	head := jsontext.TrimBOM(h.Bytes)
	if !outputHead.MatchString(string(head[:min(len(head), enough)])) {
		return false
	}
	v := jsontext.ParseStart(head)
	if v.Get("stats", "models").IsObject() || v.Get("error", "type").IsString() {
		return true
	}
	return int64(len(h.Bytes)) < h.Size && v.Get("response").IsString()
}

// hasInit reports whether a line in the head begins the output of "gemini -o stream-json". Other programs add members to such a line, or write
// another time.
func hasInit(head []byte) bool {
	if !format.HasKeys(head, "init", "session_id", "model", "timestamp") {
		return false
	}
	for line := range format.ObjectLines(head) {
		if !format.MayHave(line, `"init"`) || qwenModel.MatchString(string(line)) {
			continue
		}
		v, err := jsontext.Parse(line)
		at := v.Get("timestamp").Str()
		if err != nil || !isInit(v) || !v.Get("model").IsString() || !timestamp.Parse(at).Valid || len(at) != len("2006-01-02T15:04:05.000Z") || !strings.HasSuffix(at, "Z") {
			continue
		}
		if beginsAsInit(v) && !v.Get("cwd").Exists() && !v.Get("tools").Exists() && !v.Get("data").Exists() {
			return true
		}
	}
	return false
}

// beginsAsInit reports whether a line has no other members before those of an init, as the lines of a log do.
func beginsAsInit(v jsontext.Value) bool {
	n := 0
	for key := range v.Fields() {
		switch key {
		case "type", "timestamp", "session_id", "model":
			n++
		default:
			return n >= 4
		}
	}
	return n >= 4
}

func isInit(v jsontext.Value) bool {
	return v.Get("type").Is("init") && v.Get("session_id").Str() != ""
}

// stream is the output of one run of the program: all lines from an init on.
type stream struct {
	id     string // its first time, which copies of the output keep
	model  string
	events int
	calls  map[string]string // names of tools by the ids of calls

	open *transcript.Event // a message whose next piece may follow
	text []byte            // of open
}

// stream yields the records of saved output, of one run of the program or several.
func (p *parser) stream() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.streamProblem)) {
		p.at, p.whole = o.Origin, o.Value
		p.streamLine(o.Value)
	}
	if p.out.open != nil { // more of it may come, and then the output is read from its start
		p.Emit(&transcript.Run{ID: p.session, Guess: true})
		p.closeMessage()
	}
	p.Settle("")
}

func (p *parser) streamProblem(pr *transcript.Problem) {
	pr.Alone = true
	p.Problem(p.session, pr)
}

// streamLine yields the records of a line. Consecutive pieces of a message are one event.
func (p *parser) streamLine(v jsontext.Value) {
	typ := v.Get("type").Str()
	if typ == "message" && p.continues(v) {
		p.out.open.Origin.Length = p.at.Offset + p.at.Length - p.out.open.Origin.Offset
		p.out.text = append(p.out.text, streamText(v)...)
		return
	}
	p.closeMessage()
	if isInit(v) {
		p.beginStream(v)
	}
	if p.session == "" {
		p.streamProblem(&transcript.Problem{Kind: "no session", Reason: "an object before the first that names a session", Origin: p.at})
		return
	}
	e := p.streamEvent(typ, v)
	switch typ {
	case "message":
		p.streamMessage(e, v)
		return
	case "tool_use":
		name, input := v.Get("tool_name").Str(), v.Get("parameters")
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindToolCall, "assistant"
		e.Parts[0].Call = &transcript.Call{ID: p.callID(v), Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists)}
		p.out.calls[e.Parts[0].Call.ID] = name
	case "tool_result":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindToolResult, "tool"
		e.Parts[0].Result = p.streamResult(v)
	case "error":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindSystem, "system"
	case "init":
		e.Kind = transcript.KindLifecycle
	case "result":
		if e.Kind = transcript.KindLifecycle; v.Get("error").IsObject() {
			e.Kind = transcript.KindError
		}
		p.streamUsage(v.Get("stats"), e.Time)
	}
	p.Emit(e)
}

// continues reports whether a message is the next piece of the open one.
func (p *parser) continues(v jsontext.Value) bool {
	return p.out.open != nil && p.out.open.Role == v.Get("role").Str() && v.Get("delta").Bool() == transcript.Yes
}

// beginStream begins the output of another run of the program, and yields the run and its conversation where the session is another one, too.
func (p *parser) beginStream(v jsontext.Value) {
	id, session := v.Get("timestamp").Str(), v.Get("session_id").Str()
	p.out = stream{id: id, model: v.Get("model").Str(), calls: map[string]string{}}
	if session == p.session {
		return
	}
	p.session, p.hasTitle = session, false
	at := v.Get("timestamp").Time()
	p.Emit(&transcript.Run{ID: session, Rank: rankStream, Model: p.out.model, Started: at})
	p.Emit(&transcript.Conversation{ID: session, Run: session, Shared: true, Order: "3 " + id, Rank: rankStream, Model: p.out.model, Started: at})
	p.Settle(session)
}

// streamEvent returns an uncounted event for a line. Its id is that of the line in any copy of the output.
func (p *parser) streamEvent(typ string, v jsontext.Value) *transcript.Event {
	p.out.events++
	return &transcript.Event{
		Conversation: p.session, ID: p.out.key(strconv.Itoa(p.out.events)), Verdict: transcript.Uncounted, Kind: transcript.KindUnknown, Type: typ,
		Time: v.Get("timestamp").Time(), Origin: p.at, Parts: []transcript.Part{{Text: streamText(v)}},
	}
}

// key returns the key of something in the output, unique in the session.
func (s *stream) key(of string) string { return "stream " + s.id + "/" + of }

func (p *parser) streamMessage(e *transcript.Event, v jsontext.Value) {
	switch e.Role = v.Get("role").Str(); e.Role {
	case "user":
		e.Retold = e.Parts[0].Text
		p.titleFromPrompt(e.Retold)
	case "assistant":
	default:
		p.Emit(e)
		return
	}
	e.Verdict, e.Kind = transcript.Counted, transcript.KindMessage
	if v.Get("delta").Bool() == transcript.Yes {
		p.out.open, p.out.text = e, append(p.out.text[:0], e.Parts[0].Text...)
		return
	}
	p.Emit(e)
}

// closeMessage yields the open message.
func (p *parser) closeMessage() {
	if e := p.out.open; e != nil {
		p.out.open = nil
		e.Parts[0].Text = string(p.out.text)
		p.Emit(e)
	}
}

// callID returns the id of a call, or its place in the output.
func (p *parser) callID(v jsontext.Value) string {
	if id := v.Get("tool_id").Text(); id != "" {
		return id
	}
	return p.out.key(strconv.Itoa(p.out.events))
}

func (p *parser) streamResult(v jsontext.Value) *transcript.Result {
	r := &transcript.Result{Call: p.callID(v), Status: v.Get("status").Str(), Output: int64(v.Get("output").Len())}
	r.Name = p.out.calls[r.Call]
	switch r.Status {
	case "error":
		r.Failed = transcript.Yes
	case "success":
		r.Failed = transcript.No
	}
	return r
}

// streamUsage yields the tokens of a run of the program, for each model where it tells these apart.
func (p *parser) streamUsage(stats jsontext.Value, at transcript.Time) {
	some := false
	for model, m := range stats.Get("models").Fields() {
		some = true
		p.streamTotal(model, m, at)
	}
	if !some {
		p.streamTotal(p.out.model, stats, at)
	}
}

// streamTotal yields the tokens of a model. What is in the total and neither input nor output are the thoughts, with what tools added to the
// prompt, which is rarely any.
func (p *parser) streamTotal(model string, m jsontext.Value, at transcript.Time) {
	input, output, total := m.Get("input_tokens").Tokens().N, m.Get("output_tokens").Tokens().N, m.Get("total_tokens").Tokens().N
	thoughts := max(0, total-input-output)
	if input+output+thoughts == 0 {
		return
	}
	cached := min(m.Get("cached").Tokens().N, input)
	p.Emit(&transcript.Usage{
		Run: p.session, Conversation: p.session, Key: p.session + ":" + p.out.key(model), Rank: p.at.Offset, Time: at, Origin: p.at, Model: model,
		Input: transcript.Known(input - cached), Output: transcript.Known(output + thoughts), CacheRead: transcript.Known(cached),
	})
}

// output yields the records of a document: the answer, and the tokens of each model.
func (p *parser) output() {
	if !p.readDocument() {
		return
	}
	if p.session = p.whole.Get("session_id").Str(); p.session == "" {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no session_id", Origin: p.at})
		return
	}
	p.Emit(&transcript.Run{ID: p.session, Rank: rankStream})
	p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: true, Order: "3", Rank: rankStream})
	for key, v := range p.whole.Fields() {
		e := &transcript.Event{Conversation: p.session, Verdict: transcript.Uncounted, Type: key, Origin: p.origin(v), Parts: []transcript.Part{{Text: streamText(v)}}}
		switch {
		case key == "stats":
			p.outputUsage(v.Get("models"))
		case key == "session_id", v.IsNull():
		case key == "response":
			e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindMessage, "assistant"
			p.Emit(e)
		case key == "error":
			e.Kind = transcript.KindError
			p.Emit(e)
		default: // "warnings", and what a later version adds
			e.Kind = transcript.KindNotice
			p.Emit(e)
		}
	}
}

// outputUsage yields the tokens of each model.
func (p *parser) outputUsage(models jsontext.Value) {
	for model, m := range models.Fields() {
		tokens := m.Get("tokens")
		count := func(name string) int64 { return tokens.Get(name).Tokens().N }
		prompt, output, thoughts, tool := count("prompt"), count("candidates"), count("thoughts"), count("tool")
		if prompt+output+thoughts+tool == 0 {
			continue
		}
		cached := min(count("cached"), prompt)
		u := &transcript.Usage{
			Run: p.session, Conversation: p.session, Origin: p.origin(m), Model: model, Input: transcript.Known(prompt - cached + tool),
			Output: transcript.Known(output + thoughts), CacheRead: transcript.Known(cached), Reasoning: transcript.Known(thoughts),
		}
		if n := m.Get("api", "totalRequests").Tokens(); n.Known {
			u.Requests = transcript.Known(max(0, n.N-m.Get("api", "totalErrors").Tokens().N))
		}
		p.Emit(u)
	}
}

// streamText returns the text of a line of output, or of a value in a document.
func streamText(v jsontext.Value) string {
	if !v.IsObject() {
		return jsontext.AllStrings(v)
	}
	var dst []byte
	for key, m := range v.Fields() {
		switch key {
		case "type", "timestamp", "session_id", "model", "role", "delta", "tool_id", "status", "severity", "stats":
		case "parameters", "output":
			dst = jsontext.AppendScalars(dst, m)
		default:
			dst = jsontext.AppendStrings(dst, m)
		}
	}
	return string(dst)
}

// linesText returns the text of an event, which may have several lines: the pieces of a message, and what is no JSON between them.
func linesText(raw []byte) string {
	var dst []byte
	for line := range bytes.Lines(raw) {
		if v, err := jsontext.Parse(bytes.TrimSpace(line)); err == nil && v.IsObject() {
			dst = append(dst, streamText(v)...)
		}
	}
	return string(dst)
}

// Resolve makes saved output a copy where a file of the session's own has its messages.
func (gemini) Resolve(f *transcript.Family) {
	recorded := false
	for _, c := range f.Conversations {
		recorded = recorded || c.Rank > rankStream && c.Events > 0
	}
	for _, c := range f.Conversations {
		if c.CopiedUntil = 0; recorded && c.Rank == rankStream {
			c.CopiedUntil = math.MaxInt64
		}
	}
}
