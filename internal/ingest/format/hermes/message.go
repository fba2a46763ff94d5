package hermes

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	*parser
	v       jsontext.Value
	role    string
	at      transcript.Time
	id      string
	isHome  bool // first written in this session, as far as its time says
	copied  bool // written before, in this session or in the one that it goes on from
	summary bool // of what came before
	facts   transcript.Attributes
	n       int // events so far
}

// message yields the events of one message: the reasoning, the text and each call of an answer, or the one of any other message.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, v: v, role: v.Get("role").Word(), at: v.Get("timestamp").TimeOrUnix()}
	m.summary = m.role != "tool" && isSummary(v)
	if p.in.Role == roleRows {
		m.identify()
	}
	for name, key := range map[string]string{"stop_reason": "finish_reason", "display": "display_kind"} {
		m.facts.Set(name, v.Get(key).Str())
	}
	if m.summary {
		m.facts.Set("summary", true)
	}
	if v.Get("observed").Bool() == transcript.Yes || isSet(v.Get("observed")) {
		m.facts.Set("observed", true)
	}
	switch m.role {
	case "user":
		m.user()
	case "assistant":
		m.assistant()
	case "tool":
		m.result()
	case "system":
		m.emit(m.event(transcript.KindSystem, "system", v.Get("content")), transcript.Counted)
	case "session_meta":
		m.emit(m.event(transcript.KindLifecycle, "", v), transcript.Uncounted)
	default:
		m.emit(m.event(transcript.KindUnknown, m.role, v), transcript.Uncounted)
	}
}

// isSet reports whether a flag in the database is set.
func isSet(v jsontext.Value) bool {
	n, ok := v.Int()
	return ok && n != 0
}

// identify gives a row its id: the time of the message and a hash of what the program compares, too, to find a message that it has written
// anew. Versions that wrote it anew with another time are recognised by the place of the row: messages that were carried over follow the
// summary of those that were not, or begin a session that goes on from another one.
func (m *message) identify() {
	sum := m.sum()
	m.id = fmt.Sprintf("%d/%s/%016x", m.at.UnixMicro, m.role, sum)
	began := m.v.Get("began").TimeOrUnix()
	m.isHome = !began.Valid || m.at.UnixMicro >= began.UnixMicro-1e6
	if m.isContinuing {
		m.copied = isSet(m.v.Get("carried"))
		m.isContinuing = m.copied || m.summary
	}
	switch {
	case m.summary:
		m.isCarrying = true
	case m.isCarrying && m.archived[sum]:
		m.copied = true
	default:
		m.isCarrying = false
	}
	if m.written[m.id]++; m.written[m.id] > 1 {
		m.copied = true
	}
	if m.copied {
		m.id += " copy " + strconv.Itoa(m.written[m.id])
	}
	if active := m.v.Get("active"); active.Exists() && !active.IsNull() && !isSet(active) {
		m.archived[sum] = true
		switch {
		case isSet(m.v.Get("compacted")):
			m.facts.Set("compacted", true)
		case !isSet(m.v.Get("kept")):
			m.facts.Set("rewound", true)
		}
	}
}

