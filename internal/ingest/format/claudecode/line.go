package claudecode

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a transcript, its members looked up once.
type line struct {
	raw    format.Value
	origin transcript.Origin
	now    transcript.Time

	kind          string // type as written, "" when it has none
	uuid, session string

	parent, logical, request, message, result, data, subtype, attachment format.Value
	summary, leaf, title, aiTitle, agentName, cost, cwd, branch, version format.Value
	source, forked, prompted, effort, by, setting, continued             format.Value

	sidechain, meta, compact, apiError, background bool
}

// read takes a line apart. last is the session of the line before, most often the same.
func (l *line) read(o format.Object, last string) {
	*l = line{raw: o.Value, origin: o.Origin}
	for key, value := range o.Value.Fields() {
		switch key {
		case "type":
			l.kind = value.Word()
		case "uuid":
			l.uuid = id(value)
		case "sessionId":
			l.session = again(last, value)
		case "timestamp":
			l.now = stamp(value)
		case "parentUuid":
			l.parent = value
		case "logicalParentUuid":
			l.logical = value
		case "requestId":
			l.request = value
		case "message":
			l.message = value
		case "toolUseResult":
			l.result = value
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
			l.rare(key, value)
		}
	}
}

// rare takes the members that few lines have.
func (l *line) rare(key string, value format.Value) {
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
		l.forked = value
	case "promptSource":
		l.prompted = value
	case "effort":
		l.effort = value
	case "attributionAgent":
		l.by = value
	case "agentSetting":
		l.setting = value
	case "continuedInSessionId":
		l.continued = value
	case "sessionKind":
		l.background = value.Is("bg")
	}
}

// again gives the string of a value without a copy when it is the one that came before.
func again(last string, v format.Value) string {
	if v.Is(last) {
		return last
	}
	return v.Str()
}

// id gives an id as text: a string, or a number. Nothing else names anything.
func id(v format.Value) string {
	if t := v.Type(); t != '"' && t != '0' {
		return ""
	}
	return v.Text()
}

func stamp(v format.Value) transcript.Time {
	if v.Type() == '0' {
		n, _ := v.Int()
		return format.UnixMilli(n)
	}
	return v.Time()
}

// opens says that a line needs a conversation: it is said, or an event of the program.
func (l *line) opens() bool { return l.said() || l.kind == "system" }

func (l *line) said() bool { return l.kind == "user" || l.kind == "assistant" }

// injected says that a line of type user was not typed by one.
func (l *line) injected() bool {
	return l.meta || l.compact || l.prompted.Is("system") || foreign(l.source)
}

// foreign says that what has an origin comes from none who typed it.
func foreign(origin format.Value) bool {
	kind := origin.Get("kind").Str()
	return kind != "" && kind != "user" && kind != "human"
}

// queued says whether the user typed what waited while a tool ran: the program queues notices in the same way.
func (l *line) queued() bool {
	mode := l.attachment.Get("commandMode")
	return (!mode.Exists() || mode.Is("prompt")) && !foreign(l.attachment.Get("origin")) && !strings.HasPrefix(l.attachment.Get("prompt").Str(), taskNotice)
}

// taskNotice begins what the program says in the user's place when a sub-agent or a command in the background has ended. Versions
// before 2.1.80 or so do not mark it in another way.
const taskNotice = "<task-notification>"

// message is the message of a line.
type message struct {
	id, content, model, usage, stop format.Value
}

func readMessage(v format.Value) (m message) {
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
	raw                                              format.Value
	kind                                             string
	text, id, name, input, answers, content, isError format.Value
}

func readBlock(v format.Value) (b block) {
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
			b.answers = value
		case "content":
			b.content = value
		case "is_error":
			b.isError = value
		}
	}
	return b
}
