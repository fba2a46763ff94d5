package chatjsonl

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// talk is what a line says: what was said to a model, and what it answered.
type talk struct {
	said, answer []item
	choices      bool         // the answers are instead of one another
	single       bool         // the line is one message
	answers      format.Value // where the answer stands: its id, model and usage
}

// item is a message, one of the items of the Responses API, or bare words of the user or for the model.
type item struct {
	v  format.Value
	by string // "" for an item without a role
}

// talkOf finds the messages of a line, in whichever of the usual wrappings they are.
func talkOf(v format.Value) (t talk) {
	request, response := v.Get("request"), v.Get("response")
	for _, at := range []format.Value{v, v.Get("body"), request, request.Get("body"), v.Get("input")} {
		if t.asked(at); len(t.said) > 0 {
			break
		}
	}
	for _, at := range []format.Value{response, response.Get("body"), v} {
		if t.answered(at); len(t.answer) > 0 {
			t.answers = at
			break
		}
	}
	if n := len(t.said); n > 0 && len(t.answer) == 0 && t.said[n-1].by != byAssistant {
		t.replied(v)
	}
	if len(t.said) == 0 && len(t.answer) == 0 && isMessage(v) {
		t.said, t.single = []item{{v, kindOf(v)}}, true
	}
	return t
}

// asked takes the messages of a request, and before them what the system says.
func (t *talk) asked(at format.Value) {
	for _, key := range []string{"messages", "conversations", "conversation", "input"} {
		list := at.Get(key)
		if key == "input" && !list.IsBlank() && (at.Get("instructions").Exists() || at.Get("model").Exists()) {
			t.said = append(t.said, item{list, byUser})
		} else if isMessages(list) {
			for m := range list.Items() {
				t.said = append(t.said, item{m, kindOf(m)})
			}
		}
		if len(t.said) > 0 {
			break
		}
	}
	for _, key := range []string{"system", "instructions"} {
		if system := at.Get(key); len(t.said) > 0 && (!system.IsBlank() || system.IsArray()) {
			t.said = append([]item{{system, bySystem}}, t.said...)
			break
		}
	}
}

// answered takes what a response says: choices, items of the Responses API, or Anthropic's message.
func (t *talk) answered(at format.Value) {
	for c := range at.Get("choices").Items() {
		if m := c.Get("message"); m.Get("role").IsString() {
			t.answer = append(t.answer, item{m, kindOf(m)})
		}
	}
	if t.choices = len(t.answer) > 0; t.choices {
		return
	}
	if output := at.Get("output"); isMessages(output) || isItem(first(output)) {
		for m := range output.Items() {
			t.answer = append(t.answer, item{m, kindOf(m)})
		}
		return
	}
	if m := at.Get("message"); at.Get("usage").IsObject() && m.Get("content").Exists() && isMessage(m) {
		t.answer = append(t.answer, item{m, kindOf(m)})
	} else if at.Get("role").Is("assistant") && at.Get("type").Is("message") && at.Get("content").IsArray() && len(t.said) > 0 {
		t.answer = append(t.answer, item{at, byAssistant})
	}
}

// replied takes an answer that stands beside the messages, as home-made logs have it: bare words, a message, or what has words.
func (t *talk) replied(line format.Value) {
	for _, key := range []string{"response", "completion", "output", "answer", "reply"} {
		at := line.Get(key)
		for _, v := range []format.Value{at, at.Get("content"), at.Get("text")} {
			if !v.IsBlank() || v.IsObject() && isMessage(v) && kindOf(v) == byAssistant {
				t.answer, t.answers = []item{{v, byAssistant}}, at
				return
			}
		}
	}
}

func first(list format.Value) (v format.Value) {
	for v = range list.Items() {
		break
	}
	return v
}

// isMessages reports whether one of the first elements of a list is a message.
func isMessages(list format.Value) bool {
	n := 0
	for m := range list.Items() {
		if isMessage(m) || m.Get("from").IsString() && kindOf(m) != "" && m.Get("value").Exists() {
			return true
		}
		if n++; n == 8 {
			break
		}
	}
	return false
}

// isMessage reports whether a value has a role that messages have, and something to say.
func isMessage(m format.Value) bool {
	if !m.Get("role").IsString() || kindOf(m) == "" {
		return false
	}
	content := m.Get("content")
	return content.IsString() || content.IsArray() || content.Type() == 'n' || m.Get("tool_calls").IsArray() || m.Get("function_call").IsObject()
}

// isItem reports whether a value is one of the Responses API, which has a type and mostly no role.
func isItem(v format.Value) bool {
	switch typ := v.Get("type").Str(); typ {
	case "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output":
		return true
	default:
		return strings.HasSuffix(typ, "_call") || strings.HasSuffix(typ, "_call_output")
	}
}

// The kinds of speakers.
const (
	byUser      = "user"
	byAssistant = "assistant"
	bySystem    = "system"
	byTool      = "tool"
	byCall      = "call" // ShareGPT's message that is a call
)

// kindOf says who speaks in a message, "" for a role that is not known.
func kindOf(m format.Value) string {
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
