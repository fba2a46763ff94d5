package googleadk

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (googleADK) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a piece of an event, from its own bytes: of a call the tool and its arguments, of a result what came out; of
// everything else all strings except ids, types, signatures, images and what the program notes beside the content.
func appendValue(dst []byte, v jsontext.Value) []byte {
	call, response := member(v, "function_call", "functionCall"), member(v, "function_response", "functionResponse")
	switch {
	case call.IsObject():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, call.Get("name")), call.Get("args"))
	case response.IsObject():
		return jsontext.AppendTextAndNumbers(dst, response.Get("response"), visit)
	}
	return jsontext.AppendText(dst, v, visit)
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "table", "app_name", "user_id", "session_id", "began", "id", "invocation_id", "invocationId", "timestamp", "author", "branch", "role",
		"thought_signature", "thoughtSignature", "mime_type", "mimeType", "language", "outcome", "usage_metadata", "usageMetadata",
		"grounding_metadata", "groundingMetadata", "citation_metadata", "citationMetadata", "custom_metadata", "customMetadata",
		"cache_metadata", "cacheMetadata", "logprobs_result", "logprobsResult", "model_version", "modelVersion", "finish_reason", "finishReason",
		"interaction_id", "interactionId", "live_session_id", "liveSessionId", "long_running_tool_ids", "longRunningToolIds", "node_info", "nodeInfo",
		"state_delta", "stateDelta", "requested_auth_configs", "requestedAuthConfigs", "agent_state", "agentState", "rewind_before_invocation_id", "rewindBeforeInvocationId", "inline_data", "inlineData":
		return true
	}
	return false
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
}
