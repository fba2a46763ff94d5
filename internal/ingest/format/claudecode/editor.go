package claudecode

import (
	"cmp"
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// rankEditor is the rank of what the editor's database has of a conversation, below that of the transcript: see resolveEditor.
const rankEditor = -1

// editor reads the rows of sessions that were taken out of the editor's database.
type editor struct {
	format.Rows
	run    transcript.Run  // the current session's
	models map[string]bool // of its answers
}

func parseEdited(in format.Input, out *format.Sink) {
	p := &editor{Rows: format.Rows{Sink: *out, AppendText: appendEdited}}
	p.EachRow(in.Reader, p.row)
	p.finish()
}

// row yields the records of one row.
func (p *editor) row(v jsontext.Value) {
	id := v.Get("session_id").Text()
	if id == "" {
		p.NoSession()
		return
	}
	if id != p.Session {
		p.finish()
		p.Begin(id)
		p.run, p.models = transcript.Run{ID: id, Rank: 1}, map[string]bool{}
	}
	switch table := v.Get("table").Word(); table {
	case editorSession:
		p.session(v)
	case editorMessage:
		p.message(v)
	default:
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// session reads what is known of a session.
func (p *editor) session(v jsontext.Value) {
	r := &p.run
	parent, started := v.Get("parent_session_id").Text(), editorTime(v.Get("gmt_create"))
	r.Title, r.Project, r.Model = format.Title(v.Get("session_title").Str()), editorProject(v), v.Get("model").Str()
	r.Status, r.Started, r.Child = v.Get("status").Str(), started, parent != ""
	r.Attributes.Set("mode", v.Get("mode").Str())
	if typ := v.Get("session_type").Str(); typ != "assistant" {
		r.Attributes.Set("type", typ)
	}
	r.Attributes.Set("stop_reason", v.Get("stop_reason").Str())
	if r.Child {
		r.Agent = v.Get("session_type").Str()
		p.Emit(&transcript.Run{ID: parent, Named: true})
		l := &transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Time: started, Origin: p.Row.Origin}
		l.Attributes.Set("call", v.Get("parent_tool_call_id").Str())
		p.Emit(l)
	}
	p.Hint(p.Session, hintEditor, "row", p.Row.Origin)
	p.Uncounted(transcript.KindLifecycle, "session", started)
}

// finish yields the run of the current session, which counts if it has messages.
func (p *editor) finish() {
	if p.Session == "" || p.Done() {
		return
	}
	p.run.Named = !p.Begun
	for model := range p.models {
		if p.run.Model = model; len(p.models) > 1 {
			p.run.Model = ""
		}
	}
	run := p.run
	p.Emit(&run)
}

// editorProject returns the directory of a session, or if there is none its project's name.
func editorProject(v jsontext.Value) string {
	uri := v.Get("project_uri").Str()
	if dir := format.FileURI(uri); dir != "" {
		return dir
	}
	if uri != "" && !strings.Contains(uri, "://") {
		return uri
	}
	if name := v.Get("project_name").Str(); name != "." { // that of no project
		return name
	}
	return ""
}

// editorTime returns a time in milliseconds. Some readers have met seconds.
func editorTime(v jsontext.Value) transcript.Time {
	if n, ok := v.Int(); ok && n < 1e11 {
		return v.UnixTime()
	}
	return v.TimeOrMilli()
}

// message yields the events of a row that is a message, or a tool's call and result.
func (p *editor) message(v jsontext.Value) {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Conversation{ID: p.Session, Run: p.Session, Rank: rankEditor, Child: p.run.Child})
	}
	role, content, at := v.Get("role").Word(), v.Get("content"), editorTime(v.Get("gmt_create"))
	tool, summary := v.Get("tool_result"), v.Get("summary")
	switch {
	case role == "tool" && tool.IsObject():
		p.tool(v, tool, at)
	case content.IsBlank():
		p.Uncounted(transcript.KindNotice, role, at)
	case role == "user", role == "assistant":
		p.emit(p.Event(transcript.KindMessage, role, "", content), v, "", at)
	case role == "system":
		p.emit(p.Event(transcript.KindSystem, role, "", content), v, "", at)
	default:
		p.Uncounted(transcript.KindUnknown, role, at)
	}
	if !summary.IsBlank() && !isSealed(summary) {
		e := p.Event(transcript.KindNotice, "", "summary", summary)
		e.Run, e.Verdict, e.Time = p.Session, transcript.Uncounted, at
		p.Emit(e)
	}
	if role == "assistant" {
		p.usage(v, at)
	}
}

// emit yields an event of a row that counts; piece says which, if there are several.
func (p *editor) emit(e *transcript.Event, row jsontext.Value, piece string, at transcript.Time) {
	e.Conversation, e.Run, e.Time = p.Session, p.Session, at
	if id := row.Get("id").Text(); id != "" {
		e.ID, e.Global, e.Home = "qoder "+id+piece, true, true
	}
	if e.Role == "assistant" {
		e.Model = row.Get("model").Str()
	}
	p.Emit(e)
}

