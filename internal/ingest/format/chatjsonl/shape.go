package chatjsonl

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// exchange is the content of a line: the messages to a model, and its answer.
type exchange struct {
	input, answer []item
	choices       bool           // the answers are alternatives
	single        bool           // the line is one message
	response      jsontext.Value // the object with the answer, its id, model and usage
}

// item is a message, an item of the Responses API, or mere text of a user or for the model.
type item struct {
	v  jsontext.Value
	by string // "" for an item without a role
}

// exchangeOf finds the messages of a line in any of the usual wrappers.
func exchangeOf(v jsontext.Value) (x exchange) {
	request, response := v.Get("request"), v.Get("response")
	for _, at := range []jsontext.Value{v, v.Get("body"), request, request.Get("body"), v.Get("input")} {
		if x.readRequest(at); len(x.input) > 0 {
			break
		}
	}
	for _, at := range []jsontext.Value{response, response.Get("body"), v} {
		if x.readResponse(at); len(x.answer) > 0 {
			x.response = at
			break
		}
	}
	if n := len(x.input); n > 0 && len(x.answer) == 0 && x.input[n-1].by != byAssistant {
		x.readReply(v)
	}
	if len(x.input) == 0 && len(x.answer) == 0 && isMessage(v) {
		x.input, x.single = []item{{v, kindOf(v)}}, true
	}
	return x
}

// readRequest reads the messages of a request, preceded by the system text.
func (x *exchange) readRequest(at jsontext.Value) {
	for _, key := range []string{"messages", "conversations", "conversation", "input", "prompt"} {
		list := at.Get(key)
		if key == "input" && !list.IsBlank() && (at.Get("instructions").Exists() || at.Get("model").Exists()) {
			x.input = append(x.input, item{list, byUser})
		} else if isMessages(list) {
			for m := range list.Items() {
				x.input = append(x.input, item{m, kindOf(m)})
			}
		}
		if len(x.input) > 0 {
			break
		}
	}
	for _, key := range []string{"system", "instructions"} {
		if system := at.Get(key); len(x.input) > 0 && (!system.IsBlank() || system.IsArray()) {
			x.input = append([]item{{system, bySystem}}, x.input...)
			break
		}
	}
}

// readResponse reads a response: choices, items of the Responses API, or Anthropic's message.
func (x *exchange) readResponse(at jsontext.Value) {
	for c := range at.Get("choices").Items() {
		if m := c.Get("message"); m.Get("role").IsString() {
			x.answer = append(x.answer, item{m, kindOf(m)})
		}
	}
	if x.choices = len(x.answer) > 0; x.choices {
		return
	}
	if output := at.Get("output"); isMessages(output) || isItem(first(output)) {
		for m := range output.Items() {
			x.answer = append(x.answer, item{m, kindOf(m)})
		}
		return
	}
	if m := at.Get("message"); at.Get("usage").IsObject() && m.Get("content").Exists() && isMessage(m) {
		x.answer = append(x.answer, item{m, kindOf(m)})
	} else if at.Get("role").Is("assistant") && at.Get("type").Is("message") && at.Get("content").IsArray() && len(x.input) > 0 {
		x.answer = append(x.answer, item{at, byAssistant})
	}
}

// readReply reads an answer beside the messages, as in home-made logs and sets: text, a message, an object with text, or a list of
// messages.
func (x *exchange) readReply(line jsontext.Value) {
	for _, key := range []string{"response", "completion", "output", "answer", "reply", "chosen"} {
		at := line.Get(key)
		if isMessages(at) {
			for m := range at.Items() {
				x.answer = append(x.answer, item{m, kindOf(m)})
			}
			x.response = at
			return
		}
		for _, v := range []jsontext.Value{at, at.Get("content"), at.Get("text")} {
			if !v.IsBlank() || v.IsObject() && isMessage(v) && kindOf(v) == byAssistant {
				x.answer, x.response = []item{{v, byAssistant}}, at
				return
			}
		}
	}
}

func first(list jsontext.Value) (v jsontext.Value) {
	for v = range list.Items() {
		break
	}
	return v
}

// isMessages reports whether one of the first elements of a list is a message.
func isMessages(list jsontext.Value) bool {
	for n, m := range list.Numbered() {
		if n == 8 {
			break
		}
		if isMessage(m) || m.Get("from").IsString() && kindOf(m) != "" && m.Get("value").Exists() {
			return true
		}
	}
	return false
}

// isMessage reports whether a value has a known role and content.
func isMessage(m jsontext.Value) bool {
	if !m.Get("role").IsString() || kindOf(m) == "" {
		return false
	}
	content := m.Get("content")
	return content.IsString() || content.IsArray() || content.Type() == 'n' || m.Get("tool_calls").IsArray() || m.Get("function_call").IsObject()
}

// isItem reports whether a value is an item of the Responses API, which has a type and usually no role.
func isItem(v jsontext.Value) bool {
	switch typ := v.Get("type").Str(); typ {
	case "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output":
		return true
	default:
		return strings.HasSuffix(typ, "_call") || strings.HasSuffix(typ, "_call_output")
	}
}

// The authors of messages.
const (
	byUser      = "user"
	byAssistant = "assistant"
	bySystem    = "system"
	byTool      = "tool"
	byCall      = "call" // ShareGPT's message that is a call
)

// kindOf returns the author of a message, "" for an unknown role.
func kindOf(m jsontext.Value) string {
	role := m.Get("role")
	if !role.IsString() {
		role = m.Get("from")
	}
	switch strings.ToLower(role.Word()) {
	case "user", "human":
		return byUser
	case "assistant", "gpt", "chatgpt", "model", "bot", "ai":
		return byAssistant
	case "system", "developer":
		return bySystem
	case "tool", "function", "observation", "function_response", "ipython":
		return byTool
	case "function_call":
		return byCall
	}
	return ""
}
