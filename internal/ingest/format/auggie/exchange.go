package auggie

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// exchange is one request and its answer while its events are made.
type exchange struct {
	*parser
	n        int    // in its conversation
	key      string // id of the request, "" if it has none
	ended    transcript.Time
	model    string
	response jsontext.Value // response_nodes
	text     jsontext.Value // response_text
	said     bool           // the text was yielded
	events   int
}

// The types of the nodes of a request.
const (
	requestText     = "0"
	requestResult   = "1"
	requestImage    = "2"
	requestImageID  = "3"
	requestIDEState = "4"
	requestEdits    = "5"
	requestPoint    = "6" // in the history of files
	requestPersona  = "7"
	requestFile     = "8"
	requestFileID   = "9"
	requestSummary  = "10"
)

// The types of the nodes of a response that are kept.
const (
	responseText     = "0"
	responseCall     = "5"
	responseThinking = "8"
	responseBilling  = "9"
	responseTokens   = "10"
)

// exchange yields the events of an exchange, and what it cost.
func (p *parser) exchange(turn jsontext.Value, n int) {
	v := turn.Get("exchange")
	x := &exchange{
		parser: p, n: n, key: v.Get("request_id").Str(), model: cmp.Or(v.Get("model_id").Str(), p.model), response: v.Get("response_nodes"), text: v.Get("response_text"),
	}
	if !turn.Get("source").Is("remote") { // else it is when the service sent it
		x.ended = turn.Get("finishedAt").Time()
	}
	x.request(v, turn.Get("isHistorySummary").Bool() == transcript.Yes)
	x.answer()
	if x.events == 0 {
		x.emit(x.Event(transcript.KindNotice, "", "exchange", turn), transcript.Uncounted, x.ended)
	}
	x.usage()
}

func (x *exchange) emit(e *transcript.Event, verdict transcript.Verdict, at transcript.Time) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Agent = x.conversation, x.Session, verdict, at, x.agent
	if e.Role == "assistant" {
		e.Model = x.model
	}
	if x.key != "" {
		e.ID = x.key + "/" + strconv.Itoa(x.events)
	}
	x.events++
	x.Emit(e)
}

// begun returns when the first part of the answer came: a request has no time of its own.
func (x *exchange) begun() transcript.Time {
	for node := range x.response.Items() {
		return cmp.Or(node.Get("timestamp_ms").MilliTime(), x.ended)
	}
	return x.ended
}

// request yields what the model was sent: a prompt, results of tools, or a summary of what was said before.
func (x *exchange) request(v jsontext.Value, isSummary bool) {
	prompt := v.Get("request_message")
	var attached, texts []transcript.Part
	at := x.begun()
	for node := range v.Get("request_nodes").Items() {
		switch node.Get("type").Text() {
		case requestText:
			if text := node.Get("text_node", "content"); prompt.IsBlank() && !text.IsBlank() {
				texts = append(texts, x.Part(text))
			}
		case requestResult:
			x.result(node, at)
		case requestSummary:
			x.emit(x.Event(transcript.KindCompaction, "system", "history_summary", node), transcript.Counted, at)
		case requestImage, requestImageID, requestFile, requestFileID:
			attached = append(attached, x.Part(node))
		case requestIDEState, requestEdits, requestPoint, requestPersona:
		default:
			x.emit(x.Event(transcript.KindUnknown, "user", node.Get("type").Text(), node), transcript.Uncounted, at)
		}
	}
	if !prompt.IsBlank() {
		texts = append(texts, x.Part(prompt))
	}
	parts := append(texts, attached...)
	if len(parts) == 0 {
		return
	}
	e := x.Lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: "user", Type: "request", Origin: x.Row.Origin})
	e.Parts = parts
	switch injected := strings.HasPrefix(strings.TrimSpace(parts[0].Text), "<supervisor>"); {
	case isSummary, injected && strings.Contains(parts[0].Text, "<summary"):
		e.Kind, e.Role = transcript.KindCompaction, "system"
	case injected:
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	x.emit(e, transcript.Counted, at)
}

// result yields the result of a call in an earlier exchange.
func (x *exchange) result(node jsontext.Value, at transcript.Time) {
	v := node.Get("tool_result_node")
	output := v.Get("content")
	if output.IsBlank() && v.Get("content_nodes").HasItems() {
		output = v.Get("content_nodes")
	}
	if !output.Exists() {
		output = node
	}
	id := v.Get("tool_use_id").Str()
	res := &transcript.Result{Call: id, Name: x.tools[id], Failed: v.Get("is_error").Bool(), Output: int64(output.Len())}
	if ms, ok := v.Get("duration_ms").Int(); ok && ms >= 0 && ms < 1<<40 {
		res.Duration = transcript.Known(ms * 1000)
		if start, ok := v.Get("start_time_ms").Int(); ok && start > 0 && start < 1<<50 {
			at = cmp.Or(timestamp.UnixMilli(start+ms), at)
		}
	}
	e := x.Event(transcript.KindToolResult, "tool", "tool_result", output)
	e.Parts[0].Result = res
	x.emit(e, transcript.Counted, at)
}

// answer yields what the model thought, said and called. Its text may be in many nodes, as it came; response_text has all of it.
func (x *exchange) answer() {
	for node := range x.response.Items() {
		at := cmp.Or(node.Get("timestamp_ms").MilliTime(), x.ended)
		switch typ := node.Get("type").Text(); typ {
		case responseText:
			x.speech(at)
		case responseThinking:
			x.thinking(node, at)
		case responseCall:
			x.call(node, at)
		case responseBilling, responseTokens:
		default:
			x.emit(x.Event(transcript.KindUnknown, "assistant", typ, node), transcript.Uncounted, at)
		}
	}
	x.speech(x.ended)
}

// speech yields what the model said, once.
func (x *exchange) speech(at transcript.Time) {
	switch {
	case x.said:
	case !x.text.IsBlank():
		x.emit(x.Event(transcript.KindMessage, "assistant", "response", x.text), transcript.Counted, at)
	case strings.TrimSpace(string(appendNodes(nil, x.response))) != "":
		x.emit(x.Event(transcript.KindMessage, "assistant", "response", x.response), transcript.Counted, at)
	}
	x.said = true
}

// thinking yields the reasoning of the model, if there is more of it than what is encrypted.
func (x *exchange) thinking(node jsontext.Value, at transcript.Time) {
	for _, said := range []jsontext.Value{node.Get("thinking", "summary"), node.Get("thinking", "content"), node.Get("content")} {
		if !said.IsBlank() {
			x.emit(x.Event(transcript.KindReasoning, "assistant", "thinking", said), transcript.Counted, at)
			return
		}
	}
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path", "cwd", "directory_path"}
	pathLists = []string{"file_paths", "paths"}
)

func (x *exchange) call(node jsontext.Value, at transcript.Time) {
	v := node.Get("tool_use")
	input := v.Get("input_json")
	e := x.Event(transcript.KindToolCall, "assistant", "tool_use", node)
	c := &transcript.Call{
		ID: v.Get("tool_use_id").Str(), Name: v.Get("tool_name").Str(), Input: int64(input.Len()), Paths: format.Paths(input.UnwrapContainer(), pathNames, pathLists),
	}
	x.tools[c.ID] = c.Name
	e.Parts[0].Call = c
	x.emit(e, transcript.Counted, cmp.Or(v.Get("started_at_ms").MilliTime(), at))
}