// tool yields a call, and its result if it has one.
func (p *editor) tool(row, v jsontext.Value, at transcript.Time) {
	id, name, status := v.Get("toolCallId").Text(), v.Get("toolCallName").Str(), v.Get("toolCallStatus").Word()
	input := v.Get("parameters")
	shown := input
	if !shown.Exists() {
		shown = v
	}
	e := p.Event(transcript.KindToolCall, "assistant", "", shown)
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), []string{"file_path", "path"}, nil)}
	p.emit(e, row, "/call", at)
	output, failure := v.Get("results"), v.Get("errorMsg")
	switch {
	case status == "INIT", status == "PENDING", status == "RUNNING":
		return
	case output.IsNull() || output.IsString() && output.IsBlank():
		if failure.IsBlank() {
			if status == "" {
				return
			}
			failure = v.Get("toolCallStatus")
		}
		output, failure = failure, jsontext.Value{}
	}
	e = p.Event(transcript.KindToolResult, "tool", "", output)
	e.Parts[0].Result = &transcript.Result{Call: id, Name: name, Status: status, Output: int64(output.Len())}
	switch status {
	case "FINISHED":
		e.Parts[0].Result.Failed = transcript.No
	case "ERROR":
		e.Parts[0].Result.Failed = transcript.Yes
	}
	if !failure.IsBlank() {
		part := p.Part(failure)
		part.Kind = transcript.KindToolResult
		e.Parts = append(e.Parts, part)
	}
	p.emit(e, row, "/result", at)
}

// usage yields the tokens of the request that an answer is of. The prompt's include those read from the cache.
func (p *editor) usage(row jsontext.Value, at transcript.Time) {
	t := row.Get("token_info")
	model := row.Get("model").Str()
	if model != "" {
		p.models[model] = true
	}
	u := &transcript.Usage{
		Run: p.Session, Conversation: p.Session, Time: at, Origin: p.Row.Origin, Model: model, RequestID: row.Get("request_id").Text(), Requests: transcript.Known(1),
		Input: t.Get("prompt_tokens").Count(), Output: t.Get("completion_tokens").Count(), CacheRead: t.Get("cached_tokens").Count(),
	}
	if u.Input.N <= 0 && u.Output.N <= 0 {
		return
	}
	if u.Input.Known && u.CacheRead.N > u.Input.N {
		u.CacheRead.N = u.Input.N
	}
	format.ExcludeCache(u)
	if id := row.Get("id").Text(); id != "" {
		u.Key = "qoder " + id
	}
	p.Emit(u)
}

// appendEdited appends the text of a row or a piece of one, from its own bytes: of what is no row all strings and numbers, and nothing that is
// encrypted.
func appendEdited(dst []byte, v jsontext.Value) []byte {
	switch {
	case isSealed(v):
		return dst
	case v.Get("table").Exists():
		return jsontext.AppendText(dst, v, visitEdited)
	}
	return jsontext.AppendTextAndNumbers(dst, v, func(dst []byte, _ int, _ string, m jsontext.Value) ([]byte, bool) { return dst, m.IsDataURL() })
}

func visitEdited(dst []byte, depth int, key string, m jsontext.Value) ([]byte, bool) {
	if depth == 1 {
		switch key {
		case "table", "id", "session_id", "request_id", "role", "summary", "model", "token_info", "gmt_create", "gmt_modified", "session_type", "mode", "status",
			"parent_session_id", "parent_tool_call_id":
			return dst, true
		}
	}
	return dst, isSealed(m) || m.IsDataURL()
}

// isSealed reports whether v is an encrypted text: base64 and nothing else, which has lower and upper case and digits, or ends as base64 does.
func isSealed(v jsontext.Value) bool {
	const shortest = 20
	if !v.IsString() || v.Len() < shortest+len(`""`) {
		return false
	}
	body := v.Body()
	var lower, upper, digit bool
	for _, c := range body {
		switch {
		case 'a' <= c && c <= 'z':
			lower = true
		case 'A' <= c && c <= 'Z':
			upper = true
		case '0' <= c && c <= '9':
			digit = true
		case c != '+' && c != '/' && c != '=':
			return false
		}
	}
	return body[len(body)-1] == '=' || lower && upper && digit
}

// resolveEditor makes what the editor's database has of a session a copy where there is a transcript, or a run of headless output. Its tokens, which
// the editor's transcripts lack, count unless they state some. A sub-agent has another id in its parent's transcript: it is a copy if that names
// sub-agents. The database says what a session is about.
func resolveEditor(f *transcript.Family) {
	edited, kept, copied, spent := false, false, false, false
	for _, c := range f.Conversations {
		kept = kept || c.Rank == rankEditor
		copied = copied || c.Rank != rankEditor && c.Events > 0 && !c.Silent
	}
	for _, h := range f.Hints {
		edited, spent = edited || h.Key == hintEditor, spent || h.Key == hintSpent
	}
	if !kept && !edited {
		return
	}
	for _, hints := range f.Related {
		for _, h := range hints {
			if f.Run.Child {
				spent = spent || h.Key == hintSpent
				copied = copied || strings.HasPrefix(h.Key, hintAgent+" ") || strings.HasPrefix(h.Key, hintTitle+" ")
			}
		}
	}
	for _, c := range f.Conversations {
		if edited && (!c.Child || c.Rank == rankEditor) {
			c.Title, c.Project = cmp.Or(f.Run.Title, c.Title), cmp.Or(f.Run.Project, c.Project)
			c.Model, c.Agent = cmp.Or(c.Model, f.Run.Model), cmp.Or(c.Agent, f.Run.Agent)
		}
		if c.Rank != rankEditor {
			continue
		}
		c.Child = f.Run.Child
		if c.CopiedUntil = 0; spent {
			c.CopiedUntil = math.MaxInt64
		}
		if copied {
			c.Verdict = transcript.DerivedTotal
		}
	}
}