// sum is a hash of what a message is, but for its time.
func (m *message) sum() uint64 {
	h := fnv.New64a()
	for _, s := range []string{m.role, m.v.Get("tool_call_id").Str(), m.v.Get("tool_name").Str(), contentText(m.v.Get("content")), jsontext.AllStrings(m.v.Get("tool_calls"))} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

func (m *message) event(kind transcript.Kind, role string, v jsontext.Value) *transcript.Event {
	if !v.Exists() {
		v = m.Row.Value
	}
	return m.Event(kind, role, m.role, v)
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	if m.copied && verdict == transcript.Counted {
		verdict = transcript.CopiedHistory
	}
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = conversation, m.Session, verdict, m.at, m.facts
	if m.id != "" {
		e.ID, e.Global, e.Home = m.id+"/"+strconv.Itoa(m.n), !m.copied && m.at.Valid, m.isHome && !m.copied
	}
	m.n++
	m.Emit(e)
}

// user yields a message in the user's role: of the user, or of the program, which marks some of its own.
func (m *message) user() {
	content, display := m.v.Get("content"), m.v.Get("display_kind").Str()
	steer := display == "steer" // said while the agent was at work, in a frame of the program
	switch {
	case m.summary:
		m.emit(m.event(transcript.KindCompaction, "system", content), transcript.Counted)
	case isBlank(content):
		m.emit(m.event(transcript.KindNotice, m.role, m.Row.Value), transcript.Uncounted)
	case !steer && display != "skill_invocation" && (display != "" || isProgram(content)):
		m.emit(m.event(transcript.KindSystem, "system", content), transcript.Counted)
	default:
		if !steer {
			m.titleOf(content)
		}
		m.emit(m.event(transcript.KindMessage, m.role, content), transcript.Counted)
	}
}

// titleOf yields a title for sessions that have none: their first prompt.
func (m *message) titleOf(content jsontext.Value) {
	if m.hasTitle || m.copied {
		return
	}
	if title := format.Title(contentText(content)); title != "" {
		m.hasTitle = true
		m.Emit(&transcript.Run{ID: m.Session, Rank: m.runRank(), Title: title})
	}
}

// The members with an answer's reasoning and text, of which the first that is there says it all.
var (
	reasoningKeys = []string{"reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items"}
	answerKeys    = []string{"content", "codex_message_items"}
)

// firstText returns the first of some members that has a text.
func (m *message) firstText(keys []string) (jsontext.Value, bool) {
	for _, key := range keys {
		if v := m.v.Get(key); !isBlank(v) {
			return v, true
		}
	}
	return jsontext.Value{}, false
}

func (m *message) assistant() {
	if v, ok := m.firstText(reasoningKeys); ok && !m.summary {
		m.emit(m.event(transcript.KindReasoning, m.role, v), transcript.Counted)
	}
	if v, ok := m.firstText(answerKeys); ok {
		kind, role := transcript.KindMessage, m.role
		if m.summary {
			kind, role = transcript.KindCompaction, "system"
		}
		m.emit(m.event(kind, role, v), transcript.Counted)
	}
	calls := m.v.Get("tool_calls")
	if calls.IsString() {
		calls = jsontext.Value{} // no JSON
	}
	for call := range calls.Items() {
		m.call(call)
	}
	if m.n == 0 {
		m.emit(m.event(transcript.KindNotice, m.role, m.Row.Value), transcript.Uncounted)
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path"}

func (m *message) call(v jsontext.Value) {
	e := m.event(transcript.KindToolCall, m.role, v)
	name, input := callOf(v)
	e.Parts[0].Call = &transcript.Call{
		ID: v.Get("id").Text(), Name: name, Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames, nil),
	}
	m.emit(e, transcript.Counted)
}

// callOf returns the name and the input of a call.
func callOf(v jsontext.Value) (name string, input jsontext.Value) {
	function := v.Get("function")
	if !function.IsObject() {
		function = v // of early versions
	}
	return function.Get("name").Str(), function.First("arguments", "input")
}

func (m *message) result() {
	content := m.v.Get("content")
	e := m.event(transcript.KindToolResult, m.role, content)
	e.Parts[0].Result = &transcript.Result{
		Call: m.v.Get("tool_call_id").Text(), Name: m.v.First("tool_name", "name").Str(), Failed: failed(content), Output: int64(content.Len()),
	}
	m.emit(e, transcript.Counted)
}

// maxResult is the length of the longest result that failed looks into, in bytes.
const maxResult = 1 << 20

// failed reports whether a result says that the tool failed: most tools of the program answer with JSON.
func failed(content jsontext.Value) transcript.Truth {
	body := content.Body()
	if len(body) == 0 || len(body) > maxResult || body[0] != '{' {
		return transcript.Unstated
	}
	v := content.Inside()
	if code, ok := v.Get("exit_code").Int(); ok {
		return transcript.True(code != 0)
	}
	if !v.Get("error").IsBlank() {
		return transcript.Yes
	}
	return v.Get("success").Bool().Not()
}

// isSummary reports whether a message is a summary, or begins or ends with one.
func isSummary(v jsontext.Value) bool {
	if isSet(v.Get("_compressed_summary")) || v.Get("_compressed_summary").Bool() == transcript.Yes {
		return true
	}
	content := v.Get("content")
	body := strings.TrimLeft(head(content), " \n")
	return strings.HasPrefix(body, "[CONTEXT COMPACTION") || strings.HasPrefix(body, "[CONTEXT SUMMARY]:") || strings.HasPrefix(body, "[PRIOR CONTEXT ")
}

// isProgram reports whether a message in the user's role is one that the program writes. Newer versions mark them.
func isProgram(content jsontext.Value) bool {
	text := head(content)
	for _, begin := range []string{
		"[Your active task list was preserved across context compression]", "[Continuing toward your standing goal]", "[ASYNC DELEGATION", "[IMPORTANT: Background process",
		"Continue from the compressed conversation context above.", "[System: ", "[System note: Your previous turn was interrupted", "[Planning state preserved",
		"You've reached the maximum number of tool-calling iterations allowed.",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// head returns how the text of a message begins.
func head(content jsontext.Value) string {
	if !content.IsString() {
		return ""
	}
	body := content.Body()
	return string(body[:min(len(body), 100)])
}
