package openaiagents

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// mainBranch is the conversation of a session, and the branch that each session of an AdvancedSQLiteSession begins with.
const mainBranch = "main"

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	id := v.Get("session_id").Text()
	if id == "" {
		p.NoSession()
		return
	}
	if began := v.Get("began").Str(); began != "" {
		id += " " + began
	}
	if id != p.Session {
		p.emitModel()
		p.Begin(id)
		p.branches, p.models = map[string]bool{}, map[string]bool{}
	}
	switch v.Get("table").Word() {
	case rowMessage:
		p.message(v)
	case rowUsage:
		p.usage(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, v.Get("table").Word(), transcript.Time{})
	}
}

// emitConversation yields the run and one of its conversations, each once.
func (p *parser) emitConversation(branch string, began transcript.Time) {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session, Started: began})
	}
	if !p.branches[branch] {
		p.branches[branch] = true
		p.Emit(&transcript.Conversation{ID: branch, Run: p.Session, Shared: true})
	}
}

// emitModel yields the model of a session, if all answers that name one name the same.
func (p *parser) emitModel() {
	if !p.Begun || len(p.models) != 1 || p.Done() {
		return
	}
	for model := range p.models {
		p.Emit(&transcript.Run{ID: p.Session, Model: model})
	}
}

// message is one row while its events are made.
type message struct {
	*parser
	item   jsontext.Value
	typ    string
	branch string
	id     string // without the branch
	at     transcript.Time
	model  string
	home   bool // it was written in this branch
	copied bool // it was written before a summary, and again with that
	facts  transcript.Attributes
}

func (p *parser) message(v jsontext.Value) {
	m := &message{
		parser: p, item: v.Get("message_data"), branch: cmp.Or(v.Get("branch_id").Str(), mainBranch), at: v.Get("created_at").Time(),
		id: p.Session + "/" + v.Get("id").Text() + " " + v.Get("created_at").Text(), home: !isFalse(v.Get("home")), copied: isTrue(v.Get("compacted")),
	}
	m.typ = cmp.Or(m.item.Get("type").Word(), m.item.Get("role").Word())
	if n, ok := v.Get("user_turn_number").Int(); ok {
		m.facts.Set("turn", n)
	}
	if m.model = m.item.Get("provider_data", "model").Str(); m.model != "" {
		p.models[m.model] = true
	}
	p.emitConversation(m.branch, v.Get("began").Time())
	m.events()
}

// isTrue reports whether a column of the database is a number other than 0.
func isTrue(v jsontext.Value) bool {
	n, ok := v.Int()
	return ok && n != 0
}

// isFalse reports whether a column of the database is 0.
func isFalse(v jsontext.Value) bool {
	n, ok := v.Int()
	return ok && n == 0
}

// emit yields an event. piece tells apart the events of one row.
func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	if m.copied && verdict == transcript.Counted {
		verdict = transcript.CopiedHistory
	}
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = m.branch, m.Session, verdict, m.at, m.facts
	e.ID, e.Global, e.Home = m.id+piece, !m.copied, m.home && !m.copied
	if e.Role == "assistant" {
		e.Model = m.model
	}
	m.Emit(e)
}

// note yields the row as an event that does not count.
func (m *message) note(kind transcript.Kind) {
	v := m.item
	if !v.IsObject() {
		v = m.Row.Value
	}
	m.emit(m.Event(kind, "", m.typ, v), "", transcript.Uncounted)
}

// events yields the events of an item of OpenAI's Responses API.
func (m *message) events() {
	item := m.item
	switch typ := item.Get("type").Word(); {
	case !item.IsObject():
		m.note(transcript.KindUnknown)
	case typ == "message", typ == "" && item.Get("role").IsString():
		m.said()
	case typ == "reasoning":
		m.emit(m.Event(transcript.KindReasoning, "assistant", m.typ, item), "", transcript.Counted)
	case typ == "compaction", typ == "compaction_summary":
		m.note(transcript.KindCompaction)
	case strings.HasSuffix(typ, "_call"):
		m.call()
	case isOutput(typ):
		m.result(item, "")
	case typ == "mcp_list_tools":
		m.note(transcript.KindLifecycle)
	case typ == "mcp_approval_request", typ == "mcp_approval_response", typ == "item_reference", item.Get("__enc__").Exists():
		m.note(transcript.KindNotice)
	default:
		m.note(transcript.KindUnknown)
	}
}

// isOutput reports whether an item is what came out of a tool that the user's program has called.
func isOutput(typ string) bool {
	return strings.HasSuffix(typ, "_call_output") || typ == "tool_search_output"
}

