package antigravity

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// The types, sources and states of steps in a database by their numbers, as the logs call them.
var (
	typeNames = map[int64]string{
		5: "CODE_ACTION", 7: "GREP_SEARCH", 8: "VIEW_FILE", 9: "LIST_DIRECTORY", 14: "USER_INPUT", 15: "PLANNER_RESPONSE", 17: "ERROR_MESSAGE", 21: "RUN_COMMAND",
		23: "CHECKPOINT", 25: "FIND", 38: "MCP_TOOL", 90: "EPHEMERAL_MESSAGE", 98: "CONVERSATION_HISTORY", 101: "SYSTEM_MESSAGE", 132: "GENERIC",
	}
	sourceNames = map[int64]string{2: "MODEL", 3: sourceImplicit, 4: "USER_EXPLICIT", 5: "SYSTEM", 6: "SYSTEM_SDK"}
	statusNames = map[int64]string{
		1: "PENDING", 2: "RUNNING", 3: "DONE", 4: "INVALID", 5: "CLEARED", 6: "CANCELED", 7: "ERROR", 8: "GENERATING", 9: "WAITING", 11: "QUEUED", 12: "INTERRUPTED",
	}
)

// nameOf returns the name of a number, and the number itself after a prefix if it has none.
func nameOf(names map[int64]string, prefix string, v jsontext.Value) string {
	n, ok := v.Int()
	switch {
	case !ok:
		return ""
	case names[n] == "":
		return prefix + strconv.FormatInt(n, 10)
	}
	return names[n]
}

// contents are where the text of a step may be. The first that has one counts.
var contents = [][]string{
	{"user_input", "items"}, {"user_input", "user_response"}, {"user_input", "query"}, {"planner_response", "response"}, {"planner_response", "modified_response"},
	{"generic", "result", "result"}, {"run_command", "combined_output", "full"}, {"run_command", "combined_output", "truncated"}, {"run_command", "stdout"},
	{"run_command", "stderr"}, {"command_status", "combined"}, {"command_status", "stdout"}, {"command_status", "stderr"}, {"shell_exec", "output"},
	{"shell_exec", "error_message"}, {"find", "raw_output"}, {"search_web", "summary"}, {"mcp_tool", "result_string"}, {"finish", "output_string"},
	{"notify_user", "notification_content"}, {"checkpoint", "session_summary"}, {"checkpoint", "user_intent"}, {"system_message", "message"}, {"ephemeral_message", "content"},
	{"error_message", "error", "full_error"}, {"error_message", "error", "short_error"}, {"error_message", "error", "user_error_message"},
	{"error", "full_error"}, {"error", "short_error"}, {"error", "user_error_message"},
}

// readRow reads a step as a database has it.
func readRow(o jsontext.Object) (s step) {
	row := o.Value.Get("step")
	meta := row.Get("metadata")
	s.value, s.origin = o.Value, o.Origin
	s.typ, s.status = nameOf(typeNames, "STEP_TYPE_", o.Value.Get("step_type")), nameOf(statusNames, "STATUS_", o.Value.Get("status"))
	s.source = nameOf(sourceNames, "SOURCE_", meta.Get("source"))
	s.number, s.index = o.Value.Get("idx"), o.Value.Get("idx").Count()
	s.at = meta.Get("created_at").ProtobufTime()
	s.thinking, s.calls, s.caller = row.Get("planner_response", "thinking"), row.Get("planner_response", "tool_calls"), meta.Get("tool_call")
	s.model = modelOf(meta.Get("model_info"))
	for _, path := range contents {
		if s.content = row.Get(path...); s.content.Exists() && hasText(s.content) {
			break
		}
	}
	return s
}

// modelOf returns the model's name in a step.
func modelOf(info jsontext.Value) string {
	if name := info.Get("display_name").Str(); name != "" {
		return name
	}
	return info.Get("model_name").Str()
}
