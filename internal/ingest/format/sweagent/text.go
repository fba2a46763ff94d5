package sweagent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// appendText appends the text of a value, from its own bytes: of a call the tool and its input, of a message what was said and what came out of a
// command beyond what the model was sent of it, of a step what it does not state twice.
func appendText(dst []byte, v jsontext.Value) []byte {
	content, response := v.First("content", "output"), v.Get("response")
	output, thought, action := v.Get("extra", "raw_output"), v.Get("thought"), v.Get("action")
	said := map[jsontext.Value]bool{output: has(content, output), thought: has(response, thought), action: has(response, action)}
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		switch {
		case skipped[key] || said[m] || m.IsDataURL():
			return dst, true
		case key == "response" && m.IsObject(): // of which the message was made
			return dst, true
		case key == "arguments":
			return jsontext.AppendScalars(dst, m.UnwrapContainer()), true
		}
		return dst, false
	})
}

// has reports whether a string has another in it, but for the space around that.
func has(whole, part jsontext.Value) bool {
	return whole.IsString() && part.IsString() && strings.Contains(whole.Str(), strings.TrimSpace(part.Str()))
}

// skipped are members that hold no text to search: ids, types, signatures, what repeats the conversation, and the configuration.
var skipped = map[string]bool{
	"id": true, "type": true, "role": true, "object": true, "status": true, "call_id": true, "tool_call_id": true, "tool_call_ids": true, "signature": true, "encrypted_content": true,
	"cache_control": true, "query": true, "messages": true, "state": true, "submission": true, "config": true, "model_stats": true, "rloop_model_stats": true,
	"edited_files30": true, "edited_files50": true, "swe_agent_hash": true, "swe_agent_version": true, "swe_rex_version": true, "swe_rex_hash": true, "mini_version": true,
	"replay_config": true, "interrupt_type": true, "agent": true, "message_type": true, "provider_specific_fields": true, "annotations": true,
}

// codeBlock is a command in an answer, as version 1 of mini and the text-based models of version 2 have it, in a JSON string.
var codeBlock = lazyregexp.New("(?s)```(?:bash|mswea_bash_command)(?: |\\\\[tr])*(\\\\n(?:[^\\\\]|\\\\.)*?)\\\\n```")

// commandIn returns where the command is in the body of a string, with the line break before it. The length is 0 if there is none, or more than one: then
// the program runs nothing.
func commandIn(body []byte) (from, length int) {
	text := string(body)
	found := codeBlock.FindStringSubmatch(text)
	if found == nil || commandText([]byte(found[1])) == "" {
		return 0, 0
	}
	at := strings.Index(text, found[0])
	if codeBlock.MatchString(text[at+len(found[0]):]) {
		return 0, 0
	}
	return at + strings.Index(found[0], `\n`), len(found[1])
}

// commandText returns the text of a part of the body of a string.
func commandText(body []byte) string {
	v, err := jsontext.Parse(slices.Concat([]byte(`"`), body, []byte(`"`)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(v.Str())
}

// failed tells whether a command failed, which only mini states: as a number, or in version 1 at the beginning of what the model was sent.
func failed(v jsontext.Value) transcript.Truth {
	code, ok := v.Get("extra", "returncode").Int()
	if !ok {
		rest, tagged := strings.CutPrefix(v.Get("content").Str(), "<returncode>")
		number, _, closed := strings.Cut(rest, "</returncode>")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if code = n; !tagged || !closed || err != nil {
			return transcript.Unstated
		}
	}
	return transcript.True(code != 0 || v.Get("extra", "exception_info").Str() != "")
}