// said yields a message.
func (m *message) said() {
	e := m.Event(transcript.KindSystem, "system", m.typ, m.item)
	switch m.item.Get("role").Word() {
	case "user":
		e.Kind, e.Role = transcript.KindMessage, "user"
	case "assistant":
		e.Kind, e.Role = transcript.KindMessage, "assistant"
	case "system", "developer":
	default:
		e.Kind, e.Role = transcript.KindUnknown, ""
		m.emit(e, "", transcript.Uncounted)
		return
	}
	title := ""
	if e.Role == "user" && !m.Titled {
		title = firstText(m.item.Get("content"))
	}
	m.emit(e, "", transcript.Counted)
	m.TitleFrom(title, format.PromptRank(m.at))
}

// firstText returns the first text in the content of a message.
func firstText(content jsontext.Value) string {
	if content.IsString() {
		return content.Str()
	}
	for block := range content.Items() {
		if text := block.Get("text"); !text.IsBlank() {
			return text.Str()
		}
	}
	return ""
}

// inputKeys are the members of calls that hold their input, and outputKeys those of calls of OpenAI's own tools that hold what came out.
var (
	inputKeys  = []string{"arguments", "input", "action", "operation", "code", "queries"}
	outputKeys = []string{"output", "outputs", "results", "error"}
	pathNames  = []string{"path", "file_path", "filepath", "dir_path"}
)

// call yields a tool call, and its result if the same item has it. One without a name is named by its type.
func (m *message) call() {
	item := m.item
	input := item.First(inputKeys...)
	e := m.Event(transcript.KindToolCall, "assistant", m.typ, item)
	paths := format.Paths(input.Unwrap(), pathNames, nil)
	if patched, ok := format.PatchPaths(input.Str()); ok {
		paths = patched
	}
	c := &transcript.Call{ID: callID(item), Name: item.Get("name").Word(), Input: int64(input.Len()), Paths: paths}
	c.Name = cmp.Or(c.Name, strings.TrimSuffix(m.typ, "_call"))
	e.Parts[0].Call = c
	m.emit(e, "", transcript.Counted)
	for _, key := range outputKeys {
		if output := item.Get(key); !output.IsNull() {
			m.result(output, "/result")
			return
		}
	}
}

// callID returns the id of a call: an item has one of its own, too.
func callID(item jsontext.Value) string {
	return cmp.Or(item.Get("call_id").Str(), item.Get("id").Str())
}

// result yields the result of a call: v is the item, or the member of a call that has it.
func (m *message) result(v jsontext.Value, piece string) {
	e := m.Event(transcript.KindToolResult, "tool", m.typ, v)
	output := m.item.First(outputKeys...)
	r := &transcript.Result{Call: callID(m.item), Status: m.item.Get("status").Str(), Output: int64(output.Len())}
	switch {
	case r.Status == "failed", r.Status == "incomplete", !m.item.Get("error").IsNull():
		r.Failed = transcript.Yes
	case m.typ == "shell_call_output":
		r.Failed = exitOf(output)
	}
	e.Parts[0].Result = r
	m.emit(e, piece, transcript.Counted)
}

// exitOf reports whether one of a list of commands failed.
func exitOf(output jsontext.Value) transcript.Truth {
	failed := transcript.Unstated
	for chunk := range output.Items() {
		outcome := chunk.Get("outcome")
		code, ok := outcome.Get("exit_code").Int()
		switch {
		case ok && code != 0, outcome.Get("type").Is("timeout"):
			return transcript.Yes
		case ok:
			failed = transcript.No
		}
	}
	return failed
}

// usage yields what a turn used: the sum of its requests. The row is replaced when the turn goes on. Each branch has its own turns only.
//
// What identifies the session here is the time of its first row in the table of branches, which stays when the session is cleared.
func (p *parser) usage(v jsontext.Value) {
	p.NameRun()
	branch := cmp.Or(v.Get("branch_id").Str(), mainBranch)
	u := &transcript.Usage{
		Run: p.Session, Conversation: branch, Origin: p.Row.Origin, Time: v.Get("created_at").Time(),
		Input: v.Get("input_tokens").Tokens(), Output: v.Get("output_tokens").Tokens(), Requests: v.Get("requests").Tokens(),
		CacheRead: v.Get("input_tokens_details", "cached_tokens").Tokens(), CacheWrite: v.Get("input_tokens_details", "cache_write_tokens").Tokens(),
		Reasoning: v.Get("output_tokens_details", "reasoning_tokens").Tokens(),
		Key: strings.Join([]string{
			v.Get("session_id").Text(), cmp.Or(v.Get("structured").Str(), v.Get("began").Str()), strconv.Quote(branch), v.Get("user_turn_number").Text(),
		}, " "),
	}
	if u.Input.N+u.Output.N+u.Requests.N == 0 {
		p.Uncounted(transcript.KindNotice, "usage", u.Time)
		return
	}
	format.ExcludeCache(u)
	p.Emit(u)
}
