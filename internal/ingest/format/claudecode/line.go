package claudecode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a transcript with its members already looked up.
type line struct {
	raw    jsontext.Value
	origin transcript.Origin
	now    transcript.Time

	kind          string // type as written, "" if absent
	uuid, session string

	parent, logicalParent, request, message, toolUseResult, data, subtype, attachment jsontext.Value
	summary, leaf, title, aiTitle, agentName, cost, cwd, branch, version              jsontext.Value
	source, forkedFrom, promptSource, effort, attribution, agentSetting, continuedIn  jsontext.Value

	sidechain, meta, compact, apiError, background bool
	printed                                        bool // in the output of a headless run
}

// read fills l from a line. last is the session of the previous line, usually the same.
func (l *line) read(o jsontext.Object, last string) {
	*l = line{raw: o.Value, origin: o.Origin}
	for key, value := range o.Value.Fields() {
		switch key {
		case "type":
			l.kind = value.Word()
		case "uuid":
			l.uuid = idText(value)
		case "sessionId":
			l.session = reuse(last, value)
		case "timestamp":
			l.now = value.TimeOrMilli()
		case "parentUuid":
			l.parent = value
		case "logicalParentUuid":
			l.logicalParent = value
		case "requestId":
			l.request = value
		case "message":
			l.message = value
		case "toolUseResult":
			l.toolUseResult = value
		case "isSidechain":
			l.sidechain = value.Bool() == transcript.Yes
		case "isMeta":
			l.meta = value.Bool() == transcript.Yes
		case "isCompactSummary":
			l.compact = value.Bool() == transcript.Yes
		case "isApiErrorMessage":
			l.apiError = value.Bool() == transcript.Yes
		case "cwd":
			l.cwd = value
		case "gitBranch":
			l.branch = value
		case "version":
			l.version = value
		default:
			l.readRare(key, value)
		}
	}
}

// readRare sets the members that few lines have.
func (l *line) readRare(key string, value jsontext.Value) {
	switch key {
	case "subtype":
		l.subtype = value
	case "data":
		l.data = value
	case "attachment":
		l.attachment = value
	case "summary":
		l.summary = value
	case "leafUuid":
		l.leaf = value
	case "customTitle", "title":
		l.title = value
	case "aiTitle":
		l.aiTitle = value
	case "agentName":
		l.agentName = value
	case "costUSD":
		l.cost = value
	case "origin":
		l.source = value
	case "forkedFrom":
		l.forkedFrom = value
	case "promptSource":
		l.promptSource = value
	case "effort":
		l.effort = value
	case "attributionAgent":
		l.attribution = value
	case "agentSetting":
		l.agentSetting = value
	case "continuedInSessionId":
		l.continuedIn = value
	case "sessionKind":
		l.background = value.Is("bg")
	}
}

// reuse returns the string of a value, without a copy if it equals last.
func reuse(last string, v jsontext.Value) string {
	if v.Is(last) {
		return last
	}
	return v.Str()
}

// idText returns an id as text: a string or a number, or the hash of a long one, which would be in each block's event. Other types are not ids.
func idText(v jsontext.Value) string {
	if t := v.Type(); t != '"' && t != '0' {
		return ""
	}
	return format.ShortID(v.Text())
}

// startsConversation reports whether a line needs a conversation: it is a message, or an event of the program.
func (l *line) startsConversation() bool { return l.isMessage() || l.isSystem() || l.isResult() }

// isSystem reports whether a line is an event of the program. Those that only a stream has say what goes on just then.
func (l *line) isSystem() bool {
	return l.kind == "system" && (!l.printed || l.subtype.Is("compact_boundary"))
}

// isInlined reports whether a line is a sub-agent's in the output of the session that started it.
func (l *line) isInlined() bool { return l.printed && l.sidechain }

// isResult reports whether a line ends a turn in a stream.
func (l *line) isResult() bool { return l.printed && l.kind == "result" }

func (l *line) isMessage() bool { return l.kind == "user" || l.kind == "assistant" }

// injected reports whether a line of type user was not typed by a user.
func (l *line) injected() bool {
	return l.meta || l.compact || l.promptSource.Is("system") || notTyped(l.source)
}

// notTyped reports whether an origin says that no user typed the text.
func notTyped(origin jsontext.Value) bool {
	kind := origin.Get("kind").Str()
	return kind != "" && kind != "user" && kind != "human"
}

// typedInQueue reports whether a user typed the text that was queued while a tool ran. The program queues notices in the
// same way.
func (l *line) typedInQueue() bool {
	mode := l.attachment.Get("commandMode")
	return (!mode.Exists() || mode.Is("prompt")) && !notTyped(l.attachment.Get("origin")) && isTyped(l.attachment.Get("prompt"))
}

// message is the message of a line.
type message struct {
	id, content, model, usage, stop jsontext.Value
}

func readMessage(v jsontext.Value) (m message) {
	if v.IsString() {
		m.content = v
		return m
	}
	for key, value := range v.Fields() {
		switch key {
		case "id":
			m.id = value
		case "content":
			m.content = value
		case "model":
			m.model = value
		case "usage":
			m.usage = value
		case "stop_reason":
			m.stop = value
		}
	}
	return m
}

// block is one block of a message.
type block struct {
	raw                                                jsontext.Value
	kind                                               string
	text, id, name, input, toolUseID, content, isError jsontext.Value
}

func readBlock(v jsontext.Value) (b block) {
	b.raw = v
	for key, value := range v.Fields() {
		switch key {
		case "type":
			b.kind = value.Word()
		case "text":
			b.text = value
		case "id":
			b.id = value
		case "name":
			b.name = value
		case "input":
			b.input = value
		case "tool_use_id":
			b.toolUseID = value
		case "content":
			b.content = value
		case "is_error":
			b.isError = value
		}
	}
	return b
}
